"""Figures and tables of the study: all cells, how near they are to the bed's, and heat maps as the study draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sojourn.papers.l4s_pam2025 import bars
from sojourn.papers.l4s_pam2025.evidence import BOTTLENECKS, SENDERS, measured, share
from sojourn.plots.heat_maps import Maps, heat_maps
from sojourn.report.exhibit import Exhibit, draw
from sojourn.report.table import Table
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import Evidence
from sojourn.study.plan import missing

#: What the table has of a cell.
COLUMNS: dict[str, Callable[[Observation], float | None]] = {
    "L4S Mbit/s": lambda run: run.l4s_mbit,
    "classic Mbit/s": lambda run: run.classic_mbit,
    "L4S RTT (ms)": lambda run: run.l4s_ms,
    "classic RTT (ms)": lambda run: run.classic_ms,
}
#: What the heat maps show: quantity, label, and bounds of the colours.
_MAPS: tuple[tuple[Callable[[Observation], float | None], str, tuple[float, float] | None, str], ...] = (
    (share, "Share of the L4S side (%)", (0, 100), "PuOr"),
    (lambda run: run.l4s_ms, "L4S RTT (ms)", None, "YlGnBu"),
    (lambda run: run.classic_ms, "Classic RTT (ms)", None, "YlGnBu"),
)
#: A figure of many flows has the cells of this buffer, in bandwidth-delay products.
_MANY_BDP = 2.0
#: A pair of senders that the bed had behind fewer bottlenecks has no figure.
_FEWEST = 4


def exhibits(planned: Iterable[Cell], evidence: Evidence) -> Iterator[Exhibit]:
    """Yield everything that is shown; figures only of cells that were measured and run."""
    planned = list(planned)
    found = bars.compared(evidence)
    if found:
        yield Exhibit(
            name="bars",
            title="How near the cells are to the bed's",
            section="all",
            says="How many of the measured cells the runs come near to.",
            table=bars.table(found),
            paragraphs=(bars.sentence(found),),
        )
        worst = bars.worst(found)
        if worst.rows:
            yield Exhibit(
                name="worst",
                title="The cells that differ most",
                section="all",
                says="The cells outside the bars whose shares differ most.",
                table=worst,
            )
    yield from _figures(evidence)
    yield Exhibit(
        name="cells",
        title="Cells",
        section="all",
        says="What the authors measured, what was run here, and what a cell needs that is not there.",
        table=_cells(planned, evidence),
        paragraphs=tuple(missing(planned, evidence.lacks)),
    )


def _cells(planned: Iterable[Cell], evidence: Evidence) -> Table:
    stated = measured()
    rows, records = [], []
    for cell in planned:
        numbers = []
        for name, quantity in COLUMNS.items():
            there = quantity(stated[cell]) if cell in stated else None
            here = bars.mean(evidence.cells.get(cell, ()), quantity)
            numbers.append(" / ".join("-" if value is None else f"{value:.1f}" for value in (there, here)))
            records.append({**cell.settings, "quantity": name, "measured": there, "here": here})
        sides = f"{SENDERS[cell.l4s].title} / {SENDERS[cell.classic].title}"
        flows = f"{cell.l4s_flows}:{cell.classic_flows}"
        place = f"{BOTTLENECKS[cell.aqm]}, {cell.bdp:g} BDP{cell.beside_base}"
        rows.append((sides, flows, place, *numbers, ", ".join(evidence.lacks(cell)) or "nothing"))
    return Table(
        name="cells",
        headers=("L4S side / classic side", "flows", "bottleneck", *COLUMNS, "needs"),
        rows=tuple(rows),
        records=tuple(records),
        note="Measured by the authors / here, means over the trials; a dash where there is none.",
        left=3,
    )


def _figures(evidence: Evidence) -> Iterator[Exhibit]:
    groups: dict[tuple[str, str, str, str], dict[tuple[str, str], Cell]] = {}
    order = list(BOTTLENECKS)
    there = [cell for cell in evidence.cells if cell in measured()]
    for cell in sorted(there, key=lambda one: (order.index(one.aqm), _place(one))):
        if cell.part == "pair":
            groups.setdefault((cell.part, cell.l4s, cell.classic, cell.beside_base), {})[
                BOTTLENECKS[cell.aqm], f"{cell.bdp:g}"
            ] = cell
        elif cell.bdp == _MANY_BDP:
            groups.setdefault((cell.part, cell.l4s, cell.classic, cell.beside_base), {})[
                BOTTLENECKS[cell.aqm], f"{cell.l4s_flows}:{cell.classic_flows}"
            ] = cell
    for (part, l4s, classic, base), cells in sorted(groups.items(), key=lambda one: (one[0][0] != "pair", one[0])):
        if len({row for row, _ in cells}) < _FEWEST:
            continue
        words = f"{SENDERS[l4s].title} beside {SENDERS[classic].title}{base}"
        across = "Buffer (BDP)"
        if part == "many":
            words, across = f"{words}, many flows, {_MANY_BDP:g} BDP", "Flows, L4S side : classic side"
        # Some bottlenecks lack some columns.
        by_size = sorted(cells.items(), key=lambda one: _place(one[1]))
        columns = [*dict.fromkeys(column for (_, column), _ in by_size)]
        figure = heat_maps(_lines(cells, evidence), columns=columns, across=across, title=words)
        name = f"{part}_{l4s}_{classic}{base.replace(', ', '_').replace(' ', '')}"
        yield Exhibit(
            name=name,
            title=words,
            section="all",
            says="Share of the goodput and round-trip times, as the bed measured them and as they are here.",
            figures=(draw(name, f"{words}: share of the L4S side and round-trip times.", figure),),
            on_page=(l4s, classic) == ("prague", "cubic_ecn"),
        )


def _place(cell: Cell) -> tuple[float, int, int]:
    return cell.bdp, cell.l4s_flows - cell.classic_flows, cell.l4s_flows


def _lines(cells: Mapping[tuple[str, str], Cell], evidence: Evidence) -> list[Maps]:
    lines = []
    for quantity, label, bounds, colours in _MAPS:
        there = {place: quantity(measured()[cell]) for place, cell in cells.items()}
        here = {place: bars.mean(evidence.cells[cell], quantity) for place, cell in cells.items()}
        panels = [
            (name, {place: value for place, value in numbers.items() if value is not None})
            for name, numbers in (("the bed", there), ("here", here))
        ]
        if all(numbers for _, numbers in panels):
            lines.append(Maps(label=label, panels=panels, bounds=bounds, colours=colours))
    return lines
