"""The file of a stored run's series: as a frame, and as the `series` of the record."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl

from sojourn.errors import SojournError
from sojourn.results import read_head


def read_series(folder: Path, stored: dict[str, Any]) -> pl.DataFrame:
    """Return the series of a stored run in long form.

    Parameters
    ----------
    folder
        Of the run.
    stored
        What its `run.json` says of the file.

    Raises
    ------
    SojournError
        If the file is not the one that was written.
    """
    path = folder / "series.parquet"
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise SojournError(message) from error
    if f"{crc32(data):08x}" != stored["crc32"]:
        message = f"{path} is damaged: its checksum is not that of its run; move the run away to have it run again"
        raise SojournError(message)
    return pl.read_parquet(BytesIO(data))


@lru_cache(maxsize=4)
def record_series(folder: Path) -> dict[str, Any]:
    """Return the series of a stored run as its record has them. The last few that were read are kept at hand.

    Raises
    ------
    SojournError
        If the file is not the one that was written.
    """
    stored = read_head(folder).stored
    frame = read_series(folder, stored)
    root: dict[str, Any] = {}
    row = 0
    for part in stored["series"]["parts"]:
        *way, name = part["path"]
        groups = [root]
        for step in way:
            groups.append(groups[-1].setdefault(step, {}))
        match part["is"]:
            case "empty":
                groups[-1][name] = {}
            case "value":
                groups[-1][name] = part["value"]
            case "times":
                groups[-1][name] = []
            case kind:
                rows = frame.slice(row, part["rows"])
                row += part["rows"]
                times = next(group for group in reversed(groups) if "t_s" in group)
                if not times["t_s"]:
                    times["t_s"] = rows["t_s"].to_list()
                values = rows["value"]
                groups[-1][name] = (values.cast(pl.Int64) if kind == "whole" else values).to_list()
    return root
