"""Fairness between flows of different round-trip times: Jain's index, and what each flow gets.

Source: seed 000 Fig. 6: mean and standard deviation over the runs; (a) the index of each discipline at each rate,
(b to d) the goodput of the flows of 10, 50, 200 and 500 ms, a panel for each rate.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sojourn.plots import style
from sojourn.plots.panels import (
    RISING,
    Values,
    in_order,
    labels_of,
    link_title,
    say_no_bar,
    say_no_data,
    spread,
    whisker,
)


def jain_bars(data: Mapping[str, Mapping[str, Values]]) -> Figure:
    """Draw Jain's fairness index (Fig. 6a).

    - `data`: for each link and discipline the index of each run; `None` where nothing was delivered.
    """
    labels, links = labels_of(data.values()), in_order(data, RISING)
    colours, names = style.colours(labels), style.short_names(labels)
    with style.canvas(8.6, 3.7) as figure:
        axis = figure.subplots()
        if not labels:
            say_no_data(axis)
            return figure
        width = 0.84 / len(labels)
        for group, link in enumerate(links):
            for number, label in enumerate(labels):
                place = group + (number - (len(labels) - 1) / 2) * width
                found = spread(data[link].get(label, ()))
                if found.mean is None:
                    say_no_bar(axis, place)
                    continue
                axis.bar(place, found.mean, width=0.88 * width, color=colours[label], zorder=2)
                whisker(axis, place, found)
        axis.set_xticks(range(len(links)), [link_title(link) for link in links])
        axis.tick_params(axis="x", length=0)
        axis.grid(visible=False, axis="x")
        axis.set_xlim(-0.52, len(links) - 0.48)
        axis.set_ylim(0, 1.06)
        axis.set_ylabel("Jain's fairness index")
        style.add_legend(figure, [Patch(color=colours[label], label=names[label]) for label in labels])
    return figure


def flow_goodput_bars(data: Mapping[str, Mapping[str, Mapping[float, Values]]]) -> Figure:
    """Draw the goodput of each flow (Figs. 6b to 6d).

    - `data`: for each link, discipline and base round-trip time (ms) the goodput of that flow in each run (Mbit/s).
    """
    labels, links = labels_of(data.values()), in_order(data, RISING)
    names = style.short_names(labels)
    rtts = sorted({rtt for by_label in data.values() for flows in by_label.values() for rtt in flows})
    # Shades from light to dark: they are read by brightness alone.
    shades = {rtt: mpl.colormaps["cividis_r"]((number + 0.6) / len(rtts)) for number, rtt in enumerate(rtts)}
    with style.canvas(8.6, 2.1 * max(len(links), 1) + 0.9) as figure:
        if not links or not rtts:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(len(links), 1, sharex=True, squeeze=False)[:, 0]
        width = 0.8 / len(rtts)
        for axis, link in zip(axes, links, strict=True):
            for group, label in enumerate(labels):
                for number, rtt in enumerate(rtts):
                    place = group + (number - (len(rtts) - 1) / 2) * width
                    found = spread(data[link].get(label, {}).get(rtt, ()))
                    if found.mean is None:
                        say_no_bar(axis, place)
                        continue
                    axis.bar(place, found.mean, width=0.9 * width, color=shades[rtt], zorder=2)
                    whisker(axis, place, found)
            axis.set_title(link_title(link), fontsize=10.5)
            axis.grid(visible=False, axis="x")
            axis.set_ylim(bottom=0)
            axis.tick_params(axis="x", length=0)
        axes[-1].set_xticks(range(len(labels)), [names[label] for label in labels])
        axes[-1].set_xlim(-0.6, len(labels) - 0.4)
        figure.supylabel("Goodput of each flow (Mbit/s)", fontsize=10.5)
        style.add_legend(figure, [Patch(color=shades[rtt], label=f"{rtt:g} ms") for rtt in rtts], title="base RTT")
    return figure
