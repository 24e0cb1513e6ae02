"""What two kernels can be compared by: quantities of a run, and which way each is worse.

Most are those of `sojourn validate`, from its own table. The others are of a run's summary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sojourn.errors import ParamError
from sojourn.store.metrics import metric_of
from sojourn.store.run import Run
from sojourn.validate import metrics
from sojourn.validate.judge import InMemory
from sojourn.validate.metric import Metric

#: What a change for the worse does to a quantity.
Worse = Literal["higher", "lower"]

#: Of a run's summary: title, unit, decimals.
_OF_SUMMARY = {
    "rtt_mean_ms": ("mean round-trip time", "ms", 2),
    "rtt_median_ms": ("median round-trip time", "ms", 2),
    "rtt_p95_ms": ("95th percentile of the round-trip time", "ms", 2),
    "rtt_p99_ms": ("99th percentile of the round-trip time", "ms", 2),
    "jain_up": ("Jain's index up", "", 4),
    "jain_down": ("Jain's index down", "", 4),
    "fct_ms": ("completion time of a file", "ms", 1),
}

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """Something that each run has one number of.

    Attributes
    ----------
    name
        As `--metric` takes it.
    title
        In tables.
    unit
        Of the values; empty for a number without one.
    value
        From a run to its number; `None` if it has none.
    digits
        Decimals in tables.
    """

    name: str
    title: str
    unit: str
    value: Callable[[Run], float | None]
    digits: int = 2

    @property
    def worse(self) -> Worse | None:
        """Which way a change for the worse goes; `None` if that depends on who asks."""
        return worse_way(self.name)

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def worse_way(name: str) -> Worse | None:
    """Return which way a quantity is worse, by its name; `None` if that depends on who asks."""
    return next((way for begin, way in _WORSE if name.startswith(begin)), None)


def known() -> tuple[str, ...]:
    """Return the names of the quantities that scenarios without a cell may have, but for the shares of flows."""
    return (*(metric.name for metric in metrics.EVERY), *_OF_SUMMARY)


def check_name(name: str, *, cell: bool) -> None:
    """Check the name of a quantity before anything is run.

    Parameters
    ----------
    name
        As it was asked for.
    cell
        Whether the scenario has a Wi-Fi cell, whose quantities are named after its stations.

    Raises
    ------
    ParamError
        If there is no quantity of this name.
    """
    if name not in known() and not name.startswith(_SHARE) and not cell:
        message = f"metric is {name!r}, but must be one of {', '.join(known())}, or share_FLOW"
        raise ParamError(message)


def judged(run: Run) -> list[Quantity]:
    """Return the quantities of a scenario that `sojourn validate` judges, of which this is one run."""
    return [_of(metric) for metric in metrics.metrics_of(run.record) if metric.bar is not None]


def chosen(names: list[str], run: Run) -> list[Quantity]:
    """Return the quantities of these names, of whose scenario this is one run.

    Raises
    ------
    ParamError
        If the scenario has none of a name.
    """
    there = {metric.name: _of(metric) for metric in metrics.metrics_of(run.record)}
    there |= {name: _of_summary(name) for name in _OF_SUMMARY}
    for name in names:
        if name not in there:
            message = f"metric is {name!r}, but must be one of the scenario's: {', '.join(there)}"
            raise ParamError(message)
    return [there[name] for name in names]


def _of(metric: Metric) -> Quantity:
    def value(run: Run) -> float | None:
        side = metric.measure([InMemory(run.record)])
        if side is None or not math.isfinite(side.interval.value):
            return None
        return side.interval.value

    return Quantity(name=metric.name, title=metric.title, unit=metric.unit, value=value, digits=metric.digits)


def _of_summary(name: str) -> Quantity:
    title, unit, digits = _OF_SUMMARY[name]
    return Quantity(name=name, title=title, unit=unit, value=lambda run: metric_of(run, name), digits=digits)
