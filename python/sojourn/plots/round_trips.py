"""Round-trip times from two captures: over time, and their distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sojourn.plots import style
from sojourn.plots.panels import say_no_data

#: Flows that have a colour of their own: those with the most pairs.
_FLOWS = 6
_OTHERS = "others"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: So many dots are drawn of a flow at most; of more, every nth.
_DOTS = 20_000


def course_and_distribution(
    at_ns: NDArray[np.uint64], rtt_ns: NDArray[np.uint64], flow: NDArray[np.uint32], names: Sequence[str]
) -> Figure:
    """Return a figure of round-trip times: each over time, and the share that is not above a time, by flow.

    - `at_ns`, `rtt_ns`, `flow`: of each pair: when, how long, and the number of its flow.
    """
    with style.canvas(9.0, 3.4) as figure:
        over_time, distribution = figure.subplots(1, 2, width_ratios=(2, 1))
        over_time.set(xlabel="time (s)", ylabel="round-trip time (ms)")
        distribution.set(xlabel="round-trip time (ms)", ylabel="share not above")
        if not rtt_ns.size:
            say_no_data(over_time)
            say_no_data(distribution)
            return figure
        begin = at_ns.min()
        for label, colour, chosen in _groups(flow, names):
            t, ms = (at_ns[chosen] - begin) / 1e9, rtt_ns[chosen] / 1e6
            step = -(-t.size // _DOTS)
            over_time.plot(t[::step], ms[::step], ".", markersize=1.5, color=colour, rasterized=True)
            ordered = np.sort(ms)
            places = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, 1000)).astype(int))
            share = (places + 1) / ordered.size
            distribution.plot(ordered[places], share, color=colour, drawstyle="steps-post", label=label)
        over_time.set_ylim(bottom=0)
        distribution.set_ylim(0, 1.02)
        figure.legend(*distribution.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize="small")
        return figure


def _groups(flow: NDArray[np.uint32], names: Sequence[str]) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """Return label, colour and pairs of the largest flows, and of all others together."""
    counts = np.bincount(flow, minlength=len(names))
    order = [int(i) for i in np.argsort(-counts, kind="stable") if counts[i]]
    groups = [(names[i], colour, flow == i) for i, colour in zip(order[:_FLOWS], _COLOURS, strict=False)]
    if len(order) > _FLOWS:
        groups.append((_OTHERS, "#999999", np.isin(flow, order[_FLOWS:])))
    return groups
