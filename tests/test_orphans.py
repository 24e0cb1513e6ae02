"""What is left of a run whose processes are killed by `kill -9`: nothing, whichever of them it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sojourn.kernel.find import Kernel

#: A run that takes far longer than the test.
RUN = ("run", "bulk", "--duration", "300s", "--rate", "10mbit", "--json")


def children(pid: int) -> list[int]:
    """All processes below one, the nearest first."""
    try:
        below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return below + [found for child in below for found in children(child)]


def words(pid: int) -> list[str]:
    """The command line of a process; nothing if it is gone, or has ended and nobody has looked."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")[:-1]
    return []


def wait_for(condition: Callable[[], bool], seconds: float = 20.0, missing: Callable[[], object] = lambda: "") -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"it did not come about: {missing()}"
        time.sleep(0.02)


@contextmanager
def begun(
    backend: str, folder: Path, busy: Callable[[list[int]], bool]
) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Begin a run, and wait until its processes are all there; yield it and them."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", *RUN, "--backend", backend],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: process.poll() is not None or busy(children(process.pid)), 60.0)
        assert process.poll() is None, process.communicate()[1]
        yield process, children(process.pid)
    finally:
        process.kill()
        process.communicate(timeout=20)


def kill_and_look(process: subprocess.Popen[str], below: list[int], which: str) -> None:
    """Kill one of the processes, and check that all others go and that no folder is left."""
    [keeper] = [pid for pid in below if "supervise" in words(pid)]
    [inner] = [pid for pid in below if "keep" in words(pid)]
    folder = Path(words(inner)[words(inner).index("--folder") + 1])
    assert folder.is_dir()
    victim = {"python": process.pid, "keeper": keeper, "inner keeper": inner}[which]
    others = {pid: words(pid) for pid in below}
    os.kill(victim, signal.SIGKILL)

    def left() -> dict[int, list[str]]:
        return {pid: line for pid, line in others.items() if words(pid) == line}

    wait_for(lambda: not left(), missing=left)
    wait_for(lambda: not folder.exists(), 5.0)
    _, errors = process.communicate(timeout=20)
    if which == "python":
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 2
        assert errors.count("\n") == 1
        assert errors.startswith("sojourn: the ")


@pytest.mark.slow
@pytest.mark.usefixtures("sojournd")
@pytest.mark.parametrize("which", ["python", "keeper", "inner keeper"])
def test_nothing_is_left_of_a_live_run(tmp_path: Path, which: str) -> None:
    def busy(below: list[int]) -> bool:
        return any(words(pid)[1:2] == ["run"] for pid in below)

    with begun("live", tmp_path, busy) as (process, below):
        kill_and_look(process, below, which)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["python", "keeper", "inner keeper"])
def test_nothing_is_left_of_a_guest(
    virtual_kernel: Kernel, tmp_path: Path, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_UML_KERNEL", str(virtual_kernel.path))

    def busy(below: list[int]) -> bool:
        # The kernel and what it traces.
        return sum(str(virtual_kernel.path) in words(pid)[:1] for pid in below) >= 2

    with begun("linux", tmp_path, busy) as (process, below):
        kill_and_look(process, below, which)
