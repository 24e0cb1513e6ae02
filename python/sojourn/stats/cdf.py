"""Empirical distribution functions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sojourn.frame_library import pl


def cdf(values: Iterable[float]) -> pl.DataFrame:
    """Return the empirical distribution: `value`, sorted, and `fraction`, the share of values not above it."""
    ordered = np.sort(np.asarray(list(values), dtype=float))
    fraction = np.arange(1, ordered.size + 1) / max(ordered.size, 1)
    return pl.DataFrame({"value": ordered, "fraction": fraction}, schema={"value": pl.Float64, "fraction": pl.Float64})
