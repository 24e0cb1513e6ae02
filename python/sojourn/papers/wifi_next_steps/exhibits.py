"""The figures and tables of the next steps of the Wi-Fi stack, one exhibit for each part of the page."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure as Drawing

from sojourn.errors import SojournError
from sojourn.papers.kit.claims import load
from sojourn.papers.wifi_next_steps.evidence import Cell, Evidence, each, of_part, unit_of
from sojourn.papers.wifi_next_steps.plan import (
    ACCOUNTS,
    DEMOTE,
    DENSE,
    HARDWARE,
    PARTS,
    POLICIES,
    QOS,
    RETRIES,
    VOICE,
)
from sojourn.papers.wifi_next_steps.told import filled, told
from sojourn.plots import next_steps as plots
from sojourn.plots.wifi import airtime_shares, throughput_bars
from sojourn.report.exhibit import Exhibit, Figure, draw
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval
from sojourn.tables import interval

_STATIONS = ("fast1", "fast2", "slow")


def exhibits(evidence: Evidence) -> tuple[Exhibit, ...]:
    """Return every part that there are runs of, in the order of section 4."""
    return tuple(_exhibit(part, evidence) for part in PARTS if of_part(evidence, part))


def _exhibit(part: str, evidence: Evidence) -> Exhibit:
    words = told(part)
    return Exhibit(
        name=part,
        title=words.title,
        section=words.section,
        says=words.says,
        figures=_FIGURES[part](evidence, words.caption),
        table=_table(part, words.columns, evidence),
        claims=tuple(claim.id for claim in load("wifi_next_steps", parts=(part,))),
        paragraphs=(
            f"What it brings: {filled(words.brings, part, evidence)}",
            f"What it costs: {filled(words.costs, part, evidence)}",
        ),
    )


def _values(evidence: Evidence, cell: Cell, quantity: str) -> list[float]:
    """Return a quantity of each run that has it."""
    try:
        return each(evidence, cell, quantity)
    except SojournError:
        return []


def _table(part: str, columns: tuple[str, ...], evidence: Evidence) -> Table:
    heads, rows, records = [], [], []
    for quantity in columns:
        words, unit, _ = unit_of(quantity)
        heads.append(f"{words} ({unit})" if unit else words)
    for cell in of_part(evidence, part):
        row = [cell.option, cell.load]
        for quantity in columns:
            values = _values(evidence, cell, quantity)
            found: Interval | None = mean_interval(values) if values else None
            digits = unit_of(quantity)[2]
            row.append("-" if found is None else interval(found.value, found.low, found.high, digits))
            records.append(
                {"option": cell.option, "load": cell.load, "quantity": quantity}
                | {name: None if found is None else getattr(found, name) for name in ("value", "low", "high", "n")}
            )
        rows.append(tuple(row))
    return Table(
        name=part,
        headers=("option", "load", *heads),
        rows=tuple(rows),
        records=tuple(records),
        note="Means over the runs and 95 % intervals.",
    )


def _panels(evidence: Evidence, part: str, quantities: tuple[str, ...], *, short: bool = False) -> plots.Panels:
    """Return for each quantity, load and option its values."""
    panels: dict[str, dict[str, dict[str, list[float]]]] = {}
    for quantity in quantities:
        words, unit, _ = unit_of(quantity)
        head, _, tail = words.partition(", ")
        label = (f"{head}\n{tail}" if tail and not short else words) + (f" ({unit})" if unit else "")
        label = label[0].upper() + label[1:]
        groups = panels.setdefault(label, {})
        for cell in of_part(evidence, part):
            groups.setdefault(cell.load, {})[cell.option] = _values(evidence, cell, quantity)
    return panels


def _dots(part: str, *quantities: str) -> Callable[[Evidence, str], tuple[Figure, ...]]:
    def figure(evidence: Evidence, caption: str) -> tuple[Figure, ...]:
        return (draw(part, caption, plots.dots(_panels(evidence, part, quantities))),)

    return figure


def _lines(
    part: str, across: str, *quantities: str, log: bool = False
) -> Callable[[Evidence, str], tuple[Figure, ...]]:
    def figure(evidence: Evidence, caption: str) -> tuple[Figure, ...]:
        panels = _panels(evidence, part, quantities, short=True)
        return (draw(part, caption, plots.lines(panels, across=across, log=log)),)

    return figure


def _hardware(evidence: Evidence, caption: str) -> tuple[Figure, ...]:
    found: dict[str, dict[str, tuple[list[float], list[float], list[float]]]] = {}
    for cell in of_part(evidence, HARDWARE):
        median, tail, mbit = (_values(evidence, cell, name) for name in ("ping_ms", "ping_p95_ms", "mbit"))
        found.setdefault(cell.load, {})[cell.option] = (median, tail, mbit)
    drawing: Drawing = plots.trade(
        found, across="Ping, median to 95th percentile (ms)", along="Goodput of all stations (Mbit/s)"
    )
    return (draw(HARDWARE, caption, drawing),)


def _policies(evidence: Evidence, caption: str) -> tuple[Figure, ...]:
    shares: dict[str, dict[str, list[float]]] = {}
    rates: dict[str, dict[str, list[float]]] = {}
    for cell in of_part(evidence, POLICIES):
        name = cell.option.replace(" ", "\n", 1)
        shares[name] = {one: [value / 100 for value in _values(evidence, cell, f"share.{one}")] for one in _STATIONS}
        rates[name] = {one: _values(evidence, cell, f"mbit.{one}") for one in _STATIONS}
    return (
        draw("policies-airtime", caption, airtime_shares(shares)),
        draw("policies-goodput", "Goodput of the same; mean: of the three.", throughput_bars(rates)),
    )


_FIGURES: dict[str, Callable[[Evidence, str], tuple[Figure, ...]]] = {
    HARDWARE: _hardware,
    RETRIES: _dots(RETRIES, "ping_ms", "ping_p95_ms", "voice_loss", "mbit"),
    DENSE: _lines(DENSE, "Stations", "ping_ms", "mbit", "jain", log=True),
    POLICIES: _policies,
    ACCOUNTS: _lines(ACCOUNTS, "Charged so much later (ms)", "jain", "jain_window", "ping_p95_ms"),
    DEMOTE: _dots(DEMOTE, "ping_ms", "ping_p95_ms", "mbit", "bulk"),
    QOS: _dots(QOS, "voice_ms.fast2", "voice_ms.slow", "mbit", "share.slow"),
    VOICE: _dots(VOICE, "mbit", "voice_ms", "voice_loss", "frames"),
}
