"""One guest: a kernel as an ordinary process, with the agent as its first program.

The guest's root is this machine's root, read only; it can write into one folder, which is made for it and removed
after it. The kernel's command line is mixed into its pool of random numbers, so nothing of this machine is in it: the
same seed draws the same numbers anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from sojourn.backends.linux import processor
from sojourn.errors import SojournError
from sojourn.kernel.cache import version_key
from sojourn.kernel.find import Kernel

#: Memory of a guest, where nothing needs more; it is taken from the machine as it is used.
MEMORY_MB = 512
#: Room that a guest's folder must have beside its memory, MB: what it writes.
_ROOM_MB = 256
#: The first version whose User-Mode Linux has the option `seccomp`.
_HAS_SECCOMP_MODE = (6, 16)
_EXIT_TOO_LONG = 3
_LAST_WORDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a guest left.

    Attributes
    ----------
    measured
        The measurement, JSON.
    packets
        The frames that were watched.
    wall_s
        How long it ran.
    peak_rss_mb
        Its largest memory, MB.
    """

    measured: str
    packets: bytes
    wall_s: float
    peak_rss_mb: float


class TooLongError(SojournError):
    """A guest took longer than it may."""


def agent() -> Path:
    """Return the agent's program.

    Raises
    ------
    SojournError
        If it is not there.
    """
    return built("sojourn-agent", "the agent of the linux back end", "SOJOURN_AGENT", "sojourn-live")


def built(name: str, what: str, variable: str, crate: str) -> Path:
    """Return a program that was compiled.

    Parameters
    ----------
    name
        Its file's.
    what
        What it is, for the sentence if it is not there.
    variable
        The variable of the environment that names another place.
    crate
        What makes it.

    Raises
    ------
    SojournError
        If it is not there.
    """
    override = os.environ.get(variable)
    place = Path(override) if override else Path(__file__).parents[2] / "bin" / name
    if not os.access(place, os.X_OK):
        message = (
            f"{what} is not at {place}: run scripts/setup, or build it with "
            f"cargo build --release -p {crate} and name its path in {variable}"
        )
        raise SojournError(message)
    return place.resolve()


@cache
def agent_identity() -> str:
    """Return what names the agent's program: a hash of its bytes.

    Raises
    ------
    SojournError
        If it is not there, or cannot be read.
    """
    program = agent()
    try:
        return f"sha256:{hashlib.sha256(program.read_bytes()).hexdigest()}"
    except OSError as error:
        message = f"the agent {program} cannot be read: {error.strerror or error}"
        raise SojournError(message) from error


def carry_out(
    job: str,
    kernel: Kernel | None,
    *,
    seed: int,
    bound_s: float,
    backend: str = "linux",
    words: tuple[str, ...] = (),
    files: Mapping[str, Path] | None = None,
    memory_mb: int | None = None,
) -> Answer:
    """Run a job on a kernel, and return what it left.

    Parameters
    ----------
    job
        What the agent is to do, JSON of the format `sojourn-job/1` or `sojourn-live-job/1`.
    kernel
        Where; `None` for this machine's own.
    seed
        Of a guest's random numbers.
    bound_s
        How long it may take, in this machine's seconds.
    backend
        What it is for: the word in an error.
    words
        What a guest's command line has besides.
    files
        Programs that are put into its folder, by their names there.
    memory_mb
        Of a guest; `None` for `MEMORY_MB`.

    Raises
    ------
    TooLongError
        If it takes longer.
    SojournError
        If the kernel or the agent fails.
    """
    program = agent()
    what = "guest" if backend == "linux" else "run"
    with _folder(memory_mb) as folder:
        (folder / "job.json").write_text(job)
        for name, path in (files or {}).items():
            shutil.copy(path, folder / name)
        command = _command(kernel, program, folder, seed, words, memory_mb)
        alone = kernel is not None and kernel.virtual_time
        with processor.claimed() if alone else nullcontext() as of_its_own:
            status, last, wall_s, peak = _supervised(program, command, folder, bound_s, of_its_own)
        with suppress(OSError):
            why = (folder / "error.txt").read_text(errors="replace").strip()
            if why:
                message = f"the {backend} back end failed: {why}"
                raise SojournError(message)
        if status == _EXIT_TOO_LONG:
            message = f"the {what} was ended, because it had not finished after {bound_s:.0f} s{last}"
            raise TooLongError(message)
        try:
            measured = (folder / "measured.json").read_text()
            packets = folder / "packets.bin"
            packet_data = packets.read_bytes() if packets.exists() else b""
        except OSError as error:
            message = f"the {what} ended with status {status} and left no measurement{last}"
            raise SojournError(message) from error
        return Answer(measured=measured, packets=packet_data, wall_s=wall_s, peak_rss_mb=peak)


