"""`sojourn sweep`: what it runs, what it refuses, and that it comes to the same whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.store.run_store import RunStore
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.sweeps import SMALL, TABLES, finish, sojourn, tables, wait_for_runs, wait_until_gone

TINY = """
experiment = "tcp_1up"
duration = "1s"
repeat = 3
[vary]
qdisc = ["codel", "pie"]
"""


def test_sweep_runs_the_product(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        """
        experiment = "rrul"
        duration = "1s"
        lead = "100ms"
        repeat = 2
        seed = 5
        flows.tcp_up_2.rtt = "20ms"
        [vary]
        link = ["10/1", "5mbit/768kbit"]
        cc = ["cubic", "reno"]
        tcp.hystart = [true, false]
        """
    )
    result = inside("sweep", "s.toml", "--out", "o", "--json", "--workers", "1")
    found = json.loads(result.stdout)
    assert result.stdout == (tmp_path / "o/sweep.json").read_text()
    assert found["format"] == "sojourn-sweep/1"
    assert [tuple(cell["values"].values()) for cell in found["cells"]] == [
        (link, cc, hystart)
        for link in ("10/1", "5mbit/768kbit")
        for cc in ("cubic", "reno")
        for hystart in ("true", "false")
    ]
    store = RunStore(tmp_path / "o/runs")
    assert len(store.ids()) == 16
    for cell in found["cells"]:
        for seed, name in zip((5, 6), cell["runs"], strict=True):
            scenario = store.get(name).record.scenario
            assert scenario["seed"] == seed
            assert scenario["lead"] == "100ms"
            assert (scenario["down"], scenario["up"]) in {("10mbit", "1mbit"), ("5mbit", "768kbit")}
            assert scenario["down"].removesuffix("mbit") == cell["values"]["link"].split("/")[0].removesuffix("mbit")
            assert {flow["congestion_control"] for flow in scenario["flows"]} == {cell["values"]["cc"]}
            assert [flow["rtt"] for flow in scenario["flows"]][:3] == ["50ms", "20ms", "50ms"]
            assert scenario["tcp"]["hystart"] is (cell["values"]["tcp.hystart"] == "true")


def test_tables_hold_the_statistics_of_the_runs(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    shown = inside("sweep", "s.toml", "--out", "o").stdout
    runs = pl.read_parquet(tmp_path / "o/runs.parquet")
    assert runs.columns[:3] == ["qdisc", "seed", "run"]
    assert runs["seed"].to_list() == [1, 2, 3] * 2
    assert set(runs["run"]) == RunStore(tmp_path / "o/runs").ids()
    rows = pl.read_csv(tmp_path / "o/table.csv")
    for qdisc in ("codel", "pie"):
        values = runs.filter(pl.col("qdisc") == qdisc)["induced_latency_ms"].to_numpy()
        row = rows.filter((pl.col("qdisc") == qdisc) & (pl.col("metric") == "induced_latency_ms")).row(0, named=True)
        # Student's t with two degrees of freedom: 4.302653.
        half = 4.302653 * values.std(ddof=1) / np.sqrt(3)
        assert row["mean"] == pytest.approx(values.mean())
        assert row["median"] == pytest.approx(np.median(values))
        assert (row["low"], row["high"]) == pytest.approx((values.mean() - half, values.mean() + half))
        assert f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" in (tmp_path / "o/table.md").read_text()
        assert f"{row['mean']:.2f} [" in shown


def test_a_sweep_has_a_report_that_can_be_made_again(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY.replace("[vary]", '[vary]\nrtt = ["20ms", "50ms"]'))
    inside("sweep", "s.toml", "--out", "o")
    page = (tmp_path / "o/report.html").read_text(encoding="utf-8")
    cells = {
        tuple(cell["values"].values()): cell for cell in json.loads((tmp_path / "o/sweep.json").read_text())["cells"]
    }
    means = {values: cell["summary"]["induced_latency_ms"]["mean"] for values, cell in cells.items()}
    rtt, qdisc = min(means, key=lambda values: means[values])
    assert f"The induced latency is least with rtt {rtt}, {qdisc}, {means[rtt, qdisc]:.3g} [" in page
    assert page.count("<img") == 3
    assert (tmp_path / "o/figures/map-induced_latency_ms.svg").is_file()
    inside("report", "o", "--out", "again.html")
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert re.sub("<dt>command</dt>.*\n", "", page) == again
    whole = json.loads((tmp_path / "o/sweep.json").read_text())
    del whole["cells"][0]["values"]["rtt"]
    (tmp_path / "o/sweep.json").write_text(json.dumps(whole))
    assert_one_sentence(inside("report", "o", "--out", "x.html", status=2), "sweep.json", "a value for each key")


def test_sweep_without_variation_and_with_an_experiment_beside_it(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/mine.toml").write_text('duration = "1s"\n[[probes]]\nname = "ping"\nkind = "icmp"\n')
    (tmp_path / "in/s.toml").write_text('experiment = "mine.toml"\nrepeat = 1\nprobes.ping.interval = "50ms"\n')
    found = json.loads(inside("sweep", "in/s.toml", "--out", "o", "--json").stdout)
    [cell] = found["cells"]
    assert cell["values"] == {}
    [name] = cell["runs"]
    assert RunStore(tmp_path / "o/runs").get(name).record.probes[0].sent == 20


def test_the_same_sweep_again_makes_no_run(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    inside("sweep", "s.toml", "--out", "o")
    before = tables(tmp_path / "o")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/*")}
    inside("sweep", "s.toml", "--out", "o")
    assert tables(tmp_path / "o") == before
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/*")} == times
    inside("sweep", "s.toml", "--out", "other", "--store", "o/runs")
    assert tables(tmp_path / "other") == before


def test_folder_of_another_plan_is_refused(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    inside("sweep", "s.toml", "--out", "o")
    before = tables(tmp_path / "o")
    (tmp_path / "t.toml").write_text(TINY.replace("pie", "fq_codel"))
    assert_one_sentence(inside("sweep", "t.toml", "--out", "o", status=2), "out", "another plan", "--force")
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", "--repeat", "4", status=2), "another plan")
    (tmp_path / "there").mkdir()
    assert_one_sentence(inside("sweep", "s.toml", "--out", "there", status=2), "there already")
    assert tables(tmp_path / "o") == before
    inside("sweep", "t.toml", "--out", "o", "--force")
    assert "fq_codel" in (tmp_path / "o/table.md").read_text()


REFUSED: dict[str, tuple[str, list[str]]] = {
    "not TOML": ("experiment = = 3", ["s.toml", "not TOML"]),
    "no experiment": ('duration = "1s"', ["experiment is not given", "rrul"]),
    "unknown experiment": ('experiment = "rull"', ["experiment", "rull"]),
    "unknown key": ('experiment = "rrul"\ncolour = "red"', ["colour", "not known"]),
    "unknown key that varies": ('experiment = "rrul"\n[vary]\ncolour = ["red"]', ["colour", "not known"]),
    "unknown key of tcp": ('experiment = "rrul"\n[vary]\ntcp.speed = [1]', ["tcp.speed", "not known"]),
    "unknown flow": ('experiment = "rrul"\nflows.nobody.rtt = "1ms"', ["flows.nobody.rtt", "tcp_up_1"]),
    "unknown key of a flow": ('experiment = "rrul"\nflows.tcp_up_1.colour = "red"', ["not known"]),
    "a value, not a list": ('experiment = "rrul"\n[vary]\nrtt = "5ms"', ["vary.rtt", "list"]),
    "an empty list": ('experiment = "rrul"\n[vary]\nrtt = []', ["vary.rtt", "at least one"]),
    "a value twice": ('experiment = "rrul"\n[vary]\nrtt = ["5ms", "5ms"]', ["vary.rtt", "5ms", "once"]),
    "fixed and varied": ('experiment = "rrul"\nrtt = "1ms"\n[vary]\nrtt = ["5ms"]', ["vary.rtt", "together"]),
    "seeds that vary": ('experiment = "rrul"\n[vary]\nseed = [1, 2]', ["vary.seed", "repeat"]),
    "vary is no table": ('experiment = "rrul"\nvary = 3', ["vary", "table"]),
    "repeat of zero": ('experiment = "rrul"\nrepeat = 0', ["repeat", "0", "at least 1"]),
    "repeat that is text": ('experiment = "rrul"\nrepeat = "3"', ["repeat", "'3'", "whole number"]),
    "a seed that is text": ('experiment = "rrul"\nseed = "one"', ["seed", "'one'", "whole number"]),
    "a negative seed": ('experiment = "rrul"\nseed = -1', ["seed", "-1"]),
    "a number for a text": ('experiment = "rrul"\nduration = 5', ["duration", "5", "text"]),
    "a list for a value": ('experiment = "rrul"\nlead = ["1s"]', ["lead", "1s"]),
    "a date": ('experiment = "rrul"\nrtt = 2026-01-01', ["rtt", "text"]),
    "a link of one rate": ('experiment = "rrul"\nlink = "10"', ["link", "10/1"]),
    "a link of three": ('experiment = "rrul"\n[vary]\nlink = ["1/2/3"]', ["link", "1/2/3"]),
    "a link of nonsense": ('experiment = "rrul"\nlink = "fast/10"', ["down", "fast"]),
    "link and rate": ('experiment = "rrul"\nrate = "1mbit"\n[vary]\nlink = ["1/1"]', ["link", "rate"]),
    "rate and up": ('experiment = "rrul"\nrate = "1mbit"\nup = "1mbit"', ["rate", "up"]),
    "a discipline that is not": ('experiment = "rrul"\n[vary]\nqdisc = ["codel", "fq_cuddle"]', ["fq_cuddle"]),
    "a negative rtt": ('experiment = "rrul"\n[vary]\nrtt = ["5ms", "-5ms"]', ["rtt", "-5ms"]),
    "flows for rrul": ('experiment = "rrul"\nflows_up = 2', ["flows-up", "bulk"]),
    "too many combinations": (
        'experiment = "rrul"\n[vary]\n'
        + "\n".join(f"{key} = [{', '.join(repr(str(k)) for k in range(1000))}]" for key in ("rtt", "cc")),
        ["combinations", "1000000"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_sweep_is_refused_in_one_sentence(name: str, inside: Cli, tmp_path: Path) -> None:
    text, expected = REFUSED[name]
    (tmp_path / "s.toml").write_text(text)
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", status=2), "s.toml", *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


OPTIONS = {
    "until-ci without a sign": (["--until-ci", "2"], ["until-ci", "2", "percentage"]),
    "until-ci of zero": (["--until-ci", "0%"], ["until-ci", "0%"]),
    "until-ci of a word": (["--until-ci", "few%"], ["until-ci", "few%"]),
    "until-ci of nan": (["--until-ci", "nan%"], ["until-ci", "nan%"]),
    "unknown metric": (["--until-ci", "2%", "--until-metric", "joy"], ["until-metric", "joy", "rtt_p99_ms"]),
    "most below least": (["--until-ci", "2%", "--max-repeat", "2"], ["max-repeat", "2", "repeat"]),
    "metric without until-ci": (["--until-metric", "jain_up"], ["until-metric", "until-ci"]),
    "most without until-ci": (["--max-repeat", "20"], ["max-repeat", "until-ci"]),
    "repeat of zero": (["--repeat", "0"], ["repeat", "0", "at least 1"]),
    "workers and dask": (["--workers", "2", "--dask", "tcp://127.0.0.1:9"], ["workers", "dask"]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_bad_option_is_refused_in_one_sentence(name: str, inside: Cli, tmp_path: Path) -> None:
    words, expected = OPTIONS[name]
    (tmp_path / "s.toml").write_text(TINY)
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", *words, status=2), *expected)
    assert not (tmp_path / "o/runs").exists()


def test_missing_sweep_is_refused(inside: Cli, tmp_path: Path) -> None:
    assert_one_sentence(inside("sweep", "none.toml", "--out", "o", status=2), "none.toml", "cannot be read")
    (tmp_path / "s.toml").write_bytes(b"\xff\xfe")
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", status=2), "s.toml", "UTF-8")


def test_store_of_another_version_is_refused_by_a_sweep(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    inside("sweep", "s.toml", "--out", "o")
    mark = tmp_path / "o/runs/store.json"
    mark.write_text(json.dumps({**json.loads(mark.read_text()), "build": "0123456789abcdef"}))
    before = sorted((tmp_path / "o").rglob("*"))
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", status=2), "another version", "0123456789abcdef")
    assert sorted((tmp_path / "o").rglob("*")) == before


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Tables of `SMALL` made in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "s.toml").write_text(SMALL.format(repeat=10))
    finish(sojourn("sweep", "s.toml", "--out", "o", "--workers", "1", cwd=folder))
    return tables(folder / "o")


def check_store(store: Path, number: int) -> None:
    """Check that a store holds so many whole runs, each once, and nothing unfinished."""
    names = sorted(path.name for path in store.iterdir())
    assert "store.json" in names
    assert len(names) == number + 1
    runs = [RunStore(store).get(name) for name in names if name != "store.json"]
    scenarios = {json.dumps(run.record.scenario, sort_keys=True) for run in runs}
    assert len(scenarios) == number
    assert all(run.series.height > 0 for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["parent", "group"])
def test_killed_sweep_goes_on_and_comes_to_the_same(whom: str, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=10))
    random = np.random.default_rng(1 if whom == "parent" else 2)
    store = tmp_path / "o/runs"
    times: dict[Path, int] = {}
    for stop in sorted(random.integers(1, 36, size=3)):
        command = sojourn("sweep", "s.toml", "--out", "o", "--workers", "2", cwd=tmp_path)
        wait_for_runs(store, int(stop))
        if whom == "parent":
            command.kill()
        else:
            os.killpg(command.pid, signal.SIGKILL)
        command.communicate(timeout=60)
        wait_until_gone(command.pid)
        # What was kept before is untouched.
        assert all(path.stat().st_mtime_ns == then for path, then in times.items())
        times = {path: path.stat().st_mtime_ns for path in store.glob("[!.]*/run.json")}
        for path in times:
            RunStore(store).get(path.parent.name)
    talk = finish(sojourn("sweep", "s.toml", "--out", "o", "--workers", "2", cwd=tmp_path))
    assert "Traceback" not in talk
    assert all(path.stat().st_mtime_ns == then for path, then in times.items())
    check_store(store, 40)
    assert tables(tmp_path / "o") == undisturbed


@pytest.mark.slow
def test_interrupted_sweep_says_how_to_go_on_and_comes_to_the_same(
    undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=10))
    command = sojourn("sweep", "s.toml", "--out", "o", cwd=tmp_path)
    wait_for_runs(tmp_path / "o/runs", 3)
    os.killpg(command.pid, signal.SIGINT)
    talk = finish(command, 130)
    assert "Traceback" not in talk
    last = talk.strip().splitlines()[-1]
    assert last == "sojourn: interrupted; every file that was written is whole; the same command goes on from there"
    wait_until_gone(command.pid)
    assert not list((tmp_path / "o/runs").glob(".*"))
    assert not [name for name in TABLES if (tmp_path / "o" / name).exists()]
    finish(sojourn("sweep", "s.toml", "--out", "o", cwd=tmp_path))
    check_store(tmp_path / "o/runs", 40)
    assert tables(tmp_path / "o") == undisturbed


def test_worker_that_is_killed_ends_the_sweep_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=1000))
    command = sojourn("sweep", "s.toml", "--out", "o", "--workers", "2", cwd=tmp_path)
    wait_for_runs(tmp_path / "o/runs", 2)
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    talk = finish(command, 2)
    assert "a worker process died" in talk.strip().splitlines()[-1]
    assert "Traceback" not in talk
    wait_until_gone(command.pid)
    assert not list((tmp_path / "o/runs").glob(".*"))


def test_two_sweeps_do_not_share_a_store(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=1000))
    first = sojourn("sweep", "s.toml", "--out", "o", cwd=tmp_path)
    wait_for_runs(tmp_path / "o/runs", 1)
    talk = finish(sojourn("sweep", "s.toml", "--out", "o", cwd=tmp_path), 2)
    assert talk.count("\n") == 1
    assert "in use by another process" in talk
    assert first.poll() is None
    os.killpg(first.pid, signal.SIGINT)
    finish(first, 130)


def test_file_size_limit_ends_the_sweep_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=2).replace('"2s"', '"60s"'))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    command = [sys.executable, "-m", "sojourn", "sweep", "s.toml", "--out", "o"]
    for more in (["--workers", "2"], ["--workers", "1"]):
        done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limit)
        assert_one_sentence(done, "cannot be written", "File too large")
        assert [path.name for path in (tmp_path / "o/runs").iterdir()] == ["store.json"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    check_store(tmp_path / "o/runs", 8)


def test_full_disk_ends_the_sweep_in_one_sentence(tmp_path: Path) -> None:
    script = f"""
        set -e
        mount -t tmpfs -o size=600k tmpfs {tmp_path}/disk
        cd {tmp_path}/disk
        set +e
        {sys.executable} -m sojourn sweep ../s.toml --out o --workers 2 >../out 2>../err
        echo $? >../status
        ls -A o/runs >../names
        cp -r o/runs ../runs
        umount -l {tmp_path}/disk
    """
    (tmp_path / "disk").mkdir()
    (tmp_path / "s.toml").write_text(SMALL.format(repeat=50))
    tried: subprocess.CompletedProcess[str] | None = None
    for prefix in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") is not None:
            tried = subprocess.run([*prefix, "sh", "-c", script], capture_output=True, text=True, check=False)
            if (tmp_path / "status").exists():
                break
    if not (tmp_path / "status").exists():
        optional.MOUNTS.skip(tried.stderr if tried else "no unshare")
    talk = (tmp_path / "err").read_text()
    assert (tmp_path / "status").read_text() == "2\n", talk
    assert "cannot be written: No space left on device" in talk.strip().splitlines()[-1]
    assert "Traceback" not in talk
    names = (tmp_path / "names").read_text().split()
    assert "store.json" in names
    assert not [name for name in names if name.startswith(".")]
    assert len(names) > 5
    check_store(tmp_path / "runs", len(names) - 1)


def test_until_ci_stops_when_every_interval_is_narrow(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY.replace('"codel", "pie"', '"codel", "pfifo limit 20"'))
    words = ("sweep", "s.toml", "--until-ci", "5%", "--until-metric", "goodput_up_mbit", "--max-repeat", "60", "--json")
    found = json.loads(inside(*words, "--out", "o", "--repeat", "4").stdout)
    for cell in found["cells"]:
        row = cell["summary"]["goodput_up_mbit"]
        assert cell["reached"] is True
        assert max(row["high"] - row["mean"], row["mean"] - row["low"]) <= 0.05 * row["mean"]
        assert 4 <= cell["n"] <= 60
        assert len(set(cell["runs"])) == cell["n"] == row["n"]
    assert (
        inside(*words, "--out", "again", "--repeat", "4", "--workers", "1").stdout == json.dumps(found, indent=1) + "\n"
    )
    loose = ("sweep", "s.toml", "--until-ci", "90%", "--until-metric", "goodput_up_mbit", "--json")
    assert [cell["n"] for cell in json.loads(inside(*loose, "--out", "l").stdout)["cells"]] == [3, 3]


def test_until_ci_stops_at_its_bound_and_says_so(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    result = inside("sweep", "s.toml", "--out", "o", "--until-ci", "0.001%", "--max-repeat", "8", "--json")
    found = json.loads(result.stdout)
    assert [(cell["n"], cell["reached"]) for cell in found["cells"]] == [(8, False)] * 2
    assert "2 of 2 combinations did not come within 0.001 % in 8 runs" in result.stderr


def test_until_ci_gives_all_disciplines_of_a_comparison_the_same_seeds(inside: Cli) -> None:
    words = ("compare", "tcp_1up", "--qdisc", "codel", "--qdisc", "pfifo limit 20", "--duration", "1s", "--json")
    more = ("--repeat", "3", "--until-ci", "0.3%", "--until-metric", "goodput_up_mbit", "--max-repeat", "14")
    found = json.loads(inside(*words, *more).stdout)
    seeds: list[Any] = [[run["seed"] for run in one["runs"]] for one in found["disciplines"]]
    assert seeds[0] == seeds[1] == list(range(1, len(seeds[0]) + 1))
    assert len(seeds[0]) > 3
    for one in found["disciplines"]:
        row = one["summary"]["goodput_up_mbit"]
        assert row["high"] - row["mean"] <= 0.003 * row["mean"] or len(seeds[0]) == 14


def test_a_long_list_is_refused_at_once(inside: Cli, tmp_path: Path) -> None:
    """Each value was looked for among all before it: minutes for a file of a megabyte."""
    values = ",".join(map(str, range(100_001)))
    (tmp_path / "s.toml").write_text(f'experiment = "bulk"\n[vary]\nflows_up = [{values}]\n')
    began = time.process_time()
    assert_one_sentence(inside("sweep", "s.toml", "--out", "o", status=2), "100001 combinations", "at most 100000")
    assert time.process_time() - began < 5
