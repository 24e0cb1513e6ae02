"""A finished run: its record, and frames of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

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
        from sojourn import schema
        from sojourn.record import Record

        return schema.decoder(Record).decode(self._text)

    @property
    def record(self) -> Record:
        """The whole record."""
        return self._record

    @property
    def summary(self) -> Summary:
        """Goodput (Mbit/s), induced latency (ms), probe loss, fairness, and statistics of the round-trip time."""
        return self.record.summary

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.record.seed

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

        Raises
        ------
        SojournError
            If it is not a run.
        """
        from sojourn import schema
        from sojourn.record import Record
        from sojourn.store import measured, record_shape

        def refuse(why: str) -> NoReturn:
            message = f"{source} is not a run record: {why}"
            raise SojournError(message)

        try:
            record = schema.decode(text, Record, refuse, RUN_FORMAT)
            record_shape.check_head(record, refuse)
            record_shape.check_series(record.series, record)
        except schema.Misfit as error:
            refuse(str(error))
        measured.settle(record)
        run = Run(text=text)
        run.__dict__["_record"] = record
        return run


def voices_in(record: Record) -> list[ProbeRecord]:
    """Return what a record says of each voice stream."""
    return [probe for probe in record.probes if probe.kind == "voip"]
