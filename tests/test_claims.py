"""Each claim is judged both ways: on runs made up to bear it out, and on runs made up to contradict it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import pytest

from sojourn.claims import Evidence, catalogue, judge_all, load, pie_steps, verdict
from sojourn.claims.evidence import RRUL, Cell, Collision
from sojourn.claims.observation import observe
from sojourn.stats import Interval
from tests.synthetic import DEFAULTS, evidence, record

#: The paper's picture in round numbers: latency (ms) and goodput (Mbit/s) of each link's discipline.
LATENCY = {
    "pfifo_fast": 200.0,
    "ared": 20.0,
    "pie": 40.0,
    "codel": 30.0,
    "sfq": 9.0,
    "fq_codel": 1.0,
    "fq_nocodel": 1.0,
}
GOODPUT = {"pfifo_fast": 9.2, "ared": 8.6, "pie": 9.0, "codel": 8.8, "sfq": 9.4, "fq_codel": 9.3, "fq_nocodel": 9.4}


def as_the_paper_says(link: str, qdisc: str) -> dict[str, Any]:
    """Return values that bear every claim out."""
    scale = {"100/100": 10.0, "10/10": 1.0, "10/1": 1.0}[link]
    values: dict[str, Any] = {
        "latency": LATENCY[qdisc],
        "down": GOODPUT[qdisc] * scale,
        "up": GOODPUT[qdisc] * (0.1 if link == "10/1" else scale),
    }
    if link == "100/100" and qdisc == "sfq":
        values["latency"] = 1.5
    if link == "10/1" and qdisc == "ared":
        values["up"] = 0.7
    if qdisc == "pie":
        values |= {"backlog": (15.0, 17.0), "drops": (0.2, 0.2)}
    if qdisc == "ared":
        values |= {"backlog": (2.0, 40.0), "drops": (0.0, 9.0)}
    if qdisc == "fq_codel":
        values |= {"cwnd": 8.0, "wait": 9.0}
    return values


def judged(found: Evidence) -> dict[str, dict[str, Any]]:
    """Return what became of every claim."""
    return {claim["id"]: claim for claim in judge_all(load("good_bad_wifi", "gbw-rrul-"), found)}


def collided(latency: float) -> dict[tuple[str, str], Collision]:
    """Return a run at 10/1 in which the probe shares a queue."""
    run = record(77, {**DEFAULTS, "latency": latency, "shared": ["ping"]})
    return {(RRUL, "fq_nocodel"): Collision(seen=observe(run), probe="ping", flow="tcp_up_1", tried=77)}


def good_evidence() -> Evidence:
    """Return the evidence that bears every claim out."""
    found = evidence(as_the_paper_says, spared={"down": 9.4})
    return dataclasses.replace(found, collisions=collided(150.0))


#: PIE is driven once for the whole module; it answers the same each time.
drive_pie = functools.cache(pie_steps.steps)


@pytest.fixture(autouse=True)
def pie_driven_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare each test the drive."""
    monkeypatch.setattr(pie_steps, "steps", drive_pie)


def test_every_claim_has_a_judge_and_every_judge_a_claim() -> None:
    assert {claim.id for claim in load("good_bad_wifi", "")} == set(catalogue.JUDGES)
    assert len(catalogue.JUDGES) == 21


def test_every_claim_holds_on_runs_as_the_paper_says() -> None:
    verdicts = {name: claim["verdict"] for name, claim in judged(good_evidence()).items()}
    assert verdicts == dict.fromkeys(catalogue.JUDGES, "holds")


