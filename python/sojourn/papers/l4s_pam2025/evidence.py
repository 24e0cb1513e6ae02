"""What the claims about L4S beside classic flows are judged by: cells, what was measured in them, what a run has."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from sojourn.errors import SojournError
from sojourn.papers.kit import evidence as kit
from sojourn.store.run import Run

#: The base round-trip time of the bed, ms.
BASE_MS = 10.0
#: Senders, bottlenecks, and how they are called.
SENDERS = {
    "prague": "TCP Prague",
    "prague_fallback": "TCP Prague with detection of classic marking",
    "cubic": "CUBIC without ECN",
    "cubic_ecn": "CUBIC with ECN",
    "bbr3": "BBRv3 without ECN",
    "bbr3_ecn": "BBRv3 with ECN",
}
BOTTLENECKS = {
    "fifo": "FIFO",
    "one_queue_fq": "fq with one queue, marking above 5 ms",
    "fq": "fq, marking above 5 ms",
    "codel": "CoDel, marking",
    "codel_drop": "CoDel, dropping",
    "pie_drop": "PIE, dropping",
    "fq_codel": "FQ-CoDel",
    "fq_codel_l4s": "FQ-CoDel, marking L4S above 1 ms",
    "dualpi2": "DualPI2",
}


class Cell(NamedTuple):
    """What is repeated: flows of one sender beside flows of another through one bottleneck.

    Attributes
    ----------
    l4s, classic
        The two senders, keys of `SENDERS`; where both are classic the first stands in the place of the L4S one.
    aqm
        The bottleneck, a key of `BOTTLENECKS`.
    bdp
        Its buffer in bandwidth-delay products.
    l4s_flows, classic_flows
        How many flows each side has.
    """

    l4s: str
    classic: str
    aqm: str
    bdp: float = 2.0
    l4s_flows: int = 1
    classic_flows: int = 1

    def words(self) -> str:
        """Return the cell in words."""
        sides = ((self.l4s, self.l4s_flows), (self.classic, self.classic_flows))
        one, other = (f"{n} x {SENDERS[name]}" if self.part == "many" else SENDERS[name] for name, n in sides)
        return f"{one} beside {other}, {BOTTLENECKS[self.aqm]}, {self.bdp:g} BDP"

    @property
    def part(self) -> str:
        """The part of the plan that it is in."""
        if not self.l4s.startswith("prague"):
            return "control"
        return "pair" if self.l4s_flows + self.classic_flows == 2 else "many"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is kept of a run.

    Attributes
    ----------
    seed
        Of the run.
    l4s_mbit, classic_mbit
        Goodput of each side, Mbit/s.
    l4s_ms, classic_ms
        Round-trip time of each side, ms: the base's and the mean wait of its packets at the bottleneck. The study took
        the mean of the senders' smoothed ones.
    """

    seed: int
    l4s_mbit: float
    classic_mbit: float
    l4s_ms: float | None
    classic_ms: float | None


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence[Cell, Observation]):
    """What was run, and of a cell that cannot be run why not.

    Attributes
    ----------
    lacks
        What a cell needs that is not there; empty if nothing.
    """

    lacks: Callable[[Cell], tuple[str, ...]] = field(default=lambda _cell: ())

    def of(self, cell: Cell) -> tuple[Observation, ...]:
        """Return the repeats of a cell.

        Raises
        ------
        SojournError
            If there are none, or can be none.
        """
        if missing := self.lacks(cell):
            message = f"it needs {', '.join(missing)}, which the simulator lacks: {cell.words()}"
            raise SojournError(message)
        return super().of(cell)


@lru_cache(maxsize=1)
def measured() -> dict[Cell, Observation]:
    """Return the means over the trials of the study's bed in each cell of the claims; 0 in place of a seed.

    They are in `measured.csv`, computed from what the authors published (fatihsarpkaya/L4S-PAM2025), to a tenth.
    """
    text = files("sojourn.papers.l4s_pam2025").joinpath("measured.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        flows = int(row["l4s_flows"]), int(row["classic_flows"])
        mbit = float(row["l4s_mbit"]), float(row["classic_mbit"])
        l4s_ms, classic_ms = (float(row[name]) if row[name] else None for name in ("l4s_ms", "classic_ms"))
        cell = Cell(row["l4s"], row["classic"], row["aqm"], float(row["bdp"]), *flows)
        found[cell] = Observation(seed=0, l4s_mbit=mbit[0], classic_mbit=mbit[1], l4s_ms=l4s_ms, classic_ms=classic_ms)
    return found


def observe(run: Run, cell: Cell) -> Observation:
    """Return what is kept of a run, whose first flows are those of the L4S side."""
    flows = run.record["flows"]
    sides = flows[: cell.l4s_flows], flows[cell.l4s_flows :]
    mbit = [sum(one["goodput_mbit"] for one in side) for side in sides]
    waits = [[one["sojourn_ms"]["mean"] for one in side if one["sojourn_ms"]["mean"] is not None] for side in sides]
    l4s_ms, classic_ms = (BASE_MS + sum(each) / len(each) if each else None for each in waits)
    return Observation(seed=run.seed, l4s_mbit=mbit[0], classic_mbit=mbit[1], l4s_ms=l4s_ms, classic_ms=classic_ms)
