"""Every claim of every paper is judged both ways: on made-up runs that bear it out, and on ones that contradict it.

The worlds and the cases are data (`tests/studies.py`). A claim without both fails here, be it judged by rules or by a
function; "cannot tell" is neither.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any
from zlib import crc32

import pytest

from sojourn import papers
from sojourn.papers.good_bad_wifi import pie_steps
from tests.studies import CASES, STUDIES, Study, by_hand, claim_file, load

#: Quantities that decide nothing, and why.
DECIDE_NOTHING = {
    "idle": "rur-07: who uses less of the link than droptail leaves some of it idle",
    "best_tenth_over_pie": "flu-64: if 30 % of the seconds are not below PIE's median, the best tenth is not",
    "packets": "wst-23: a number of its note",
}
#: Parts that no claim is about.
WITHOUT_CLAIMS = {"flusher": {"adaptive"}}
#: Claims that need runs of parts that are not theirs.
NEEDS_OTHERS = {"rur-26", "flu-79", "l4s-c4", "l4s-c5"}
#: Drives by hand that are slow: they answer the same each time.
DRIVES = ("codel_drops", "first_drop_ms", "others_ahead", "shares", "burst", "pie_steps_in_overload")
every_study = pytest.mark.parametrize("study", STUDIES.values(), ids=list(STUDIES))


@pytest.fixture(autouse=True, scope="module")
def driven_once() -> Iterator[None]:
    """A drive by hand answers the same each time: once for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in DRIVES:
            patch.setattr(by_hand, name, functools.cache(getattr(by_hand, name)))
        patch.setattr(pie_steps, "steps", functools.cache(pie_steps.steps))
        yield


