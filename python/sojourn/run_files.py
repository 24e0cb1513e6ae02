"""The two files of a run in a store, written so that both are there or neither.

A worker process loads this module, and little beside it, at its start: so no pathlib, and the plain calls of `os`.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

FILES = ("run.json", "series.parquet")


def write_run(store: str | os.PathLike[str], run_id: str, head: bytes, series: bytes) -> None:
    """Write one run, whole; a run that is there already is kept.

    Parameters
    ----------
    store
        The folder of the store.
    run_id
        The run's name.
    head, series
        What `sojourn._native.run_stored` answered.

    Raises
    ------
    OSError
        If it cannot be written; nothing of it is left then.
    """
    folder = os.fspath(store)
    unfinished = f"{folder}/.{run_id}.{os.getpid()}.part"
    os.mkdir(unfinished)  # noqa: PTH102
    try:
        for name, data in zip(FILES, (head, series), strict=True):
            _write(f"{unfinished}/{name}", data)
        os.rename(unfinished, f"{folder}/{run_id}")  # noqa: PTH104
    except OSError as error:
        remove_run(unfinished)
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


def _write(path: str, data: bytes) -> None:
    """Write a new file with three system calls, where a file object takes eight."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        written = os.write(file, data)
        while written < len(data):
            written += os.write(file, data[written:])
    finally:
        os.close(file)


def cannot_write(store: str | os.PathLike[str], run_id: str, error: OSError) -> str:
    """Return the sentence for a run that could not be written."""
    return f"run {store}/{run_id} cannot be written: {reason(error)}; the runs before it are kept"


def reason(error: OSError) -> str:
    """Return why, in the system's words."""
    return error.strerror or str(error)


def remove_run(folder: str | os.PathLike[str]) -> None:
    """Remove the two files of a run and its folder, unless something else is in it."""
    for name in FILES:
        with suppress(OSError):
            os.unlink(f"{os.fspath(folder)}/{name}")  # noqa: PTH108
    with suppress(OSError):
        os.rmdir(folder)  # noqa: PTH106
