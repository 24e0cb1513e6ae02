"""A boot of a User-Mode Linux kernel with a small shell script as its first program."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.kernel.make import end_group

#: The line after which nothing more is awaited.
END = "sojourn: end"

#: Bytes of the console in which the end is looked for.
_TAIL = 4096

_BEGIN = "#!/bin/sh\nexport PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
_FINISH = f"\necho '{END}'\nwhile :; do sleep 9; done\n"

#: Where the kernel puts its memory: a file system in memory, if there is one.
_MEMORY = Path("/dev/shm")


def arguments(seed: int, *, virtual: bool = True) -> tuple[str, ...]:
    """Return the kernel's command line for a boot; in virtual time, unless that is not wanted.

    No path of this machine is in it, because the kernel stirs it into its random numbers: `/proc/self/cwd` on the
    host's root is the working directory of the kernel's process.
    """
    return (
        *("mem=256M", "root=none", "rootfstype=hostfs", "rootflags=/", "ro", "init=/proc/self/cwd/init"),
        *("con=null", "con0=null,fd:1", "quiet", "loglevel=1"),
        # A distribution's kernel covers /dev before the first program, which may lie in /dev/shm.
        *(("time-travel=inf-cpu", "time-travel-start=0") if virtual else ("devtmpfs.mount=0",)),
        f"sojourn.seed={seed}",
    )


def boot(linux: Path, script: str, work: Path, command_line: Sequence[str], patience_s: float = 60.0) -> list[str]:
    """Boot a kernel, and return the lines that the script printed.

    Parameters
    ----------
    linux
        The kernel.
    script
        For /bin/sh, on the host's root, which it cannot write; after its last line the kernel is ended.
    work
        A new folder for what the kernel needs; the caller removes it.
    command_line
        The kernel's arguments.
    patience_s
        How long it may take, seconds of this machine's clock.

    Raises
    ------
    SojournError
        If the script does not come to its end; what the kernel said last is in the sentence.
    """
    work.mkdir()
    init = work / "init"
    init.write_text(f"{_BEGIN}{script}{_FINISH}")
    init.chmod(0o755)
    console = work / "console"
    with console.open("wb") as file:
        process = subprocess.Popen(
            ["linux", *command_line],
            executable=linux,
            cwd=work,
            env={"HOME": str(work), "TMPDIR": str(_MEMORY if _MEMORY.is_dir() else work), "PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + patience_s
        while True:
            ended = process.poll() is not None
            with console.open("rb") as file:
                file.seek(max(0, console.stat().st_size - _TAIL))
                at_end = END.encode() in file.read()
            over = ended or time.monotonic() > until
            # A script can print many megabytes, so all of it is read only once.
            lines = console.read_text(errors="replace").splitlines() if at_end or over else []
            if END in lines:
                return lines[: lines.index(END)]
            if over:
                how = f"ended with status {process.returncode}" if ended else f"did not end within {patience_s:g} s"
                message = f"{linux} was started and {how}: {_gist(lines)}"
                raise SojournError(message)
            time.sleep(0.02)
    finally:
        end_group(process)


def _gist(lines: Sequence[str]) -> str:
    """Return the line that tells most: that of a panic, else the last ones."""
    panics = [line.strip() for line in lines if "panic" in line and "not syncing" in line]
    return panics[0] if panics else "; ".join(line.strip() for line in lines[-3:] if line.strip()) or "it said nothing"
