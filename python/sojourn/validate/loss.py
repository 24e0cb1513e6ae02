"""The share of lost packets over several runs, with an interval that few losses do not make too short.

Packets of one run are lost together, so runs are what repeats, and `sojourn.stats.share_interval` takes them so. But
four runs that each lost one packet have no spread at all, although one or three could as well have been lost; so the
interval is never narrower than that of the total as a Poisson variable (Garwood's exact one). Where nothing was lost,
it is that of `share_interval`, the rule of three.

Source: F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28 (1936).
"""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.stats import Interval, share_interval, upper_bound_of_none
from sojourn.stats.bootstrap import LEVEL
from sojourn.validate.bars import Side


def lost_share(lost: Sequence[int], sent: Sequence[int]) -> Side | None:
    """Return the mean over runs of the share of lost packets, in per cent; `None` if nothing was sent.

    Raises `ParamError` if a pair is impossible.

    - `lost`, `sent`: a pair for each run.
    """
    total, trials = sum(lost), sum(sent)
    if trials == 0:
        return None
    interval = share_interval(lost, sent)
    if total > 0:
        interval = _at_least_poisson(interval, total, trials)
    return Side(interval=_per_cent(interval), resolves=100 * upper_bound_of_none(trials), trials=trials)


def poisson_interval(events: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact interval of the mean of a Poisson variable that was `events`, at least 1."""
    from scipy.special import gammaincinv

    tail = (1 - level) / 2
    return float(gammaincinv(events, tail)), float(gammaincinv(events + 1, 1 - tail))


def _at_least_poisson(interval: Interval, events: int, trials: int) -> Interval:
    low, high = (end / trials for end in poisson_interval(events))
    if interval.low is None or interval.high is None:
        return interval
    return Interval(
        value=interval.value,
        low=max(min(interval.low, low), 0.0),
        high=min(max(interval.high, high), 1.0),
        n=interval.n,
    )


def _per_cent(interval: Interval) -> Interval:
    low, high = (None if end is None else 100 * end for end in (interval.low, interval.high))
    return Interval(value=100 * interval.value, low=low, high=high, n=interval.n)
