"""The programs that a build needs, each with the package that has it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.errors import SojournError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program.

    Attributes
    ----------
    program
        What is looked for in the path.
    package
        The package of Debian and Ubuntu that has it.
    """

    program: str
    package: str


TOOLS = (
    Tool(program="gcc", package="gcc"),
    Tool(program="ld", package="binutils"),
    Tool(program="strip", package="binutils"),
    Tool(program="make", package="make"),
    Tool(program="flex", package="flex"),
    Tool(program="bison", package="bison"),
    Tool(program="bc", package="bc"),
    Tool(program="awk", package="gawk"),
    Tool(program="gzip", package="gzip"),
)

_MACHINE = "x86_64"


def missing_tools(which: Callable[[str], str | None] = shutil.which) -> tuple[Tool, ...]:
    """Return the programs that are not in the path."""
    return tuple(tool for tool in TOOLS if which(tool.program) is None)


def missing_pieces(tools: tuple[Tool, ...]) -> str:
    """Return a sentence that names the programs and the command that installs them."""
    programs = " and ".join(filter(None, (", ".join(one.program for one in tools[:-1]), tools[-1].program)))
    packages = " ".join(sorted({one.package for one in tools}))
    verb = "is" if len(tools) == 1 else "are"
    return f"{programs} {verb} missing, which a build of the kernel needs: apt-get install {packages}"


def check_tools() -> None:
    """Check that everything is there.

    Raises
    ------
    SojournError
        If the machine's processor is another one, a program is missing, or the headers of the C library are.
    """
    machine = platform.machine()
    if machine != _MACHINE:
        message = f"this machine is {machine}, but User-Mode Linux is built for {_MACHINE} only"
        raise SojournError(message)
    missing = missing_tools()
    if missing:
        raise SojournError(missing_pieces(missing))
    compiled = subprocess.run(
        ["gcc", "-E", "-x", "c", "-o", os.devnull, "-"],
        input=b"#include <sys/ptrace.h>\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if compiled.returncode != 0:
        message = "the C library has no headers here, which a build of the kernel needs: apt-get install libc6-dev"
        raise SojournError(message)


def version_line(program: str) -> str:
    """Return the first line of what a program says of its version.

    Raises
    ------
    SojournError
        If it does not run.
    """
    result = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if result.returncode != 0 or not result.stdout.strip():
        message = (
            f"`{program} --version` ended with status {result.returncode}: {program} does not work on this machine"
        )
        raise SojournError(message)
    return result.stdout.splitlines()[0].strip()
