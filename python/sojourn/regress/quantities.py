"""What two kernels can be compared by: the metrics of `sojourn validate`, some others, and which way each is worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sojourn.errors import refused
from sojourn.store.run import Run
from sojourn.validate import metrics
from sojourn.validate.judge import InMemory, finite
from sojourn.validate.metric import Metric, metric

#: What a change for the worse does to a quantity.
Worse = Literal["higher", "lower"]

#: Quantities that are no metrics of `sojourn validate`.
_OTHERS = (
    metric("rtt_mean", "rtt_mean_ms", title="mean round-trip time", digits=2),
    metric("rtt_median", "rtt_median_ms", title="median round-trip time", digits=2),
    metric("rtt_p95", "rtt_p95_ms", title="95th percentile of the round-trip time", digits=2),
    metric("rtt_p99", "rtt_p99_ms", title="99th percentile of the round-trip time", digits=2),
    metric("jain_up", digits=4),
    metric("jain_down", digits=4),
    metric("fct", "fct_ms"),
)

#: How names begin, and which way these are worse. Of drops, marks and windows nobody can say.
_WORSE: tuple[tuple[str, Worse], ...] = (
    ("induced_latency", "higher"),
    ("rtt_", "higher"),
    ("voip_", "higher"),
    ("page_fetch", "higher"),
    ("fct_", "higher"),
    ("settling", "higher"),
    ("peak", "higher"),
    ("steady", "higher"),
    ("retransmissions", "higher"),
    ("timeouts", "higher"),
    ("queue", "higher"),
    ("probe_loss", "higher"),
    ("goodput", "lower"),
    ("jain", "lower"),
)
#: Only runs show which flows have a share of their own.
_SHARE = "share_"


def worse_way(name: str) -> Worse | None:
    """Return which way a quantity is worse, by its name; `None` if that depends on who asks."""
    return next((way for begin, way in _WORSE if name.startswith(begin)), None)


def known() -> tuple[str, ...]:
    """Return the names of the quantities that scenarios without a cell may have, but for the shares of flows."""
    return tuple(one.name for one in (*metrics.EVERY, *_OTHERS))


def check_name(name: str, *, cell: bool) -> None:
    """Check the name of a quantity before anything is run.

    Raises `ParamError` if there is no quantity of this name.

    - `name`: as it was asked for.
    - `cell`: whether the scenario has a Wi-Fi cell, whose quantities are named after its stations.
    """
    if name not in known() and not name.startswith(_SHARE) and not cell:
        raise refused(name, "metric", f"must be one of {', '.join(known())}, or share_FLOW")


def judged(run: Run) -> list[Metric]:
    """Return the quantities of a scenario that `sojourn validate` judges, of which this is one run."""
    return [one for one in metrics.metrics_of(run.record) if one.bar is not None]


def chosen(names: list[str], run: Run) -> list[Metric]:
    """Return the quantities of these names, of whose scenario this is one run.

    Raises `ParamError` if the scenario has none of a name.
    """
    there = {one.name: one for one in (*metrics.metrics_of(run.record), *_OTHERS)}
    for name in names:
        if name not in there:
            raise refused(name, "metric", f"must be one of the scenario's: {', '.join(there)}")
    return [there[name] for name in names]


def values(of: Sequence[Metric], run: Run) -> tuple[float | None, ...]:
    """Return the numbers of a run, whose record is read once; `None` for each that it has not."""
    in_memory = [InMemory(run.record)]
    sides = (one.measure(in_memory) for one in of)
    return tuple(None if side is None else finite(side.interval.value) for side in sides)


def value(of: Metric, run: Run) -> float | None:
    """Return the number of a run; `None` if it has none."""
    return values([of], run)[0]
