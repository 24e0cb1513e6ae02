"""From numbers to a verdict.

A claim is a list of checks. A check is a mean over repeats, its 95 % interval, and a bound. It holds if the whole
interval is on the right side of the bound, fails if the whole interval is on the wrong side, and cannot be told if
the interval straddles the bound, or there is none because there was only one repeat. Where a paper says that
something is no worse (`>=`, `<=`), the check fails only if the whole interval is on the wrong side: two values are
different only if they differ beyond the interval. A claim holds if all of its checks do, and fails if one fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn.stats import Interval, mean_interval

Verdict = Literal["holds", "fails", "cannot tell"]
Relation = Literal[">", "<", ">=", "<=", "="]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison with a bound."""

    #: What the value is, in words.
    what: str
    #: The value.
    interval: Interval
    #: `">"` or `"<"`: on which side of the bound the value must be; `">="` or `"<="`: on which side it must not
    #: clearly fail to be; `"="`: an exact value must be the bound.
    relation: Relation
    #: In the unit of the value.
    bound: float
    #: Of the value.
    unit: str

    @property
    def verdict(self) -> Verdict:
        """What the interval says."""
        low, high = self.interval.low, self.interval.high
        if low is None or high is None:
            return "cannot tell"
        if self.relation == "=":
            return "holds" if low <= self.bound <= high else "fails"
        bound = self.bound
        if self.relation.startswith("<"):
            low, high, bound = -high, -low, -bound
        if self.relation.endswith("="):
            return "holds" if high >= bound else "fails"
        if low > bound:
            return "holds"
        return "fails" if high <= bound else "cannot tell"

    @property
    def margin(self) -> float:
        """How far the value is on the right side of the bound, in half widths of its interval."""
        low, high = self.interval.low, self.interval.high
        distance = self.interval.value - self.bound
        if self.relation == "=":
            distance = -abs(distance)
        elif self.relation.startswith("<"):
            distance = -distance
        width = 0.0 if low is None or high is None else (high - low) / 2
        return distance / max(width, 1e-9)

    def sentence(self) -> str:
        """Return the check in words, with its numbers."""
        unit = f" {self.unit}" if self.unit else ""
        ends = ""
        if self.interval.low is not None and self.interval.high is not None and self.interval.n > 1:
            ends = f" [{self.interval.low:.4g}, {self.interval.high:.4g}]"
        return f"{self.what} = {self.interval.value:.4g}{ends}{unit}, must be {self.relation} {self.bound:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of a claim; the fields are those of `claims.json`."""

    verdict: Verdict
    value: float
    low: float | None
    high: float | None
    unit: str
    reason: str


def above(what: str, values: Iterable[float], bound: float, unit: str) -> Check:
    """Return the check that the mean of the values is above the bound."""
    return Check(what=what, interval=mean_interval(values), relation=">", bound=bound, unit=unit)


def below(what: str, values: Iterable[float], bound: float, unit: str) -> Check:
    """Return the check that the mean of the values is below the bound."""
    return Check(what=what, interval=mean_interval(values), relation="<", bound=bound, unit=unit)


def not_above(what: str, values: Iterable[float], bound: float, unit: str) -> Check:
    """Return the check that the mean of the values is not clearly above the bound."""
    return Check(what=what, interval=mean_interval(values), relation="<=", bound=bound, unit=unit)


def not_below(what: str, values: Iterable[float], bound: float, unit: str) -> Check:
    """Return the check that the mean of the values is not clearly below the bound."""
    return Check(what=what, interval=mean_interval(values), relation=">=", bound=bound, unit=unit)


def within(what: str, values: Sequence[float], low: float, high: float, unit: str) -> list[Check]:
    """Return the checks that the mean of the values is between two bounds."""
    return [above(what, values, low, unit), below(what, values, high, unit)]


def exact(what: str, value: float, relation: Relation, bound: float, unit: str) -> Check:
    """Return the check of a number that has no spread: a count, or the answer of a deterministic algorithm."""
    interval = Interval(value=value, low=value, high=value, n=1)
    return Check(what=what, interval=interval, relation=relation, bound=bound, unit=unit)


def between(what: str, value: float, low: float, high: float, unit: str) -> list[Check]:
    """Return the checks that a number without spread is between two bounds."""
    return [exact(what, value, ">", low, unit), exact(what, value, "<", high, unit)]


def best_of(checks: Sequence[Check]) -> Check:
    """Return the check that speaks most for "in some case": one that holds, or else one that cannot be told."""
    for verdict in ("holds", "cannot tell"):
        found = [check for check in checks if check.verdict == verdict]
        if found:
            return max(found, key=lambda check: check.margin)
    return max(checks, key=lambda check: check.margin)


def all_of(checks: Sequence[Check], *, note: str = "") -> Judgement:
    """Return the judgement of a claim that needs all of its checks; the reason names the one that decides."""
    return _judge(checks, note=note)


def any_of(checks: Sequence[Check], *, note: str = "") -> Judgement:
    """Return the judgement of a claim that one of its checks suffices for."""
    holding = [check for check in checks if check.verdict == "holds"]
    if holding:
        return _judge(holding, note=note)
    return _judge([best_of(checks)], note=note)


def _judge(checks: Sequence[Check], *, note: str) -> Judgement:
    verdicts = [check.verdict for check in checks]
    overall: Verdict = "holds"
    if "fails" in verdicts:
        overall = "fails"
    elif "cannot tell" in verdicts:
        overall = "cannot tell"
    decisive = min((check for check in checks if check.verdict == overall), key=lambda check: check.margin)
    parts = [decisive.sentence()]
    if len(checks) > 1:
        parts.append(f"{verdicts.count('holds')} of {len(checks)} comparisons hold")
    others = [check for check in checks if check.verdict != "holds" and check is not decisive]
    parts += [f"{check.verdict}: {check.sentence()}" for check in others[:4]]
    if len(others) > 4:
        parts.append(f"and {len(others) - 4} more")
    if note:
        parts.append(note)
    return Judgement(
        verdict=overall,
        value=decisive.interval.value,
        low=decisive.interval.low,
        high=decisive.interval.high,
        unit=decisive.unit,
        reason="; ".join(parts),
    )
