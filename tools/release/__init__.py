"""What other people install: the wheel, the daemon without libraries, and the licences of what they hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """A sentence for the user."""


def run(*words: str | Path, environment: dict[str, str] | None = None, folder: Path = ROOT) -> None:
    """Run a program; one that fails ends the build."""
    if subprocess.run(
        _line(words, environment), cwd=folder, env=environment, check=False, stdout=sys.stderr
    ).returncode:
        message = f"this failed: {' '.join(map(str, words))}"
        raise Refused(message)


def output(*words: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return what a program prints."""
    line = _line(words, environment)
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"this failed: {' '.join(map(str, words))}: {done.stderr.strip()}"
        raise Refused(message)
    return done.stdout.strip()


def _line(words: tuple[str | Path, ...], environment: dict[str, str] | None) -> list[str]:
    """Return a command with the place of its program."""
    place = shutil.which(words[0], path=(environment or os.environ)["PATH"])
    if place is None:
        message = f"the program {words[0]} is missing"
        raise Refused(message)
    return [place, *map(str, words[1:])]
