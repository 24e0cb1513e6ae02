"""The results for people."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import tables
from sojourn.validate.calls.compare import Result


def terminal(results: Sequence[Result]) -> str:
    """Return a table with a line for each discipline, and below it the first difference of each."""
    head = ["discipline", "sequences", "agree", "packets", "dropped", "marked", "largest difference, ns"]
    rows = []
    for result in results:
        plain = result.to_plain()
        rows.append(
            [
                result.text,
                *(str(plain[name]) for name in ("sequences", "agree", "packets", "dropped", "marked", "apart_ns")),
            ]
        )
    return "\n".join([tables.text(head, rows), *_differences(results)])


def _differences(results: Sequence[Result]) -> list[str]:
    lines = []
    for result in results:
        if result.first is not None:
            number, difference = result.first
            lines.append(f"{result.text}: sequence {number}: {difference}")
    return lines
