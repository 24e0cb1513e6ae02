"""The two files of a run in a store, written so that both are there or neither, and what was measured beside it.

A worker process loads this module, and little beside it, at its start: so no pathlib, and the plain calls of `os`.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from sojourn.errors import SojournError
from sojourn.files import make_folder, sync, write_new

FILES = ("run.json", "series.parquet")
#: The folder of what was measured, in a store.
MEASURED = "measured"


def write_run(store: str | os.PathLike[str], run_id: str, head: bytes, series: bytes) -> None:
    """Write one run, whole; a run that is there already is kept.

    Raises `OSError` if it cannot be written; nothing of it is left then.

    - `head`, `series`: what `sojourn._native.run_stored` answered.
    """
    folder = os.fspath(store)
    unfinished = f"{folder}/.{run_id}.{os.getpid()}.part"
    os.mkdir(unfinished)  # noqa: PTH102
    try:
        for name, data in zip(FILES, (head, series), strict=True):
            write_new(f"{unfinished}/{name}", data)
        sync(unfinished)
        os.rename(unfinished, f"{folder}/{run_id}")  # noqa: PTH104
        sync(folder)
    except OSError as error:
        remove_run(unfinished)
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


class Measured:
    """What was measured on the way to the runs of a store: one file each, whole or not there.

    It is a `sojourn.backends.MeasurementStore`.
    """

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self.folder = f"{os.fspath(store)}/{MEASURED}"

    def get(self, name: str) -> bytes | None:
        """Return the file of that name, or `None` if there is none that can be read."""
        from sojourn.bounded import read_bytes

        try:
            return read_bytes(f"{self.folder}/{name}")
        except SojournError:
            return None

    def put(self, name: str, data: bytes) -> None:
        """Keep a file, in place of one that may be there.

        Raises `SojournError` if it cannot be written; nothing of it is left then.
        """
        path = f"{self.folder}/{name}"
        unfinished = f"{self.folder}/.{name}.{os.getpid()}.part"
        try:
            make_folder(self.folder)
            try:
                # Of an earlier process with this number, which the store has not known for dead.
                with suppress(FileNotFoundError):
                    os.unlink(unfinished)  # noqa: PTH108
                write_new(unfinished, data)
                os.replace(unfinished, path)  # noqa: PTH105
                sync(self.folder)
            finally:
                with suppress(OSError):
                    os.unlink(unfinished)  # noqa: PTH108
        except OSError as error:
            message = f"measurement {path} cannot be written: {reason(error)}; the runs before it are kept"
            raise SojournError(message) from error


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
