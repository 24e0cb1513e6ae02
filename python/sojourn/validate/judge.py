"""From the runs of a cell to rows: for each metric a value, an interval and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from sojourn.record import Record
from sojourn.scenario import Scenario
from sojourn.schema import decoder
from sojourn.stats.difference import difference_interval
from sojourn.store.run import Run
from sojourn.validate import bars
from sojourn.validate.bars import Factor, Judged, Side
from sojourn.validate.entry import Entry
from sojourn.validate.execute import KERNEL, LIVE, SIM, Both, Name, Pair
from sojourn.validate.grid import PlannedCell
from sojourn.validate.metric import Metric
from sojourn.validate.metrics import metrics_of

_WORDS = {SIM: "the simulator", KERNEL: "the kernel", LIVE: "the live back end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one cell."""

    #: Whose.
    cell: PlannedCell
    #: Which.
    metric: Metric
    #: What each back end's runs say; `None` if they have no value.
    sim: Side | None
    kernel: Side | None
    #: The verdict; of a metric without a bar, `None`.
    judged: Judged | None
    #: The names of the back ends.
    pair: Pair = (SIM, KERNEL)

    @property
    def verdict(self) -> bars.Word | Literal["not judged"]:
        """The word of its verdict, or `bars.NOT_JUDGED`."""
        return bars.NOT_JUDGED if self.judged is None else self.judged.verdict

    def entry(self) -> Entry:
        """Return the entry of `validate.json`; a number that is not there, or infinite, is null."""
        scenario = _canonical(self.cell.scenario)
        gap = None
        if self.sim is not None and self.kernel is not None:
            gap = difference_interval(self.sim.interval, self.kernel.interval)
        return Entry(
            scenario=self.cell.name,
            metric=self.metric.name,
            **_numbers(dict(zip(self.pair, (self.sim, self.kernel), strict=True))),
            ratio=ratio(self.sim, self.kernel),
            verdict=self.verdict,
            title=self.metric.title,
            unit=self.metric.unit,
            pair=self.pair,
            digits=self.metric.digits,
            bar=None if self.judged is None else finite(self.judged.bar),
            bar_is=_bar_is(self.metric),
            surely=self.judged is not None and self.judged.surely,
            reason="" if self.judged is None else self.judged.reason,
            difference=None if gap is None else finite(gap.value),
            difference_low=None if gap is None else finite(gap.low),
            difference_high=None if gap is None else finite(gap.high),
            experiment=scenario.experiment,
            link=self.cell.link,
            qdisc=self.cell.qdisc,
            qdisc_up=scenario.qdisc_up,
            qdisc_down=scenario.qdisc_down,
        )


class InMemory(Run):
    """A run whose record stays in memory, because each metric takes its value from it."""

    def __init__(self, record: Record) -> None:
        super().__init__(text="")
        self._record = record


def judge_all(ran: Iterable[Both], metrics: Sequence[Metric] | None = None) -> list[Row]:
    """Return the rows of all cells, in their order; a metric that no side has a value of has none.

    Without metrics they are those of each record.
    """
    return [row for both in ran for row in judge(both, metrics)]


def judge(both: Both, metrics: Sequence[Metric] | None = None) -> list[Row]:
    """Return the rows of one cell."""
    rows = []
    # A stored run reads its record each time that it is asked for it, and a cell has many metrics.
    sims, kernels = ([InMemory(run.record) for run in runs] for runs in (both.sim, both.kernel))
    for metric in metrics or metrics_of(kernels[0].record):
        sim, kernel = metric.measure(sims), metric.measure(kernels)
        if sim is not None or kernel is not None:
            judged = _verdict(metric, sim, kernel, both.pair)
            rows.append(Row(cell=both.cell, metric=metric, sim=sim, kernel=kernel, judged=judged, pair=both.pair))
    return rows


class _Canonical(Struct):
    """Of a canonical scenario what an entry has."""

    experiment: str
    qdisc_up: str
    qdisc_down: str


@lru_cache(maxsize=4)
def _canonical(scenario: Scenario) -> _Canonical:
    return decoder(_Canonical).decode(scenario.normalized())


def ratio(sim: Side | None, kernel: Side | None) -> float | None:
    """Return sim / kernel; `None` where one is not there or the kernel's is 0."""
    if sim is None or kernel is None or kernel.interval.value == 0:
        return None
    return finite(sim.interval.value / kernel.interval.value)


def finite(value: float | None) -> float | None:
    """Return a number that JSON has, or `None`."""
    return value if value is not None and math.isfinite(value) else None


def _verdict(metric: Metric, sim: Side | None, kernel: Side | None, pair: Pair) -> Judged | None:
    if metric.bar is None:
        return None
    if sim is None or kernel is None:
        side = _WORDS[pair[0 if sim is None else 1]]
        return Judged(verdict=bars.CANNOT_TELL, bar=math.nan, reason=f"{side} has no value in any run")
    return metric.bar.judge(sim, kernel)


def _numbers(sides: Mapping[Name, Side | None]) -> dict[str, Any]:
    """Return the keys of an entry that have the numbers of back ends; of one that is not compared, the mean alone."""
    numbers: dict[str, float | int | None] = dict.fromkeys((SIM, KERNEL, LIVE))
    for name, side in sides.items():
        interval = None if side is None else side.interval
        numbers |= {
            name: None if interval is None else finite(interval.value),
            f"{name}_low": None if interval is None else finite(interval.low),
            f"{name}_high": None if interval is None else finite(interval.high),
            f"{name}_runs": 0 if interval is None else interval.n,
        }
    return numbers


def _bar_is(metric: Metric) -> str | None:
    if metric.bar is None:
        return None
    return "factor" if isinstance(metric.bar, Factor) else "difference"
