"""What comes of a cell: who has how much, who waits how long, and in one word how they get along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn.schema import required
from sojourn.stats import Interval, mean_interval
from sojourn.store.run import Run
from sojourn.study.cell import Cell, Observation

#: An L4S flow and a classic one get along if neither has more than this many times the other's goodput.
ALIKE = 2.0
#: One starves if the other has more than this many times its goodput.
STARVES = 10.0
#: Below this utilisation the flows do not fill the link, and a share says nothing.
FILLED = 0.6

Side = Literal["L4S", "classic"]
#: The two sides of a cell.
SIDES: tuple[Side, ...] = ("L4S", "classic")
#: What a side has: `alike` or more, `has less`, or it `starves`.
Lot = Literal["alike", "has less", "starves"]

#: The words for both sides, from the L4S side's best to its worst.
VERDICTS = (
    "classic starves",
    "classic has less",
    "alike",
    "L4S has less",
    "L4S starves",
    "cannot tell",
    "not filled",
)


def observe(cell: Cell, run: Run) -> Observation:
    """Return what is kept of a run, whose first flows are those of the L4S side.

    The values of the observation:

    l4s_mbit, classic_mbit
        Goodput of a flow of each side, the mean over the side's flows, Mbit/s.
    share
        What an L4S flow has of what it and a classic one have together, per cent; 50 is alike.
    l4s_queue_ms, classic_queue_ms
        Mean time in the bottleneck's queue of a side's packets, over its flows, ms.
    utilisation
        Of the link, 0 to 1.
    retransmissions
        Of all flows.
    marks
        Of the bottleneck.
    """
    flows = run.record.flows
    sides = flows[: cell.l4s_flows], flows[cell.l4s_flows :]
    mbit = [sum(one.goodput_mbit for one in side) / len(side) for side in sides]
    waits = [
        [wait for one in side if (wait := required(one.sojourn_ms, "sojourn_ms").mean) is not None] for side in sides
    ]
    queue = [sum(each) / len(each) if each else None for each in waits]
    bottleneck = run.record.bottleneck["up"]
    return Observation(
        seed=run.seed,
        l4s_mbit=mbit[0],
        classic_mbit=mbit[1],
        share=100 * mbit[0] / sum(mbit) if sum(mbit) else 50.0,
        l4s_queue_ms=queue[0],
        classic_queue_ms=queue[1],
        utilisation=sum(one.goodput_mbit for one in flows) / cell.rate_mbit,
        retransmissions=sum(one.retransmissions for one in flows),
        marks=bottleneck.marks,
    )


@dataclass(frozen=True, kw_only=True)
class JudgedCell:
    """A cell with its runs."""

    #: The cell.
    cell: Cell
    #: One for each seed.
    runs: tuple[Observation, ...]
    #: What an L4S flow has of what it and a classic one have together, per cent, with its 95 % interval.
    share: Interval
    #: Whether the flows fill the link. If not, nothing is said of either side.
    filled: bool

    def mean(self, quantity: str) -> float | None:
        """Return the mean of a quantity of `Observation` over the runs that have it."""
        values = [value for run in self.runs if (value := getattr(run, quantity)) is not None]
        return sum(values) / len(values) if values else None

    def lot(self, side: Side) -> Lot | None:
        """Return what the whole interval says of a side, nothing if the interval crosses a bound.

        With one run there is no interval, and the run itself decides.
        """
        if not self.filled:
            return None
        value = self.share.value
        low = value if self.share.low is None else self.share.low
        high = value if self.share.high is None else self.share.high
        if side == "classic":
            low, high = 100 - high, 100 - low
        starves, less = (100 / (1 + ratio) for ratio in (STARVES, ALIKE))
        if high < starves:
            return "starves"
        if high < less:
            return "has less"
        return "alike" if low >= less else None

    @property
    def verdict(self) -> str:
        """What is said of both sides, one of `VERDICTS`."""
        if not self.filled:
            return "not filled"
        lots = {side: self.lot(side) for side in SIDES}
        worse = [f"{side} {lot}" for side, lot in lots.items() if lot in ("has less", "starves")]
        if worse:
            return worse[0]
        return "alike" if all(lots.values()) else "cannot tell"


def judged(cell: Cell, runs: Sequence[Observation]) -> JudgedCell:
    """Return a cell with its share."""
    raw = mean_interval(run.share for run in runs)
    # Student's interval of two or three runs may pass what a share can be.
    low, high = (None if end is None else min(max(end, 0.0), 100.0) for end in (raw.low, raw.high))
    share = Interval(value=raw.value, low=low, high=high, n=raw.n)
    filled = sum(run.utilisation for run in runs) / len(runs) >= FILLED
    return JudgedCell(cell=cell, runs=tuple(runs), share=share, filled=filled)


def by_verdict(found: Sequence[JudgedCell]) -> Mapping[str, int]:
    """Return how many cells have each verdict, in the order of `VERDICTS`."""
    return {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
