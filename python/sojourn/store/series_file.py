"""The file of a stored run's series: as a frame, and as the `series` of the record.

The file is Parquet, which anyone may read; here it is read by the compiled part, which knows what Sojourn writes and
nothing else. So a damaged file is refused, and no library for all of Parquet can be brought down by it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NoReturn
from zlib import crc32

import numpy as np

from sojourn import _native, bounded
from sojourn.errors import SojournError
from sojourn.frame_library import pl
from sojourn.schema import MOST_NUMBER
from sojourn.store.frames import SERIES_SCHEMA
from sojourn.store.record_shape import SeriesPart, Stored

#: Most bytes of a file; hours of a run with many flows are some tens of millions.
MOST_BYTES = 1 << 29
#: What a row takes in memory at most, on its way to a frame and in it.
_ROW_BYTES = 160
#: Up to here, a number of type `float` can count.
_WHOLE = 2.0**53


def read_series(folder: Path, stored: Stored) -> pl.DataFrame:
    """Return the series of a stored run in long form.

    Raises `SojournError` if the file is not the one that was written, or there is no memory for it.

    - `stored`: what its `run.json` says of the file.
    """
    path = folder / "series.parquet"
    data = bounded.read_bytes(path, MOST_BYTES)
    if f"{crc32(data):08x}" != stored.crc32:
        _damaged(path, "its checksum is not that of its run")
    rows = stored.series.rows
    bounded.check_memory(path, rows * _ROW_BYTES)
    try:
        columns = _native.read_series(data, rows)
    except ValueError as error:
        _damaged(path, str(error))
    frame = pl.DataFrame([_column(name, *column) for name, column in zip(SERIES_SCHEMA, columns, strict=True)])
    for name in ("t_s", "value"):
        largest = frame[name].abs().max()
        if isinstance(largest, float) and largest > MOST_NUMBER:
            _damaged(path, f"its column {name} holds {largest:g}, but no number is above {MOST_NUMBER:g}")
    return frame


def _damaged(path: Path, why: str) -> NoReturn:
    message = f"{path} is damaged: {why}; move the run away to have it run again"
    raise SojournError(message)


def _column(name: str, labels: list[str] | None, rows: bytes) -> pl.Series:
    if labels is None:
        return pl.Series(name, np.frombuffer(rows, dtype="<f8")).fill_nan(None)
    places = pl.Series(np.frombuffer(rows, dtype="<u4"))
    return pl.Series(name, [*labels, None], dtype=pl.String).gather(places)


#: Series by their names, alone or in groups.
Group = dict[str, "float | None | list[float | None] | list[int | None] | Group"]


def put_together(frame: pl.DataFrame, parts: list[SeriesPart], folder: Path) -> Group:
    """Return the series by their paths; the parts are in the order of the rows."""
    path = folder / "run.json"
    root: Group = {}
    row = 0
    for part in parts:
        *way, name = part.path
        groups = [root]
        for step in way:
            inner = groups[-1].setdefault(step, {})
            if not isinstance(inner, dict):
                _damaged(path, f"of its series {'.'.join(part.path)} lies in a list")
            groups.append(inner)
        match part.kind:
            case "empty":
                groups[-1][name] = {}
            case "value":
                groups[-1][name] = part.value
            case "times":
                groups[-1][name] = []
            case kind:
                rows = frame.slice(row, part.rows)
                row += part.rows
                times = next((group["t_s"] for group in reversed(groups) if "t_s" in group), None)
                if not isinstance(times, list):
                    _damaged(path, f"of its series {'.'.join(part.path)} has no times")
                if not times:
                    times += rows["t_s"].to_list()
                if len(times) != part.rows:
                    _damaged(path, f"of its series {'.'.join(part.path)} has not one value for each time")
                groups[-1][name] = _values(rows["value"], kind, folder)
    return root


def _values(values: pl.Series, kind: str, folder: Path) -> list[float | None] | list[int | None]:
    if kind != "whole":
        return values.to_list()
    largest = values.abs().max()
    if isinstance(largest, float) and (largest > _WHOLE or any(math.fmod(v, 1.0) for v in values.drop_nulls())):
        _damaged(folder / "series.parquet", "it counts with numbers that are not whole")
    return values.cast(pl.Int64).to_list()
