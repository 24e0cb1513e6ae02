"""One program that runs long, with its output in a log, a progress bar, and an end that leaves nothing running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from sojourn.errors import SojournError, os_errors_as
from sojourn.progress import progress_bar

#: How long a group of processes may take to end when it is asked to, seconds; then it is killed.
GRACE_S = 5.0

#: How often the log is looked at, seconds.
LOOK_S = 0.5

_COMPILED = re.compile(rb"^\s+CC\s", re.MULTILINE)


class FailedError(SojournError):
    """The program ended with another status than 0; what it said is in the log."""


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    *,
    expect: int = 0,
    describe: str | None = None,
) -> int:
    """Run a program to its end.

    However this ends, with Ctrl-C too, no process of the program's group is left.

    Parameters
    ----------
    command, folder, environment
        The program with its arguments, its working directory, and all of its environment.
    log
        Where its output goes, appended.
    expect
        About how many lines begin with `CC`, one for each compiled file; for the bar alone.
    describe
        Word before the progress bar; `None` shows none.

    Returns
    -------
    count
        How many such lines there were.

    Raises
    ------
    FailedError
        If it ends with another status than 0.
    SojournError
        If it cannot be started.
    """
    count = 0
    with (
        log.open("ab") as file,
        log.open("rb") as written,
        progress_bar(expect, describe, unit="file") as tick,
    ):
        written.seek(0, os.SEEK_END)
        with os_errors_as(f"{command[0]} cannot be started"):
            # The log is its output, not a pipe: a process that outlives the program cannot keep us waiting.
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C reaches us alone, and we end it as a whole.
                start_new_session=True,
            )
        try:
            status: int | None = None
            while status is None:
                with suppress(subprocess.TimeoutExpired):
                    status = process.wait(LOOK_S)
                for _ in range(len(_COMPILED.findall(written.read()))):
                    count += 1
                    if count <= expect:
                        tick()
        finally:
            end_group(process)
    if status != 0:
        words = " ".join(command[:1])
        message = f"{words} ended with status {status}"
        raise FailedError(message)
    return count


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads a group, and every other process of the group; return when they are gone."""
    for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
            if not _group_is_there(process.pid):
                break
            time.sleep(0.02)
        else:
            continue
        break


def _group_is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end this program as Ctrl-C does, so that it cleans up; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        message = f"ended by {signal.Signals(number).name}"
        raise KeyboardInterrupt(message)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
