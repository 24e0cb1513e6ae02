"""The claims of a paper as data, and their judges by id."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from sojourn.claims import (
    configuration,
    discussion,
    fairness,
    pie_steps,
    rrul,
    rrul_mechanisms,
    table2,
    transient,
    voip,
    web,
)
from sojourn.claims.evidence import Evidence
from sojourn.claims.verdict import Judgement
from sojourn.errors import SojournError

JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    **configuration.JUDGES,
    **rrul.JUDGES,
    **rrul_mechanisms.JUDGES,
    **pie_steps.JUDGES,
    **voip.JUDGES,
    **table2.JUDGES,
    **web.JUDGES,
    **discussion.JUDGES,
    **fairness.JUDGES,
    **transient.JUDGES,
}


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
    """Return the claims of a paper whose ids begin with `prefix`."""
    stored = tomllib.loads(files("sojourn.claims").joinpath(f"{paper}.toml").read_text(encoding="utf-8"))
    return [Claim(**claim) for claim in stored["claims"] if claim["id"].startswith(prefix)]


def judge_all(claims: list[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`.

    A claim that the runs say nothing about (too short, no probe answered) cannot be told; its numbers are null.
    """
    return [
        {"id": claim.id, "section": claim.section, "says": claim.says, **_judge(claim, evidence)} for claim in claims
    ]


def _judge(claim: Claim, evidence: Evidence) -> dict[str, Any]:
    try:
        found = asdict(JUDGES[claim.id](evidence))
    except SojournError as error:
        return {"verdict": "cannot tell", "value": None, "low": None, "high": None, "unit": "", "reason": str(error)}
    if found["verdict"] != "holds" and claim.why:
        found["reason"] += f"; why: {claim.why}"
    return found
