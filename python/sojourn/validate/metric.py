"""A metric: one quantity of the runs of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn.record import Record
from sojourn.stats import mean_interval
from sojourn.store.run import Run
from sojourn.validate.bars import Bar, Side

Measure = Callable[[Sequence[Run]], Side | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One quantity.

    Attributes
    ----------
    name
        In `validate.json`.
    title
        In tables.
    unit
        Of the values.
    measure
        From the runs of one scenario on one back end to their value; `None` if they have none.
    bar
        How far apart the back ends may be; `None` if it is shown only.
    digits
        Decimals in tables.
    """

    name: str
    title: str
    unit: str
    measure: Measure
    bar: Bar | None = None
    digits: int = 2


def each_run(value: Callable[[Record], float | None]) -> Measure:
    """Return a measure that is the mean over the runs of a number of each; runs without one are left out."""

    def measure(runs: Sequence[Run]) -> Side | None:
        values = [number for run in runs if (number := value(run.record)) is not None]
        return Side(interval=mean_interval(values)) if values else None

    return measure
