"""Relative errors of many scenarios as distributions: a panel for each quantity, a line for each kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from sojourn.plots import style
from sojourn.plots.panels import say_no_data

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#333333")
#: Errors below this share of a per cent are drawn there: a logarithmic axis has no place for none at all.
_LEAST = 1e-4


def error_curves(
    quantities: Mapping[str, Mapping[str, Sequence[float]]],
    bars: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str = "",
) -> Figure:
    """Draw the share of scenarios whose error is not above a value.

    - `quantities`: for each quantity the relative errors of each kernel, fractions; one that is infinite is at the
      right end.
    - `bars`: for each quantity points that a curve must be above: the error, and the share of scenarios.
    """
    with style.canvas(3.4 * max(len(quantities), 1) + 0.4, 3.6) as figure:
        if not quantities:
            say_no_data(figure.subplots())
            return figure
        axes = figure.subplots(1, len(quantities), squeeze=False)[0]
        for one, (name, kernels) in zip(axes, quantities.items(), strict=True):
            for colour, (kernel, errors) in zip(_COLOURS, kernels.items(), strict=False):
                ordered = np.sort(np.clip(np.asarray(errors, dtype=np.float64), _LEAST, 1e3))
                share = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
                one.plot(100 * ordered, share, drawstyle="steps-post", color=colour, label=kernel)
            for error, least in bars.get(name, ()):
                one.plot(100 * error, least, "+", color=style.INK, markersize=11, markeredgewidth=1.8, zorder=4)
            one.set_xscale("log")
            style.log_ticks(one.xaxis)
            one.xaxis.set_major_locator(LogLocator(subs=(1,)))
            one.set_xlim(100 * _LEAST, 300)
            one.set_ylim(0, 1.02)
            one.set_title(name, fontsize=10.5)
            one.set_xlabel("relative error (%)")
        axes[0].set_ylabel("share of scenarios not above")
        axes[0].legend(loc="upper left")
        style.add_title(figure, title)
    return figure
