"""The errors of all drawn scenarios as one table and one figure, of one kernel or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn.frame_library import pl
from sojourn.validate.errors import MARKS, QUANTILES
from sojourn.validate.execute import SIM
from sojourn.validate.part import Part
from sojourn.validate.populations import of_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Columns of the table.
SCHEMA = {
    "kernel": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "unit": pl.String,
    "real": pl.Float64,
    "simulator": pl.Float64,
    "relative_error": pl.Float64,
}


def table(parts: Sequence[Part]) -> pl.DataFrame:
    """Return a row for each kernel, scenario and metric: both means and the relative error, a fraction.

    An error without a number (there is something where the kernel has nothing) is null.
    """
    rows = [
        {
            "kernel": part.facts.get("kernel", ""),
            "scenario": entry.scenario,
            "metric": entry.metric,
            "unit": entry.unit,
            "real": entry.number(next(side for side in entry.sides if side != SIM)),
            "simulator": entry.number(SIM),
            "relative_error": entry.number("relative_error"),
        }
        for part in parts
        for entry in part.errors
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def figure(parts: Sequence[Part]) -> Figure:
    """Return the distributions of the errors that have a bar, with the bars as crosses."""
    from sojourn.plots.errors import error_curves

    errors: dict[str, dict[str, list[float]]] = {}
    bars: dict[str, list[tuple[float, float]]] = {}
    for part in parts:
        kernel = part.facts.get("kernel", "")
        limits = of_part(part.name).bars
        for entry in part.errors:
            if entry.metric.startswith(MARKS):
                continue
            errors.setdefault(entry.title, {}).setdefault(kernel, []).append(entry.error)
            goals = limits.of(entry.metric)
            bars[entry.title] = [(goal, share) for goal, (share, _) in zip(goals, QUANTILES, strict=True)]
    return error_curves(errors, bars, title=f"{parts[0].subject}: errors; crosses: the goals")
