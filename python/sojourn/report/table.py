"""A table of a report, as it is shown and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it is shown, and as data."""

    #: Of its files, without suffix.
    name: str
    #: What is shown; the first `left` columns hold words.
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 2
    #: What goes into the CSV file: a row for each value, numbers unrounded.
    records: tuple[Mapping[str, tables.Value], ...] = ()
    #: Below the table.
    note: str
    #: Of the dots before the rows, if they have some.
    colours: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, columns: tuple[Sequence[str], Sequence[Sequence[str]]], note: str, **more: Any) -> Table:
        """Return a table of heads and rows that has no records; `more` are other attributes."""
        headers, rows = columns
        return cls(name=name, headers=tuple(headers), rows=tuple(map(tuple, rows)), note=note, **more)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return tables.markdown(self.headers, self.rows, left=self.left)

    def csv(self) -> str:
        """Return the records as CSV; a value that is not there is an empty cell."""
        return tables.csv_text(self.records)
