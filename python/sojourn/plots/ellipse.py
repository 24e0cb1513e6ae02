"""Latency against goodput: a median and a one-sigma ellipse for each discipline.

Source: seed 000 Fig. 2, after Winstein: the latency axis is flipped, so that better is up and to the right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, NullLocator

from sojourn.frame_library import pl
from sojourn.plots import style
from sojourn.plots.panels import say_no_data
from sojourn.stats import Ellipse, one_sigma

#: Below this the latency axis is linear, so that 0 and a hair below it have a place; above it is logarithmic.
LINEAR_BELOW_MS = 1.0
#: From this ratio of largest to smallest latency on, a linear axis would squeeze the best into one spot.
WIDE_RATIO = 12.0
_WORDS = {"up": "upload", "down": "download"}


def latency_goodput(runs: pl.DataFrame, *, directions: Sequence[str] = ("down",), title: str = "") -> Figure:
    """Draw the ellipses of one link.

    - `runs`: rows of `sojourn.store.metrics.RUN_SCHEMA`, all of one link.
    - `directions`: `"down"`, `"up"` or both. Both share one plot, its goodput axis broken between them, and re-use the
      same latencies.
    """
    labels = runs["qdisc"].unique(maintain_order=True).to_list()
    shapes = {direction: _ellipses(runs, labels, direction) for direction in directions}
    with style.canvas(8.6, 4.9) as figure:
        axes = figure.subplots(1, len(directions), sharey=True, squeeze=False)[0]
        for axis, direction in zip(axes, directions, strict=True):
            _draw(axis, shapes[direction], labels)
        _latency_axis(axes[0], [shape for each in shapes.values() for shape in each.values()])
        if len(directions) > 1:
            _break(axes)
            for axis, direction in zip(axes, directions, strict=True):
                axis.set_xlabel(f"{_WORDS[direction]} (Mbit/s)")
            figure.supxlabel("Mean TCP goodput", fontsize=10.5)
        else:
            axes[0].set_xlabel(f"Mean TCP goodput, {_WORDS[directions[0]]} (Mbit/s)")
        axes[0].set_ylabel("Mean induced latency (ms), flipped")
        if title:
            axes[0].set_title(title)
        axes[-1].set_title(
            "better is up and to the right ↗", loc="right", color=style.FAINT, fontsize=9.5, weight="normal"
        )
        _legend(figure, labels)
    return figure


def _ellipses(runs: pl.DataFrame, labels: list[str], direction: str) -> dict[str, Ellipse]:
    shapes = {}
    for label in labels:
        rows = runs.filter(pl.col("qdisc") == label).drop_nulls(["induced_latency_ms"])
        if not rows.is_empty():
            x, y = rows[f"goodput_{direction}_mbit"].to_list(), rows["induced_latency_ms"].to_list()
            shapes[label] = one_sigma(x, y)
    return shapes


def _draw(axis: Axes, shapes: dict[str, Ellipse], labels: list[str]) -> None:
    if not shapes:
        say_no_data(axis)
        return
    colours, markers = style.colours(labels), style.markers(labels)
    for label, shape in shapes.items():
        outline = shape.outline()
        colour = colours[label]
        axis.add_patch(Polygon(outline, closed=True, facecolor=colour, alpha=0.22, linewidth=0, zorder=2))
        axis.add_patch(Polygon(outline, closed=True, fill=False, edgecolor=colour, linewidth=1.3, zorder=3))
        axis.plot(
            [shape.x],
            [shape.y],
            marker=markers[label],
            markersize=7,
            color=colour,
            markeredgecolor="white",
            markeredgewidth=0.9,
            linestyle="none",
            zorder=4,
        )
    xs = np.concatenate([shape.outline()[:, 0] for shape in shapes.values()])
    room = max(0.08 * (xs.max() - xs.min()), 0.004 * xs.max(), 1e-6)
    axis.set_xlim(xs.min() - room, xs.max() + room)


def _latency_axis(axis: Axes, shapes: list[Ellipse]) -> None:
    if not shapes:
        return
    ys = np.concatenate([shape.outline()[:, 1] for shape in shapes])
    low, high = float(ys.min()), float(ys.max())
    medians = [shape.y for shape in shapes]
    if max(medians) > WIDE_RATIO * max(min(medians), LINEAR_BELOW_MS / 2):
        axis.set_yscale("symlog", linthresh=LINEAR_BELOW_MS, linscale=0.35)
        ticks = [tick for tick in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if tick <= high * 1.6]
        axis.set_yticks(ticks)
        axis.yaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_ylim(high * 1.25, min(low * 1.25, -0.15))
    else:
        room = max(0.08 * (high - low), 0.02)
        axis.set_ylim(high + room, low - room)


def _break(axes: Sequence[Axes]) -> None:
    """Draw the marks of a broken axis between neighbours."""
    slash = [(-0.6, -1), (0.6, 1)]
    for left, right in zip(axes, axes[1:], strict=False):
        for axis, end in ((left, 1), (right, 0)):
            axis.plot(
                [end],
                [0],
                transform=axis.transAxes,
                marker=slash,
                markersize=9,
                linestyle="none",
                color=style.FAINT,
                mew=1,
                clip_on=False,
            )
        right.spines["left"].set_visible(False)
        right.tick_params(axis="y", length=0)


def _legend(figure: Figure, labels: list[str]) -> None:
    colours, markers, names = style.colours(labels), style.markers(labels), style.short_names(labels)
    handles = [
        Line2D([], [], marker=markers[label], color=colours[label], linestyle="none", markersize=7, label=names[label])
        for label in labels
    ]
    style.add_legend(figure, handles, title="median and 1σ ellipse")
