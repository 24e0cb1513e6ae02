"""The comparison of the flusher as JSON, tables, a figure and a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn import tables
from sojourn.validate.entry import Entry
from sojourn.validate.execute import KERNEL, SIM
from sojourn.validate.flusher import GOODPUT, METRICS, RTT
from sojourn.validate.judge import Row
from sojourn.validate.part import Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RULES = """\
Means over the seeds of a cell. Mean RTT: of all synthetic packet pairs of the first flow between captures at client and
server. Goodput: of all flows. The bar is 15 % of the kernel's mean RTT and 5 % of its goodput. A cell *agrees* if its
means are within the bar; it *differs* if the 95 % interval of the difference lies outside it as a whole; else one
*cannot tell*.
*Flushes* counts those proposed, *packets* those that left, both as means of a run, simulator / kernel."""

#: The keys of an entry; its `metric` is the title.
_ENDS = ("", "_low", "_high", "_runs")
_KEYS = (
    *("scenario", "metric", "unit", *(f"{side}{end}" for side in (SIM, KERNEL) for end in _ENDS), "ratio"),
    *("difference", "difference_low", "difference_high", "bar", "verdict", "surely"),
)
_HEADS = "cell", "RTT sim (ms)", "kernel", "ratio", "goodput sim (Mbit/s)", "kernel", "ratio", "flushes", "packets"
#: What is printed of a cell outside the bar, with decimals.
_SHOWN = ((SIM, 2), (KERNEL, 2), ("ratio", 3))


def entries(part: Part) -> list[dict[str, object]]:
    """Return the entries of `validate.json`."""
    return [{key: getattr(one, "title" if key == "metric" else key) for key in _KEYS} for one in part.judged]


def counts_table(part: Part) -> str:
    """Return how many cells have each verdict, in Markdown."""
    rows = [
        [title, *map(str, (one.cells, one.agrees, one.differs, one.cannot_tell)), f"{share:.0f} %", str(one.surely)]
        for title, one in part.counts().items()
        for share in [100 * one.agrees / one.cells]
    ]
    return tables.markdown(("", "cells", "agree", "differ", "cannot tell", "within the bar", "surely"), rows)


def cells_table(entries: Sequence[Entry]) -> str:
    """Return the cells of a group, in Markdown."""
    lines: dict[str, list[str]] = {}
    for one in entries:
        line = lines.setdefault(one.scenario, [one.scenario])
        means = [tables.number(one.number(side), one.digits) for side in (SIM, KERNEL)]
        if one.is_judged:
            verdict = "" if one.verdict == "agrees" else f" **{one.verdict}**"
            line += [*means, f"{tables.number(one.number('ratio'))}{verdict}"]
        else:
            line.append(" / ".join(means))
    return tables.markdown(_HEADS, list(lines.values()))


def terminal(part: Part) -> str:
    """Return what is printed: counts, and the cells outside the bar, the farthest first."""
    rows = [[title, *map(str, (one.agrees, one.differs, one.cannot_tell))] for title, one in part.counts().items()]
    parts = [tables.text(("", "agree", "differ", "cannot tell"), rows)]
    outside = [one for one in part.judged if one.verdict != "agrees"]
    far = [
        [one.scenario, one.title, *(tables.number(one.number(key), digits) for key, digits in _SHOWN), one.verdict]
        for one in sorted(outside, key=lambda one: -abs((one.number("ratio") or 0.0) - 1.0))
    ]
    if far:
        parts.append(tables.text(("outside the bar", "", "sim", "kernel", "ratio", "verdict"), far, left=2))
    return "\n\n".join(parts)


def page(part: Part, command: str, figure: str) -> str:
    """Return the page, in Markdown; `figure` is where the figure is, from the page, and `command` makes the page."""
    blocks = [
        "# The flusher: the simulator against the daemon on the kernel",
        counts_table(part),
        f"![Means of each cell, simulator over kernel]({figure})",
        _RULES,
    ]
    for group in dict.fromkeys(one.link for one in part.entries):
        blocks += [f"## {group}", cells_table([one for one in part.entries if one.link == group])]
    blocks += ["## How it was made", f"    {command}"]
    blocks.append(tables.markdown(("", ""), list(part.facts.items()), left=2))
    return "\n\n".join(blocks) + "\n"


def figure(rows: Sequence[Row]) -> Figure:
    """Return the figure: the simulator's means over the kernel's."""
    from sojourn.validate.exhibits import scatter_figure

    shares = {metric.title: share for metric, share in zip(METRICS, (RTT, GOODPUT), strict=False)}
    return scatter_figure(rows, "means of each cell; shaded: the bar", shares)
