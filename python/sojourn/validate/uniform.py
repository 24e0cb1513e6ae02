"""Rows of random numbers, and what a number from 0 to below 1 picks: what all drawn scenarios share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from sojourn.errors import refused

Value = TypeVar("Value")

#: More than anyone has the time for; a slip of the finger must not fill the memory.
MOST = 10_000


def rows(count: int, seed: int | Sequence[int], *, columns: int) -> list[list[float]]:
    """Return so many rows of so many numbers from 0 to below 1, the same for one seed.

    Row k is a function of the seed and k alone, so a larger count begins with the rows of a smaller one. Raises
    `ParamError` if `count` is not from 1 to `MOST`.
    """
    if not 1 <= count <= MOST:
        raise refused(count, "count", f"must be from 1 to {MOST}")
    drawn = np.random.Generator(np.random.PCG64(seed)).random((count, columns))
    return [[float(u) for u in row] for row in drawn]


def between(u: float, low: float, high: float) -> float:
    """Return the number between two on a logarithmic scale."""
    return float(low * (high / low) ** u)


def one_of(u: float, values: Sequence[Value]) -> Value:
    """Return one of the values, each with the same chance."""
    return values[int(u * len(values))]
