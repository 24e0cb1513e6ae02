"""Every claim of every paper is judged both ways: on made-up runs that bear it out, and on ones that contradict it.

The tests of each paper have two functions, `on_supporting_runs` and `on_contradicting_runs`. They return what becomes
of a claim on runs that bear it out and on runs that contradict it, or with constants or drives by hand that do. A claim
without both fails here, be it judged by rules or by a function; "cannot tell" is neither.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest

from sojourn import papers
from sojourn.papers.good_bad_wifi import pie_steps
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.claims import load, stored
from sojourn.papers.kit.evidence import Evidence
from tests import (
    test_cake_paper,
    test_claims,
    test_flusher,
    test_l4s_pam2025,
    test_rural,
    test_wifi_next_steps,
    test_wifi_stack,
)

CASES: dict[str, ModuleType] = {
    "good_bad_wifi": test_claims,
    "rural": test_rural,
    "wifi_stack": test_wifi_stack,
    "wifi_next_steps": test_wifi_next_steps,
    "flusher": test_flusher,
    "l4s_pam2025": test_l4s_pam2025,
    "cake": test_cake_paper,
}
#: What no runs can tell: a claim without rules and function, whose `cannot_tell` says why in every case.
NEVER_DECIDED = {"flu-80"}
CLAIMS = [(folder, claim.id) for folder in papers.FOLDERS for claim in load(folder) if claim.id not in NEVER_DECIDED]
#: Quantities that decide nothing, and why.
DECIDE_NOTHING = {
    "idle": "rur-07: who uses less of the link than droptail leaves some of it idle",
    "best_tenth_over_pie": "flu-64: if 30 % of the seconds are not below PIE's median, the best tenth is not",
    "packets": "wst-23: a number of its note",
}


def further(table: str) -> list[tuple[str, str]]:
    """Return the cases of a claim beyond the first, whose names begin with its id and a comma."""
    return [(folder, name) for folder, module in CASES.items() for name in getattr(module, table, ())]


@pytest.fixture(autouse=True, scope="module")
def driven_once() -> object:
    """A drive by hand answers the same each time: once for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in test_claims.HASHABLE:
            patch.setattr(by_hand, name, functools.cache(getattr(by_hand, name)))
        patch.setattr(pie_steps, "steps", functools.cache(pie_steps.steps))
        yield


