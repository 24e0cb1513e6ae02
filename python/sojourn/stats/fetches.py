"""Fetch times of a page that is fetched again and again, when the run ends in the middle of a fetch.

The mean over the fetches that were completed leaves out those that take longest: where a page takes half a minute, a
run of one minute has the fetch in it that began before the queues were full, and perhaps one other. The fetch that the
end cuts off has taken some time already. Where that is longer than the mean of the others it counts as it is, which is
still less than it would have taken; where it is shorter it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean


def unfinished_s(starts: Sequence[float], times: Sequence[float], *, interval: float, end: float) -> float:
    """Return how long the fetch that was under way at the end of a run had taken (s).

    Parameters
    ----------
    starts, times
        When each completed fetch began, in order, and how long it took (s).
    interval
        A fetch begins so long after the beginning of the last (s), or at once if that took longer.
    end
        When the run ended (s).
    """
    began = starts[-1] + max(times[-1], interval) if starts else 0.0
    return max(end - began, 0.0)


def mean_fetch_s(times: Sequence[float], unfinished: float) -> float:
    """Return the mean time of the completed fetches, with the one under way if that has taken longer than they (s)."""
    done = fmean(times) if len(times) else 0.0
    return fmean([*times, unfinished]) if unfinished > done or not len(times) else done
