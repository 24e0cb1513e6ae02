"""The queue flusher in the simulator and on the kernel: the same cells of seed 003's bed, and how far they differ.

On the kernel the flusher is the real daemon on an interface of the client, and its capture, its clock and its sockets
are the kernel's. Both are measured in the same way: round-trip times by synthetic packet pairs between captures at
client and server, and goodput.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sojourn.papers.flusher.evidence import (
    AXES,
    BASES_MS,
    CODEL,
    CUBIC,
    DESCRIBED,
    FOUR,
    FQ_CODEL,
    KARN,
    PIE,
    RECOMMENDED,
    TCPS,
    THRESHOLDS,
    WRITTEN,
    active,
    observe,
    passive,
)
from sojourn.papers.flusher.plan import Bed, ours
from sojourn.stats import Interval, mean_interval
from sojourn.stats.difference import difference_interval
from sojourn.store.run import Run
from sojourn.study import plan as plans
from sojourn.study.cell import Cell, Observation
from sojourn.study.paper import Profile
from sojourn.validate.bars import AGREES, CANNOT_TELL, DIFFERS, VERDICTS, Judged, Side, Within

#: The kernel's loss recovery; that of the thesis's kernel is only in the simulator.
TCP = "linux-6.1"
#: What shapes the edges of the kernel's bed: buckets of one frame. A wire takes 1.2 ms more for a full one.
EDGE_BURST = "1514b"
NAME = "flusher"

#: What is compared: a title, a unit, the quantity of a run, and how far the means may be apart.
RTT = ("mean RTT", "ms", lambda run: run.mean, Within(share=0.15))
GOODPUT = ("goodput", "Mbit/s", lambda run: run.mbit, Within(share=0.05))
JUDGED: tuple[tuple[str, str, Callable[[Observation], float], Within], ...] = (RTT, GOODPUT)
#: What is shown beside it.
SHOWN: tuple[tuple[str, Callable[[Observation], float]], ...] = (
    ("flushes", lambda run: float(len(run.flushes) + len(run.forced))),
    ("burst packets", lambda run: float(run.packets)),
)


#: The thesis's grid; other buffers and disciplines; `adaptive`, with one flow and with four.
PARTS = ("grid", "queues", "adaptive")


def bed(profile: Profile, seed: int = 1) -> Bed:
    """Return what both sides share.

    Bursts are handed over as a program does it, and behind the daemon's gate: the reproduction of the paper has none.
    """
    return Bed(profile=profile, seed=seed, tcp=TCP, bursts="daemon", gate="widest", edge_burst=EDGE_BURST)


def cells(parts: Sequence[str] = PARTS) -> list[Cell]:
    """Return the cells: a third of those of `sojourn reproduce flusher`, from each of its parts.

    But for the logs, which are runs of the grid, and the foreign flow, which the daemon cannot but see.
    """
    makers = {"grid": _grid, "queues": _queues, "adaptive": _adaptive}
    return list(dict.fromkeys(cell for part in PARTS if part in parts for cell in makers[part]()))


def _grid() -> Iterator[Cell]:
    places = ((50, 20), (50, 50), (50, 100), (10, 100), (100, 100))
    for tcp, (base, buffer) in product(TCPS, places):
        yield passive(tcp, base, buffer)
        for reading, threshold in product((DESCRIBED, WRITTEN), THRESHOLDS):
            yield active(tcp, base, buffer, threshold, reading=reading)
        yield active(tcp, base, buffer, RECOMMENDED, reading=KARN)


def _queues() -> Iterator[Cell]:
    for tcp, base in product(TCPS, BASES_MS):
        for queue in (CODEL, PIE, FQ_CODEL):
            yield passive(tcp, base, queue=queue)
        for queue in (CODEL, PIE):
            yield AXES(tcp, base, 100, queue, DESCRIBED, True, RECOMMENDED)
        yield passive(tcp, base, 50)
        yield active(tcp, base, 50)


def _adaptive() -> Iterator[Cell]:
    for tcp, base, buffer in product(TCPS, BASES_MS, (50, 100)):
        yield ours(tcp, base, buffer)
    for base, buffer in product(BASES_MS, (50, 100)):
        yield passive(CUBIC, base, buffer).replaced(scene=FOUR)
        yield active(CUBIC, base, buffer).replaced(scene=FOUR)
        yield ours(CUBIC, base, buffer, FOUR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity of one cell on both back ends.

    Attributes
    ----------
    cell
        Whose.
    title, unit
        What.
    sim, kernel
        Means over the runs, with 95 % intervals.
    judged
        The verdict.
    """

    cell: Cell
    title: str
    unit: str
    sim: Interval
    kernel: Interval
    judged: Judged

    @property
    def ratio(self) -> float:
        """The simulator's mean over the kernel's."""
        return self.sim.value / self.kernel.value if self.kernel.value else float("inf")

    def to_plain(self) -> dict[str, Any]:
        """Return the entry of `validate.json`."""
        gap = difference_interval(self.sim, self.kernel)
        return {
            "scenario": self.cell.words(),
            "metric": self.title,
            "unit": self.unit,
            "sim": self.sim.value,
            "sim_low": self.sim.low,
            "sim_high": self.sim.high,
            "sim_runs": self.sim.n,
            "linux": self.kernel.value,
            "linux_low": self.kernel.low,
            "linux_high": self.kernel.high,
            "linux_runs": self.kernel.n,
            "ratio": self.ratio if self.kernel.value else None,
            "difference": gap.value,
            "difference_low": gap.low,
            "difference_high": gap.high,
            "bar": self.judged.bar,
            "verdict": self.judged.verdict,
            "surely": self.judged.surely,
        }