@pytest.mark.parametrize(("folder", "name"), [*CLAIMS, *further("ONE_SUFFICES")])
def test_a_claim_holds_on_runs_that_bear_it_out(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = CASES[folder].on_supporting_runs(name, monkeypatch)
    assert found["verdict"] == "holds", found["reason"]


@pytest.mark.parametrize(("folder", "name"), [*CLAIMS, *further("FURTHER")])
def test_a_claim_fails_on_runs_that_contradict_it(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = CASES[folder].on_contradicting_runs(name, monkeypatch)
    assert found["verdict"] == "fails", found["reason"]
    assert found["low"] <= found["value"] <= found["high"]


def test_what_can_never_be_told_has_neither_rules_nor_a_function() -> None:
    for folder in papers.FOLDERS:
        for claim in load(folder):
            without = not claim.checks and any(set(one) == {"because"} for one in claim.cannot_tell)
            assert without == (claim.id in NEVER_DECIDED), claim.id


def test_every_function_judges_a_claim_that_has_no_rules() -> None:
    for folder in papers.FOLDERS:
        judges = import_module(f"sojourn.papers.{folder}.judges").JUDGES
        known = {claim.id: claim for claim in load(folder)}
        plain = {name for name, claim in known.items() if not claim.checks} - NEVER_DECIDED
        assert set(judges.by_function) == plain, folder
        assert set(judges.notes) <= set(known) - plain, folder


#: Made-up runs that bear all claims of a paper out, or nearly all, and what judges one of them on other runs.
WORLDS: dict[str, tuple[Callable[[], Evidence[Any, Any]], Callable[..., dict[str, Any]]]] = {
    "good_bad_wifi": (test_claims.world, test_claims.judged),
    "rural": (lambda: test_rural.WORLD, test_rural.judged),
    "wifi_stack": (test_wifi_stack.world, test_wifi_stack.judged),
    "flusher": (test_flusher.world, test_flusher.declared),
    "l4s_pam2025": (test_l4s_pam2025.world, test_l4s_pam2025.judged),
    "cake": (test_cake_paper.world, test_cake_paper.judged),
}


def fewer(cell: object, runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the first of a cell's runs, at least two, of each cell another number."""
    return runs[: 2 + crc32(repr(cell).encode()) % (len(runs) - 1)]


def other_seeds(cell: object, runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a cell's runs with seeds that two cells in three do not have."""
    shift = 1000 * (crc32(repr(cell).encode()) % 3)
    return tuple(dataclasses.replace(run, seed=run.seed + shift) for run in runs)


@pytest.mark.parametrize("change", [fewer, other_seeds])
@pytest.mark.parametrize("folder", WORLDS)
def test_cells_with_other_repeats_are_judged_or_cannot_be_told(
    folder: str, change: Callable[[object, tuple[Any, ...]], tuple[Any, ...]]
) -> None:
    world, judged = WORLDS[folder]
    usual = world()
    evidence = dataclasses.replace(usual, cells={cell: change(cell, runs) for cell, runs in usual.cells.items()})
    found = {name: judged(name, evidence) for of, name in CLAIMS if of == folder}
    assert {one["verdict"] for one in found.values()} <= {"holds", "fails", "cannot tell"}
    if change is fewer:
        assert sum(one["verdict"] == "holds" for one in found.values()) > 0.8 * len(found)


def verdicts(folder: str, names: set[str]) -> list[str]:
    """Return what becomes of claims in all of their cases; a case that cannot be made any more has the error's name."""
    found = []
    for way, table in (("on_supporting_runs", "ONE_SUFFICES"), ("on_contradicting_runs", "FURTHER")):
        cases = [name for _, name in further(table) if name.partition(",")[0] in names]
        for name in [*sorted(names), *cases]:
            with pytest.MonkeyPatch.context() as patch:
                found.append(getattr(CASES[folder], way)(name, patch)["verdict"])
    return found


def spoken_of(folder: str, quantity: str) -> set[str]:
    """Return the claims that a quantity may decide: those that name it, or a derived one or a list that does.

    If there are none, it can be a function alone that takes it.
    """
    plain, word = stored(folder), re.compile(rf"\b{quantity}\b")
    known = {claim.id: str(claim) for claim in load(folder) if claim.id not in NEVER_DECIDED}
    if word.search(str(plain.get("names", {}))):
        return set(known)
    words = [
        word,
        *(re.compile(rf"\b{name}\b") for name, rule in plain.get("derived", {}).items() if word.search(str(rule))),
    ]
    found = {name for name, text in known.items() if any(one.search(text) for one in words)}
    return found or {claim.id for claim in load(folder) if not claim.checks} - NEVER_DECIDED


def constant(kind: str) -> Any:
    """Return what is in place of a quantity and says nothing of the runs."""
    return {
        "quantities": lambda _run, *_: 1.0,
        "series": lambda evidence, cell, *_: {run.seed: 1.0 for run in evidence.of(cell)},
        "curves": lambda evidence, cell, *_: (lambda _drawn: 1.0, len(evidence.of(cell))),
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize("folder", [folder for folder in papers.FOLDERS if folder != "wifi_next_steps"])
def test_every_quantity_decides_a_case(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = import_module(f"sojourn.papers.{folder}.judges").JUDGES.vocabulary
    for kind in ("quantities", "series", "curves"):
        table = getattr(vocabulary, kind)
        for quantity in sorted(set(table) - set(DECIDE_NOTHING)):
            names = spoken_of(folder, quantity)
            before = verdicts(folder, names)
            with monkeypatch.context() as patch:
                patch.setitem(table, quantity, constant(kind))
                assert verdicts(folder, names) != before, f"{quantity}: {sorted(names)}"
