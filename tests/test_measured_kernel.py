"""What was measured on the kernel is kept: a rebuilt simulator makes its record of that, and boots no guest again."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sojourn import _native, api, runner
from sojourn.backends.linux import LinuxBackend, access_point, flusher, guest, guest_inputs, wifi
from sojourn.backends.linux.measurements import decode
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel
from sojourn.papers.flusher.evidence import CUBIC, active
from sojourn.scenario import Scenario
from sojourn.store.run_store import RunStore
from sojourn.study.paper import Profile
from sojourn.validate.flusher import bed
from tests import optional
from tests.conftest import Cli
from tests.sweeps import sojourn, wait_until_gone


def wired() -> Scenario:
    return api.build("rrul", qdisc="sfq perturb 1", backend="linux", duration="2s", seed=3)


def no_guest(*_: object, **__: object) -> None:
    message = "a guest was booted"
    raise AssertionError(message)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_rebuilt_simulator_boots_no_guest_again(
    virtual_kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, store = LinuxBackend(virtual_kernel), RunStore(tmp_path / "s")
    [first] = runner.run_all([wired()], workers=1, store=store, backend=backend)
    before = json.loads(first.text)
    monkeypatch.setattr(_native, "__build__", "another")
    with monkeypatch.context() as patch:
        patch.setattr("sojourn.backends.linux.carry_out", no_guest)
        [again] = runner.run_all([wired()], workers=1, store=store, backend=backend)
        assert json.loads(again.text) == before
        assert again.series.equals(first.series)
        assert len(store.ids()) == 2
        with pytest.raises(AssertionError, match="a guest was booted"):
            runner.run_all([dataclasses.replace(wired(), seed=4)], workers=1, store=store, backend=backend)
    # What was kept is what a guest leaves each time.
    task = backend._task(wired().normalized("linux"))
    [(name, data)] = files(tmp_path / "s/measured").items()
    stored, anew = decode(name, data), task.answer()
    assert stored is not None
    assert name == task.name()
    assert (stored.measured, stored.packets) == (anew.measured, anew.packets)
    assert stored.wall_s == before["cost"]["wall_s"] != anew.wall_s


def test_workers_keep_and_take_measurements(
    virtual_kernel: Kernel,  # noqa: ARG001
    inside: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words: tuple[str, ...] = (
        "compare",
        "bulk",
        "--qdisc",
        "codel",
        "--qdisc",
        "cake",
        "--repeat",
        "2",
        "--duration",
        "1s",
        "--json",
    )
    words = (*words, "--backend", "linux", "--workers", "2", "--store", "s")
    first = inside(*words)
    assert "measurements" not in first.stderr
    measured = files(tmp_path / "s/measured")
    assert len(measured) == 4
    monkeypatch.setattr(_native, "__build__", "another")
    again = inside(*words)
    assert again.stdout == first.stdout
    message = "compare: 4 of the 4 runs that were not stored were made from the measurements in s/measured, without the"
    assert message in again.stderr
    assert files(tmp_path / "s/measured") == measured
    assert len(RunStore(tmp_path / "s").ids()) == 8


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_writer_that_is_ended_leaves_whole_measurements(
    end: signal.Signals,
    virtual_kernel: Kernel,  # noqa: ARG001
    inside: Cli,
    tmp_path: Path,
) -> None:
    words: tuple[str, ...] = ("compare", "bulk", "--qdisc", "codel", "--repeat", "6", "--duration", "1s", "--json")
    words = (*words, "--backend", "linux", "--store", "s")
    command = sojourn(*words, "--workers", "2", cwd=tmp_path)
    deadline = time.monotonic() + 60
    folder = tmp_path / "s/measured"
    while not folder.is_dir() or not any(path.name[0] != "." for path in folder.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.killpg(command.pid, end)
    command.communicate(timeout=30)
    wait_until_gone(command.pid)
    whole = {path.name: path.read_bytes() for path in folder.glob("[!.]*")}
    assert 0 < len(whole) < 6
    assert all(decode(name, data) is not None for name, data in whole.items())
    for run in RunStore(tmp_path / "s").ids():
        shutil.rmtree(tmp_path / "s" / run)
    result = inside(*words)
    assert f"{len(whole)} of the 6 runs that were not stored were made from the measurements" in result.stderr
    assert len(list(folder.iterdir())) == 6
    assert inside(*words[:-2]).stdout == result.stdout


# What a guest reads of this machine, as the system sees it.

#: What every kernel of this kind has of the machine: its memory, a terminal, and where programs find their libraries.
_ANY = re.compile(r"/dev/(?:shm|null|ptmx)(?:/#.*)?|/proc(?:/.*)?|/etc/ld\.so\.(?:cache|preload)|/sys|/tmp|/")
_OPENED = re.compile(r'(?:openat|open|execve)\(.*"(?P<path>[^"]*)".* = \d+<(?P<real>[^>]*)>(?:\(deleted\))?')
_MISSED = re.compile(r'(?:statx|openat|access)\((?:[^"]*)"(?P<path>/[^"]*)".* = -1 ENOENT.*')


def cell() -> Scenario:
    return api.build("wifi_tcp", backend="linux", duration="1s")


def flushed() -> Scenario:
    profile = Profile(duration="2s", long_duration="2s", repeat=1, other_repeat=1)
    return bed(profile).scenario(active(CUBIC, 50, 50))


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """Return where `strace` writes, if it works here."""
    strace = optional.program("strace")
    log = tmp_path / "trace"
    result = subprocess.run([strace, "-y", "-o", log, "true"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        optional.TRACING.skip(result.stderr)
    return log


@pytest.fixture(params=[wired, cell, flushed])
def backend_and_scenario(request: pytest.FixtureRequest) -> tuple[LinuxBackend, Scenario]:
    """A scenario, and the back end for it, where its kernel and its programs are."""
    try:
        if request.param is cell:
            access_point.hostapd()
            backend = LinuxBackend(None, wifi.needed())
        else:
            backend = LinuxBackend(request.getfixturevalue("virtual_kernel"))
        if request.param is flushed:
            result = subprocess.run(
                [flusher.daemon(), "flush", "-i", "none"], capture_output=True, text=True, check=False
            )
            if "feature capture" in result.stderr or "was built without" in result.stderr:
                optional.CAPTURE.skip(result.stderr)
    except (ParamError, SojournError) as error:
        (optional.CELL if request.param is cell else optional.DAEMON).skip(error)
    return backend, request.param()


def test_all_that_a_guest_reads_of_the_machine_is_in_the_name(
    backend_and_scenario: tuple[LinuxBackend, Scenario], traced: Path, tmp_path: Path
) -> None:
    """Oracle: strace, of the process that is the kernel: a guest's files are opened by it."""
    backend, scenario = backend_and_scenario
    task = backend._task(scenario.normalized("linux"))
    named = guest_inputs.read_of_the_machine(task.job, task.kernel, [guest.agent(), *task.files.values()])
    assert named is not None
    assert task.name() is not None
    known = {path.resolve() for path in named}
    wrapper = tmp_path / "linux"
    calls = "-e trace=%file,execve"
    wrapper.write_text(
        f'#!/bin/sh\npwd >{tmp_path}/place\nexec strace -y -o {traced} {calls} {task.kernel.path} "$@"\n'
    )
    wrapper.chmod(0o755)
    dataclasses.replace(task, kernel=dataclasses.replace(task.kernel, path=wrapper)).answer()
    place = (tmp_path / "place").read_text().strip()
    opened, missed = opened_and_missed(traced.read_text(), place)
    assert len(opened) >= 3
    assert opened - known == set()
    # What is not there could be, and would be read.
    above = {folder for path in known for folder in (path, *path.parents)}
    assert {path for path in missed - above if not of_the_loader(path)} == set()
    if scenario.wifi is not None:
        assert access_point.hostapd() in opened
        assert missed


