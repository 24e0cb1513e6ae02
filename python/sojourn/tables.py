"""Small text tables, for a terminal and for Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

#: What a row of data has in a column.
Value = str | int | float | bool | None


def text(headers: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return an aligned table; the first `left` columns are flush left, the others flush right."""
    widths = [max(len(cell) for cell in column) for column in zip(headers, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(headers), line(["-" * width for width in widths]), *map(line, rows)])


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return the same table in Markdown."""
    marks = [":--" if place < left else "--:" for place in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(headers), line(marks), *map(line, rows)])


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV; the first has the columns, and a value that is not there is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals, or a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """Return a mean and its interval, `9.21 [9.18, 9.24]`; the mean alone if there is no interval."""
    if low is None or high is None:
        return number(value, digits)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"
