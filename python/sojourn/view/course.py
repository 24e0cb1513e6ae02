"""The series of one run for a browser: cut to what is looked at, and thinned to what can be seen."""

from __future__ import annotations

import math

from msgspec import Struct

from sojourn.errors import ParamError
from sojourn.frame_library import pl
from sojourn.stats import cdf
from sojourn.view.thin import quantile_places, short, thinned

#: Most values of one line; a screen of 4k has 3840 columns.
MOST_POINTS = 8000
#: Points of a distribution.
_QUANTILES = 501


class Line(Struct, frozen=True, kw_only=True):
    """A line: what it is of, its times, its values, and how many there are of them all."""

    metric: str
    name: str
    direction: str | None
    t: list[float]
    v: list[float | None]
    of: int


def series(
    frame: pl.DataFrame, *, metrics: list[str], points: int, start: float = -math.inf, end: float = math.inf
) -> list[Line]:
    """Return the lines of a run, each thinned to about so many values; the least and the largest stay.

    Raises `ParamError` if `points` is not possible.

    - `frame`: schema `sojourn.store.frames.SERIES_SCHEMA`.
    - `metrics`: which; all if empty.
    - `points`: most values of a line.
    - `start`, `end`: the times that are looked at, s.
    """
    if not 4 <= points <= MOST_POINTS:
        message = f"points is {points}, but must be from 4 to {MOST_POINTS}"
        raise ParamError(message)
    if metrics:
        frame = frame.filter(pl.col("metric").is_in(metrics))
    frame = frame.filter(pl.col("t_s").is_between(start, end))
    lines = []
    for (metric, name, direction), part in frame.group_by(["metric", "name", "direction"], maintain_order=True):
        times, values = part["t_s"].to_numpy(), part["value"].to_numpy()
        kept = thinned(values, points)
        lines.append(
            Line(
                metric=metric,
                name=name,
                direction=direction,
                t=[round(float(value), 6) for value in times[kept]],
                v=[short(value) for value in values[kept]],
                of=int(times.size),
            )
        )
    return lines


#: Metrics whose lines are added up; of the others the mean is taken, over a second.
_ADDED = ("goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets", "voip_sent", "voip_lost")


def combined(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one line for each metric and direction: the sum of counts and rates, the mean of times over a second."""
    added = pl.col("metric").is_in(_ADDED)
    keys = ["metric", "direction", "t_s"]
    sums = frame.filter(added).group_by(keys, maintain_order=True).agg(pl.col("value").sum())
    means = (
        frame.filter(~added)
        .with_columns(t_s=pl.col("t_s").floor() + 0.5)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").mean())
    )
    both = pl.concat([sums, means]).sort("metric", "direction", "t_s", maintain_order=True)
    return both.with_columns(name=pl.lit("all")).select(frame.columns)


def distribution(frame: pl.DataFrame, metric: str) -> dict[str, int | list[float | None]]:
    """Return the distribution of a metric in the measured window, thinned: `value`, `fraction`, and `count`."""
    samples = frame.filter((pl.col("metric") == metric) & (pl.col("t_s") >= 0))["value"].drop_nulls().drop_nans()
    curve = cdf(samples)
    places = quantile_places(curve.height, _QUANTILES)
    value, fraction = ([short(each) for each in curve[name].to_numpy()[places]] for name in ("value", "fraction"))
    return {"value": value, "fraction": fraction, "count": curve.height}
