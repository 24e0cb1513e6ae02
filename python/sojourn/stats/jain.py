"""Jain's fairness index."""

from __future__ import annotations

from collections.abc import Iterable


def jain(shares: Iterable[float]) -> float:
    """Return `(sum x)^2 / (n * sum x^2)`: 1 if all shares are equal, 1/n if one has all.

    Source: R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984), section 2; seed 000 section 6.1 uses it with n = 4. Raises
    `ValueError` if there are no shares, or all are zero.
    """
    values = [float(share) for share in shares]
    squares = sum(value * value for value in values)
    if squares == 0:
        message = "shares hold nothing above 0, but fairness needs something to share"
        raise ValueError(message)
    return sum(values) ** 2 / (len(values) * squares)
