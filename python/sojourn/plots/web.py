"""How long a page takes: bars with standard deviations, grouped by link, beside the unloaded case.

Source: seed 000 Figs. 4 and 5: mean and standard deviation over the runs of each run's mean fetch time; the upper row
has one TCP stream as cross traffic, the lower row RRUL.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.panels import (
    LOADS,
    RISING,
    Values,
    in_order,
    labels_of,
    link_title,
    load_title,
    say_no_bar,
    say_no_data,
    spread,
    whisker,
)

UNLOADED = "unloaded"


def page_fetch_bars(
    data: Mapping[tuple[str, str], Mapping[str, Values]], unloaded: Mapping[str, Values], *, title: str = ""
) -> Figure:
    """Draw the mean fetch time of a page.

    - `data`: for each (link, cross traffic) and discipline the mean fetch time of each run (s); `None` for a run in
      which no fetch was completed, which is left out.
    - `unloaded`: for each link the same without other traffic.
    - `title`: above the figure, such as the page's name.

    Notes
    -----
    Each panel has an axis of its own, from 0 on. The dashed line is the unloaded mean.
    """
    labels = labels_of(data.values())
    links = in_order([*(link for link, _ in data), *unloaded], RISING)
    loads = in_order((load for _, load in data), LOADS)
    with style.canvas(max(3.3 * len(links), 3.6) + 0.4, 2.5 * max(len(loads), 1) + 1.1) as figure:
        if not labels:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(len(loads), len(links), sharex=True, squeeze=False)
        for row, load in zip(axes, loads, strict=True):
            for axis, link in zip(row, links, strict=True):
                _panel(axis, data.get((link, load), {}), unloaded.get(link, ()), labels)
            row[0].set_ylabel(f"{load_title(load)}\nMean fetch time (s)")
        for axis, link in zip(axes[0], links, strict=True):
            axis.set_title(link_title(link), fontsize=10.5)
        figure.align_ylabels(axes[:, 0])
        style.add_title(figure, title)
    return figure


def _panel(axis: Axes, times: Mapping[str, Values], unloaded: Values, labels: list[str]) -> None:
    names, colours = style.short_names(labels), style.colours(labels)
    idle = spread(unloaded)
    bars = [(names[label], colours[label], spread(times.get(label, ()))) for label in labels]
    axis.set_xticks(range(len(bars) + 1), [name for name, _, _ in bars] + [UNLOADED])
    for tick in axis.get_xticklabels():
        tick.set(rotation=50, ha="right", rotation_mode="anchor", fontsize=9)
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")
    axis.set_xlim(-0.6, len(bars) + 0.6)
    if idle.mean is None and all(found.mean is None for _, _, found in bars):
        say_no_data(axis, keep_labels=True)
        return
    for place, (_, colour, found) in enumerate(bars):
        if found.mean is None:
            say_no_bar(axis, place)
            continue
        axis.bar(place, found.mean, width=0.74, color=colour, zorder=2)
        whisker(axis, place, found)
    if idle.mean is None:
        say_no_bar(axis, len(bars))
    else:
        axis.bar(len(bars), idle.mean, width=0.74, facecolor="white", edgecolor=style.FAINT, hatch="////", zorder=2)
        whisker(axis, len(bars), idle)
        axis.axhline(idle.mean, color=style.FAINT, linestyle=(0, (5, 3)), linewidth=1.0, zorder=1.5)
    axis.set_ylim(0, axis.get_ylim()[1] * 1.02)
