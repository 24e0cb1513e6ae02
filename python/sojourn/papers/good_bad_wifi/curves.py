"""The start-up as Fig. 7 shows it: the point-wise mean over the repeats of the measured latency, in bins of 200 ms.

The measured latency is the round-trip time, the base included; where claims speak of ratios, the latency is induced
latency, above the level before the flows start: the base is not the queue's. The peak is the highest bin of the first
25 s. The curve has settled when, smoothed over a second, it is for 5 s on end no more than a tenth of the steady level,
or 5 ms, above that level: the mean from 30 to 60 s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.observation import BIN_S, CURVE_S, START_S, known
from sojourn.stats.transient import HOLD_S, LEAST_MARGIN_MS, MARGIN
from sojourn.study.cell import Observation
from sojourn.study.redraw import Drawn

Curve = NDArray[np.float64]

SMOOTH_BINS = 5
HOLD_BINS = round(HOLD_S / BIN_S)
START_BINS = round(START_S / BIN_S)


class StartUp:
    """The start-up of one cell.

    - `runs`: its repeats.

    Raises
    ------
    SojournError
        If they are too short, or no probe was answered.
    """

    def __init__(self, runs: Sequence[Observation]) -> None:
        self.n = len(runs)
        self._curves = np.stack([run.curve_ms for run in runs]).astype(float)
        short = "latency after the start-up: duration is too short for it"
        self._settled = np.array([known(run.settled_ms, run, short) for run in runs])
        self._before = np.array([known(run.before_ms, run, "round trip before the flows") for run in runs])
        self._last: tuple[Drawn | None, Curve] = (None, np.empty(0))
        if np.isnan(self._curves[:, :START_BINS]).all():
            message = f"the run with seed {runs[0].seed} has no answered probe in the first {START_S:g} s"
            raise SojournError(message)

    def curve(self, drawn: Drawn) -> Curve:
        """Return the mean curve (ms); the last one is remembered."""
        if drawn is not self._last[0]:
            self._last = (drawn, self._mean(drawn, 1))
        return self._last[1]

    def _mean(self, drawn: Drawn, width: int) -> Curve:
        curves = self._curves[drawn]
        there = ~np.isnan(curves)
        total, count = np.where(there, curves, 0.0).sum(axis=0), there.sum(axis=0).astype(float)
        if width > 1:
            total, count = (np.convolve(one, np.ones(width), mode="same") for one in (total, count))
        mean = np.full(total.size, np.nan)
        np.divide(total, count, out=mean, where=count > 0.5)
        return mean

    def steady(self, drawn: Drawn) -> float:
        """Return the mean latency after the start-up (ms)."""
        return float(self._settled[drawn].mean())

    def before(self, drawn: Drawn) -> float:
        """Return the mean latency before the flows start (ms)."""
        return float(self._before[drawn].mean())

    def induced_steady(self, drawn: Drawn) -> float:
        """Return the mean induced latency after the start-up (ms)."""
        return self.steady(drawn) - self.before(drawn)

    def induced_peak(self, drawn: Drawn) -> float:
        """Return the highest induced latency of the curve (ms)."""
        return self.peak(drawn) - self.before(drawn)

    def peak(self, drawn: Drawn) -> float:
        """Return the highest point of the start-up (ms)."""
        return float(np.nanmax(self.curve(drawn)[:START_BINS]))

    def peak_place(self, drawn: Drawn) -> int:
        """Return in which bin the highest point is."""
        return int(np.nanargmax(self.curve(drawn)[:START_BINS]))

    def induced_second(self, drawn: Drawn) -> float:
        """Return the highest induced latency over a second of the start-up (ms)."""
        return float(np.nanmax(self._mean(drawn, SMOOTH_BINS)[:START_BINS])) - self.before(drawn)

    def settling(self, drawn: Drawn) -> float:
        """Return from when the curve is at the steady level for 5 s (s); `CURVE_S` if it never is."""
        steady = self.steady(drawn)
        settled = self._mean(drawn, SMOOTH_BINS) <= steady + max(MARGIN * steady, LEAST_MARGIN_MS)
        count = np.concatenate([[0], np.cumsum(settled)])
        stays = np.flatnonzero(count[HOLD_BINS:] - count[:-HOLD_BINS] == HOLD_BINS)
        return float(stays[0] * BIN_S) if stays.size else CURVE_S
