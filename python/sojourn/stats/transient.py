"""How latency behaves when flows start: the point-wise mean over runs, its peak, and when it has settled.

Source: seed 000 section 6.2 and Fig. 7, which shows the point-wise mean of 30 runs and speaks of the height of the
spike and of the time until the latency is "back under control". The paper defines no number for either; the
definitions here are ours:

- **course**: time in bins of 200 ms from the start of the flows. A run's value in a bin is the mean over its probes of
  the mean of each probe's samples *sent* in the bin; the course is the mean of that over the runs. A lost sample has no
  latency and is left out; a bin that no run has a sample in is a gap.
- **steady level**: the mean of the course over a later window of the same runs (30 to 60 s).
- **peak**: the largest value of the course within the first 25 s, and the middle of its bin.
- **settling time**: the first time from which the course, smoothed over 1 s (centred, from 0 on), is for 5 s on end not
  more than a margin above the steady level. The margin is a tenth of the level, or 5 ms if that is more. Latency below
  the level counts as settled, so what rises to its level without overshoot settles at 0; `side="both"` counts either
  way. Infinite if it does not settle before the course ends.
- **excess**: the area of the smoothed course above the steady level within the first 25 s, in ms x s. Noise of the
  course adds to it, so compare it only between equal numbers of runs.

Each has a 95 % interval by the bootstrap over runs: whole runs are drawn again, and everything, the steady level
included, is computed from those drawn. The percentiles are widened as in `sojourn.stats.bootstrap`; with fewer than six
runs there is no interval. A draw holds fewer different runs than there are, so its course is noisier: the intervals of
peak, settling time and excess lean to higher values. Where samples of the slowest run are lost, the mean of the others
is lower: a dip of one bin is no event.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sojourn.errors import ParamError, refused
from sojourn.stats.bootstrap import FEWEST_TO_RESAMPLE, LEVEL, Interval

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: One run: for each probe the times its samples were sent (s) and the latencies (ms), null for a lost one.
Samples = Mapping[str, tuple[Sequence[float], Sequence[float | None]]]
Side = Literal["above", "both"]

BIN_S = 0.2
#: What Fig. 7 shows, from the start of the flows.
WINDOW_S = 25.0
STEADY_S = (30.0, 60.0)
SMOOTH_S = 1.0
HOLD_S = 5.0
MARGIN = 0.1
LEAST_MARGIN_MS = 5.0
RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """Latency over time."""

    #: The middle of each bin; 0 is the start of the flows.
    t_s: Array
    #: One row for each run, one column for each bin; NaN where a run has no sample.
    runs_ms: Array

    @property
    def mean_ms(self) -> Array:
        """The point-wise mean over the runs; NaN in a bin without samples."""
        mean: Array = _mean_of_rows(self.runs_ms, np.ones((1, len(self.runs_ms))))[0]
        return mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Transient:
    """The numbers of a course; `value` of each is that of the point-wise mean of all runs."""

    steady_ms: Interval
    peak_ms: Interval
    peak_s: Interval
    settling_s: Interval
    excess_ms_s: Interval


def course(runs: Sequence[Samples], *, start_s: float = -5.0, end_s: float = WINDOW_S, bin_s: float = BIN_S) -> Course:
    """Return the latencies of some runs on a common grid.

    Raises `ParamError` if there are no runs, or the grid has no bin or does not fit.

    Parameters
    ----------
    runs
        The samples of each run's probes: `record.series.rtt`, as `(t_s, rtt_ms)` for each probe.
    start_s, end_s, bin_s
        The grid; `start_s` and `end_s` must be multiples of `bin_s`.
    """
    if not runs:
        message = "runs is empty, but a course needs at least one"
        raise ParamError(message)
    if not bin_s > 0:
        raise refused(bin_s, "bin_s", "must be above 0")
    first, last = round(start_s / bin_s), round(end_s / bin_s)
    for field, value, number in (("start_s", start_s, first), ("end_s", end_s, last)):
        if not math.isclose(value, number * bin_s, abs_tol=1e-9):
            raise refused(value, field, f"must be a multiple of bin_s, {bin_s!r}")
    if last <= first:
        raise refused(end_s, "end_s", f"must be after start_s, {start_s!r}")
    rows = [_binned(samples, first=first, bins=last - first, bin_s=bin_s) for samples in runs]
    middles: Array = (np.arange(first, last, dtype=np.float64) + 0.5) * bin_s
    return Course(t_s=middles, runs_ms=np.vstack(rows))


def measure_transient(
    found: Course,
    *,
    window_s: float = WINDOW_S,
    steady_s: tuple[float, float] = STEADY_S,
    side: Side = "above",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Transient:
    """Return steady level, peak, settling time and excess of a course, each with its interval.

    Raises `ParamError` if there is no sample in the window of the steady level, or none in the first `window_s`.

    Parameters
    ----------
    found
        A course that reaches to the end of `steady_s`.
    window_s
        Peak and excess are those of this time from the start of the flows. The settling time may be later.
    steady_s
        Begin and end of the window in which the latency counts as steady.
    side
        Whether latency below the steady level counts as settled (`"above"`) or not (`"both"`).
    level, resamples, seed
        Of the bootstrap.
    """
    t = found.t_s
    n = len(found.runs_ms)
    early = (t > 0) & (t < window_s)
    late = (t > steady_s[0]) & (t < steady_s[1])
    mean = found.mean_ms
    for field, value, where in (("window_s", window_s, early), ("steady_s", steady_s, late)):
        if not np.isfinite(mean[where]).any():
            raise refused(value, field, "must be a time that some run has samples in")

    weights = np.ones((1, n))
    if n >= FEWEST_TO_RESAMPLE:
        drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
        weights = np.vstack([weights, drawn.astype(float)])
    numbers = _numbers(t, _mean_of_rows(found.runs_ms, weights), early, late, side)
    ends = _ends(numbers[1:], n, level) if n >= FEWEST_TO_RESAMPLE else [(None, None)] * numbers.shape[1]
    intervals = [
        Interval(
            value=float(value),
            low=None if low is None else min(low, float(value)),
            high=None if high is None else max(high, float(value)),
            n=n,
        )
        for value, (low, high) in zip(numbers[0], ends, strict=True)
    ]
    return Transient(
        steady_ms=intervals[0],
        peak_ms=intervals[1],
        peak_s=intervals[2],
        settling_s=intervals[3],
        excess_ms_s=intervals[4],
    )


def smooth(values: Array, width: int) -> Array:
    """Return the centred moving mean of so many values (made odd), of a row or of each row of several.

    Gaps are left out, and the ends have fewer.
    """
    half = width // 2
    there = np.isfinite(values)
    return _ratio(
        _moving_sum(np.where(there, values, 0.0), half), np.round(_moving_sum(there.astype(np.float64), half))
    )


def _moving_sum(rows: Array, half: int) -> Array:
    length = rows.shape[-1]
    before = np.concatenate([np.zeros((*rows.shape[:-1], 1)), np.cumsum(rows, axis=-1)], axis=-1)
    first, last = np.clip(np.arange(length) - half, 0, None), np.clip(np.arange(length) + half + 1, None, length)
    total: Array = before[..., last] - before[..., first]
    return total


def settling_times(t_s: Array, rows: Array, levels: Array, side: Side = "above") -> Array:
    """Return for each row the first time from 0 on from which it stays settled for `HOLD_S`; infinite if there is none.

    Parameters
    ----------
    t_s, rows
        Smoothed courses, in bins of equal length; a gap counts as not settled. `HOLD_S` must be part of them.
    levels
        The steady level of each row.
    side
        `"above"`: settled is what is not more than the margin (`MARGIN`, `LEAST_MARGIN_MS`) above the level. `"both"`:
        nor below it.
    """
    after = t_s > 0
    times, values = t_s[after], rows[:, after]
    room = np.maximum(MARGIN * levels, LEAST_MARGIN_MS)[:, np.newaxis]
    level = levels[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        settled = values <= level + room
        if side == "both":
            settled &= values >= level - room
    width = float(t_s[1] - t_s[0]) if len(t_s) > 1 else HOLD_S
    bins = max(math.ceil(HOLD_S / width - 1e-9), 1)
    if values.shape[1] < bins:
        return np.full(len(rows), np.inf)
    count = np.concatenate([np.zeros((len(rows), 1), dtype=np.int64), np.cumsum(settled, axis=1)], axis=1)
    stays = count[:, bins:] - count[:, :-bins] == bins
    begins = np.clip(times[np.argmax(stays, axis=1)] - width / 2, 0.0, None)
    return np.asarray(np.where(stays.any(axis=1), begins, np.inf), dtype=np.float64)


def _binned(samples: Samples, *, first: int, bins: int, bin_s: float) -> Array:
    """Return one run's latency in each bin: every probe that has a sample in it counts the same."""
    total, probes = np.zeros(bins), np.zeros(bins)
    for times, latencies in samples.values():
        place = np.floor(np.asarray(times, dtype=float) / bin_s + 1e-9).astype(np.int64) - first
        value = np.asarray([math.nan if one is None else one for one in latencies], dtype=float)
        counts = np.isfinite(value) & (place >= 0) & (place < bins)
        added = np.bincount(place[counts], weights=value[counts], minlength=bins)
        number = np.bincount(place[counts], minlength=bins)
        total += np.nan_to_num(_ratio(added, number), nan=0.0)
        probes += number > 0
    return _ratio(total, probes)


