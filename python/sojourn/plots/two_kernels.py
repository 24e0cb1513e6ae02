"""Values of two kernels or of several commits, a dot for each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.plots import style
from sojourn.plots.panels import say_no_data

_FIRST, _SECOND, _NEITHER = *style.SIDES, style.FAINT
#: Panels in a row of a figure.
_ACROSS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A quantity of a scenario."""

    #: Above the panel.
    title: str
    #: Of the values, for the axis.
    unit: str
    #: Of each seed; `None` where a run has none.
    first: Sequence[float | None]
    second: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A commit."""

    #: Below its dots.
    name: str
    #: `"good"` or `"bad"`; `None` for one that was not judged.
    side: str | None
    #: Of each run.
    values: Sequence[float]


def paired(panels: Sequence[Panel], kernels: tuple[str, str], *, title: str = "") -> Figure:
    """Draw the values of both kernels side by side, with a line from each run to the one with the same seed."""
    across = min(max(len(panels), 1), _ACROSS)
    down = -(-max(len(panels), 1) // across)
    with style.canvas(2.9 * across + 0.5, 3.1 * down + 0.5) as figure:
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for axis, panel in zip(axes, panels, strict=False):
            pairs = [(a, b) for a, b in zip(panel.first, panel.second, strict=True) if a is not None and b is not None]
            axis.set_title(style.wrapped(panel.title, 34), fontsize=9.5)
            if not pairs:
                say_no_data(axis)
                continue
            for a, b in pairs:
                axis.plot((0, 1), (a, b), color=style.GRID, linewidth=1.0, zorder=1)
            for place, (colour, values) in enumerate(zip((_FIRST, _SECOND), zip(*pairs, strict=True), strict=True)):
                axis.plot([place] * len(values), values, "o", color=colour, markersize=4.5, alpha=0.75, zorder=2)
                axis.plot((place - 0.16, place + 0.16), [float(np.mean(values))] * 2, color=colour, linewidth=2.4)
            axis.set_xlim(-0.45, 1.45)
            axis.set_xticks((0, 1), kernels)
            axis.set_ylabel(panel.unit)
        for axis in axes[len(panels) :]:
            axis.set_visible(False)
        style.add_title(figure, title)
    return figure


def along(commits: Sequence[Measured], middle: float, *, label: str, title: str = "") -> Figure:
    """Draw each commit's values in the order of the commits, and the line between good and bad.

    - `commits`: the oldest first.
    - `middle`: half way between the mean of good and that of bad.
    - `label`: of the axis, with the unit.
    """
    colours = {"good": _FIRST, "bad": _SECOND, None: _NEITHER}
    with style.canvas(max(5.0, 0.62 * len(commits) + 2.2), 4.2) as figure:
        axis = figure.subplots()
        for place, one in enumerate(commits):
            axis.plot([place] * len(one.values), one.values, "o", color=colours[one.side], markersize=4.5, alpha=0.75)
            if one.values:
                mean = float(np.mean(one.values))
                axis.plot((place - 0.22, place + 0.22), (mean, mean), color=colours[one.side], linewidth=2.4)
        axis.axhline(middle, color=style.INK, linewidth=0.9, linestyle=(0, (4.0, 3.0)))
        axis.set_xticks(range(len(commits)), [one.name for one in commits], rotation=55, ha="right", fontsize=8)
        axis.set_ylabel(label)
        axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]))
        handles = [
            Line2D([], [], marker="o", linestyle="none", color=colours[side], label=side or "not judged")
            for side in ("good", "bad", None)
            if any(one.side == side for one in commits)
        ]
        handles.append(Line2D([], [], color=style.INK, linestyle=(0, (4.0, 3.0)), label="half way"))
        style.add_legend(figure, handles)
        if title:
            axis.set_title(title)
    return figure
