"""Whether good and bad are far enough apart, and which of them a commit is like.

All values are paired by seed. Let g, b and x be those of good, bad and a commit with one seed, turned so that more is
worse. Good and bad are far enough apart if the interval of b - g lies above the threshold as a whole. A commit is *bad*
if the interval of x - (g + b) / 2 lies above 0, and *good* if it lies below: it is like the one that is nearer.

If an interval does not say so, there are more runs, twice as many each time. One wrong answer is enough to lead a
search astray, so the level of the intervals is that at which all answers of a search are right with a probability of
95 %: 1 - 0.05 / (answers x looks). The intervals are Student's, because a bootstrap cannot have such a level with few
runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.regress.quantities import Worse
from sojourn.regress.threshold import Threshold
from sojourn.stats.bootstrap import LEVEL, student_interval

GOOD, BAD = "good", "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Answers the questions of a search."""

    #: Which way the quantity is worse.
    worse: Worse
    #: How far apart good and bad must be.
    threshold: Threshold
    #: Of each interval.
    level: float

    @classmethod
    def for_search(cls, worse: Worse, threshold: Threshold, *, commits: int, looks: int) -> Judge:
        """Return the judge of a search among so many commits, with so many looks at each at most."""
        answers = math.ceil(math.log2(max(commits, 1) + 1)) + 1
        return cls(worse=worse, threshold=threshold, level=1 - (1 - LEVEL) / (answers * looks))

    def apart(self, good: Sequence[float], bad: Sequence[float]) -> bool | None:
        """Return whether bad is worse than good by more than the threshold; `None` if one cannot tell."""
        room = self.threshold.room(math.fsum(good) / len(good))
        return self._above([b - g for g, b in zip(good, bad, strict=True)], room)

    def side(self, values: Sequence[float], good: Sequence[float], bad: Sequence[float]) -> str | None:
        """Return which of `GOOD` and `BAD` a commit is like; `None` if one cannot tell."""
        above = self._above([x - (g + b) / 2 for x, g, b in zip(values, good, bad, strict=True)], 0.0)
        return None if above is None else BAD if above else GOOD

    def _above(self, differences: Sequence[float], limit: float) -> bool | None:
        sign = 1 if self.worse == "higher" else -1
        found = student_interval([sign * one - limit for one in differences], level=self.level)
        side = found.sign()
        return None if side == 0 else side > 0


def looks(repeat: int, most: int) -> tuple[int, ...]:
    """Return how many runs there are at each look: `repeat`, twice as many, and so on up to `most`."""
    found = [repeat]
    while found[-1] < most:
        found.append(min(2 * found[-1], most))
    return tuple(found)
