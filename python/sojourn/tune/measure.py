"""What is taken from a run, and the journal in which it is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from sojourn import bounded, schema
from sojourn.errors import SojournError, os_errors_as
from sojourn.record import Record
from sojourn.scenario import Direction
from sojourn.schema import Number, Text, or_null, required
from sojourn.units import bits_per_s, seconds

#: Measures of one run by the name of the metric; `None` where the run has none, such as no file that was completed.
Measures = dict[str, float | None]

JOURNAL_FORMAT = "sojourn-tune-journal/1"
FILE = "measures.jsonl"


class _Entry(Struct):
    run: Text
    measures: dict[Text, Number | None]


def measures(record: Record, direction: Direction) -> Measures:
    """Return what a record says of the bottleneck in a direction, and of files and thin streams.

    The utilisation is what left the queue over rate times duration. It can
    be above 1 by the depth of the rate limiter's bucket.
    """
    scenario = record.scenario
    end = record.bottleneck[direction]
    drops = sum(end.drops.values())
    thin = [
        mean
        for flow in record.flows
        if flow.writes is not None and (mean := required(flow.sojourn_ms, "sojourn_ms").mean) is not None
    ]
    return {
        "utilisation": end.bytes * 8 / (bits_per_s(scenario[direction]) * seconds(scenario["duration"])),
        "delay": end.sojourn_ms.mean,
        "delay_p95": end.sojourn_ms.p95,
        "fct": or_null(record.summary.fct_ms),
        "loss": drops / (end.packets + drops) if drops else 0.0,
        "thin_delay": sum(thin) / len(thin) if thin else None,
    }


class Journal:
    """The measures of all runs that are done, by the run's name; in memory, and in a file if there is a folder.

    The file has one line for each run and is only ever added to. A line that a kill left unfinished is dropped when the
    file is next opened.

    - `folder`: where the file is; `None` keeps nothing.

    Raises
    ------
    SojournError
        If the file is not a journal, or cannot be used.
    """

    def __init__(self, folder: Path | None) -> None:
        self.known: dict[str, Measures] = {}
        self._file: int | None = None
        if folder is None:
            return
        self._path = folder / FILE
        head = json.dumps({"format": JOURNAL_FORMAT}) + "\n"
        try:
            whole = bounded.read_bytes(self._path) if self._path.exists() else b""
            whole = whole[: whole.rfind(b"\n") + 1]
            lines = whole.decode().splitlines(keepends=True)
            if lines and lines[0] != head:
                message = f"{self._path} is not a journal of this version: name another folder, or give --force"
                raise SojournError(message)
            for line in lines[1:]:
                entry = schema.decode(line, _Entry, self._refuse)
                self.known[entry.run] = entry.measures
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self._hold()
            os.ftruncate(self._file, len(whole))
            os.lseek(self._file, 0, os.SEEK_END)
            if not lines:
                os.write(self._file, head.encode())
        except ValueError as error:
            self._refuse(f"it is not a journal of runs: {error}")
        except OSError as error:
            message = f"{self._path} cannot be used: {error.strerror or error}"
            raise SojournError(message) from error

    def _refuse(self, why: str) -> NoReturn:
        message = f"{self._path} cannot be read: {why}"
        raise SojournError(message)

    def _hold(self) -> None:
        """Keep other processes out."""
        import fcntl

        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"{self._path} is in use by another process: wait for its end, or name another folder"
            raise SojournError(message) from error

    def add(self, run_id: str, found: Measures) -> None:
        """Keep the measures of a run; raises `SojournError` if they cannot be written."""
        self.known[run_id] = found
        if self._file is None:
            return
        line = json.dumps({"run": run_id, "measures": found}) + "\n"
        with os_errors_as(f"{self._path} cannot be written"):
            os.write(self._file, line.encode())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
