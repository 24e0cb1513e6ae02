"""How long things take: each module measures one part and prints tables of Markdown. They need scripts/setup."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Spent(NamedTuple):
    """What a command took: processor time and elapsed time (s), and peak memory (MB)."""

    processor: float
    elapsed: float
    memory: float


def head(*cells: str) -> None:
    """Print the head of a table."""
    row(*cells)
    print("|" + "---|" * len(cells), flush=True)


def row(*cells: object) -> None:
    """Print a row of a table; numbers should be text already."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def built(package: str, kind: str, name: str, *features: str) -> Path:
    """Build a program in release mode (`kind` is "bin" or "example"), and return its path."""
    words = ["cargo", "build", "--quiet", "--release", "--locked", "-p", package, f"--{kind}", name, *features]
    subprocess.run(words, cwd=ROOT, check=True)
    return (
        ROOT
        / os.environ.get("CARGO_TARGET_DIR", "target")
        / "release"
        / ("examples" if kind == "example" else "")
        / name
    )


def spent(command: Sequence[str | Path], text: str = "", out: IO[bytes] | int = subprocess.DEVNULL) -> Spent:
    """Run a command with a text on its standard input, which must succeed, and return what it took."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.DEVNULL)
    assert child.stdin is not None
    with child.stdin:
        child.stdin.write(text.encode())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024)
