"""How near the simulator comes to the bed, cell by cell: the bars, and how many cells are within them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sojourn.papers.l4s_pam2025.evidence import BOTTLENECKS, SENDERS, flows_of, measured, share
from sojourn.report.table import Table
from sojourn.stats import mean_interval
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import Evidence
from sojourn.tables import Value

#: A cell is within the bars if its share differs by at most this, per cent of all goodput,
SHARE_POINTS = 5.0
#: and the round-trip time of each side by at most this, ms, or this part of what was measured.
RTT_MS, RTT_PART = 2.0, 0.15
#: How many of the cells that are not within the bars the table names.
WORST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A cell as the bed measured it, and as it was run here."""

    #: Which.
    cell: Cell
    #: Share of the L4S side (per cent), and round-trip times of the L4S and the classic side (ms); a time that was not
    #: measured is `None`.
    there: tuple[float, float | None, float | None]
    here: tuple[float, float | None, float | None]

    @property
    def share_off(self) -> float:
        """The share here less that of the bed, points."""
        return self.here[0] - self.there[0]

    @property
    def share_within(self) -> bool:
        """Whether the share is."""
        return abs(self.share_off) <= SHARE_POINTS

    @property
    def rtt_within(self) -> bool:
        """Whether both round-trip times are, as far as they were measured."""
        return all(
            there is None or (here is not None and abs(here - there) <= max(RTT_MS, RTT_PART * there))
            for there, here in zip(self.there[1:], self.here[1:], strict=True)
        )

    @property
    def within(self) -> bool:
        """Whether all are."""
        return self.share_within and self.rtt_within


def compared(evidence: Evidence) -> list[Compared]:
    """Return the measured cells of which there are runs, in the order of the runs; the values are means of repeats."""
    found = []
    for cell, runs in evidence.cells.items():
        if cell in measured():
            stated = measured()[cell]
            there = (share(stated), stated.l4s_ms, stated.classic_ms)
            means = mean(runs, share), mean(runs, lambda one: one.l4s_ms), mean(runs, lambda one: one.classic_ms)
            if means[0] is not None:
                found.append(Compared(cell=cell, there=there, here=(means[0], *means[1:])))
    return found


def mean(runs: Iterable[Observation], of: Callable[[Observation], float | None]) -> float | None:
    """Return the mean of a quantity over runs that have it; `None` if none has."""
    values = [value for run in runs if (value := of(run)) is not None]
    return mean_interval(values).value if values else None


def table(found: Sequence[Compared]) -> Table:
    """Return how many cells are within the bars: of each number of flows, pair of senders, and bottleneck."""
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        flows = flows_of(one.cell)
        pair = f"{SENDERS[one.cell.l4s].title} / {SENDERS[one.cell.classic].title}"
        for group in ("all", pair, BOTTLENECKS[one.cell.aqm]):
            groups.setdefault((flows, group), []).append(one)
    tests: dict[str, Callable[[Compared], bool]] = {
        "share": lambda one: one.share_within,
        "RTT": lambda one: one.rtt_within,
        "both": lambda one: one.within,
    }
    order = sorted(groups, key=lambda key: (key[0] != "one each", key[1] != "all", key[1] in BOTTLENECKS.values()))
    counts = {key: {name: sum(map(test, groups[key])) for name, test in tests.items()} for key in order}
    records: list[Mapping[str, Value]] = [
        {"flows": flows, "of": of, "cells": len(groups[flows, of]), **counts[flows, of]} for flows, of in order
    ]
    rows = [
        (*key, str(len(groups[key])), *(_part(counts[key][name], len(groups[key])) for name in tests)) for key in order
    ]
    return Table(
        name="bars",
        headers=("flows", "cells of", "cells", *(f"{name} within" for name in tests)),
        rows=tuple(rows),
        records=tuple(records),
        note=f"Within {SHARE_POINTS:g} points of the share of goodput, and within {RTT_MS:g} ms or {RTT_PART:.0%} of "
        "the round-trip times of both sides.",
    )


def _part(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} %"


def worst(found: Sequence[Compared]) -> Table:
    """Return the cells whose shares differ most, those within the bars left out."""
    outside = sorted((one for one in found if not one.within), key=lambda one: -abs(one.share_off))[:WORST]
    rows = [
        (one.cell.words(), *(_both(there, here) for there, here in zip(one.there, one.here, strict=True)))
        for one in outside
    ]
    names = ("share of the L4S side (%)", "L4S RTT (ms)", "classic RTT (ms)")
    return Table(
        name="worst",
        headers=("cell", *names),
        rows=tuple(rows),
        records=tuple(
            {
                **one.cell.settings,
                **{f"{name}, measured": value for name, value in zip(names, one.there, strict=True)},
                **{f"{name}, here": value for name, value in zip(names, one.here, strict=True)},
            }
            for one in outside
        ),
        note="Measured by the authors / here.",
        left=1,
    )


def _both(there: float | None, here: float | None) -> str:
    return " / ".join("-" if value is None else f"{value:.1f}" for value in (there, here))


def sentence(found: Sequence[Compared]) -> str:
    """Return how many cells of one flow each and of many flows are within the bars."""
    said = []
    for words, part in (("one flow each", "pair"), ("many flows", "many")):
        cells = [one for one in found if one.cell.part == part]
        if cells:
            within = sum(one.within for one in cells)
            said.append(f"Of {len(cells)} cells of {words} {within} ({_part(within, len(cells))}) are within the bars.")
    return " ".join(said)
