"""A finished run: its record, and frames of it."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from sojourn.errors import SojournError

if TYPE_CHECKING:
    from sojourn.frame_library import pl
    from sojourn.record import ProbeRecord, Record, Summary

RUN_FORMAT = "sojourn-run/1"


class Run:
    """One finished run.

    Parameters
    ----------
    text
        The record as the compiled part wrote it, JSON.
    """

    def __init__(self, *, text: str) -> None:
        self._text = text

    @property
    def text(self) -> str:
        """The record, JSON."""
        return self._text

    @cached_property
    def _record(self) -> Record:
        record: Record = json.loads(self._text)
        return record

    @property
    def record(self) -> Record:
        """The whole record."""
        return self._record

    @property
    def summary(self) -> Summary:
        """Goodput (Mbit/s), induced latency (ms), probe loss, fairness, and statistics of the round-trip time."""
        return self.record["summary"]

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.record["seed"]

    @property
    def voices(self) -> list[ProbeRecord]:
        """What the record says of each voice stream."""
        return voices_in(self.record)

    @property
    def flows(self) -> pl.DataFrame:
        """One row for each flow, schema `sojourn.store.frames.FLOW_SCHEMA`."""
        from sojourn.store import frames

        return frames.flows(self.record)

    @property
    def drops(self) -> pl.DataFrame:
        """Drops at the bottleneck by reason and by flow, schema `sojourn.store.frames.DROP_SCHEMA`."""
        from sojourn.store import frames

        return frames.drops(self.record)

    @property
    def series(self) -> pl.DataFrame:
        """All time series in long form, schema `sojourn.store.frames.SERIES_SCHEMA`."""
        from sojourn.store import frames

        return frames.series(self.record)

    @classmethod
    def parse(cls, text: str, source: str) -> Run:
        """Return the run in `text`; `source` names it in the error.

        Of a stored run, whose series are in a file beside it, only the record is looked at.

        Raises
        ------
        SojournError
            If it is not a run.
        """
        from sojourn import bounded
        from sojourn.store import measured, record_shape

        def refuse(why: str) -> NoReturn:
            message = f"{source} is not a run record: {why}"
            raise SojournError(message)

        plain = bounded.parse_json(text, refuse)
        if not isinstance(plain, dict):
            refuse("it is not a JSON object")
        check_format(plain, source)
        try:
            record_shape.check_head(plain)
        except ValueError as error:
            refuse(str(error))
        measured.settle(plain)
        if "stored" not in plain:
            record_shape.check_series(plain.get("series"), plain, source)
        run = Run(text=text)
        run.__dict__["_record"] = plain
        return run


def check_format(plain: dict[str, Any], source: str) -> None:
    """Raise `SojournError`, which names `source`, unless the record has the format of this version."""
    from sojourn.shape import shown

    if plain.get("format") != RUN_FORMAT:
        message = f"{source} has format {shown(plain.get('format'))}, but must have {RUN_FORMAT!r}"
        raise SojournError(message)


def voices_in(record: Record) -> list[ProbeRecord]:
    """Return what a record says of each voice stream."""
    return [probe for probe in record["probes"] if probe.get("kind") == "voip"]
