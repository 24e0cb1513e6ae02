"""From values of two kernels, paired by seed, to the interval of their difference and a verdict.

A table of many rows has some whose interval of 95 % leaves out zero by chance, one in twenty. So a row *differs* only
if also the interval of a higher level leaves it out, at which the whole table has such a row by chance with a
probability of 5 % at most (Bonferroni's correction: the level is 1 - 0.05 / rows).

Without a threshold:

| interval of 95 % | of the higher level | verdict            |
|------------------|---------------------|--------------------|
| leaves out 0     | leaves out 0        | differs            |
| leaves out 0     | holds 0             | cannot tell        |
| holds 0          |                     | no difference seen |

"No difference seen" does not say that there is none: the interval says how large it may be. With a threshold a row
*differs* if the higher level's interval lies outside of the threshold, *agrees* if the interval of 95 % lies within it,
and else one cannot tell.

Where all differences are equal they have no spread, and an interval of no width would say too much. Then it counts how
many there are: n differences of one sign are that by chance with a probability of 2^(1 - n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.regress.threshold import Threshold
from sojourn.stats import Interval, mean_interval
from sojourn.stats.bootstrap import LEVEL, student_interval

DIFFERS, AGREES, NONE_SEEN, CANNOT_TELL = "differs", "agrees", "no difference seen", "cannot tell"
VERDICTS = (DIFFERS, AGREES, NONE_SEEN, CANNOT_TELL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """What two kernels' values of a quantity came to."""

    #: One of `VERDICTS`.
    verdict: str
    #: Mean of the second less the first, seed by seed, with its interval of 95 %; `None` without a pair.
    difference: Interval | None
    #: The same difference with the interval of the higher level; `None` without a pair.
    surely: Interval | None
    #: How far the values may be apart, in their unit; `None` without a threshold.
    room: float | None
    #: Why one cannot tell, where the numbers do not say so; else empty.
    reason: str = ""


def judge(
    first: Sequence[float | None], second: Sequence[float | None], *, rows: int, threshold: Threshold | None = None
) -> PairedDifference:
    """Judge the values of two kernels.

    - `first`, `second`: values of each seed, in the same order; a run without one has `None`.
    - `rows`: how many such judgements the table has, at least 1.
    - `threshold`: how large a difference must be; `None` for any.
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if len(pairs) < 2:
        few = [b - a for a, b in pairs]
        alone = mean_interval(few) if few else None
        why = "one pair of runs says nothing about its spread" if few else "no pair of runs has a value"
        return PairedDifference(verdict=CANNOT_TELL, difference=alone, surely=alone, room=None, reason=why)
    differences = [b - a for a, b in pairs]
    found = mean_interval(differences)
    chance = (1 - LEVEL) / rows
    surely = student_interval(differences, level=1 - chance)
    room = None if threshold is None else threshold.room(math.fsum(a for a, _ in pairs) / len(pairs))
    limit = 0.0 if room is None else room
    reason = ""
    if found.sign(limit) and surely.sign(limit):
        verdict = DIFFERS
        if len(set(differences)) == 1 and 2.0 ** (1 - len(differences)) > chance:
            verdict = CANNOT_TELL
            reason = f"all {len(differences)} differences are equal, which is too few to judge without a spread"
    elif room is None:
        verdict = CANNOT_TELL if found.sign() else NONE_SEEN
    else:
        verdict = AGREES if found.within(room) else CANNOT_TELL
    return PairedDifference(verdict=verdict, difference=found, surely=surely, room=room, reason=reason)
