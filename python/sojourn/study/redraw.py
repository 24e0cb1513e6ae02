"""The interval of a number that only all repeats together have: a peak of their mean curve, a spread over them.

It comes from drawing the repeats again, with replacement, and taking percentiles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sojourn.stats import Interval

#: Which repeats: the same for all cells that are compared, as they are paired by seed.
Drawn = NDArray[np.intp]

RESAMPLES = 1000


def drawn_interval(statistic: Callable[[Drawn], float], n: int) -> Interval:
    """Return a statistic of `n` repeats and its 95 % interval from drawing them again; one repeat has no interval."""
    value = statistic(np.arange(n))
    if n < 2:
        return Interval(value=value, low=None, high=None, n=n)
    drawn = np.random.default_rng(0).integers(0, n, size=(RESAMPLES, n))
    low, high = np.quantile([statistic(one) for one in drawn], [0.025, 0.975])
    return Interval(value=value, low=min(float(low), value), high=max(float(high), value), n=n)
