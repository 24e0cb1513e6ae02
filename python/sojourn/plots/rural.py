"""The figures of "Tackling Bufferbloat in Capacity-limited Networks" (seed 001), each by what it shows.

| figure          | function  | panels            | shows                                                 |
|-----------------|-----------|-------------------|-------------------------------------------------------|
| Figs. 2 to 7    | `curves`  | one for each axis | means with 95 % intervals; dashed for the high load   |
| Fig. 8          | `scatter` | one               | file completion time against round-trip time, schemes |

Both take plain numbers and return matplotlib figures. Where there are no numbers, the panel says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from sojourn.plots import style
from sojourn.plots.panels import say_no_data
from sojourn.stats.bootstrap import Interval, mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line."""

    #: The discipline, for its colour.
    scheme: str
    #: In the legend; lines of one label look the same in all panels.
    label: str
    #: Of each x the mean and its interval.
    points: Mapping[float, Interval]
    #: The paper dashes the high load, and in Fig. 2 the throughput.
    dashed: bool = False
    #: Whether markers are hollow: default parameters beside rural ones.
    hollow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel."""

    #: Words at the axes.
    x: str
    y: str
    #: What it shows.
    lines: Sequence[Line]
    #: A line to read by, such as a target; `None` for none.
    level: float | None = None
    #: Whether x is.
    logarithmic: bool = False


def curves(panels: Sequence[Panel], *, title: str = "") -> Figure:
    """Draw lines with their intervals, panel beside panel."""
    with style.canvas(max(4.1 * len(panels), 5.5) + 1.6, 3.7) as figure:
        axes = figure.subplots(1, max(len(panels), 1), squeeze=False)[0]
        schemes = list(dict.fromkeys(line.scheme for panel in panels for line in panel.lines))
        colours, markers = style.colours(schemes), style.markers(schemes)
        handles: dict[str, Line2D] = {}
        for axis, panel in zip(axes, panels, strict=False):
            axis.set(xlabel=panel.x, ylabel=panel.y)
            if not any(line.points for line in panel.lines):
                say_no_data(axis)
                continue
            _logarithmic(axis, panel)
            if panel.level is not None:
                axis.axhline(panel.level, color=style.FAINT, linewidth=1.0, zorder=1)
            for line in panel.lines:
                look = _look(line, colours[line.scheme], markers[line.scheme])
                _draw(axis, line, look)
                handles.setdefault(line.label, Line2D([], [], label=line.label, **look))
        if not panels:
            say_no_data(axes[0])
        style.add_title(figure, title)
        if handles:
            style.add_legend(figure, list(handles.values()))
    return figure


def scatter(
    found: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    looks: Mapping[str, tuple[str, bool]],
    x: str,
    y: str,
) -> Figure:
    """Draw one mark, the means with their intervals, for each label.

    - `found`: for each label the repeats' values along x and along y; a label that lacks one of them has no mark.
    - `looks`: for each label its discipline, and whether the mark is hollow.
    - `x`, `y`: words at the axes.
    """
    points = {label: (mean_interval(along), mean_interval(up)) for label, (along, up) in found.items() if along and up}
    with style.canvas(7.4, 4.1) as figure:
        axis = figure.subplots()
        axis.set(xlabel=x, ylabel=y)
        schemes = list(dict.fromkeys(looks[label][0] for label in points))
        colours, markers = style.colours(schemes), style.markers(schemes)
        handles = []
        for label, (along, up) in points.items():
            scheme, hollow = looks[label]
            one = Line(scheme=scheme, label=label, points={}, hollow=hollow)
            look = _look(one, colours[scheme], markers[scheme]) | {"linestyle": "none", "markersize": 8}
            axis.errorbar(along.value, up.value, xerr=_arms(along), yerr=_arms(up), capsize=2.6, **look)
            handles.append(Line2D([], [], label=label, **look))
        if not points:
            say_no_data(axis)
        if handles:
            style.add_legend(figure, handles)
    return figure


def _logarithmic(axis: Axes, panel: Panel) -> None:
    if panel.logarithmic:
        axis.set_xscale("log")
        ticks = sorted({x for line in panel.lines for x in line.points})
        axis.set_xticks(ticks)
        axis.tick_params(axis="x", labelsize=8)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}"))
        axis.xaxis.set_minor_locator(NullLocator())


def _look(line: Line, colour: str, marker: str) -> dict[str, Any]:
    return {
        "color": colour,
        "marker": marker,
        "markersize": 5,
        "markerfacecolor": "white" if line.hollow else colour,
        "linestyle": (0, (4.0, 2.0)) if line.dashed else "-",
    }


def _draw(axis: Axes, line: Line, look: dict[str, Any]) -> None:
    places = sorted(line.points)
    means = [line.points[place].value for place in places]
    lower, upper = zip(*(_ends(line.points[place]) for place in places), strict=True) if places else ((), ())
    axis.errorbar(places, means, yerr=(lower, upper), capsize=2.0, elinewidth=0.9, **look)


def _ends(found: Interval) -> tuple[float, float]:
    if found.low is None or found.high is None:
        return 0.0, 0.0
    return found.value - found.low, found.high - found.value


def _arms(found: Interval) -> list[list[float]]:
    low, high = _ends(found)
    return [[low], [high]]
