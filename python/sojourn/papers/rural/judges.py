"""The judges of the claims of the rural study by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.papers.kit.claims import Claim, judge_with
from sojourn.papers.kit.verdict import Judgement
from sojourn.papers.rural import bed, study
from sojourn.papers.rural.evidence import Evidence

JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    **study.JUDGES,
    **bed.JUDGES,
}


def judge(claims: list[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`."""
    return judge_with(JUDGES, claims, evidence)
