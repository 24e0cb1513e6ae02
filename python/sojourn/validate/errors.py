"""How far two back ends differ over many scenarios: relative errors, their median and their 90th percentile.

The relative error of a scenario is `|sim - kernel| / |kernel|`, from the means over the repeats. A latency near zero
has no relative error worth the name, so for latency there is a least divisor (`Bars.least_ms`), and for marks as well.

Quantiles interpolate (the default of numpy). Their intervals are percentile bootstrap intervals over the scenarios;
they do not hold the noise of each scenario's means, which makes every error larger than the model's alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sojourn.stats.bootstrap import LEVEL
from sojourn.validate import bars
from sojourn.validate.bars import Judged
from sojourn.validate.judge import Row

#: Quantiles of the errors, and what they are called.
QUANTILES = ((0.5, "median"), (0.9, "90th percentile"))
#: The usual bars of the median and of the 90th percentile, fractions.
USUAL = (0.05, 0.20)
_LATENCY, _GOODPUT = "induced_latency_ms", "goodput_"
#: What the names of numbers of marks begin with; they have errors, but no bar.
MARKS = "marks_"
#: The least divisor of an error of marks, packets: the bar of a grid is 5 packets or 20 %, whichever is larger.
LEAST_MARKS = 25.0
_RESAMPLES = 10_000

#: For each metric the errors of each scenario's simulated runs against others of them (`sojourn.validate.itself`).
Itself = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """What the errors of a population must be below."""

    #: The least divisor of a latency's error, in milliseconds.
    least_ms: float
    #: Median and 90th percentile, fractions.
    latency: tuple[float, float]
    goodput: tuple[float, float]
    #: So many scenarios with the largest errors are named.
    worst: int

    def of(self, metric: str) -> tuple[float, float]:
        """Return the bars of a metric that has some."""
        return self.latency if metric == _LATENCY else self.goodput

    @property
    def words(self) -> str:
        """The bars in one sentence each."""
        latency, goodput = ([f"{100 * bar:g} %" for bar in bars] for bars in (self.latency, self.goodput))
        if latency == goodput:
            return (
                f"The bar is a median over the scenarios below {latency[0]} and a 90th percentile below {latency[1]}."
            )
        return (
            f"The bar of latency is a median over the scenarios below {latency[0]} and a 90th percentile below "
            f"{latency[1]}. That of goodput is {goodput[0]} and {goodput[1]}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """The relative error of one metric of one scenario."""

    row: Row
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile of the errors of one metric."""

    #: Of what.
    metric: str
    title: str
    #: `"median"` or `"90th percentile"`.
    name: str
    #: The quantile, a fraction, and its 95 % interval; no ends with one scenario.
    value: float
    low: float | None
    high: float | None
    #: Scenarios.
    n: int
    #: The same quantile of the simulator's errors against itself; `None` if it has too few runs.
    itself: float | None
    #: The verdict.
    judged: Judged


def errors_of(rows: Sequence[Row], bars_of: Bars) -> dict[str, list[Error]]:
    """Return the errors of each metric that has a bar, in the order of the scenarios."""
    found: dict[str, list[Error]] = {}
    for row in rows:
        if row.metric.bar is not None and row.sim is not None and row.kernel is not None:
            value = relative_error(
                row.sim.interval.value, row.kernel.interval.value, least=_least(row.metric.name, bars_of)
            )
            found.setdefault(row.metric.name, []).append(Error(row=row, value=value))
    return found


def _least(metric: str, bars_of: Bars) -> float:
    if metric == _LATENCY:
        return bars_of.least_ms
    return LEAST_MARKS if metric.startswith(MARKS) else 0


def relative_error(sim: float, kernel: float, *, least: float) -> float:
    """Return the relative error; infinite if there is something where the kernel has nothing."""
    gap, divisor = abs(sim - kernel), max(abs(kernel), least)
    if divisor == 0:
        return 0.0 if gap == 0 else float("inf")
    return gap / divisor


def quantiles(found: dict[str, list[Error]], bars_of: Bars, itself: Itself | None = None) -> list[Quantile]:
    """Return median and 90th percentile of the errors of latency and goodput, judged; others have no bar.

    With the errors of the simulator against itself, a quantile differs only if it is above theirs as well.
    """
    floors = {metric: list(chain.from_iterable(each.values())) for metric, each in (itself or {}).items()}
    return [
        _quantile(errors, share, name, bar, floors.get(metric, []))
        for metric, errors in found.items()
        if errors and (metric == _LATENCY or metric.startswith(_GOODPUT))
        for (share, name), bar in zip(QUANTILES, bars_of.of(metric), strict=True)
    ]


def worst(found: dict[str, list[Error]], count: int, itself: Itself | None = None) -> list[Error]:
    """Return the scenarios with the largest errors, each once by its worst metric, the worst first.

    Errors that the simulator has against itself come after all others.
    """

    def rank(error: Error) -> tuple[bool, float]:
        return error.value > most_of_itself(error, itself), error.value

    by_scenario: dict[str, Error] = {}
    for error in (error for errors in found.values() for error in errors):
        name = error.row.cell.name
        if name not in by_scenario or rank(error) > rank(by_scenario[name]):
            by_scenario[name] = error
    return sorted(by_scenario.values(), key=rank, reverse=True)[:count]


def most_of_itself(error: Error, itself: Itself | None) -> float:
    """Return the largest error of the simulator against itself in the same scenario and metric; 0 without any."""
    return max((itself or {}).get(error.row.metric.name, {}).get(error.row.cell.name, []), default=0.0)


def _quantile(errors: Sequence[Error], share: float, name: str, bar: float, itself: Sequence[float]) -> Quantile:
    values = np.array([error.value for error in errors])
    value = linear(values, share)
    low = high = None
    if len(values) > 1:
        drawn = np.random.default_rng(0).integers(0, len(values), size=(_RESAMPLES, len(values)))
        each = linear(values[drawn], share)
        low, high = (float(np.quantile(each, tail, method="nearest")) for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    metric = errors[0].row.metric
    floor = float(linear(np.array(itself), share)) if itself else None
    return Quantile(
        metric=metric.name,
        title=metric.title,
        name=name,
        value=float(value),
        low=low,
        high=high,
        n=len(values),
        itself=floor,
        judged=_judge(float(value), low, high, bar, floor),
    )


def linear(values: np.ndarray, share: float) -> np.ndarray:
    """Return the interpolated quantile of the last axis; an infinite error does not turn its neighbour into nothing."""
    ordered = np.sort(values, axis=-1)
    place = share * (values.shape[-1] - 1)
    below = int(place)
    first, second = ordered[..., below], ordered[..., min(below + 1, values.shape[-1] - 1)]
    weight = place - below
    return first if weight < 1e-9 else first * (1 - weight) + second * weight


def _judge(value: float, low: float | None, high: float | None, bar: float, itself: float | None) -> Judged:
    if value < bar:
        return Judged(verdict=bars.AGREES, bar=bar, surely=high is not None and high < bar)
    if itself is not None and value <= itself:
        return Judged(verdict=bars.CANNOT_TELL, bar=bar, reason="the simulator differs from itself as much")
    if low is not None and low >= bar:
        return Judged(verdict=bars.DIFFERS, bar=bar)
    return Judged(verdict=bars.CANNOT_TELL, bar=bar)