#: For each claim a change of the paper's picture that must make it fail: (links, disciplines, values).
CONTRARY: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]] = {
    "gbw-rrul-01": (("10/10",), ("pie",), {"latency": 250.0}),
    "gbw-rrul-02": (("100/100",), ("pfifo_fast",), {"up": 80.0, "down": 80.0}),
    "gbw-rrul-03": (("10/1",), ("pfifo_fast",), {"down": 9.5}),
    "gbw-rrul-06": (("10/1",), ("ared",), {"latency": 205.0}),
    "gbw-rrul-07": (("100/100",), ("codel",), {"latency": 210.0}),
    "gbw-rrul-08": (("10/1",), ("pie",), {"up": 0.6}),
    "gbw-rrul-09": (("10/10",), ("codel",), {"latency": 15.0}),
    "gbw-rrul-10": (("10/10",), ("ared",), {"up": 5.0, "down": 5.0}),
    "gbw-rrul-11": (("10/10",), ("pie",), {"backlog": (0.0, 90.0), "drops": (0.0, 30.0)}),
    "gbw-rrul-13": (("100/100",), ("pie",), {"drops": (3.0, 3.0)}),
    "gbw-rrul-15": (("10/10",), ("codel",), {"sojourn": 4.0}),
    "gbw-rrul-16": (("100/100",), ("codel",), {"entries": 2.0}),
    "gbw-rrul-17": (("10/10",), ("pfifo_fast",), {"up": 9.6, "down": 9.6}),
    "gbw-rrul-18": (("10/10",), ("fq_codel",), {"up": 8.5, "down": 8.5}),
    "gbw-rrul-19": (("10/10",), ("fq_nocodel",), {"latency": 5.0}),
    "gbw-rrul-20": (("10/1",), ("fq_codel",), {"cwnd": 19.0}),
    "gbw-rrul-21": (("100/100",), ("sfq",), {"latency": 3.0}),
    "gbw-rrul-22": (("10/10",), ("fq_codel", "fq_nocodel"), {"latency": 12.0}),
}


@pytest.mark.parametrize("name", CONTRARY)
def test_claim_fails_on_runs_that_contradict_it(name: str) -> None:
    links, disciplines, changed = CONTRARY[name]

    def values(link: str, qdisc: str) -> dict[str, Any]:
        usual = as_the_paper_says(link, qdisc)
        return {**usual, **changed} if link in links and qdisc in disciplines else usual

    found = judged(dataclasses.replace(evidence(values, spared={"down": 9.4}), collisions=collided(150.0)))[name]
    assert found["verdict"] == "fails", found
    assert found["low"] <= found["value"] <= found["high"]


def test_ablation_that_gains_nothing_fails_claim_04() -> None:
    found = judged(dataclasses.replace(evidence(as_the_paper_says, spared={"down": 9.0}), collisions=collided(150.0)))
    assert found["gbw-rrul-04"]["verdict"] == "fails"
    assert "9.200 Mbit/s become 9.000" in found["gbw-rrul-04"]["reason"]


def test_collision_without_effect_fails_claim_23() -> None:
    found = judged(dataclasses.replace(good_evidence(), collisions=collided(0.9)))
    assert found["gbw-rrul-23"]["verdict"] == "fails"
    assert "seed 77" in found["gbw-rrul-23"]["reason"]


def test_no_collision_cannot_be_told() -> None:
    found = judged(dataclasses.replace(good_evidence(), collisions={}))["gbw-rrul-23"]
    assert (found["verdict"], found["value"], found["low"]) == ("cannot tell", None, None)
    assert "no seed with a hash collision" in found["reason"]


def test_finer_table_fails_claim_14(monkeypatch: pytest.MonkeyPatch) -> None:
    finer = pie_steps.steps("rfc8033")
    monkeypatch.setattr(pie_steps, "steps", lambda _: finer)
    assert judged(good_evidence())["gbw-rrul-14"]["verdict"] == "fails"


def test_one_repeat_decides_nothing() -> None:
    found = judged(
        dataclasses.replace(evidence(as_the_paper_says, spared={"down": 9.4}, n=1), collisions=collided(150.0))
    )
    told = {name for name, claim in found.items() if claim["verdict"] != "cannot tell"}
    assert told == {"gbw-rrul-14"}


def test_interval_across_the_bound_cannot_be_told() -> None:
    def values(link: str, qdisc: str) -> dict[str, Any]:
        usual = as_the_paper_says(link, qdisc)
        return {**usual, "latency": 200.0} if (link, qdisc) == ("10/10", "pie") else usual

    cells = dict(evidence(values).cells)
    noisy = [record(seed, {**DEFAULTS, "latency": 200.0 + (-1) ** seed * 20}) for seed in range(1, 7)]
    cells[Cell(RRUL, "10/10", "pie")] = tuple(observe(run) for run in noisy)
    found = judged(dataclasses.replace(good_evidence(), cells=cells))["gbw-rrul-01"]
    assert found["verdict"] == "cannot tell"
    assert found["low"] < 0 < found["high"]


def test_runs_too_short_for_the_steady_state_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.claims.observation.STEADY_FROM_S", 1000.0)
    found = judged(good_evidence())
    assert found["gbw-rrul-13"]["verdict"] == "cannot tell"
    assert "too short" in found["gbw-rrul-13"]["reason"]
    assert found["gbw-rrul-01"]["verdict"] == "holds"


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