@dataclass(frozen=True, kw_only=True)
class Compared:
    """All cells on both back ends.

    Attributes
    ----------
    rows
        Cell by cell, in the order of `JUDGED`.
    shown
        Of each cell means of what is shown only: by title, simulator and kernel.
    """

    rows: tuple[Row, ...]
    shown: dict[Cell, dict[str, tuple[float, float]]]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many cells have each verdict, by title."""
        return {
            title: {
                verdict: sum(row.judged.verdict == verdict for row in self.rows if row.title == title)
                for verdict in VERDICTS
            }
            for title, *_ in JUDGED
        }

    @property
    def differs(self) -> bool:
        """Whether a cell differs."""
        return any(row.judged.verdict == DIFFERS for row in self.rows)


def run(bed: Bed, which: Sequence[Cell], repeat: int, means: plans.Means) -> dict[Cell, list[Observation]]:
    """Run cells on one back end.

    Raises
    ------
    SojournError
        If a run fails.
    """
    planned = plans.repeats((cell, bed.scenario(cell), repeat) for cell in which)
    observations: dict[Cell, list[Observation]] = {}

    def take(cell: Cell, one: Run) -> None:
        observations.setdefault(cell, []).append(observe(one, cell))

    plans.execute(planned, take, means)
    return observations


def compare(sim: dict[Cell, list[Observation]], kernel: dict[Cell, list[Observation]]) -> Compared:
    """Compare what was seen of the same cells."""
    rows = [_row(cell, sim[cell], kernel[cell], *one) for cell in kernel for one in JUDGED]
    shown = {
        cell: {title: (_mean(sim[cell], value), _mean(kernel[cell], value)) for title, value in SHOWN}
        for cell in kernel
    }
    return Compared(rows=tuple(rows), shown=shown)


def _row(
    cell: Cell,
    sim: Sequence[Observation],
    kernel: Sequence[Observation],
    title: str,
    unit: str,
    value: Callable[[Observation], float],
    bar: Within,
) -> Row:
    one, other = (mean_interval([value(run) for run in side]) for side in (sim, kernel))
    judged = bar.judge(Side(interval=one), Side(interval=other))
    return Row(cell=cell, title=title, unit=unit, sim=one, kernel=other, judged=judged)


def _mean(runs: Sequence[Observation], value: Callable[[Observation], float]) -> float:
    return sum(map(value, runs)) / len(runs)


__all__ = [
    "AGREES",
    "CANNOT_TELL",
    "JUDGED",
    "NAME",
    "PARTS",
    "SHOWN",
    "EDGE_BURST",
    "TCP",
    "Compared",
    "Row",
    "bed",
    "cells",
    "compare",
    "run",
]
