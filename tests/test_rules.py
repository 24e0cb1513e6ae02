"""Comparisons as data: what each key of a rule makes of made-up runs, worked by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from sojourn import schema
from sojourn.errors import SojournError
from sojourn.study.cell import Axes, Cell, Observation
from sojourn.study.claims import Claim, claim_file, load
from sojourn.study.evidence import BySeed, Evidence
from sojourn.study.orders import NOTICEABLE_SETTLED
from sojourn.study.rules import Reader, Rule, Statistic, Vocabulary
from sojourn.study.verdict import Check
from tests.records import Json

AXES = Axes("qdisc", rate=10, words=lambda cell: f"{cell.qdisc} at {cell.rate}")


def observation(seed: int, delay: float | None) -> Observation:
    return Observation(seed=seed, delay=delay)


def mean_rate(evidence: Evidence, cell: Cell, factor: str) -> BySeed:
    return {seed: float(factor) * cell.rate for seed in evidence.by_seed(cell, lambda run: run.delay)}


def drawn_mean(evidence: Evidence, cell: Cell, factor: str = "1") -> Statistic:
    delays = np.array(evidence.each(cell, lambda run: run.delay))
    return (lambda drawn: float(factor) * float(delays[drawn].mean())), delays.size


#: Two seeds of each: delays of pfifo 40 and 44, of codel 10 and 11; twice as much at 1 Mbit/s.
RUNS = Evidence(
    cells={
        AXES(qdisc, rate): tuple(observation(seed, factor * delay) for seed, delay in ((1, 10.0), (2, 11.0)))
        for qdisc, rate, factor in (("pfifo", 10, 4), ("codel", 10, 1), ("pfifo", 1, 8), ("codel", 1, 2))
    }
    | {AXES("sfq"): (observation(1, None),), AXES("idle"): (observation(1, 0.0), observation(2, 0.0))}
)
READER = Reader(
    vocabulary=Vocabulary(
        axes=AXES,
        quantities={"delay": lambda run: run.delay, "delay_at": lambda run, less: run.delay - float(less)},
        series={"rate": mean_rate},
        curves={"drawn": drawn_mean},
        describe=lambda of, at, word, other: f"{of} of {at.qdisc} {word} {other.qdisc if other else 'none'}",
    ),
    evidence=RUNS,
    names={"QDISCS": ["pfifo", "codel"], "RATES": [1, 10], "LIMIT": 5.0},
    cells={"fifo": {"qdisc": "pfifo"}},
    derived={"excess": Rule(of="delay", less={"qdisc": "codel"})},
)


def checks(fields: Json, variables: Json | None = None, **plain: Any) -> list[Check]:
    plain = {{"for_": "for", "is_": "is"}.get(key, key): value for key, value in plain.items()}
    return list(READER.checks(schema.convert(plain, Rule), fields, variables or {}))


def values(fields: Json, **plain: Any) -> list[float]:
    return [one.interval.value for one in checks(fields, is_="> 0", **plain)]


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ({}, 42.0),
        ({"less": {"qdisc": "codel"}}, 31.5),
        ({"less": {"qdisc": "codel"}, "scale": -2}, -63.0),
        ({"over": {"qdisc": "codel"}}, 4.0),
        ({"at": {"qdisc": "codel"}, "lacks": "fifo"}, 0.75),
        ({"less": {}, "other_of": "delay_at 40"}, 40.0),
        ({"percent_above": {"qdisc": "codel"}}, 300.0),
        ({"at": {"qdisc": "codel"}, "percent_below": "fifo"}, 75.0),
        ({"at": [{"qdisc": "codel"}, {"rate": 1}]}, 21.0),
        ({"at": {"rate": "$slow"}}, 84.0),
        ({"at": {"qdisc": {"lowest": "QDISCS"}}}, 10.5),
        ({"at": {"qdisc": {"highest": ["codel", "pfifo"]}, "rate": 1}}, 84.0),
        ({"total": "sum"}, 84.0),
        ({"total": "max"}, 44.0),
    ],
)
def test_the_cell_and_what_it_is_compared_with(plain: Json, value: float) -> None:
    (one,) = checks({"qdisc": "pfifo"}, {"slow": 1}, of="delay", is_="> 0", **plain)
    assert one.interval.value == pytest.approx(value)


def test_a_quantity_may_have_arguments_and_be_derived_or_of_a_cell() -> None:
    assert values({"qdisc": "pfifo"}, of="delay_at 40") == [2.0]
    assert values({"qdisc": "pfifo"}, of="excess") == [31.5]
    assert values({"qdisc": "pfifo"}, of="excess", at={"rate": 1}, over={"rate": 10}) == [2.0]
    assert values({"qdisc": "pfifo"}, of="rate 3") == [30.0]


def test_loops_set_fields_and_variables_the_last_fastest() -> None:
    found = checks({}, of="delay", for_={"qdisc": "QDISCS", "rate": [1, 10]}, is_="> 0 ms", what="{qdisc} {at.rate}")
    assert [one.what for one in found] == ["pfifo 1", "pfifo 10", "codel 1", "codel 10"]
    assert [one.interval.value for one in found] == [84.0, 42.0, 21.0, 10.5]
    rows = [{"qdisc": "pfifo", "word": "FIFO"}, {"qdisc": "codel", "word": "CoDel"}]
    found = checks({}, of="delay", for_={"row": rows}, less="fifo", is_="> 0 ms", what="{word}: {at} less {other}")
    assert [one.what for one in found] == ["FIFO: pfifo at 10 less pfifo at 10", "CoDel: codel at 10 less pfifo at 10"]


def test_relations_have_bounds_names_and_units() -> None:
    low, high, close = checks(
        {"qdisc": "codel"}, {"most": 12}, of="delay", is_=["> LIMIT ms", "<= most ms", "< 10.6 ms"]
    )
    assert [(one.relation, one.bound, one.unit) for one in (low, high)] == [(">", 5.0, "ms"), ("<=", 12.0, "ms")]
    # The interval of two values that are 1 apart is 12.7 wide.
    assert [one.verdict for one in (low, high, close)] == ["cannot tell", "holds", "cannot tell"]
    above, below = checks({"qdisc": "codel"}, of="delay", within="-5 to 1e3 ms")
    assert [(one.relation, one.bound) for one in (above, below)] == [(">", -5.0), ("<", 1000.0)]
    assert above.what == "delay of codel  none"


def test_one_of_any_suffices() -> None:
    (one,) = checks({}, of="delay", any={"qdisc": "QDISCS", "rate": "RATES"}, is_="> 20", what="{qdisc}, {rate}")
    assert (one.what, one.verdict) == ("pfifo, 1", "holds")


def test_a_curve_rises_from_end_to_end_and_at_no_step_clearly_falls() -> None:
    ends, step = checks(
        {"qdisc": "pfifo"}, of="delay", rises={"rate": [10, 1]}, unit="ms", what="{other.rate} to {at.rate}"
    )
    assert (ends.what, ends.relation, ends.bound, ends.interval.value) == ("10 to 1", ">", 0.0, 42.0)
    assert (step.relation, step.bound) == (">=", -0.42)  # one hundredth of 42
    falls = checks({"qdisc": "pfifo"}, of="delay", rises={"rate": [1, 10, 1]}, unit="ms", what="x")
    assert [one.verdict for one in falls] == ["fails", "fails", "holds"]


def test_a_statistic_of_all_repeats_has_the_interval_of_drawing_them_again() -> None:
    (one,) = checks({"qdisc": "pfifo"}, of="drawn", less={"qdisc": "codel"}, is_="> 29 ms", what="{at} less {other}")
    # Of two repeats one draw in four is the first alone (40 - 10), one the second alone (44 - 11).
    assert (one.interval.value, one.interval.low, one.interval.high) == (31.5, 30.0, 33.0)
    assert (one.what, one.verdict) == ("pfifo at 10 less codel at 10", "holds")
    (half,) = checks({"qdisc": "pfifo"}, of="drawn 0.5", less={"qdisc": "codel"}, other_of="drawn", is_="> 0 ms")
    assert half.interval.value == 10.5


def test_orders_are_compared_between_two_places() -> None:
    rule = Rule(of="delay", at={"rate": 10}, orders={"qdisc": "QDISCS"}, as_in={"rate": 1}, what="x")
    runs = [(qdisc, rate) for qdisc in ("pfifo", "codel") for rate in (1, 10)]
    delays = {("pfifo", 10): 40.0, ("codel", 10): 10.0, ("pfifo", 1): 8.0, ("codel", 1): 16.0}
    noise = (0.0, 0.1, 0.2)

    def of(*, turned: bool) -> Evidence:
        place = {run: delays[run] if turned or run[1] == 10 else 80.0 - delays[run] for run in runs}
        return Evidence(
            cells={
                AXES(*run): tuple(observation(seed, place[run] + more) for seed, more in enumerate(noise))
                for run in runs
            }
        )

    (same,) = dataclasses.replace(READER, evidence=of(turned=False)).agreement(rule, {}, {})
    assert (same.same, same.unclear, same.reversed) == (1, 0, ())
    (other,) = dataclasses.replace(READER, evidence=of(turned=True)).agreement(rule, {}, {})
    assert other.reversed == ("x: codel 16.1 > pfifo 8.1",)


def test_runs_that_do_not_tell_are_said() -> None:
    with pytest.raises(SojournError, match="there are no runs of pie at 10"):
        values({"qdisc": "pie"}, of="delay")
    with pytest.raises(SojournError, match="no run of sfq at 10 has the quantity"):
        values({"qdisc": "sfq"}, of="delay")
    with pytest.raises(SojournError, match="a ratio cannot be formed"):
        values({"qdisc": "codel"}, of="delay", over={"qdisc": "idle"})
    assert values({"qdisc": "codel"}, of="delay", less={"qdisc": "idle"}) == [10.5]


def test_a_key_that_no_rule_has_is_a_mistake_of_ours() -> None:
    with pytest.raises(schema.Misfit, match="lesser is not known"):
        schema.convert({"of": "delay", "lesser": "fifo", "is": "> 0"}, Rule)


def test_what_was_settled_of_a_quantity_and_of_small_differences_is_said_by_every_claim_that_uses_it() -> None:
    of = {claim.id: claim for paper in ("good_bad_wifi", "rural", "wifi_stack", "flusher") for claim in load(paper)}
    shared = claim_file("good_bad_wifi").settled
    for claim in of.values():
        for rule in claim.checks:
            assert (NOTICEABLE_SETTLED in claim.settled) or not (rule.rises or rule.orders), claim.id
            assert ("settling" in rule.quantities) <= (shared["settling"] in claim.settled), claim.id
    assert shared["induced_second"] in of["gbw-tran-13"].settled
    # Those that functions judge by `clear_sign`.
    assert all(of[name].settled == NOTICEABLE_SETTLED for name in ("gbw-con-01", "gbw-con-04"))
    plain = {"id": "x", "section": "1", "says": "s", "settled": "own", "checks": [{"of": "a 0.5", "is": "> 0"}]}
    claim = schema.convert(plain, Claim)
    assert claim.noted({"a": "of a", "b": "of b"}).settled == "own; of a"
    assert claim.noted({}).settled == "own"
