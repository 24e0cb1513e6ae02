"""The comparison of the flusher as tables, a figure and a page."""

from __future__ import annotations

from collections.abc import Mapping

from sojourn import tables
from sojourn.papers.flusher.evidence import ADAPTIVE, FIFO
from sojourn.study.cell import Cell
from sojourn.validate.flusher import GOODPUT, JUDGED, RTT, SHOWN, Compared, Row

_RULES = """\
Means over the seeds of a cell. Mean RTT: of all synthetic packet pairs of the first flow between captures at client and
server. Goodput: of all flows. The bar is 15 % of the kernel's mean RTT and 5 % of its goodput. A cell *agrees* if its
means are within the bar; it *differs* if the 95 % interval of the difference lies outside it as a whole; else one
*cannot tell*.
*Flushes* counts those proposed, *packets* those that left, both as means of a run, simulator / kernel."""


def counts_table(compared: Compared) -> str:
    """Return how many cells have each verdict, in Markdown."""
    rows = []
    for title, found in compared.counts().items():
        total = sum(found.values())
        within = found["agrees"] / total if total else 0.0
        surely = sum(row.judged.surely for row in compared.rows if row.title == title)
        rows.append(
            [title, str(total), *(str(count) for count in found.values()), f"{100 * within:.0f} %", str(surely)]
        )
    headers = ("", "cells", "agree", "differ", "cannot tell", "within the bar", "surely")
    return tables.markdown(headers, rows)


def group_of(cell: Cell) -> str:
    """Return the part of the comparison that a cell is in."""
    if cell.scene != "one flow":
        return "Four flows"
    if cell.queue != FIFO:
        return "AQM"
    if not cell.active:
        return "FIFO, passive"
    return "FIFO, adaptive" if cell.reading == ADAPTIVE else "FIFO, the thesis's flusher"


def cells_table(compared: Compared, group: str) -> str:
    """Return the cells of a group, in Markdown."""
    by_cell: dict[Cell, list[Row]] = {}
    for row in compared.rows:
        if group_of(row.cell) == group:
            by_cell.setdefault(row.cell, []).append(row)
    lines = []
    for cell, rows in by_cell.items():
        line = [cell.words()]
        for row, digits in zip(rows, (1, 3), strict=True):
            verdict = "" if row.judged.verdict == "agrees" else f" **{row.judged.verdict}**"
            line += [f"{row.sim.value:.{digits}f}", f"{row.kernel.value:.{digits}f}", f"{row.ratio:.2f}{verdict}"]
        line += ["{:.1f} / {:.1f}".format(*compared.shown[cell][title]) for title, _ in SHOWN]
        lines.append(line)
    headers = (
        "cell",
        "RTT sim (ms)",
        "kernel",
        "ratio",
        "goodput sim (Mbit/s)",
        "kernel",
        "ratio",
        "flushes",
        "packets",
    )
    return tables.markdown(headers, lines)


def outside(compared: Compared) -> list[Row]:
    """Return the rows whose means are outside the bar, the farthest first."""
    found = [row for row in compared.rows if row.judged.verdict != "agrees"]
    return sorted(found, key=lambda row: -abs(row.ratio - 1.0))


def terminal(compared: Compared) -> str:
    """Return what is printed: counts, and the cells outside the bar."""
    rows = [[title, *(str(count) for count in found.values())] for title, found in compared.counts().items()]
    parts = [tables.text(("", "agree", "differ", "cannot tell"), rows)]
    far = [
        [
            row.cell.words(),
            row.title,
            f"{row.sim.value:.2f}",
            f"{row.kernel.value:.2f}",
            f"{row.ratio:.3f}",
            row.judged.verdict,
        ]
        for row in outside(compared)
    ]
    if far:
        parts.append(tables.text(("outside the bar", "", "sim", "kernel", "ratio", "verdict"), far, left=2))
    return "\n\n".join(parts)


def page(compared: Compared, command: str, facts: Mapping[str, str], figure: str | None) -> str:
    """Return the page, in Markdown.

    Parameters
    ----------
    compared
        What came of it.
    command
        What makes it.
    facts
        Beside it.
    figure
        Where the figure is, from the page; `None` for none.
    """
    groups = list(dict.fromkeys(group_of(row.cell) for row in compared.rows))
    blocks = [
        "# The flusher: the simulator against the daemon on the kernel",
        counts_table(compared),
        *([f"![Means of each cell, simulator over kernel]({figure})"] if figure else []),
        _RULES,
    ]
    for group in groups:
        blocks += [f"## {group}", cells_table(compared, group)]
    blocks += ["## How it was made", f"    {command}"]
    blocks.append(tables.markdown(("", ""), [[name, value] for name, value in facts.items()], left=2))
    return "\n\n".join(blocks) + "\n"


def figure(compared: Compared) -> dict[str, bytes]:
    """Return the figure's files by format: the simulator's means over the kernel's."""
    from sojourn.plots.overlay import scatter_pairs
    from sojourn.plots.save import FORMATS, to_bytes

    groups = {
        title: [(row.kernel.value, row.sim.value) for row in compared.rows if row.title == title]
        for title, *_ in JUDGED
    }
    units = {title: unit for title, unit, *_ in JUDGED}
    shares = {RTT[0]: RTT[3].share, GOODPUT[0]: GOODPUT[3].share}
    drawn = scatter_pairs(groups, units, share=shares, title="means of each cell; shaded: the bar")
    return {form: to_bytes(drawn, form) for form in FORMATS}
