"""Two back ends over each other: a grid of panels, rows of links and columns of disciplines, two lines in each.

The kernel's line is broad and pale, the simulator's thin and dark on top of it: where only one is seen, they coincide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from sojourn.plots import style
from sojourn.plots.panels import link_title, say_no_data

Array = npt.NDArray[np.float64]

#: Back end, colour, width of the line: the first is drawn first.
_LOOKS = {
    "linux": ("#9cc3e6", 3.2, "Linux kernel"),
    "live": ("#8fcfa5", 2.2, "live"),
    "sim": ("#B5400F", 1.1, "simulator"),
}
#: From so many columns on a title is shortened to its kind.
_LONGEST_TITLE = 18


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One panel."""

    #: Where: a link and a discipline.
    row: str
    column: str
    #: x and y of each back end (`"linux"`, `"live"`, `"sim"`).
    lines: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    #: Lines of small text in the panel.
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What the axes of all panels are."""

    #: Labels with units.
    x: str
    y: str
    #: Whether lines are steps.
    steps: bool = False
    #: Whether an axis is logarithmic in panels whose values are wide apart.
    wide_x: bool = False
    wide_y: bool = False
    #: Upper end of y, if it is the same in all panels.
    y_end: float | None = None
    #: Whether y begins at 0 where it is not logarithmic.
    from_zero: bool = True
    #: Whether notes are at the lower end of a panel.
    note_low: bool = False


def overlay_grid(panels: Sequence[Panel], axis: Axis, *, title: str = "") -> Figure:
    """Draw the panels.

    - `panels`: in any order; a place without one is said to have no data.
    - `axis`: labels and scales.
    """
    rows = list(dict.fromkeys(panel.row for panel in panels))
    columns = list(dict.fromkeys(panel.column for panel in panels))
    there = {(panel.row, panel.column): panel for panel in panels}
    width, height = 2.15 * max(len(columns), 2) + 0.6, 1.85 * max(len(rows), 1) + 0.9
    with style.canvas(width, height) as figure:
        if not panels:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(len(rows), len(columns), squeeze=False)
        names = style.short_names(columns)
        for place, row in enumerate(rows):
            for number, column in enumerate(columns):
                one = axes[place, number]
                one.tick_params(labelsize=7.5)
                _draw(one, there.get((row, column)), axis)
                if place == 0:
                    short = names[column] if len(names[column]) <= _LONGEST_TITLE else f"{names[column][:17]}…"
                    one.set_title(short, fontsize=10)
            label = link_title(row)
            axes[place, 0].set_ylabel(label, fontsize=9.5, weight="bold")
        figure.supxlabel(axis.x, fontsize=10)
        figure.supylabel(axis.y, fontsize=10)
        style.add_title(figure, title)
        figure.legend(handles=_handles(panels), loc="outside upper right", ncols=2)
    return figure


def scatter_pairs(
    groups: Mapping[str, Sequence[tuple[float, float]]],
    units: Mapping[str, str],
    *,
    share: float | Mapping[str, float],
    title: str = "",
) -> Figure:
    """Draw the simulator's means over the kernel's, a panel for each metric.

    - `groups`: for each metric pairs of kernel and simulator.
    - `units`: of each metric.
    - `share`: a band of this share to either side of equality is shaded; of each metric, if it is by metric.
    """
    with style.canvas(3.3 * max(len(groups), 1) + 0.4, 3.8) as figure:
        if not groups:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(1, len(groups), squeeze=False)[0]
        for one, (name, pairs) in zip(axes, groups.items(), strict=True):
            _scatter(one, pairs, share if isinstance(share, float) else share[name])
            one.set_title(name, fontsize=10.5)
            one.set(xlabel=f"Linux kernel ({units[name]})", ylabel=f"simulator ({units[name]})")
        style.add_title(figure, title)
    return figure


def _scatter(one: Axes, pairs: Sequence[tuple[float, float]], share: float) -> None:
    above = [pair for pair in pairs if min(pair) > 0 and all(map(math.isfinite, pair))]
    if not above:
        say_no_data(one)
        return
    values = [value for pair in above for value in pair]
    ends = np.array([min(values) / 1.3, max(values) * 1.3])
    one.fill_between(ends, ends * (1 - share), ends * (1 + share), color=style.GRID, zorder=1)
    one.plot(ends, ends, color=style.FAINT, linewidth=0.8, zorder=1.5)
    one.plot(*zip(*above, strict=True), "o", color=_LOOKS["sim"][0], markersize=4.5, alpha=0.75, zorder=3)
    one.set_xscale("log")
    one.set_yscale("log")
    few = max(values) > 200 * min(values)
    for axis in (one.xaxis, one.yaxis):
        style.log_ticks(axis)
        if few:
            axis.set_major_locator(LogLocator(subs=(1,)))
    one.set_xlim(*ends)
    one.set_ylim(*ends)
    one.set_aspect("equal")


def _draw(one: Axes, panel: Panel | None, axis: Axis) -> None:
    lines = {} if panel is None else {name: line for name, line in panel.lines.items() if len(line[0])}
    if panel is None or not lines:
        say_no_data(one, keep_labels=True)
        return
    for name, (colour, width, _) in _LOOKS.items():
        if name in lines:
            x, y = lines[name]
            one.plot(x, y, color=colour, linewidth=width, drawstyle="steps-post" if axis.steps else "default")
    _scale(one, axis, lines)
    if panel.note:
        low = axis.note_low
        one.text(
            0.97,
            0.05 if low else 0.96,
            panel.note,
            transform=one.transAxes,
            ha="right",
            va="bottom" if low else "top",
            fontsize=7,
            color=style.INK,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0},
        )


def _scale(one: Axes, axis: Axis, lines: Mapping[str, tuple[Array, Array]]) -> None:
    xs = np.concatenate([x for x, _ in lines.values()])
    ys = np.concatenate([y for _, y in lines.values()])
    if axis.wide_x and _wide(xs):
        one.set_xscale("log")
        style.log_ticks(one.xaxis)
        if np.nanmax(xs) > 100 * np.nanmin(xs):
            one.xaxis.set_major_locator(LogLocator(subs=(1,)))
    if axis.wide_y and _wide(ys):
        one.set_yscale("log")
        style.log_ticks(one.yaxis)
    elif axis.y_end is not None:
        one.set_ylim(0, axis.y_end)
    elif axis.from_zero:
        one.set_ylim(bottom=0)


def _wide(values: Array) -> bool:
    there = values[np.isfinite(values)]
    return len(there) > 0 and there.min() > 0 and there.max() > style.WIDE_RATIO * there.min()


def _handles(panels: Sequence[Panel]) -> list[Line2D]:
    there = {name for panel in panels for name in panel.lines} or {"linux", "sim"}
    looks = [look for name, look in _LOOKS.items() if name in there]
    return [Line2D([], [], color=colour, linewidth=width, label=label) for colour, width, label in looks]