def _mean_of_rows(rows: Array, weights: Array) -> Array:
    """Return the weighted means of rows, gaps left out: a row for each row of weights."""
    there = np.isfinite(rows)
    total = weights @ np.where(there, rows, 0.0)
    count = weights @ there.astype(float)
    return _ratio(total, count)


def _ratio(total: npt.ArrayLike, count: npt.ArrayLike) -> Array:
    """Return total / count, NaN where the count is 0."""
    above, below = np.asarray(total, dtype=np.float64), np.asarray(count, dtype=np.float64)
    result: Array = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def _numbers(t: Array, means: Array, early: Mask, late: Mask, side: Side) -> Array:
    """Return steady level, peak, its time, settling time and excess of each row, a course.

    A row without samples in one of the windows has NaN.
    """
    known = np.isfinite(means[:, late]).any(axis=1) & np.isfinite(means[:, early]).any(axis=1)
    found: Array = np.full((len(means), 5), np.nan)
    rows = means[known]
    levels = np.nanmean(rows[:, late], axis=1)
    first = rows[:, early]
    highest = np.nanargmax(first, axis=1)
    width = float(t[1] - t[0])
    # What was before the flows started is kept out of the moving mean.
    smoothed: Array = np.full(rows.shape, np.nan)
    smoothed[:, t > 0] = smooth(rows[:, t > 0], round(SMOOTH_S / width))
    above = np.clip(smoothed[:, early] - levels[:, np.newaxis], 0.0, None)
    found[known] = np.column_stack(
        (
            levels,
            np.nanmax(first, axis=1),
            t[early][highest],
            settling_times(t, smoothed, levels, side),
            np.nansum(above, axis=1) * width,
        )
    )
    return found


def _ends(numbers: Array, n: int, level: float) -> list[tuple[float | None, float | None]]:
    """Return the expanded percentiles of each column; draws in which a number does not exist are left out."""
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 - level) / 2)))
    ends: list[tuple[float | None, float | None]] = []
    for column in numbers.T:
        there = np.sort(column[~np.isnan(column)])
        if not len(there):
            ends.append((None, None))
            continue
        # No interpolation: a settling time may be infinite in some draws.
        low = there[math.floor(tail * (len(there) - 1))]
        high = there[math.ceil((1 - tail) * (len(there) - 1))]
        ends.append((float(low), float(high)))
    return ends
