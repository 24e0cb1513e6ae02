"""How often to repeat: so many times, or in rounds until the intervals are as narrow as was asked for.

Each round looks at the 95 % interval of each chosen metric and asks for as many more seeds as it should take, so the
number of repeats is a function of the records alone. To stop when an interval happens to be narrow is sequential
sampling: the interval of the runs so gathered covers the true mean somewhat less often than its 95 %.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.bounds import check_repeat
from sojourn.errors import refused
from sojourn.lazy import Lazy
from sojourn.scenario import Scenario
from sojourn.store.run import Run

#: What must be known well unless other metrics are named.
DEFAULT_METRICS = ("goodput_up_mbit", "goodput_down_mbit", "induced_latency_ms")
#: The most repeats unless another bound is given.
DEFAULT_MOST = 100
#: A round makes the number of runs at most so many times as large: the estimate from a few runs is rough.
MOST_GROWTH = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """When to stop."""

    #: Half the width of an interval must be at most this share of the mean, such as 0.02.
    within: float
    #: Of which metrics, by the names of the columns of `runs.parquet`.
    metrics: tuple[str, ...] = DEFAULT_METRICS
    #: The largest number of repeats.
    most: int = DEFAULT_MOST


def repeats(scenario: Scenario, repeat: int, *, begin: int = 0) -> Sequence[Scenario]:
    """Return the scenario with its seed, the next one, and so on; each is made when it is needed.

    Raises `ParamError` if `repeat` is less than 1, or more than a plan may have.

    - `repeat`: how many there are.
    - `begin`: how many of them to leave out at the beginning.
    """
    check_repeat(repeat)
    first = 1 if scenario.seed is None else scenario.seed
    if type(first) is not int:
        scenario.normalized()  # which says what a seed must be
    number = repeat - begin
    return Lazy(
        number,
        lambda place: dataclasses.replace(scenario, seed=first + begin + place),
        # They differ in the seed alone, and only the last can have one that is too large.
        kinds=sorted({0, number - 1}) if number > 0 else (),
    )


def percent(text: str) -> float:
    """Read `"2%"` as 0.02; raises `ParamError` if it is not a percentage above 0 and below 100."""
    try:
        value = float(text.removesuffix("%")) / 100 if text.endswith("%") else math.nan
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise refused(text, "until-ci", "must be a percentage above 0% and below 100%, such as 2%")
    return value


def precision(within: str, metrics: Sequence[str] | None, most: int | None, repeat: int) -> Precision:
    """Return what was asked for in words; raises `ParamError` if a value is refused."""
    from sojourn.store.metrics import metric_names

    known = metric_names()
    for name in metrics or ():
        if name not in known:
            raise refused(name, "until-metric", f"must be one of {', '.join(known)}")
    bound = DEFAULT_MOST if most is None else most
    check_repeat(bound, "max-repeat")
    if bound < repeat:
        raise refused(bound, "max-repeat", f"must be at least repeat, which is {repeat}")
    return Precision(within=percent(within), metrics=tuple(metrics or DEFAULT_METRICS), most=bound)


def is_narrow(runs: Sequence[Run], until: Precision) -> bool:
    """Tell whether the interval of every metric is narrow enough; a metric that the runs lack is passed over."""
    return all(_excess(runs, metric) <= until.within for metric in until.metrics)


def next_count(runs: Sequence[Run], until: Precision) -> int:
    """Return how many runs there should be after the next round: as many as there are if it is enough.

    The width of an interval falls with the square root of the number of runs.
    """
    there = len(runs)
    if there >= until.most or is_narrow(runs, until):
        return there
    worst = max(_excess(runs, metric) for metric in until.metrics) / until.within
    factor = min(worst**2, MOST_GROWTH)
    return min(max(math.ceil(there * factor), there + 1), until.most)


def _excess(runs: Sequence[Run], metric: str) -> float:
    """Return half the width of a metric's interval as a share of its mean; 0 if all values are equal."""
    from sojourn.stats import mean_interval
    from sojourn.store.metrics import metric_of

    values = [value for run in runs if (value := metric_of(run, metric)) is not None]
    if not values:
        return 0.0
    interval = mean_interval(values)
    if interval.low is None or interval.high is None:
        return math.inf
    half = max(interval.high - interval.value, interval.value - interval.low)
    if half == 0:
        return 0.0
    return half / abs(interval.value) if interval.value else math.inf