def run_program(
    program: Path, kernel: Kernel, files: Mapping[str, str], answer: str, *, seed: int, bound_s: float
) -> str:
    """Run a program of its own as the first of a guest, and return what it left.

    Parameters
    ----------
    program
        What runs there in place of the agent. Its errors go to `error.txt` of the guest's folder.
    kernel
        User-Mode Linux.
    files
        Texts that are put into the guest's folder, by their names there.
    answer
        The name of the file that it leaves.
    seed
        Of the guest's random numbers.
    bound_s
        How long it may take, in this machine's seconds.

    Raises
    ------
    TooLongError
        If it takes longer.
    SojournError
        If the kernel or the program fails.
    """
    with _folder() as folder:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        command = _command(kernel, program, folder, seed)
        with processor.claimed() if kernel.virtual_time else nullcontext() as of_its_own:
            status, last, _, _ = _supervised(agent(), command, folder, bound_s, of_its_own)
        with suppress(OSError):
            why = (folder / "error.txt").read_text(errors="replace").strip()
            if why:
                message = f"{program.name} failed in its guest: {why}"
                raise SojournError(message)
        if status == _EXIT_TOO_LONG:
            message = f"the guest was ended, because it had not finished after {bound_s:.0f} s"
            raise TooLongError(message)
        try:
            return (folder / answer).read_text(encoding="utf-8")
        except OSError as error:
            message = f"the guest ended with status {status} and left no {answer}{last}"
            raise SojournError(message) from error


def job_text(job: Any) -> str:
    """Return a job as a guest gets it."""
    return json.dumps(msgspec.to_builtins(job))


def command_line(kernel: Kernel, seed: int, more: tuple[str, ...] = (), memory_mb: int | None = None) -> list[str]:
    """Return what the command line of a guest's kernel has: all of it, since the kernel adds its own words only."""
    words = [
        f"mem={memory_mb or MEMORY_MB}M",
        "root=none",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "init=/proc/self/cwd/init",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "loglevel=1",
        f"sojourn.seed={seed}",
        *more,
    ]
    if not any(word.startswith("ipv6.") for word in more):
        # Devices of IPv6 send by themselves, into the queues that are judged.
        words.append("ipv6.disable=1")
    if has_seccomp_mode(kernel) and not any(word.startswith("seccomp=") for word in more):
        # Programs of the guest then call their kernel by a signal, or by ptrace where this machine does not allow
        # that. A system call costs less, and all else is the same.
        words.append("seccomp=auto")
    if kernel.virtual_time:
        started = any(word.startswith("time-travel-start=") for word in more)
        words += ["time-travel=inf-cpu", *([] if started else ["time-travel-start=0"])]
    else:
        # A distribution's kernel covers /dev before the first program, which may lie in /dev/shm.
        words.append("devtmpfs.mount=0")
    return words


def has_seccomp_mode(kernel: Kernel) -> bool:
    """Return whether programs of a guest can call their kernel by a signal, in place of ptrace."""
    return version_key(kernel.release) >= _HAS_SECCOMP_MODE


def _command(
    kernel: Kernel | None,
    program: Path,
    folder: Path,
    seed: int,
    more: tuple[str, ...] = (),
    memory_mb: int | None = None,
) -> list[str]:
    if kernel is None or kernel.kind == "host":
        return [str(program), "run", str(folder)]
    shutil.copy(program, folder / "init")
    return [str(kernel.path), *command_line(kernel, seed, more, memory_mb)]


def _supervised(
    program: Path, command: list[str], folder: Path, bound_s: float, on: int | None
) -> tuple[int, str, float, float]:
    """Run a command under the agent's eyes, on one processor if asked: status, last words, wall time, peak memory."""
    keeper = [
        str(program),
        "supervise",
        "--master",
        str(os.getpid()),
        "--seconds",
        f"{bound_s:.3f}",
        "--folder",
        str(folder),
        "--",
        *command,
    ]
    environment = {
        "HOME": str(folder),
        "TMPDIR": str(folder.parent),
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    }
    began = time.monotonic()
    with (folder / "console.log").open("wb") as console:
        try:
            with processor.bound(on):
                process = subprocess.Popen(
                    keeper,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=console,
                    start_new_session=True,
                )
        except OSError as error:
            message = f"the agent {program} cannot be started: {error.strerror or error}"
            raise SojournError(message) from error
        try:
            _, ended, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.send_signal(signal.SIGTERM)
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(ended)
    # Of the keeper and all that it has waited for.
    return process.returncode, _last_words(folder), time.monotonic() - began, usage.ru_maxrss * 1024 / 1e6


def _last_words(folder: Path) -> str:
    text = (folder / "console.log").read_bytes()[-4096:].decode(errors="replace")
    words = " ".join(text.split())
    if len(words) > _LAST_WORDS:
        # Where it begins is said: half a sentence would look like one.
        words = "... " + words[-_LAST_WORDS:].partition(" ")[2]
    return f"; its last words: {words}" if words else ""


@contextmanager
def _folder(memory_mb: int | None = None) -> Iterator[Path]:
    """Make a folder for a guest where there is room, and remove it."""
    with tempfile.TemporaryDirectory(
        prefix="sojourn-", dir=_place((memory_mb or MEMORY_MB) + _ROOM_MB), ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _place(room_mb: int) -> Path:
    """Return where guests' folders are: in memory if there is room, which is faster than a disk."""
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    for place in places:
        with suppress(OSError):
            free = os.statvfs(place)
            if free.f_bavail * free.f_frsize >= room_mb << 20 and os.access(place, os.W_OK):
                return place
    message = (
        f"no room for a guest: neither {places[0]} nor {places[1]} has {room_mb} MB that can be written (set TMPDIR)"
    )
    raise SojournError(message)
