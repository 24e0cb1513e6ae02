"""The claims of a paper as data, and what becomes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, TypeVar

from sojourn.errors import SojournError
from sojourn.papers.kit.verdict import Judgement

AnyEvidence = TypeVar("AnyEvidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id
        For example `"gbw-rrul-01"`.
    section
        Of the paper.
    says
        What it says, in our own words.
    why
        What is known of the reason for which it fails; empty if nothing is, or it holds.
    """

    id: str
    section: str
    says: str
    why: str = ""


def load(paper: str, prefix: str) -> list[Claim]:
    """Return the claims of a paper (the name of its folder) whose ids begin with `prefix`."""
    stored = tomllib.loads(files(f"sojourn.papers.{paper}").joinpath("claims.toml").read_text(encoding="utf-8"))
    return [Claim(**claim) for claim in stored["claims"] if claim["id"].startswith(prefix)]


def judge_with(
    judges: Mapping[str, Callable[[AnyEvidence], Judgement]], claims: list[Claim], evidence: AnyEvidence
) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`.

    A claim that the runs say nothing about (too short, no probe answered) cannot be told; its numbers are null.
    """
    return [
        {"id": claim.id, "section": claim.section, "says": claim.says, **judged(judges[claim.id], claim, evidence)}
        for claim in claims
    ]


def judged(judge: Callable[[AnyEvidence], Judgement], claim: Claim, evidence: AnyEvidence) -> dict[str, Any]:
    """Return what became of a claim without the claim itself."""
    try:
        found = asdict(judge(evidence))
    except SojournError as error:
        return {"verdict": "cannot tell", "value": None, "low": None, "high": None, "unit": "", "reason": str(error)}
    if found["verdict"] != "holds" and claim.why:
        found["reason"] += f"; why: {claim.why}"
    return found
