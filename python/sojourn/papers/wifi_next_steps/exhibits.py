"""The numbers behind the figures, tables and paragraphs of `exhibits.toml`: by option and load of a part."""

from __future__ import annotations

from functools import partial

from sojourn.errors import SojournError
from sojourn.papers.wifi_next_steps.evidence import Evidence, each, of_part, unit_of
from sojourn.papers.wifi_next_steps.judges import JUDGES
from sojourn.papers.wifi_next_steps.plan import POLICIES
from sojourn.papers.wifi_next_steps.texts import filled, texts
from sojourn.plots.next_steps import Panels
from sojourn.report.table import Table
from sojourn.study.cell import Cell
from sojourn.study.exhibits import Column, Gallery, means

_STATIONS = ("fast1", "fast2", "slow")


def _values(evidence: Evidence, quantity: str, cell: Cell) -> list[float]:
    """Return a quantity of each run that has it."""
    try:
        return each(evidence, cell, quantity)
    except SojournError:
        return []


def _trade(evidence: Evidence, part: str, *quantities: str) -> dict[str, dict[str, tuple[list[float], ...]]]:
    """Return for each load and option the values of the quantities."""
    found: dict[str, dict[str, tuple[list[float], ...]]] = {}
    for cell in of_part(evidence, part):
        found.setdefault(cell.load, {})[cell.option] = tuple(_values(evidence, name, cell) for name in quantities)
    return found


def _panels(evidence: Evidence, part: str, *quantities: str, short: bool = False) -> Panels:
    """Return for each quantity, load and option its values; `short` words have one line."""
    panels: dict[str, dict[str, dict[str, list[float]]]] = {}
    for quantity in quantities if of_part(evidence, part) else ():
        words, unit, _ = unit_of(quantity)
        label = (words if short else words.replace(", ", "\n", 1)) + (f" ({unit})" if unit else "")
        groups = panels.setdefault(label[0].upper() + label[1:], {})
        for cell in of_part(evidence, part):
            groups.setdefault(cell.load, {})[cell.option] = _values(evidence, quantity, cell)
    return panels


def _of_stations(evidence: Evidence, quantity: str) -> dict[str, dict[str, list[float]]]:
    """Return for each policy and station its values, of a share as a number between 0 and 1."""
    scale = 0.01 if quantity == "share" else 1.0
    return {
        cell.option.replace(" ", "\n", 1): {
            name: [scale * value for value in _values(evidence, f"{quantity}.{name}", cell)] for name in _STATIONS
        }
        for cell in of_part(evidence, POLICIES)
    }


def _means(evidence: Evidence, part: str, *quantities: str) -> Table | None:
    rows: dict[tuple[str, ...], Cell] = {(cell.option, cell.load): cell for cell in of_part(evidence, part)}
    columns = []
    for quantity in quantities:
        words, unit, digits = unit_of(quantity)
        head = f"{words} ({unit})" if unit else words
        columns.append(Column(head=head, of=partial(_values, evidence, quantity), digits=digits, key=quantity))
    note = "Means over the runs and 95 % intervals."
    return means(part, rows, columns, heads=("option", "load"), note=note, intervals=True) if rows else None


def _paragraphs(evidence: Evidence, part: str) -> tuple[str, str]:
    brings, costs = (filled(text, part, evidence) for text in texts(part))
    return f"What it brings: {brings}", f"What it costs: {costs}"


GALLERY = Gallery(
    paper="wifi_next_steps",
    vocabulary=JUDGES.vocabulary,
    functions={
        "trade": _trade,
        "panels": _panels,
        "short_panels": partial(_panels, short=True),
        "of_stations": _of_stations,
        "means": _means,
        "paragraphs": _paragraphs,
    },
)
