"""The interval of a difference between two means, from the interval of each.

The two samples are independent, such as runs of a simulator and runs of a kernel, may differ in size, and each
interval may be lopsided (a bootstrap's) or cut off at an end (a share's). MOVER, the method of variance estimates
recovery, takes from each interval what the variance must be on the side that matters: for the lower end of `a - b` the
distance of `a` from its lower end and that of `b` from its upper end. For two symmetric Student's intervals this is
Welch's interval, but for the degrees of freedom, where it is a little wider.

Source: G. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
Medicine 27 (2008), equation 4.
"""

from __future__ import annotations

import math

from sojourn.stats.bootstrap import Interval


def difference_interval(a: Interval, b: Interval, *, factor: float = 1.0) -> Interval:
    """Return `a - factor * b` and its interval.

    Parameters
    ----------
    a, b
        Independent estimates.
    factor
        What the second is multiplied by first, at least 0.

    Returns
    -------
    Interval
        Without ends if either has none; `n` is the smaller number of values.
    """
    value = a.value - factor * b.value
    n = min(a.n, b.n)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Interval(value=value, low=None, high=None, n=n)
    below = math.hypot(a.value - a.low, factor * (b.high - b.value))
    above = math.hypot(a.high - a.value, factor * (b.value - b.low))
    return Interval(value=value, low=value - below, high=value + above, n=n)
