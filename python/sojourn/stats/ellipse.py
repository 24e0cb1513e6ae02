"""The one-sigma ellipse of two quantities over repeats.

Source: seed 000, caption of Fig. 2: the median of the per-run means, and the ellipse of their covariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Ellipse:
    """An ellipse around a point."""

    #: The centre: the medians.
    x: float
    y: float
    #: Half axes: the square roots of the eigenvalues of the covariance; 0 with fewer than two repeats.
    major: float
    minor: float
    #: From the x axis to the major axis, anticlockwise, in (-pi/2, pi/2].
    angle_rad: float

    def outline(self, points: int = 181) -> npt.NDArray[np.float64]:
        """Return points on the outline as an array of shape (points, 2); the last is the first."""
        turn = np.linspace(0.0, 2 * np.pi, points)
        cos, sin = np.cos(self.angle_rad), np.sin(self.angle_rad)
        along, across = self.major * np.cos(turn), self.minor * np.sin(turn)
        return np.column_stack((self.x + along * cos - across * sin, self.y + along * sin + across * cos))


def one_sigma(x: Sequence[float], y: Sequence[float]) -> Ellipse:
    """Return the ellipse of the sample covariance (n - 1), centred at the medians.

    Raises `ValueError` if the two have not the same length, or are empty.
    """
    if len(x) != len(y) or not x:
        message = f"x has {len(x)} values and y {len(y)}, but both must have the same number, at least one"
        raise ValueError(message)
    centre_x, centre_y = float(np.median(x)), float(np.median(y))
    if len(x) < 2:
        return Ellipse(x=centre_x, y=centre_y, major=0.0, minor=0.0, angle_rad=0.0)
    eigenvalues, eigenvectors = np.linalg.eigh(np.cov(np.asarray(x, dtype=float), np.asarray(y, dtype=float)))
    minor, major = np.sqrt(np.clip(eigenvalues, 0.0, None))
    angle = float(np.arctan2(eigenvectors[1, 1], eigenvectors[0, 1]))
    if angle <= -np.pi / 2:
        angle += np.pi
    elif angle > np.pi / 2:
        angle -= np.pi
    return Ellipse(x=centre_x, y=centre_y, major=float(major), minor=float(minor), angle_rad=angle)
