"""Latency while flows start: the point-wise mean of the runs over time, a line for each discipline.

Source: seed 000 Fig. 7: the first 25 s, a panel for each link.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.panels import FALLING, in_order, labels_of, link_title, say_missing, say_no_data
from sojourn.stats import Course

Scale = Literal["auto", "linear", "log"]


def transient_lines(
    data: Mapping[str, Mapping[str, Course]],
    *,
    start_s: float = -5.0,
    end_s: float = 25.0,
    scale: Scale = "auto",
) -> Figure:
    """Draw the latency over time.

    - `data`: for each link and discipline the course of its runs (`sojourn.stats.course`).
    - `start_s`, `end_s`: what is shown, as far as there are samples; the flows start at 0. The paper's tool begins 5 s
      before.
    - `scale`: of the latency. `"auto"` is logarithmic where the largest value is many times the smallest: the seed does
      not say which the paper has.
    """
    labels, links = labels_of(data.values()), in_order(data, FALLING)
    with style.canvas(8.6, 2.5 * max(len(links), 1) + 0.7) as figure:
        if not labels:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(len(links), 1, sharex=True, squeeze=False)[:, 0]
        for axis, link in zip(axes, links, strict=True):
            _panel(axis, data[link], labels, start_s, end_s, scale)
            axis.set_title(link_title(link), fontsize=10.5)
        earliest = min(course.t_s[0] for by_label in data.values() for course in by_label.values())
        axes[-1].set_xlim(max(start_s, float(earliest)), end_s)
        axes[-1].set_xlabel("Time since the flows started (s)")
        figure.supylabel("Latency (round-trip time, ms)", fontsize=10.5)
        style.add_legend(figure, style.line_handles(labels))
    return figure


def _panel(
    axis: Axes, courses: Mapping[str, Course], labels: list[str], start_s: float, end_s: float, scale: Scale
) -> None:
    colours, dashes = style.colours(labels), style.dashes(labels)
    shown: list[float] = []
    missing = []
    for label in labels:
        course = courses.get(label)
        inside = np.zeros(0, dtype=bool) if course is None else (course.t_s >= start_s) & (course.t_s <= end_s)
        if course is None or not np.isfinite(course.mean_ms[inside]).any():
            missing.append(label)
            continue
        mean = course.mean_ms[inside]
        shown.extend(mean[np.isfinite(mean)])
        axis.plot(course.t_s[inside], mean, color=colours[label], linestyle=dashes[label], linewidth=1.3)
    if not shown:
        say_no_data(axis, keep_labels=True)
        return
    axis.axvline(0, color=style.FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1.5)
    wide = min(shown) > 0 and max(shown) > style.WIDE_RATIO * min(shown)
    if scale == "log" or (scale == "auto" and wide):
        axis.set_yscale("log")
        style.log_ticks(axis.yaxis)
    else:
        axis.set_ylim(0, max(shown) * 1.06)
    say_missing(axis, missing, y=0.9)
