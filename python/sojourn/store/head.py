"""What `run.json` of a stored run holds: its record, whose series are read when they are wanted."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, cast

from sojourn.errors import SojournError
from sojourn.record import Record, SeriesRecord
from sojourn.store.run import check_format


@dataclass(frozen=True, kw_only=True)
class Head:
    """What `run.json` of a stored run holds: the record, and how to put its series back."""

    record: Record
    stored: dict[str, Any]


class _Record(dict[str, Any]):
    """A record whose series are read when they are asked for."""

    def __init__(self, head: dict[str, Any], folder: Path) -> None:
        super().__init__(head)
        self._folder = folder

    def __getitem__(self, key: str) -> Any:
        if key == "series":
            return record_series(self._folder)
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if super().__contains__(key) else default

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return ValuesView(self)

    def copy(self) -> dict[str, Any]:
        return {key: self[key] for key in self}

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None


@lru_cache(maxsize=32)
def read_head(folder: Path) -> Head:
    """Return what `load_head` returns. The last few that were read are kept at hand."""
    return load_head(folder)


def load_head(folder: Path) -> Head:
    """Return what `run.json` of a stored run holds.

    Raises
    ------
    SojournError
        If the run is not whole.
    """
    from sojourn import bounded
    from sojourn.store import measured, record_shape

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
    plain = bounded.parse_json(text, lambda why: broken(f"run.json {why.removeprefix('it ')}"))
    if not isinstance(plain, dict) or "stored" not in plain:
        broken("run.json is not the record of a stored run")
    check_format(plain, str(folder / "run.json"))
    stored = plain.pop("stored")
    try:
        record_shape.check_stored(stored)
        record_shape.check_head(plain)
    except ValueError as error:
        broken(f"of run.json {error}")
    if size != stored["bytes"]:
        broken(f"series.parquet has {size} bytes, but must have {stored['bytes']}")
    measured.settle(plain)
    cost = plain.pop("cost", None)
    plain |= {"series": None, "cost": cost}
    return Head(record=cast("Record", _Record(plain, folder)), stored=stored)


@lru_cache(maxsize=4)
def record_series(folder: Path) -> SeriesRecord:
    """Return the series of a stored run as its record has them. The last few that were read are kept at hand.

    Raises
    ------
    SojournError
        If the file is not the one that was written.
    """
    from sojourn.store import record_shape, series_file

    head = read_head(folder)
    frame = series_file.read_series(folder, head.stored)
    root = series_file.put_together(frame, head.stored["series"]["parts"], folder)
    record_shape.check_series(root, head.record, str(folder / "series.parquet"))
    return cast("SeriesRecord", root)
