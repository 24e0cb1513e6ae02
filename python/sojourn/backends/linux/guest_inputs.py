"""What a guest is given, and the name of all of it: a measurement in virtual time is a function of nothing else.

That is the kernel, its command line, the job, the programs put into the guest's folder, and what the guest reads of
this machine, whose root is its own: the libraries of those programs and of the kernel, and a few files more. Which
they are was looked up with `strace` (tests/test_measured_kernel.py does it again). Not in it are

- the environment: the kernel's process gets three variables, and hands none of them on;
- names and places: the guest's folder, and that of the kernel, are on no command line;
- how long a guest may take, and how fast this machine is: time is virtual;
- the processor and the machine's own kernel: they decide how fast code is, and which of several equal functions of a
  library does the work.

A later version of Sojourn that gives a guest something else, without a word of it here, must change `FORMAT`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from sojourn.backends.linux import guest
from sojourn.backends.linux.job import Job
from sojourn.kernel.find import Kernel

#: The form of a measurement, and of what names it; part of its name.
FORMAT = "sojourn-measurement/1"

_NAME_LENGTH = 32

#: Where a kernel looks for firmware, `RELEASE` being its own, and what the Wi-Fi stack asks for.
_FIRMWARE = ("/lib/firmware/updates/RELEASE", "/lib/firmware/updates", "/lib/firmware/RELEASE", "/lib/firmware")
_REGULATORY = ("regulatory.db", "regulatory.db.p7s")
#: What an access point's daemon and its libraries ask for.
_ACCESS_POINT = ("/etc/localtime", "/etc/libnl/classid", "/etc/ssl/openssl.cnf", "/usr/lib/ssl/openssl.cnf", "/dev/log")
#: What decides where the loader finds a library.
_LOADER = ("/etc/ld.so.cache", "/etc/ld.so.preload")

#: What a loader says of a library, and of what is none.
_LISTED = re.compile(r"\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)")
_NO_FILE = re.compile(r"\s*linux-(?:vdso|gate)\.so\.1 (?:=> )?\(0x[0-9a-f]+\)|\s*statically linked")

_PT_INTERP = 3
_LOADER_S = 30.0

#: What a file is known by without reading it: device, number, size, and when its content and its facts changed.
_Facts = tuple[int, int, int, int, int]


def name_of(
    job: Job, kernel: Kernel, *, seed: int, words: tuple[str, ...] = (), files: Mapping[str, Path]
) -> str | None:
    """Return the name of what `guest.carry_out` would give to a guest.

    Parameters
    ----------
    job
        What the agent is to do.
    kernel, seed, words, files
        As `guest.carry_out` takes them.

    Returns
    -------
    str or None
        32 hexadecimal digits; `None` if the measurement is a function of more than can be named: it is made in real
        time, or a program of the guest is a script, lacks a library or cannot be read.

    Raises
    ------
    SojournError
        If the agent is not there.
    """
    if not kernel.virtual_time or kernel.path is None:
        return None
    try:
        programs = {"init": guest.agent(), **files}
        there = read_of_the_machine(job, kernel, programs.values())
        if there is None:
            return None
        facts = {
            "format": FORMAT,
            "kernel": content(kernel.path),
            "modules": [content(module) for module in kernel.modules],
            "words": guest.command_line(kernel, seed, words),
            "job": guest.job_text(job),
            "files": {name: content(path) for name, path in programs.items()},
            "machine": {str(path): content(path) for path in there},
        }
    except OSError:
        return None
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_NAME_LENGTH]


def read_of_the_machine(job: Job, kernel: Kernel, programs: Iterable[Path]) -> list[Path] | None:
    """Return the files of this machine that a guest reads, there or not; `None` if that cannot be told.

    Parameters
    ----------
    job, kernel
        As `name_of` takes them.
    programs
        What is put into the guest's folder and run there.
    """
    assert kernel.path is not None
    # The agent loads modules by their paths, and runs programs by them; the former are named by the kernel.
    own = [Path(step.program[0]) for step in job.bed.steps if step.program is not None]
    found: set[Path] = set(own)
    for program in (kernel.path, *programs, *own):
        needed = libraries(program)
        if needed is None:
            return None
        found.update(needed)
    if own:
        found.update(map(Path, _ACCESS_POINT))
        folders = [folder.replace("RELEASE", kernel.release) for folder in _FIRMWARE]
        found.update(Path(folder) / name for folder in folders for name in _REGULATORY)
    return sorted(found)


def libraries(program: Path) -> tuple[Path, ...] | None:
    """Return the loader of a program and all libraries that it loads; `None` if that cannot be told."""
    return _libraries(program, _facts(program), tuple(_facts_or_none(Path(name)) for name in _LOADER))


@lru_cache
def _libraries(program: Path, _own: _Facts, _loader: tuple[_Facts | None, ...]) -> tuple[Path, ...] | None:
    loader = _loader_of(program)
    if not loader:
        return None if loader is None else ()
    try:
        # The loader lists what it would load, and runs nothing of the program. A guest's environment names no places.
        result = subprocess.run(
            [loader, "--list", program], capture_output=True, text=True, env={}, timeout=_LOADER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if result.returncode != 0:
        return None
    found = {Path(loader)}
    for line in result.stdout.splitlines():
        if match := _LISTED.fullmatch(line):
            found.add(Path(match[1]))
        elif not _NO_FILE.fullmatch(line):
            return None
    return tuple(sorted(found))


def _loader_of(program: Path) -> str | None:
    """Return the loader that a program asks for, or nothing if it is whole; `None` if it is no program of 64 bits."""
    with program.open("rb") as file:
        begin = file.read(64)
        if len(begin) < 64 or begin[:6] != b"\x7fELF\x02\x01":
            return None
        (at,), (size, number) = struct.unpack_from("<Q", begin, 32), struct.unpack_from("<HH", begin, 54)
        for place in range(at, at + number * size, size):
            file.seek(place)
            entry = file.read(56)
            if len(entry) < 56:
                return None
            kind, offset, length = struct.unpack("<I4xQ16xQ16x", entry)
            if kind == _PT_INTERP:
                file.seek(offset)
                return os.fsdecode(file.read(length).rstrip(b"\0")) or None
        return ""


def _facts(path: Path) -> _Facts:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _facts_or_none(path: Path) -> _Facts | None:
    try:
        return _facts(path)
    except OSError:
        return None


def content(path: Path) -> str:
    """Return a digest of what is at a path, or a word for what is no file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "nothing"
    if not stat.S_ISREG(mode):
        return f"mode {stat.S_IFMT(mode):o}"
    return _digest(path, _facts(path))


@lru_cache(maxsize=512)
def _digest(path: Path, _own: _Facts) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
