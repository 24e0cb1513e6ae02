"""What `run.json` of a stored run holds: its record, whose series are read when they are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sojourn import bounded, schema
from sojourn.bounds import Plain
from sojourn.errors import SojournError
from sojourn.record import Record, SeriesRecord
from sojourn.store import measured, record_shape
from sojourn.store.run import RUN_FORMAT

if TYPE_CHECKING:
    from sojourn.store.series_file import Group


class StoredRecord(Record, frozen=True, kw_only=True, dict=True, gc=True):
    """A record whose series are read when they are asked for, and how to put them back."""

    stored: record_shape.Stored
    series: Any = None


def _series(record: StoredRecord) -> SeriesRecord:
    return record_series(record.__dict__["folder"])


StoredRecord.series = property(_series)


@lru_cache(maxsize=32)
def read_head(folder: Path) -> StoredRecord:
    """Return what `load_head` returns. The last few that were read are kept at hand."""
    return load_head(folder)


def load_head(folder: Path) -> StoredRecord:
    """Return what `run.json` of a stored run holds; raises `SojournError` if the run is not whole."""

    def broken(why: str) -> NoReturn:
        message = f"run {folder} is not whole: {why}; move it away to have it run again"
        raise SojournError(message)

    for path in (folder, folder / "run.json", folder / "series.parquet"):
        if path.is_symlink():
            broken(f"{path.name} is a symbolic link")
    try:
        size = (folder / "series.parquet").stat().st_size
        text = bounded.read_text(folder / "run.json")
    except OSError as error:
        broken(f"series.parquet: {error.strerror or error}")
    except SojournError as error:
        broken(str(error))
    try:
        record = schema.decode(
            text, StoredRecord, lambda why: broken(f"run.json {why.removeprefix('it ')}"), RUN_FORMAT
        )
        record_shape.check_stored(record.stored)
        record_shape.check_head(record, broken)
    except schema.Misfit as error:
        broken(f"of run.json {error}")
    if size != record.stored.bytes:
        broken(f"series.parquet has {size} bytes, but must have {record.stored.bytes}")
    measured.settle(record)
    record.__dict__["folder"] = folder
    return record


@lru_cache(maxsize=4)
def record_series(folder: Path) -> SeriesRecord:
    """Return the series of a stored run as its record has them. The last few that were read are kept at hand.

    Raises `SojournError` if the file is not the one that was written.
    """
    try:
        series = schema.convert(plain_series(folder), SeriesRecord, "series")
        record_shape.check_series(series, read_head(folder))
    except schema.Misfit as error:
        message = f"{folder / 'series.parquet'} is damaged: {error}; move the run away to have it run again"
        raise SojournError(message) from error
    return series


def plain_series(folder: Path) -> Group:
    """Return the series of a stored run as JSON has them.

    Raises `SojournError` if the file is not the one that was written.
    """
    from sojourn.store import series_file

    stored = read_head(folder).stored
    return series_file.put_together(series_file.read_series(folder, stored), stored.series.parts, folder)


def plain_record(folder: Path) -> Mapping[str, Plain]:
    """Return the record of a stored run as JSON has it, with keys that are known to nobody here.

    Raises `SojournError` if the run is not whole.
    """
    record = read_head(folder)
    plain = bounded.read_json(folder / "run.json")
    measured.put_null(plain, record)
    cost = plain.pop("cost")
    del plain["stored"]
    return {**plain, "series": plain_series(folder), "cost": cost}
