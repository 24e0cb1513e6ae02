"""The report of a sweep: where a metric is least and most, a map over its keys, and the table of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from sojourn import bounded, schema
from sojourn.sweep.tables import SHOWN, SWEEP_FORMAT, CellSummary, SweepSummary, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from sojourn.report import Report

#: Most characters of what stands below a column of a map, and most rows and columns of one that can still be read.
_WIDEST, _MOST_ROWS, _MOST_COLUMNS = 10, 60, 30
_BYTES = 64 << 20
#: Keys whose values say by themselves what they are.
_PLAIN = ("qdisc", "link", "experiment")


def read(folder: Path) -> SweepSummary:
    """Return what the `sweep.json` of a folder says; raises `SojournError` if it cannot be read."""
    path = folder / "sweep.json"
    bounded.check_inside(path, folder)
    refuse = bounded.cannot(path)
    try:
        found = schema.decode(bounded.read_text(path, _BYTES), SweepSummary, refuse, SWEEP_FORMAT)
    except schema.Misfit as error:
        refuse(str(error))
    for cell in found.cells:
        if cell.values.keys() != found.vary.keys() or not SHOWN.keys() <= cell.summary.keys():
            refuse("a cell has not a value for each key of vary, and a summary of each metric")
    return found


def report_of(sweep: SweepSummary, command: str = "") -> Report:
    """Return the report of a sweep.

    - `command`: what makes it, if that is known.
    """
    from sojourn.report import Exhibit, Report
    from sojourn.report.exhibit import draw
    from sojourn.report.result import extremes, intervals
    from sojourn.report.table import Table

    quantities, figures = {}, []
    # The latency first, which is what sweeps are mostly about.
    for metric, heading in sorted(SHOWN.items(), key=lambda item: "latency" not in item[0]):
        rows = [{"cell": _words(cell), **structs.asdict(cell.summary[metric])} for cell in sweep.cells]
        found = intervals(rows, "cell")
        quantity, _, unit = heading.rstrip(")").partition(" (")
        quantities[metric] = (quantity, found, unit)
        if found and (drawing := _map(sweep, metric, heading)) is not None:
            caption = f"Means of the {quantity} of each combination; the table has their intervals."
            figures.append(draw(f"map-{metric}", caption, drawing))
    note = "Means over the runs of a combination and their 95 % intervals."
    cells = Table.of("cells", table(sweep), note, left=len(sweep.vary))
    runs = sum(cell.n for cell in sweep.cells)
    return Report(
        title=f"A sweep: {sweep.sweep}",
        reference="Every combination of lists of settings, with the same seeds.",
        result=extremes(*quantities.values()),
        command=command,
        facts=(
            *((key, ", ".join(values)) for key, values in sweep.vary.items()),
            ("runs", f"{runs}, of {len(sweep.cells)} combinations"),
            ("version", f"sojourn (code {sweep.code_version})"),
        ),
        setup="What does not vary is the same in all combinations.",
        exhibits=(
            Exhibit(
                name="cells",
                title="All combinations",
                figures=tuple(figures),
                table=cells,
                folded=True,
            ),
        ),
    )


def _words(cell: CellSummary) -> str:
    named = (value if key in _PLAIN else f"{key} {value}" for key, value in cell.values.items())
    return ", ".join(named) or "the one combination"


def _map(sweep: SweepSummary, metric: str, heading: str) -> Drawing | None:
    """Return a map of a metric: a key of short values goes across, and all others down; `None` if it is large."""
    from sojourn.plots.heat_maps import Maps, heat_maps

    widths: Mapping[str, int] = {key: max(map(len, values)) for key, values in sweep.vary.items()}
    across = min((key for key in widths if widths[key] <= _WIDEST), key=lambda key: widths[key], default=None)
    columns = [""] if across is None else sweep.vary[across]
    numbers: dict[tuple[str, str], float] = {}
    for cell in sweep.cells:
        rest = [value for key, value in cell.values.items() if key != across]
        value = cell.summary[metric].mean
        if value is not None:
            numbers[", ".join(rest), "" if across is None else cell.values[across]] = value
    if len({row for row, _ in numbers}) > _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        return None
    down = ", ".join(key for key in sweep.vary if key != across)
    words = " by ".join(filter(None, [down, across]))
    maps = Maps(label=heading, panels=[("", numbers)])
    return heat_maps([maps], columns=columns, across=across or "", title=f"{heading}: {words}")
