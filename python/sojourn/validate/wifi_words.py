"""The tables of a validation of cells: for each cell how many values of a kind are within the bar, and the worst."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn import tables
from sojourn.validate import bars
from sojourn.validate.entry import Entry
from sojourn.validate.part import Part
from sojourn.validate.wifi_metrics import KINDS
from sojourn.validate.wifi_table import anomaly

#: What a verdict means of cells.
RULES = """\
These are the bars:

- Each station's share of the airtime: 0.01.
- The goodput of each flow: 3 %.
- The median of each station's pings: 2 ms or 10 %, whichever is larger.
- The 95th percentile of each station's pings: 20 %.

A cell has the worst verdict of its stations or flows. The kernel is mac80211 above Sojourn's radios, in virtual
time."""


def is_cells(part: Part) -> bool:
    """Whether a part is of cells."""
    return any(entry.metric.startswith(KINDS[0][0]) for entry in part.entries)


def body(part: Part, level: int) -> list[str]:
    """Return the tables: one of all cells, and where it applies that of the paper."""
    blocks = [
        f"{'#' * level} {part.name}: every cell",
        "Values within the bar of all values; the worst: whose, kernel / simulator.",
        table(part),
    ]
    return blocks + (anomaly(part, level) if part.name.startswith("wifi-anomaly") else [])


def table(part: Part, *, markdown: bool = True) -> str:
    """Return the table of all cells."""
    by_cell: dict[str, list[Entry]] = {}
    for entry in part.judged:
        by_cell.setdefault(entry.scenario, []).append(entry)
    heads = ["cell", "load", "scheme", *(f"{title}{more}" for _, title in KINDS for more in ("", ", worst"))]
    rows = []
    for name, entries in by_cell.items():
        row = [name, entries[0].link, entries[0].qdisc]
        for start, _ in KINDS:
            row += _cells([entry for entry in entries if entry.metric.startswith(start)])
        rows.append(row)
    return (tables.markdown if markdown else tables.text)(heads, rows, left=3)


def _cells(entries: Sequence[Entry]) -> list[str]:
    if not entries:
        return ["-", "-"]
    within = sum(entry.verdict == bars.AGREES for entry in entries)
    worst = max(entries, key=_excess)
    means = " / ".join(tables.number(worst.number(side), worst.digits) for side in worst.sides)
    return [f"{within} of {len(entries)}", f"{worst.metric.rsplit('_', 1)[-1]}: {means}"]


def _excess(entry: Entry) -> float:
    """Return how far the means are apart, in bars."""
    difference = entry.number("difference")
    return math.inf if difference is None or not entry.bar else abs(difference) / entry.bar