def of_the_loader(path: Path) -> bool:
    """Tell whether a place is one where a library was looked for: what was found in the end, the name has."""
    return ".so" in path.name or "glibc-hwcaps" in path.parts


def opened_and_missed(log: str, place: str) -> tuple[set[Path], set[Path]]:
    """Return the files of the machine that were opened, and those that were not there."""

    def of(path: str) -> set[Path]:
        # The root of a guest is `//` or `///`, and what was a link is one no more.
        real = Path(re.sub("^/+", "/", path)).resolve()
        ours = str(real).startswith(place)
        return set() if ours or _ANY.fullmatch(str(real)) else {real}

    opened: set[Path] = set()
    missed: set[Path] = set()
    for line in log.splitlines():
        if match := _OPENED.match(line):
            opened |= of(match["real"])
        elif match := _MISSED.match(line):
            missed |= of(match["path"])
    return opened, missed


_NAME = """
import sys
from sojourn.backends.linux import LinuxBackend
from sojourn.kernel.find import find
print(LinuxBackend(find(sys.argv[1]))._task(sys.argv[2]).name())
"""


def test_the_name_is_the_same_in_another_process(virtual_kernel: Kernel, tmp_path: Path) -> None:
    """In another folder and environment, too, and with another seed of Python's own hashes."""
    text = wired().normalized("linux")
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry),
        "TZ": "Asia/Tokyo",
    }
    words = [sys.executable, "-c", _NAME, str(virtual_kernel.path), text]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    assert done.stdout.strip() == LinuxBackend(virtual_kernel)._task(text).name()