@pytest.mark.parametrize(
    ("folder", "verdict", "name"),
    [
        (folder, verdict, name)
        for verdict in ("holds", "fails", "cannot_tell")
        for folder, study in STUDIES.items()
        for name in study.cases(verdict)
    ],
)
def test_a_claim_has_the_verdict_of_its_case(
    folder: str, verdict: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = STUDIES[folder]
    judged = study.case(verdict, name, monkeypatch)
    assert judged.verdict == verdict.replace("_", " "), judged.reason
    if verdict == "fails":
        assert judged.low is not None
        assert judged.value is not None
        assert judged.high is not None
        assert judged.low <= judged.value <= judged.high
        assert ("; why: " in judged.reason) == bool(study.claims[name.partition(",")[0]].why)
    for change in study.changes(verdict, name):
        assert change.get("because", "") in judged.reason
        if "across" in change:
            assert judged.low < change["across"] < judged.high


def test_every_claim_has_a_supporting_and_a_contradicting_case() -> None:
    assert {path.stem for path in CASES.glob("*.toml")} == set(STUDIES) == set(papers.FOLDERS)
    for folder, study in STUDIES.items():
        for verdict in ("holds", "fails"):
            assert {name.partition(",")[0] for name in study.cases(verdict)} == set(study.claims), (folder, verdict)
        assert set(study.data) <= KEYS, folder


KEYS = {"repeats", "names", "places", "cells", "world", "evidence", "variables", "holds", "fails", "cannot_tell"}
KEYS |= {"never_decided", "without_runs", "by_one_run"}


@every_study
def test_what_can_never_be_told_has_neither_rules_nor_a_function(study: Study) -> None:
    ids = [claim.id for claim in load(study.folder)]
    assert len(set(ids)) == len(ids)
    for claim in load(study.folder):
        without = not claim.checks and any(set(one) == {"because"} for one in claim.cannot_tell)
        assert without == (claim.id in study.data.get("never_decided", {})), claim.id


@every_study
def test_every_function_judges_a_claim_that_has_no_rules(study: Study) -> None:
    plain = {name for name, claim in study.claims.items() if not claim.checks}
    assert set(study.judges.by_function) == plain
    assert set(study.judges.notes) <= set(study.claims) - plain


@every_study
def test_every_part_has_claims(study: Study) -> None:
    parts = papers.paper(study.folder.replace("_", "-")).parts
    claimed = {claim.part for claim in study.claims.values()} - {""}
    assert claimed | WITHOUT_CLAIMS.get(study.folder, set()) == set(parts)


def planned(study: Study, *parts: str) -> set[Any]:
    """Return the cells that parts of a paper are said to need, all without parts."""
    plan = import_module(f"sojourn.papers.{study.folder}.plan")
    return set(plan.cells(parts or plan.PARTS))


@pytest.mark.parametrize("folder", ["rural", "wifi_stack", "flusher", "l4s_pam2025", "cake"])
def test_the_cells_of_a_part_are_what_its_claims_need(folder: str) -> None:
    study = STUDIES[folder]
    for part in papers.paper(folder.replace("_", "-")).parts:
        own = study.evidence({cell: runs for cell, runs in study.usual.items() if cell in planned(study, part)})
        for claim in study.claims.values():
            if claim.part == part:
                lacks = "there are no runs" in study.judged(claim.id, own).reason
                assert lacks == (claim.id in NEEDS_OTHERS), claim.id


@pytest.mark.parametrize("folder", ["l4s_pam2025", "cake"])
def test_every_cell_of_the_plan_is_needed_by_a_claim(folder: str) -> None:
    study, needed = STUDIES[folder], set()

    class Watched(type(study.world())):  # type: ignore[misc]
        def of(self, cell: Any) -> Any:
            needed.add(cell)
            return super().of(cell)

    for name in study.claims:
        study.judged(name, Watched(cells=study.usual))
    assert needed == planned(study)


@every_study
def test_claims_without_their_runs_cannot_be_told(study: Study) -> None:
    judged = {name: study.judged(name, study.evidence({})) for name in study.claims}
    told = {name for name, one in judged.items() if one.verdict != "cannot tell"}
    assert told == set(study.data.get("without_runs", ()))
    for name, one in judged.items():
        if name not in told:
            assert (one.value, one.low, one.high) == (None, None, None)
            assert one.reason.startswith("there are no runs of " if study.claims[name].checks else ""), one
            assert one.reason


@every_study
def test_one_repeat_decides_nothing_but_what_is_exact(study: Study) -> None:
    usual = study.world()
    evidence = dataclasses.replace(usual, cells={cell: runs[:1] for cell, runs in usual.cells.items()})
    told = {name for name in study.claims if study.judged(name, evidence).verdict != "cannot tell"}
    assert told == {*study.data.get("without_runs", ()), *study.data.get("by_one_run", ())}


def fewer(cell: object, runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the first of a cell's runs, at least two, of each cell another number."""
    return runs[: 2 + crc32(repr(cell).encode()) % (len(runs) - 1)]


def other_seeds(cell: object, runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a cell's runs with seeds that two cells in three do not have."""
    shift = 1000 * (crc32(repr(cell).encode()) % 3)
    return tuple(run.replaced(seed=run.seed + shift) for run in runs)


@pytest.mark.parametrize("change", [fewer, other_seeds])
@every_study
def test_cells_with_other_repeats_are_judged_or_cannot_be_told(
    study: Study, change: Callable[[object, tuple[Any, ...]], tuple[Any, ...]]
) -> None:
    usual = study.world()
    evidence = dataclasses.replace(usual, cells={cell: change(cell, runs) for cell, runs in usual.cells.items()})
    verdicts = [study.judged(name, evidence).verdict for name in study.claims]
    assert set(verdicts) <= {"holds", "fails", "cannot tell"}
    if change is fewer:
        assert verdicts.count("holds") > 0.8 * len(verdicts)


def verdicts(study: Study, ids: set[str]) -> list[str]:
    """Return what becomes of claims in all of their cases."""
    answers = []
    for verdict in ("holds", "fails"):
        for name in study.cases(verdict):
            if name.partition(",")[0] in ids:
                with pytest.MonkeyPatch.context() as patch:
                    answers.append(study.case(verdict, name, patch).verdict)
    return answers


def spoken_of(study: Study, quantity: str) -> set[str]:
    """Return the claims that a quantity may decide: those that name it, or a derived one or a list that does.

    If there are none, it can be a function alone that takes it.
    """
    file, word = claim_file(study.folder), re.compile(rf"\b{re.escape(quantity)}\b")
    if word.search(str(file.names)):
        return set(study.claims)
    derived = [name for name, rule in file.derived.items() if word.search(str(rule))]
    words = [word, *(re.compile(rf"\b{name}\b") for name in derived)]
    ids = {name for name, claim in study.claims.items() if any(one.search(str(claim)) for one in words)}
    return ids or {name for name, claim in study.claims.items() if not claim.checks}


def constant(kind: str) -> Any:
    """Return what is in place of a quantity and says nothing of the runs."""
    return {
        "quantities": lambda _run, *_: 1.0,
        "series": lambda evidence, cell, *_: {run.seed: 1.0 for run in evidence.of(cell)},
        "curves": lambda evidence, cell, *_: (lambda _drawn: 1.0, len(evidence.of(cell))),
    }[kind]


@pytest.mark.slow
@every_study
def test_every_quantity_decides_a_case(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("quantities", "series", "curves"):
        table = getattr(study.judges.vocabulary, kind)
        # The next steps of the Wi-Fi stack take every name for a quantity.
        names = {rule.of for claim in study.claims.values() for rule in claim.checks}
        known = set(table) or (names if hasattr(table, "__missing__") else set())
        for quantity in sorted(known - set(DECIDE_NOTHING)):
            ids = spoken_of(study, quantity)
            before = verdicts(study, ids)
            with monkeypatch.context() as patch:
                patch.setitem(table, quantity, constant(kind))
                assert verdicts(study, ids) != before, f"{quantity}: {sorted(ids)}"
