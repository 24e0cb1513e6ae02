"""What `validate.json` and `part.json` hold, as it is written and read again."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from sojourn.schema import Number, Text, Whole, Words, or_null
from sojourn.validate import bars
from sojourn.validate.execute import KERNEL, SIM, Name

#: A number that is null where there is none; the key is absent where it means nothing.
_Number = Number | None | UnsetType


class Entry(Struct, kw_only=True, omit_defaults=True):
    """An entry of `validate.json`: a metric of a cell, or a quantile of the errors of drawn scenarios.

    `sim`, `linux` and `live` are the means of the back ends. Those of `pair` are compared: the first is judged by the
    second. `value` to `itself` are those of a quantile.
    """

    scenario: Text
    metric: Text
    sim: _Number = UNSET
    linux: _Number = UNSET
    live: _Number = UNSET
    ratio: _Number = UNSET
    verdict: bars.Word | Literal["not judged"]
    title: Text
    unit: Text
    pair: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    digits: Annotated[int, Meta(ge=0, le=15, extra={"rule": "a whole number from 0 to 15"})]
    bar: Number | None
    bar_is: Text | None
    surely: bool
    reason: Text
    value: _Number = UNSET
    low: _Number = UNSET
    high: _Number = UNSET
    itself: _Number = UNSET
    sim_low: _Number = UNSET
    sim_high: _Number = UNSET
    sim_runs: Whole | UnsetType = UNSET
    live_low: _Number = UNSET
    live_high: _Number = UNSET
    live_runs: Whole | UnsetType = UNSET
    linux_low: _Number = UNSET
    linux_high: _Number = UNSET
    linux_runs: Whole | UnsetType = UNSET
    difference: _Number = UNSET
    difference_low: _Number = UNSET
    difference_high: _Number = UNSET
    experiment: Text | UnsetType = UNSET
    link: Words = "-"
    qdisc: Text = ""
    qdisc_up: Text | UnsetType = UNSET
    qdisc_down: Text | UnsetType = UNSET
    relative_error: _Number = UNSET

    @property
    def sides(self) -> tuple[str, str]:
        """The back ends: the one that judges, and the one that is judged."""
        judged, by = (SIM, KERNEL) if isinstance(self.pair, UnsetType) else self.pair
        return by, judged

    def number(self, name: str) -> float | None:
        """Return the number of a key; `None` if there is none."""
        return or_null(getattr(self, name))

    @property
    def error(self) -> float:
        """The relative error; infinite if there is something where the kernel has nothing."""
        error = self.number("relative_error")
        return math.inf if error is None else error

    @property
    def is_error(self) -> bool:
        """Whether it is of one drawn scenario, and has an error that counts."""
        return self.relative_error is not UNSET and self.bar_is is not None

    @property
    def is_quantile(self) -> bool:
        """Whether it is a quantile of the errors of drawn scenarios."""
        return self.bar_is == "below"

    @property
    def is_judged(self) -> bool:
        """Whether it has a verdict."""
        return self.verdict != bars.NOT_JUDGED


class Worst(Struct, kw_only=True):
    """A scenario with a large error, and the same of the simulator against itself, up to."""

    scenario: Text
    metric: Text = ""
    title: Text
    error: Number | None
    itself: Number | None = 0.0


class Ranks(Struct, kw_only=True):
    """How often the kernel's run took which place among the simulator's."""

    #: Of which value.
    metric: Text
    title: Text
    #: Scenarios by the number of simulated runs below the kernel's. Runs of the same value share a scenario evenly.
    counts: Annotated[tuple[Number, ...], Meta(min_length=2)]
    #: Probability of counts at least as uneven if each place is as likely.
    p_value: Number


class GroupQuantile(Struct, kw_only=True):
    """A quantile of the errors of a group: `name` is which."""

    metric: Text
    title: Text
    name: Text
    scenarios: Number
    value: Number | None
    itself: Number | None
    verdict: bars.Word


class Group(Struct, kw_only=True):
    """The scenarios of a discipline or a control, which is its name: the quantiles of each metric that has a bar."""

    name: Text
    quantiles: list[GroupQuantile]


class DrawnFlow(Struct):
    """Of a flow what is shown."""

    direction: Text
    congestion_control: Text = ""


class DrawnScenario(Struct):
    """Of a scenario what is shown."""

    up: Words
    down: Words
    rtt: Words
    qdisc_up: Words
    flows: list[DrawnFlow]

    @property
    def controls(self) -> list[str]:
        """The congestion controls of its flows, each once."""
        return sorted({flow.congestion_control for flow in self.flows})
