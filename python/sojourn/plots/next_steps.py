"""Figures of options side by side: against each other, by group, and along a quantity.

All take plain numbers and return matplotlib figures. Where there are no numbers, the panel says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.plots import style
from sojourn.plots.panels import Values, finite, say_no_data, spread

_COLOURS = ("#333333", "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Axis label, then group, then series, then a number for each run.
Panels = Mapping[str, Mapping[str, Mapping[str, Values]]]


def trade(found: Mapping[str, Mapping[str, tuple[Values, Values, Values]]], *, across: str, along: str) -> Figure:
    """Draw what is gained against what it costs.

    - `found`: for each variant (the first is drawn full, the others hollow) and option its median, its 95th percentile,
      which a line goes to, and its height.
    - `across`, `along`: labels of the horizontal and the vertical axis.
    """
    options = list(dict.fromkeys(name for each in found.values() for name in each))
    look = _looks(options)
    with style.canvas(8.6, 4.6) as figure:
        axis = figure.subplots()
        axis.set(xlabel=across, ylabel=along)
        drawn = False
        for place, each in enumerate(found.values()):
            for option, (medians, tails, heights) in each.items():
                middle, tail, height = (spread(values).mean for values in (medians, tails, heights))
                if middle is None or height is None:
                    continue
                drawn = True
                colour, marker = look[option]
                face = colour if place == 0 else "white"
                if tail is not None:
                    axis.plot([middle, tail], [height, height], color=colour, linewidth=1.0, alpha=0.6, zorder=2)
                    axis.plot([tail], [height], color=colour, marker="|", markersize=7, zorder=2)
                axis.plot([middle], [height], color=colour, marker=marker, markerfacecolor=face, markersize=8, zorder=3)
        if not drawn:
            say_no_data(axis)
            return figure
        handles = [_handle(option, look[option]) for option in options]
        if len(found) > 1:
            handles += [_handle(name, (style.INK, "o"), full=place == 0) for place, name in enumerate(found)]
        style.add_legend(figure, handles)
    return figure


def dots(panels: Panels) -> Figure:
    """Draw means and standard deviations of series, by group, a row for each quantity.

    An axis whose values span more than a factor of 8 and are above 0 is logarithmic.
    """
    return _panels(panels, _dots, rows=True)


def lines(panels: Panels, *, across: str, log: bool = False) -> Figure:
    """Draw quantities along numbers, the groups of each panel, a column for each quantity; `log` is to base 2."""
    return _panels(panels, _lines, rows=False, across=across, log=log)


def _panels(panels: Panels, draw: Any, *, rows: bool, across: str = "", log: bool = False) -> Figure:
    number = max(len(panels), 1)
    size = (9.0, 0.6 + 2.1 * number) if rows else (1.2 + 3.5 * number, 4.0)
    series = list(dict.fromkeys(name for panel in panels.values() for group in panel.values() for name in group))
    look = _looks(series)
    with style.canvas(*size) as figure:
        axes = figure.subplots(number if rows else 1, 1 if rows else number, squeeze=False).ravel()
        if not series:
            say_no_data(axes[0])
            return figure
        for axis, (label, groups) in zip(axes, panels.items(), strict=True):
            axis.set_ylabel(label)
            values = [mean for group in groups.values() for mean in map(_mean, group.values()) if mean is not None]
            if not values:
                say_no_data(axis)
                continue
            if min(values) > 0 and max(values) > style.WIDE_RATIO * min(values):
                axis.set_yscale("log")
                style.log_ticks(axis.yaxis)
            draw(axis, groups, series, look)
            if not rows:
                axis.set_xlabel(across)
            if log:
                axis.set_xscale("log", base=2)
                axis.set_xticks([float(group) for group in groups], list(groups))
                axis.minorticks_off()
            if (
                axis.get_yscale() == "linear"
                and min(values) >= 0
                and not (rows is False and min(values) > max(values) / 2)
            ):
                axis.set_ylim(bottom=0 if min(values) > 0 else -0.03 * (max(values) or 1))
        style.add_legend(figure, [_handle(name, look[name], line=not rows) for name in series])
    return figure


def _dots(
    axis: Axes,
    groups: Mapping[str, Mapping[str, Values]],
    series: Sequence[str],
    look: Mapping[str, tuple[str, str]],
) -> None:
    step = 0.76 / len(series)
    for place, group in enumerate(groups.values()):
        for number, name in enumerate(series):
            found = spread(group.get(name, ()))
            if found.mean is None:
                continue
            colour, marker = look[name]
            at = place + (number - (len(series) - 1) / 2) * step
            axis.errorbar(
                at,
                found.mean,
                yerr=found.deviation,
                color=colour,
                marker=marker,
                markersize=6,
                capsize=2.4,
                linewidth=1.1,
            )
        if place:
            axis.axvline(place - 0.5, color=style.GRID, linewidth=1.0)
    axis.set_xlim(-0.5, len(groups) - 0.5)
    axis.set_xticks(range(len(groups)), list(groups))
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")


def _lines(
    axis: Axes,
    groups: Mapping[str, Mapping[str, Values]],
    series: Sequence[str],
    look: Mapping[str, tuple[str, str]],
) -> None:
    for name in series:
        points = [(float(at), _mean(group.get(name, ()))) for at, group in groups.items()]
        there = [(at, mean) for at, mean in points if mean is not None]
        if there:
            colour, marker = look[name]
            axis.plot(*zip(*there, strict=True), color=colour, marker=marker, markersize=5)


def _mean(values: Values) -> float | None:
    there = finite(values)
    return float(there.mean()) if len(there) else None


def _looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    return {name: (_COLOURS[place % 7], _MARKERS[place % 7]) for place, name in enumerate(names)}


def _handle(name: str, look: tuple[str, str], *, full: bool = True, line: bool = False) -> Line2D:
    colour, marker = look
    return Line2D(
        [],
        [],
        color=colour,
        marker=marker,
        linestyle="-" if line else "none",
        markerfacecolor=colour if full else "white",
        label=name,
    )
