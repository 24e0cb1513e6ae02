"""A table of a report, as it is shown and as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it is shown, and as data.

    Attributes
    ----------
    name
        Of its files, without suffix.
    headers, rows
        What is shown; the first `left` columns hold words.
    records
        What goes into the CSV file: a row for each value, numbers unrounded.
    note
        Below the table.
    """

    name: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    records: tuple[dict[str, Any], ...]
    note: str
    left: int = 2

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return tables.markdown(self.headers, self.rows, left=self.left)

    def csv(self) -> str:
        """Return the records as CSV; a value that is not there is an empty cell."""
        return tables.csv_text(self.records)
