"""Every claim of every paper is judged both ways: on made-up runs that bear it out, and on ones that contradict it.

The tests of each paper have two functions, `held` and `failed`: they return what becomes of a claim on runs that bear
it out and on runs that contradict it, or with constants or drives by hand that do. A claim without both fails here,
be it judged by rules or by a function; "cannot tell" is neither.
"""

from __future__ import annotations

import functools
from types import ModuleType

import pytest

from sojourn import papers
from sojourn.papers.good_bad_wifi import pie_steps
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.claims import load
from tests import test_claims, test_flusher, test_l4s_pam2025, test_rural, test_wifi_next_steps, test_wifi_stack

CASES: dict[str, ModuleType] = {
    "good_bad_wifi": test_claims,
    "rural": test_rural,
    "wifi_stack": test_wifi_stack,
    "wifi_next_steps": test_wifi_next_steps,
    "flusher": test_flusher,
    "l4s_pam2025": test_l4s_pam2025,
}
#: What no runs can tell: a claim without rules and function, whose `cannot_tell` says why in every case.
NEVER_TOLD = {"flu-80"}
CLAIMS = [(folder, claim.id) for folder in papers.FOLDERS for claim in load(folder) if claim.id not in NEVER_TOLD]
both_ways = pytest.mark.parametrize(("folder", "name"), CLAIMS, ids=[name for _, name in CLAIMS])


@pytest.fixture(autouse=True, scope="module")
def driven_once() -> object:
    """A drive by hand answers the same each time: once for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in test_claims.HASHABLE:
            patch.setattr(by_hand, name, functools.cache(getattr(by_hand, name)))
        patch.setattr(pie_steps, "steps", functools.cache(pie_steps.steps))
        yield


@both_ways
def test_a_claim_holds_on_runs_that_bear_it_out(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = CASES[folder].held(name, monkeypatch)
    assert found["verdict"] == "holds", found["reason"]


@both_ways
def test_a_claim_fails_on_runs_that_contradict_it(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = CASES[folder].failed(name, monkeypatch)
    assert found["verdict"] == "fails", found["reason"]
    assert found["low"] <= found["value"] <= found["high"]


def test_what_can_never_be_told_has_neither_rules_nor_a_function() -> None:
    for folder in papers.FOLDERS:
        for claim in load(folder):
            without = not claim.checks and any(set(one) == {"because"} for one in claim.cannot_tell)
            assert without == (claim.id in NEVER_TOLD), claim.id


def test_every_function_judges_a_claim_that_has_no_rules() -> None:
    for folder in papers.FOLDERS:
        judges = __import__(f"sojourn.papers.{folder}.judges", fromlist=["JUDGES"]).JUDGES
        known = {claim.id: claim for claim in load(folder)}
        plain = {name for name, claim in known.items() if not claim.checks} - NEVER_TOLD
        assert set(judges.by_function) == plain, folder
        assert set(judges.notes) <= set(known) - plain, folder
