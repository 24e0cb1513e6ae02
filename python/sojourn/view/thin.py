"""Lines that are thinned to what can be seen of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def thinned(values: npt.NDArray[np.float64], points: int) -> npt.NDArray[np.intp]:
    """Return the places of the values that are drawn: of each piece the least, the largest and a gap, if it has one."""
    if values.size <= points:
        return np.arange(values.size)
    kept: list[int] = [0, values.size - 1]
    for piece in np.array_split(np.arange(values.size), max(1, points // 3)):
        of_piece = values[piece]
        gaps = np.isnan(of_piece)
        if gaps.any():
            kept.append(int(piece[int(np.argmax(gaps))]))
        if not gaps.all():
            kept += [int(piece[int(np.nanargmin(of_piece))]), int(piece[int(np.nanargmax(of_piece))])]
    return np.unique(np.asarray(kept))


def quantile_places(size: int, most: int) -> npt.NDArray[np.intp]:
    """Return the places of at most so many of the sorted values, evenly, the first and the last among them."""
    return np.unique(np.linspace(0, max(size - 1, 0), min(most, size)).astype(np.intp))


def short(value: float) -> float | None:
    """Return a number with the digits that are drawn; `None` if it is not finite."""
    return float(f"{value:.7g}") if math.isfinite(value) else None
