"""Intervals for a share that is small or nothing, such as the loss of a voice stream.

The share of each run is one value, and the interval is that of their mean (`sojourn.stats.mean_interval`): packets of
one run are lost together, so runs, not packets, are what repeats.

Where nothing at all was lost, every resample is 0 and the bootstrap says "exactly 0". The upper end is then the
largest share that would still show nothing in so many packets with a probability of 5 %, `1 - 0.05^(1/N)`: the exact
form of the rule of three, 3/N. It takes packets as independent; where loss comes in bursts it is too low.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.errors import ParamError, refused
from sojourn.stats.bootstrap import LEVEL, Interval, mean_interval


def share_interval(events: Sequence[int], trials: Sequence[int], *, level: float = LEVEL) -> Interval:
    """Return the mean over runs of `events / trials`, as a fraction, and its interval.

    Raises `ParamError` if the two have not the same length, a number is negative, there are more events than trials, or
    there are no trials at all.

    Parameters
    ----------
    events, trials
        A pair for each run, such as packets lost and sent. A run without trials says nothing and is left out.
    level
        The probability that the interval covers the mean, between 0 and 1.
    """
    if len(events) != len(trials):
        message = f"events has {len(events)} values and trials {len(trials)}, but both must have one for each run"
        raise ParamError(message)
    for event, trial in zip(events, trials, strict=True):
        if not 0 <= event <= trial:
            message = f"events is {event} of {trial} trials, but must be from 0 to the number of trials"
            raise ParamError(message)
    shares = [event / trial for event, trial in zip(events, trials, strict=True) if trial]
    if not shares:
        message = "trials is 0 in every run, but a share needs at least one trial"
        raise ParamError(message)
    if not any(events):
        return Interval(value=0.0, low=0.0, high=upper_bound_of_none(sum(trials), level=level), n=len(shares))
    found = mean_interval(shares, level=level)
    if found.low is None or found.high is None:
        return found
    # Student's interval of few runs knows nothing of the ends of a share.
    return Interval(value=found.value, low=max(found.low, 0.0), high=min(found.high, 1.0), n=found.n)


def upper_bound_of_none(trials: int, *, level: float = LEVEL) -> float:
    """Return the upper bound of a share of which `trials` independent trials showed no event; one-sided.

    Source: C. Clopper, E. Pearson, Biometrika 26 (1934), for 0 events; J. Hanley, A. Lippman-Hand, JAMA 249 (1983),
    "If nothing goes wrong, is everything all right?", for the approximation 3/N. Raises `ParamError` if there are no
    trials.
    """
    if trials < 1:
        raise refused(trials, "trials", "must be at least 1")
    return -math.expm1(math.log1p(-level) / trials)
