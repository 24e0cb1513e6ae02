"""A Pareto front: all settings that were tried, those that none dominates, and the known ones among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from sojourn.plots import style

#: Colour and marker of the settings that have a name.
_NAMED = {"best": ("#D55E00", "*", 190), "default": ("#0072B2", "s", 62), "rural": ("#009E73", "D", 62)}
_OTHER = ("#CC79A7", "P", 62)
_TRIED = "#c3c8ce"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A mean and the ends of its interval, `None` if there are none."""

    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Axle:
    """A metric on an axis."""

    #: The metric, and what stands beside the axis.
    name: str
    label: str


def pareto_front(
    axes: Sequence[Axle],
    *,
    tried: Sequence[Mapping[str, float]],
    front: Sequence[Mapping[str, float]],
    named: Mapping[str, Mapping[str, Measure]],
    title: str = "",
) -> Figure:
    """Draw the front in the first metric against each of the others.

    - `axes`: at least two metrics.
    - `tried`, `front`: values of each setting by metric.
    - `named`: the settings that are marked, with their intervals. A label may say more in parentheses.
    """
    panels = max(len(axes) - 1, 1)
    with style.canvas(4.6 * panels + 1.4, 4.2) as figure:
        for axis, other in zip(figure.subplots(1, panels, squeeze=False)[0], axes[1:], strict=True):
            _panel(axis, axes[0], other, tried, front, named)
        style.add_title(figure, title)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", alignment="left")
    return figure


def _panel(
    axis: Axes,
    x: Axle,
    y: Axle,
    tried: Sequence[Mapping[str, float]],
    front: Sequence[Mapping[str, float]],
    named: Mapping[str, Mapping[str, Measure]],
) -> None:
    if tried:
        axis.scatter([one[x.name] for one in tried], [one[y.name] for one in tried], s=14, color=_TRIED, label="tried")
    axis.scatter(
        [one[x.name] for one in front],
        [one[y.name] for one in front],
        s=24,
        facecolors="none",
        edgecolors=style.INK,
        label="on the front",
    )
    for name, measures in named.items():
        colour, marker, size = _NAMED.get(name.partition(" (")[0], _OTHER)
        a, b = measures[x.name], measures[y.name]
        axis.errorbar(
            [a.mean], [b.mean], xerr=_ends(a), yerr=_ends(b), fmt="none", ecolor=colour, elinewidth=1.2, zorder=3
        )
        axis.scatter([a.mean], [b.mean], s=size, marker=marker, color=colour, edgecolors="white", label=name, zorder=4)
    shown = [*tried, *front]
    for end, values in ((axis.xaxis, [one[x.name] for one in shown]), (axis.yaxis, [one[y.name] for one in shown])):
        _scale(axis, end, values)
    axis.set(xlabel=x.label, ylabel=y.label)


def _scale(axis: Axes, end: Axis, values: Sequence[float]) -> None:
    """Make an axis logarithmic if its values span much."""
    if values and min(values) > 0 and max(values) / min(values) > style.WIDE_RATIO:
        (axis.set_xscale if end is axis.xaxis else axis.set_yscale)("log")
        style.log_ticks(end)


def _ends(one: Measure) -> list[list[float]] | None:
    if one.low is None or one.high is None:
        return None
    return [[max(one.mean - one.low, 0.0)], [max(one.high - one.mean, 0.0)]]
