"""The delay of a voice stream: its distribution, a panel for each link and cross traffic.

Source: seed 000 Fig. 3 (cumulative distribution of the induced one-way delay, a line for each discipline).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sojourn.plots import style
from sojourn.plots.panels import (
    LOADS,
    RISING,
    Values,
    finite,
    in_order,
    labels_of,
    link_title,
    load_title,
    say_missing,
    say_no_data,
)

#: Below this the axis of delays is linear, so that 0 has a place.
LINEAR_BELOW_MS = 1.0


def voip_delay_cdf(data: Mapping[tuple[str, str], Mapping[str, Values]]) -> Figure:
    """Draw the distribution of the induced one-way delay.

    - `data`: for each (link, cross traffic) the samples of each discipline, all runs put together, in ms: one-way delay
      less that of the empty path. Lost samples are `None` or NaN and are left out.

    Notes
    -----
    Rows are the cross traffics, columns the links from the slowest on, as in Table 2. The delay axis is logarithmic
    above 1 ms and linear below: the seed does not say which the paper has.
    """
    labels = labels_of(data.values())
    links = in_order((link for link, _ in data), RISING)
    loads = in_order((load for _, load in data), LOADS)
    with style.canvas(max(3.1 * len(links), 3.4) + 1.4, 2.75 * max(len(loads), 1) + 0.5) as figure:
        if not labels:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(len(loads), len(links), sharex="col", sharey=True, squeeze=False)
        for row, load in zip(axes, loads, strict=True):
            for axis, link in zip(row, links, strict=True):
                _panel(axis, data.get((link, load), {}), labels)
            row[0].set_ylabel(f"{load_title(load)}\nShare of samples not above")
        for axis, link in zip(axes[0], links, strict=True):
            axis.set_title(link_title(link), fontsize=10.5)
            _delay_axis(axis, [finite(values) for load in loads for values in data.get((link, load), {}).values()])
        figure.supxlabel("Induced one-way delay (ms)", fontsize=10.5)
        style.add_legend(figure, style.line_handles(labels))
    return figure


def _panel(axis: Axes, samples: Mapping[str, Values], labels: list[str]) -> None:
    colours, dashes = style.colours(labels), style.dashes(labels)
    there = {label: np.sort(finite(values)) for label, values in samples.items()}
    there = {label: values for label, values in there.items() if len(values)}
    axis.set_ylim(0, 1.01)
    if not there:
        say_no_data(axis, keep_labels=True)
        return
    for label, values in there.items():
        fraction = np.arange(1, len(values) + 1) / len(values)
        axis.step(
            np.concatenate([values[:1], values]),
            np.concatenate([[0.0], fraction]),
            where="post",
            color=colours[label],
            linestyle=dashes[label],
        )
    say_missing(axis, [label for label in labels if label not in there])


def _delay_axis(axis: Axes, samples: list[npt.NDArray[np.float64]]) -> None:
    """Set up the axis of delays that the panels of a link share."""
    highest = max((float(values.max()) for values in samples if len(values)), default=0.0)
    if highest == 0.0:
        return
    if highest > style.WIDE_RATIO * LINEAR_BELOW_MS:
        axis.set_xscale("symlog", linthresh=LINEAR_BELOW_MS, linscale=0.5)
        steps = (0, 1, 10, 100, 1000, 10_000) if highest > 60 else (0, 1, 2, 5, 10, 20, 50)
        axis.set_xticks([step for step in steps if step <= highest * 1.25])
        axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlim(-0.05 * min(highest, LINEAR_BELOW_MS), highest * 1.25)
