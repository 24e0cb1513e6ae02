"""Confidence intervals of a mean by the bootstrap.

The plain percentile interval is too short for the few repeats one usually has. It is widened as Hesterberg
proposes: the percentiles are taken further out, at the normal probability of `sqrt(n / (n - 1))` times Student's
t quantile, which makes the interval as long as Student's for a normal sample.

With fewer than six values no bootstrap can do: a resampled mean never leaves the range of the sample, and that range
covers the mean of a symmetric distribution with a probability of only `1 - 2^(1 - n)`. Student's interval is used then.

Source: T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015),
section 4.3 (the expanded percentile interval).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 10_000
#: From so many values on the bootstrap is used: `1 - 2^(1 - 6)` is 97 %.
FEWEST_TO_RESAMPLE = 6

_AT_ONCE = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean and its confidence interval."""

    #: The mean.
    value: float
    #: The ends; `None` if there are fewer than two values, which say nothing about their spread.
    low: float | None
    high: float | None
    #: The number of values.
    n: int

    def sign(self, limit: float = 0.0) -> int:
        """Return 1 if the whole interval lies above a limit, -1 if it lies below the limit's negative, else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > limit) - (self.high < -limit)

    def within(self, limit: float) -> bool:
        """Tell whether the whole interval lies between a limit's negative and the limit."""
        return self.low is not None and self.high is not None and -limit <= self.low and self.high <= limit


def mean_interval(
    values: Iterable[float], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the mean of the values and its confidence interval: bootstrap, or Student's below six values.

    Raises `ValueError` if there are no values.

    Parameters
    ----------
    values
        One number for each repeat, at least one.
    level
        The probability that the interval covers the mean, between 0 and 1.
    resamples
        How many times the values are drawn again.
    seed
        Of the generator; the same values and seed give the same interval.
    """
    sample = np.asarray(list(values), dtype=float)
    n = sample.size
    if n == 0:
        message = "values is empty, but a mean needs at least one"
        raise ValueError(message)
    mean = float(sample.mean())
    if n < FEWEST_TO_RESAMPLE:
        return student_interval(sample, level=level)
    quantile = student_quantile(n - 1, level)
    draws = _draws(n, resamples, seed)
    means = np.empty(resamples)
    for begin in range(0, resamples, _AT_ONCE):  # so many as stay in the processor's cache
        means[begin : begin + _AT_ONCE] = sample.take(draws[begin : begin + _AT_ONCE]).mean(axis=1)
    tail = math.erfc(math.sqrt(n / (n - 1)) * quantile / math.sqrt(2)) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    # The mean of equal values can differ from them in the last digit; an interval holds its own centre.
    return Interval(value=mean, low=min(float(low), mean), high=max(float(high), mean), n=n)


def student_interval(values: Iterable[float], *, level: float = LEVEL) -> Interval:
    """Return the mean of the values and Student's interval, which is exact if they are normal.

    A bootstrap cannot have a level near 1 with few values. This interval can. Raises `ValueError` if there are no
    values.

    Parameters
    ----------
    values
        One number for each repeat, at least one; with one there is no interval.
    level
        The probability that the interval covers the mean, between 0 and 1.
    """
    sample = np.asarray(list(values), dtype=float)
    n = sample.size
    if n == 0:
        message = "values is empty, but a mean needs at least one"
        raise ValueError(message)
    mean = float(sample.mean())
    if n == 1:
        return Interval(value=mean, low=None, high=None, n=1)
    half = float(student_quantile(n - 1, level) * sample.std(ddof=1) / np.sqrt(n))
    return Interval(value=mean, low=mean - half, high=mean + half, n=n)


@lru_cache(maxsize=64)
def student_quantile(degrees: int, level: float) -> float:
    """Return the t that a Student variable stays within, on both sides of 0, with probability `level`.

    Computed here from the closed form, since loading SciPy takes as long as dozens of short runs.

    Parameters
    ----------
    degrees
        Of freedom, at least 1.
    level
        Between 0 and 1.

    Source: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4.
    """
    # With t = sqrt(degrees) tan(angle), the probability is a finite sum over powers of the angle's cosine.
    odd = degrees % 2
    factors = [1.0] if degrees > 1 else []
    for power in range(2 + odd, degrees - 1, 2):
        factors.append(factors[-1] * (power - 1) / power)

    def within(angle: float) -> float:
        cosine = math.cos(angle)
        terms = (factor * cosine ** (2 * place + odd) for place, factor in enumerate(factors))
        total = math.sin(angle) * math.fsum(terms)
        return 2 / math.pi * (angle + total) if odd else total

    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if within(middle) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan(high)


@lru_cache(maxsize=8)
def _draws(n: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """Return which values each resample draws; the same for all samples of this size."""
    return np.random.default_rng(seed).integers(0, n, size=(resamples, n))
