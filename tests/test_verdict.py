"""From numbers to a verdict."""

from __future__ import annotations

import pytest

from sojourn.stats import Interval
from sojourn.study import verdict


def check(low: float | None, high: float | None, relation: str, bound: float) -> verdict.Check:
    value = 0.0 if low is None or high is None else (low + high) / 2
    interval = Interval(value=value, low=low, high=high, n=5)
    return verdict.Check(what="x", interval=interval, relation=relation, bound=bound, unit="ms")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high", "relation", "expected"),
    [
        (1.0, 2.0, ">", "holds"),
        (-1.0, 2.0, ">", "cannot tell"),
        (-2.0, -1.0, ">", "fails"),
        (0.0, 2.0, ">", "cannot tell"),
        (-2.0, 0.0, ">", "fails"),
        (-2.0, -1.0, "<", "holds"),
        (-2.0, 1.0, "<", "cannot tell"),
        (1.0, 2.0, "<", "fails"),
        (None, None, ">", "cannot tell"),
    ],
)
def test_verdict_of_a_check(low: float | None, high: float | None, relation: str, expected: str) -> None:
    assert check(low, high, relation, 0.0).verdict == expected


def test_all_of_reports_the_check_that_decides() -> None:
    far, near, straddling, wrong = (
        check(9.0, 11.0, ">", 0.0),
        check(1.0, 3.0, ">", 0.0),
        check(-1.0, 1.0, ">", 0.0),
        check(-9.0, -7.0, ">", 0.0),
    )
    assert verdict.all_of([far, near]).value == 2.0
    assert verdict.all_of([far, straddling]).verdict == "cannot tell"
    failed = verdict.all_of([far, straddling, wrong])
    assert (failed.verdict, failed.value) == ("fails", -8.0)
    assert "1 of 3 comparisons hold" in failed.reason
    assert verdict.any_of([wrong, near]).verdict == "holds"
    assert verdict.any_of([wrong, straddling]).verdict == "cannot tell"
    assert verdict.any_of([wrong, wrong]).verdict == "fails"


@pytest.mark.parametrize(
    ("low", "high", "relation", "expected"),
    [
        (-2.0, -1.0, ">=", "fails"),
        (-1.0, 1.0, ">=", "holds"),
        (1.0, 2.0, "<=", "fails"),
        (-1.0, 1.0, "<=", "holds"),
        (None, None, "<=", "cannot tell"),
        (0.0, 0.0, "=", "holds"),
        (0.1, 0.1, "=", "fails"),
    ],
)
def test_verdict_of_a_check_that_only_a_clear_difference_fails(
    low: float | None, high: float | None, relation: str, expected: str
) -> None:
    assert check(low, high, relation, 0.0).verdict == expected


def test_best_of_prefers_what_holds_and_then_what_cannot_be_told() -> None:
    holding, straddling, wrong = check(1.0, 3.0, ">", 0.0), check(-1.0, 9.0, ">", 0.0), check(-9.0, -7.0, ">", 0.0)
    assert verdict.best_of([straddling, wrong, holding]) is holding
    assert verdict.best_of([wrong, straddling]) is straddling
    assert verdict.best_of([wrong]) is wrong


def test_within_needs_both_sides() -> None:
    inside = verdict.all_of(verdict.within("x", [1.0, 1.1, 0.9], 0.5, 2.0, "ms"))
    outside = verdict.all_of(verdict.within("x", [3.0, 3.1, 2.9], 0.5, 2.0, "ms"))
    assert (inside.verdict, outside.verdict) == ("holds", "fails")
