"""What the tests of stores and sweeps share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: What a sweep comes to; all of it is a function of the plan.
TABLES = ("table.csv", "table.md", "sweep.json", "runs.parquet")

SMALL = """
experiment = "rrul"
duration = "2s"
repeat = {repeat}
[vary]
link = ["10/10", "10/1"]
qdisc = ["pfifo limit 100", "fq_codel"]
"""


def sojourn(*words: str, cwd: Path) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def finish(command: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for a command and return what it said on standard error."""
    _, talk = command.communicate(timeout=120)
    assert command.returncode == status, talk
    return talk


def tables(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each table of a sweep."""
    return {name: (folder / name).read_bytes() for name in TABLES}


def wait_for_runs(store: Path, number: int) -> None:
    """Wait until so many runs are in a store."""
    deadline = time.monotonic() + 60
    while len(list(store.glob("[!.]*/run.json"))) < number:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_until_gone(pid: int) -> None:
    """Wait until no process of a group is left."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    message = "a worker outlived its parent"
    raise AssertionError(message)
