"""The simulator with transports of others: in a program of theirs, or written in Python.

A worker process loads this module for such runs alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.backends import Parts
from sojourn.errors import ParamError, SojournError

#: The program with the stacks of others, which is installed by itself.
PROGRAM = "sojourn-stacks"
#: What `list` of a program answers.
FORMAT = "sojourn-stacks/1"
#: The name of what a Python file has: a stack for each name.
STACKS = "STACKS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A transport that flows can name."""

    #: As `stack` of a flow has it.
    name: str
    #: Of what it is made.
    version: str
    #: The congestion controls that it can be told to use.
    controls: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program of stacks.

    - `path`: where it is.
    """

    path: Path

    @cached_property
    def identity(self) -> str:
        """What its runs are a function of: its bytes."""
        return _hash(self.path)

    def stacks(self) -> tuple[Stack, ...]:
        """Return what it has; raises `ParamError` if it is no such program."""
        text = self._answer(["list"], b"")
        try:
            found = json.loads(text)
            ours = found["format"] == FORMAT
            stacks = tuple(
                Stack(name=one["name"], version=one["version"], controls=tuple(one["controls"]))
                for one in (found["stacks"] if ours else ())
            )
        except (ValueError, TypeError, KeyError):
            ours, found, stacks = False, {}, ()
        if not ours:
            message = f"stacks is {str(self.path)!r}, but its answer to `list` is none of {FORMAT}"
            raise ParamError(message)
        if found["code_version"] != _native.__version__:
            message = (
                f"stacks is {str(self.path)!r}, but it is of Sojourn {found['code_version']}, and this is "
                f"{_native.__version__}: build it again"
            )
            raise ParamError(message)
        return stacks

    def run(self, scenario: str, /) -> str:
        """As `sojourn.backends.Backend.run`."""
        return self._answer(["run"], scenario.encode()).decode().rstrip("\n")

    def run_stored(self, scenario: str, run_id: str, /) -> Parts:
        """As `sojourn.backends.Backend.run_stored`."""
        answer = self._answer(["run", "--id", run_id, "--build", _native.__build__], scenario.encode())
        lengths, _, rest = answer.partition(b"\n")
        head, series, summary = (int(length) for length in lengths.split())
        return rest[:head], rest[head : head + series], rest[head + series :][:summary]

    def _answer(self, words: Sequence[str], question: bytes) -> bytes:
        try:
            made = subprocess.run([self.path, *words], input=question, capture_output=True, check=False)
        except OSError as error:
            message = f"stacks is {str(self.path)!r}, which cannot be run: {error.strerror or error}"
            raise ParamError(message) from error
        if made.returncode == 0:
            return made.stdout
        said = made.stderr.decode(errors="replace").strip() or "it said nothing"
        if made.returncode == 2:
            raise ParamError(said)
        message = f"the program {self.path} ended with status {made.returncode}: {said}"
        raise SojournError(message)


@dataclass(frozen=True)
class PythonFile:
    """A Python file whose `STACKS` is a stack for each name (`sojourn.stacks`).

    - `path`: where it is.
    """

    path: Path

    @cached_property
    def identity(self) -> str:
        """What its runs are a function of: the file, but not what it imports."""
        return _hash(self.path)

    @cached_property
    def _named(self) -> list[tuple[str, str, list[str], Any]]:
        spec = importlib.util.spec_from_file_location(f"sojourn_stacks_{self.identity}", self.path)
        if spec is None or spec.loader is None:
            message = f"stacks is {str(self.path)!r}, but must be a program or a Python file"
            raise ParamError(message)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
            found = dict(getattr(module, STACKS))
            return [(name, str(one.version), list(one.controls), one.open) for name, one in found.items()]
        except Exception as error:  # whatever somebody's file raises
            message = f"stacks is {str(self.path)!r}, which cannot be used: {type(error).__name__}: {error}"
            raise ParamError(message) from error

    def stacks(self) -> tuple[Stack, ...]:
        """Return what it has; raises `ParamError` if it cannot be used."""
        return tuple(
            Stack(name=name, version=version, controls=tuple(controls)) for name, version, controls, _ in self._named
        )

    def run(self, scenario: str, /) -> str:
        """As `sojourn.backends.Backend.run`."""
        return _native.run(scenario, self._named)

    def run_stored(self, scenario: str, run_id: str, /) -> Parts:
        """As `sojourn.backends.Backend.run_stored`."""
        return _native.run_stored(scenario, run_id, self._named)


def runner_of(stacks: str | None) -> Program | PythonFile:
    """Return what has the stacks: a program or a Python file, or else the program that is installed.

    Raises `ParamError` if it is not there.
    """
    if stacks is None:
        beside = Path(sysconfig.get_path("scripts"), PROGRAM)
        found = str(beside) if beside.is_file() else shutil.which(PROGRAM)
        if found is None:
            message = (
                f"this needs the program {PROGRAM}, which has quinn and noq and is not installed: `make stacks`, or "
                "name another one with --stacks"
            )
            raise ParamError(message)
        return Program(Path(found))
    path = Path(stacks)
    if not path.is_file():
        message = f"stacks is {stacks!r}, but must be the path of a program or of a Python file"
        raise ParamError(message)
    return PythonFile(path) if path.suffix == ".py" else Program(path.absolute())


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        message = f"stacks is {str(path)!r}, which cannot be read: {error.strerror or error}"
        raise ParamError(message) from error
