"""A sweep on a Dask cluster: a scheduler and two worker processes that talk TCP on the loopback interface."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.sweeps import SMALL, finish, sojourn, tables, wait_for_runs
from tests.test_sweep import check_store

pytest.importorskip("distributed", reason=optional.DASK.reason())


@dataclass
class Cluster:
    """The processes of a cluster."""

    address: str
    folder: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def add_worker(self) -> None:
        number = len(self.workers)
        words = [self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--name", f"w{number}"]
        self.workers.append(start("worker", self.folder / f"w{number}", *words))


def start(kind: str, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    folder.mkdir()
    # Each runs in a folder of its own: nothing may depend on a common one.
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    file = folder / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file)]
    scheduler = start("scheduler", folder / "scheduler", *words)
    made = Cluster("", folder, scheduler, [])
    try:
        made.address = address_of(scheduler, file, folder / "scheduler/log")
        yield made
    finally:
        for process in (*made.workers, scheduler):
            process.kill()
            process.wait()


def address_of(scheduler: subprocess.Popen[bytes], file: Path, log: Path) -> str:
    """The address that a scheduler has written to its file, which is there before its content is."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return json.loads(file.read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            assert scheduler.poll() is None, log.read_text()
            assert time.monotonic() < deadline, f"the scheduler wrote no address: {log.read_text()}"
            time.sleep(0.05)


@pytest.mark.slow
def test_sweep_survives_the_death_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=40))
    cluster.add_worker()
    cluster.add_worker()
    sweep = sojourn("sweep", "s.toml", "--out", "far", "--dask", cluster.address, cwd=tmp_path)
    wait_for_runs(tmp_path / "far/runs", 10)
    cluster.workers[0].send_signal(signal.SIGKILL)
    there = len(list((tmp_path / "far/runs").glob("[!.]*/run.json")))
    talk = finish(sweep)
    assert there < 160
    assert "Traceback" not in talk
    assert cluster.workers[0].wait() == -signal.SIGKILL
    check_store(tmp_path / "far/runs", 160)
    finish(sojourn("sweep", "s.toml", "--out", "near", "--workers", "2", cwd=tmp_path))
    assert tables(tmp_path / "far") == tables(tmp_path / "near")


@pytest.mark.slow
def test_compare_on_a_cluster_is_compare(cluster: Cluster, inside: Cli) -> None:
    words = ("compare", "bulk", "--qdisc", "codel", "--qdisc", "pie", "--repeat", "3", "--duration", "1s", "--json")
    result = inside(*words, "--dask", cluster.address, status=2)
    assert_one_sentence(result, cluster.address, "has no workers")
    cluster.add_worker()
    assert inside(*words, "--dask", cluster.address).stdout == inside(*words).stdout
    result = inside("sweep", "s.toml", "--out", "o", "--dask", cluster.address, status=2)
    assert_one_sentence(result, "s.toml", "cannot be read")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://no.such.host.invalid:8786", "ftp://x:1"])
def test_absent_scheduler_is_told_within_seconds(address: str, inside: Cli, tmp_path: Path) -> None:
    began = time.monotonic()
    result = inside("compare", "bulk", "--qdisc", "codel", "--repeat", "2", "--dask", address, "--store", "s", status=2)
    assert_one_sentence(result, "dask", address, "scheduler")
    assert time.monotonic() - began < 15
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["store.json"]


def test_dask_that_is_not_installed_is_told(inside: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = inside("compare", "bulk", "--qdisc", "codel", "--dask", "tcp://127.0.0.1:9", status=2)
    assert_one_sentence(result, "not installed", "sojourn[dask]")


@pytest.mark.slow
def test_tune_answers_the_same_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    cluster.add_worker()
    words = ["tune", "codel", "--rate", "1mbit", "--rtt", "100ms", "--duration", "30s", "--trials", "8", "--seeds", "2"]
    answers = []
    for where in (("--workers", "1"), ("--dask", cluster.address)):
        command = sojourn(*words, *where, "--json", cwd=tmp_path)
        answers.append(command.communicate(timeout=120)[0])
        assert command.returncode == 0
    assert answers[0] == answers[1]
    assert "tc qdisc replace" in answers[0]
