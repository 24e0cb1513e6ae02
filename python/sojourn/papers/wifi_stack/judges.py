"""The judges of the claims about the Wi-Fi stack by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.papers.kit.claims import Claim, judge_with
from sojourn.papers.kit.verdict import Judgement
from sojourn.papers.wifi_stack import mechanisms, three
from sojourn.papers.wifi_stack.evidence import Evidence

JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    **three.JUDGES,
    **mechanisms.JUDGES,
}


def judge(claims: list[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`."""
    return judge_with(JUDGES, claims, evidence)
