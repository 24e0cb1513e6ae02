"""How far two means may be apart, and the verdict on a pair.

A pair *agrees* if the point estimates are within the bar. It *differs* if the 95 % interval of their difference lies
outside the bar as a whole. Else the estimates are outside and the interval reaches in, and one *cannot tell*; so it is
too where a side has one run, which says nothing about its spread, or no value at all. The kernel's mean sets the bar,
and counts as exact in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from sojourn.stats import Interval
from sojourn.stats.difference import difference_interval

Word = Literal["agrees", "differs", "cannot tell"]
AGREES: Final = "agrees"
DIFFERS: Final = "differs"
CANNOT_TELL: Final = "cannot tell"
#: Of what is shown only.
NOT_JUDGED: Final = "not judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one back end's runs say of a metric."""

    #: Mean over the runs and its 95 % interval.
    interval: Interval
    #: The least value that is told from none, of a share of packets; else 0. In the unit of the interval, which of
    #: shares is per cent.
    resolves: float = 0.0
    #: The packets behind a share; else 0.
    trials: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict."""

    #: Its word.
    verdict: Word
    #: How far the means may be apart; of a factor, the factor.
    bar: float
    #: Whether it agrees and the whole interval of the difference is within the bar.
    surely: bool = False
    #: Why, where the numbers do not say so themselves; else empty.
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Means not further apart than a share of the kernel's, or than so much, whichever is larger."""

    #: Of the kernel's mean.
    share: float = 0.0
    #: In the metric's unit.
    least: float = 0.0

    def room(self, kernel: float) -> float:
        """Return how far from the kernel's mean the other may be."""
        return max(self.share * abs(kernel), self.least)

    def judge(self, sim: Side, kernel: Side) -> Judged:
        """Return the verdict on a pair."""
        room = self.room(kernel.interval.value)
        gap = difference_interval(sim.interval, kernel.interval)
        if not math.isfinite(gap.value):
            return Judged(verdict=CANNOT_TELL, bar=room, reason="a mean is infinite")
        if abs(gap.value) <= room:
            return Judged(verdict=AGREES, bar=room, surely=gap.within(room))
        return _outside(gap, room, beyond=gap.sign(room) != 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """Shares of which neither is more than so many times the other, unless both are too small to be resolved.

    Whether `sim` is within a factor f of `kernel` is asked without a quotient, which a share of nothing has none of:
    `sim - f * kernel <= 0` and `kernel - f * sim <= 0`, each with its interval.

    Both shares also agree where neither is above what the packets resolve: of N independent packets none is lost with
    a probability of 5 % if the share is `1 - 0.05^(1/N)`, about 3/N (the mean of a Poisson variable that shows nothing
    in one case of twenty), N being the smaller number of packets of both sides. Below that, nothing distinguishes a
    share from none.
    """

    #: At least 1.
    factor: float

    def judge(self, sim: Side, kernel: Side) -> Judged:
        """Return the verdict on a pair."""
        resolves = max(sim.resolves, kernel.resolves)
        if max(sim.interval.value, kernel.interval.value) <= resolves:
            trials = min(sim.trials, kernel.trials)
            why = f"both at most {resolves:.2g} %, the least that {trials} packets resolve"
            return Judged(verdict=AGREES, bar=self.factor, reason=why)
        high = difference_interval(sim.interval, kernel.interval, factor=self.factor)
        low = difference_interval(kernel.interval, sim.interval, factor=self.factor)
        if high.value <= 0 and low.value <= 0:
            whole = high.high is not None and low.high is not None and max(high.high, low.high) <= 0
            return Judged(verdict=AGREES, bar=self.factor, surely=whole)
        return _outside(high, self.factor, beyond=high.sign() > 0 or low.sign() > 0)


Bar = Within | Factor


def _outside(gap: Interval, bar: float, *, beyond: bool) -> Judged:
    """Return the verdict on a pair whose estimates are outside the bar; `beyond`: so is the whole interval."""
    if beyond:
        return Judged(verdict=DIFFERS, bar=bar)
    return Judged(verdict=CANNOT_TELL, bar=bar, reason="a back end has one run" if gap.low is None else "")
