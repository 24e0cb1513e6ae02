"""Figures of "Fighting fire with fire".

| figures             | call            | panels            | shows                                                |
| ------------------- | --------------- | ----------------- | ---------------------------------------------------- |
| 4.8, 4.9, 6.8, 6.9  | `courses`       | one under another | quantities over time                                 |
| 6.2-6.7, 6.16, 6.17 | `boxes`         | one               | quartiles, whiskers and outliers over the buffer     |
| all others          | `distributions` | one for each path | a quantity at each rank of its distribution          |

All take plain numbers and return matplotlib figures. Where there are no numbers, the panel says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType
from numpy.typing import NDArray

from sojourn.plots import style
from sojourn.plots.panels import say_no_data

#: One colour for each label, in order, from Okabe and Ito's palette.
_COLOURS = ("#333333", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line: its label, and y over x; dashed if it says so."""

    label: str
    x: Numbers
    y: Numbers
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Lines between two axes."""

    #: Words.
    title: str
    x: str
    y: str
    #: What it shows; those of one label look the same in all panels.
    curves: Sequence[Curve]
    #: A line across to read by; `None` for none.
    level: float | None = None


def distributions(panels: Sequence[Panel]) -> Figure:
    """Draw panels beside one another."""
    return _lines(panels, across=True)


def courses(panels: Sequence[Panel]) -> Figure:
    """Draw panels one under another, over the same times."""
    return _lines(panels, across=False)


def boxes(groups: Mapping[str, Mapping[int, Numbers]], *, x: str, y: str) -> Figure:
    """Draw a box plot of each label at each place: quartiles, whiskers to 1.5 interquartile ranges, the rest as dots.

    - `groups`: for each label and place the distribution.
    - `x`, `y`: words at the axes.
    """
    with style.canvas(9.6, 4.2) as figure:
        axis = figure.subplots()
        axis.set(xlabel=x, ylabel=y)
        places = sorted({place for each in groups.values() for place in each})
        if not places:
            say_no_data(axis)
            return figure
        width = 0.8 / len(groups)
        handles = []
        for i, ((label, each), colour) in enumerate(zip(groups.items(), _COLOURS, strict=False)):
            shift = (i - (len(groups) - 1) / 2) * width
            axis.boxplot(
                [each[place] for place in places if place in each],
                positions=[places.index(place) + shift for place in places if place in each],
                widths=0.85 * width,
                manage_ticks=False,
                patch_artist=True,
                boxprops={"facecolor": "white", "edgecolor": colour},
                medianprops={"color": colour, "linewidth": 1.8},
                whiskerprops={"color": colour},
                capprops={"color": colour},
                flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": colour},
            )
            handles.append(Line2D([], [], color=colour, label=label))
        axis.set_xticks(range(len(places)), [str(place) for place in places])
        axis.set_ylim(bottom=0)
        style.add_legend(figure, handles)
    return figure


def _lines(panels: Sequence[Panel], *, across: bool) -> Figure:
    rows, columns = (1, len(panels)) if across else (len(panels), 1)
    size = (4.0 * columns + 1.8, 3.8) if across else (9.6, 1.9 * rows + 0.7)
    with style.canvas(*size) as figure:
        axes = figure.subplots(rows, columns, squeeze=False, sharex=not across).flatten()
        labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
        colours = {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(labels)}
        handles: dict[str, Line2D] = {}
        for axis, panel in zip(axes, panels, strict=True):
            axis.set_title(panel.title, fontsize=10)
            axis.set_ylabel(panel.y)
            if across or axis is axes[-1]:
                axis.set_xlabel(panel.x)
            if not panel.curves:
                say_no_data(axis)
                continue
            if panel.level is not None:
                axis.axhline(panel.level, color=style.FAINT, linewidth=1.0, linestyle=":", zorder=1)
            for curve in panel.curves:
                colour = colours[curve.label]
                dashes: LineStyleType = (0, (4.0, 2.0)) if curve.dashed else "-"
                axis.plot(curve.x, curve.y, linewidth=1.6 if across else 0.9, color=colour, linestyle=dashes)
                handles.setdefault(curve.label, Line2D([], [], label=curve.label, color=colour, linestyle=dashes))
        if handles:
            style.add_legend(figure, list(handles.values()))
    return figure
