"""A finished run that lies in a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.record import ProbeRecord, Record, Summary
from sojourn.store.head import plain_record, read_head
from sojourn.store.run import Run

if TYPE_CHECKING:
    from sojourn.frame_library import pl


class StoredRun(Run):
    """One finished run in a store: its summary is at hand, the rest is read when it is asked for, and let go again.

    - `summary`, `seed`: as the record has them.
    - `voiced`: whether it may have voice streams; without, its metrics need no more than the summary.
    """

    def __init__(self, *, folder: Path, summary: Summary, seed: int, voiced: bool = True) -> None:
        self.folder = folder
        self._summary = summary
        self._seed = seed
        self._voiced = voiced

    @property
    def id(self) -> str:
        """Its name in the store."""
        return self.folder.name

    @property
    def text(self) -> str:
        """The record, JSON."""
        return json.dumps(plain_record(self.folder), separators=(",", ":"))

    @property
    def record(self) -> Record:
        """The whole record; its series are read when they are asked for."""
        return read_head(self.folder)

    @property
    def summary(self) -> Summary:
        """As `Run.summary`."""
        return self._summary

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._seed

    @property
    def voices(self) -> list[ProbeRecord]:
        """As `Run.voices`."""
        return super().voices if self._voiced else []

    @property
    def series(self) -> pl.DataFrame:
        """All time series in long form, schema `sojourn.store.frames.SERIES_SCHEMA`."""
        from sojourn.store.series_file import read_series

        return read_series(self.folder, read_head(self.folder).stored)
