"""A metric: one quantity of the runs of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn.record import Record
from sojourn.stats import mean_interval
from sojourn.store.run import Run
from sojourn.study.quantities import QUANTITIES
from sojourn.validate.bars import Bar, Side

Measure = Callable[[Sequence[Run]], Side | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One quantity."""

    #: In `validate.json`.
    name: str
    #: In tables.
    title: str
    #: Of the values.
    unit: str
    #: From the runs of one scenario on one back end to their value; `None` if they have none.
    measure: Measure
    #: How far apart the back ends may be; `None` if it is shown only.
    bar: Bar | None = None
    #: Decimals in tables.
    digits: int = 2

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def each_run(value: Callable[[Record], float | None]) -> Measure:
    """Return a measure that is the mean over the runs of a number of each; runs without one are left out."""

    def measure(runs: Sequence[Run]) -> Side | None:
        values = [number for run in runs if (number := value(run.record)) is not None]
        return Side(interval=mean_interval(values)) if values else None

    return measure


def metric(
    of: str,
    name: str = "",
    *,
    title: str = "",
    digits: int | None = None,
    bar: Bar | None = None,
    measure: Measure | None = None,
) -> Metric:
    """Return a quantity of `sojourn.study.quantities` as a metric, its mean over the runs unless `measure` is another.

    Name, title and decimals are the quantity's, unless others are given.
    """
    quantity = QUANTITIES[of]
    return Metric(
        name=name or of,
        title=title or quantity.title,
        unit=quantity.unit,
        measure=measure or each_run(quantity.read),
        bar=bar,
        digits=quantity.digits if digits is None else digits,
    )
