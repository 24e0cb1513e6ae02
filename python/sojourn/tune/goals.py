"""What can be asked of a setting: the metrics, the goals on them, and how far a setting is from meeting them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn.errors import ParamError, refused

#: Values of a metric, one for each RTT.
Values = Sequence[float]

#: Settings that a goal may name instead of a number.
REFERENCES = ("default", "rural")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A measure of a run."""

    #: What one types.
    name: str
    #: What it is.
    says: str
    #: `"ms"`, or `""` for a share.
    unit: Literal["ms", ""]
    #: Whether a good setting has much or little of it.
    better: Literal["higher", "lower"]
    #: Decimals that are shown.
    digits: int

    @property
    def sign(self) -> int:
        """1 if less is better, -1 if more is."""
        return 1 if self.better == "lower" else -1

    def worst(self, values: Values) -> float:
        """Return the worst of some values."""
        return max(values) if self.better == "lower" else min(values)

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:.{self.digits}f}" + (f" {self.unit}" if self.unit else "")


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="utilisation",
            says="bits that left the bottleneck over what it could carry",
            unit="",
            better="higher",
            digits=4,
        ),
        Metric(name="delay", says="mean time of a packet in the bottleneck queue", unit="ms", better="lower", digits=2),
        Metric(name="delay_p95", says="95th percentile of that time over packets", unit="ms", better="lower", digits=2),
        Metric(name="fct", says="mean completion time of the load's files", unit="ms", better="lower", digits=0),
        Metric(name="loss", says="packets dropped at the bottleneck over offered", unit="", better="lower", digits=5),
        Metric(
            name="thin_delay",
            says="mean time of the thin streams' packets in the queue",
            unit="ms",
            better="lower",
            digits=2,
        ),
    )
}
#: What may be minimised.
OBJECTIVES = tuple(metric.name for metric in METRICS.values() if metric.better == "lower")

_GOAL = re.compile(r"\s*(?P<name>[a-z0-9_]+)\s*(?P<sign><=|>=)\s*(?P<bound>[^\s<>=]+)\s*")
_NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<unit>%|us|ms|s)?")
_TO_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A bound that a setting must keep at every RTT."""

    #: Name of a metric.
    metric: str
    #: A number, in the metric's unit; or the name of the setting that it must be no worse than.
    bound: float | str
    #: As it was asked for.
    text: str

    def shortfall(self, values: Values, references: Mapping[str, Values]) -> float:
        """Return how far the values are from the bound, as a share of the bound; at most 0 if the goal is met.

        - `values`: of the metric, one for each RTT; the worst decides.
        - `references`: the same of each setting that a bound may name.
        """
        sign = METRICS[self.metric].sign
        bounds = references[self.bound] if isinstance(self.bound, str) else [self.bound] * len(values)
        return max(sign * (value - bound) / (abs(bound) or 1.0) for value, bound in zip(values, bounds, strict=True))


def read_goal(text: str) -> Goal:
    """Read a goal such as `utilisation>=0.9`, `delay<=40ms` or `fct<=rural`; raises `ParamError` if it is not one."""
    match = _GOAL.fullmatch(text)
    if match is None:
        raise refused(text, "goal", "must be METRIC>=BOUND or METRIC<=BOUND, such as utilisation>=0.9")
    name, bound = match["name"], match["bound"]
    if name not in METRICS:
        raise refused(text, "goal", f"its metric must be one of {', '.join(METRICS)}")
    sign = ">=" if METRICS[name].better == "higher" else "<="
    if match["sign"] != sign:
        raise refused(text, "goal", f"{name} is better {METRICS[name].better}, so its goal must say {sign}")
    return Goal(metric=name, bound=bound if bound in REFERENCES else _bound(text, name, bound), text=text.strip())


def _bound(text: str, name: str, bound: str) -> float:
    match = _NUMBER.fullmatch(bound)
    number = None if match is None else float(match["number"])
    unit = None if match is None else match["unit"]
    if METRICS[name].unit == "ms":
        if number is not None and number > 0 and unit != "%":
            return number * _TO_MS[unit or "ms"]
        rule = "a time above 0 (milliseconds, unless it has a unit)"
    else:
        share = None if number is None or unit in _TO_MS else number / (100 if unit == "%" else 1)
        if share is not None and 0 < share <= 1:
            return share
        rule = "a share above 0 and at most 1, or a percentage"
    raise refused(text, "goal", f"the bound of {name} must be {rule}, or one of {', '.join(REFERENCES)}")


def read_objectives(names: Sequence[str]) -> tuple[str, ...]:
    """Read what is to be minimised: names, with commas between them or one by one.

    Raises `ParamError` if one is unknown, named twice, or better higher.
    """
    found: list[str] = []
    for name in (part.strip() for text in names for part in text.split(",")):
        if name not in OBJECTIVES:
            better = "; of that much is good: make it a goal" if name in METRICS else ""
            raise refused(name, "minimise", f"must be one of {', '.join(OBJECTIVES)}{better}")
        if name in found:
            message = f"minimise is {name!r} twice, but each metric must be named once"
            raise ParamError(message)
        found.append(name)
    return tuple(found)
