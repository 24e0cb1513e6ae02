"""The judges of the claims of "The Good, the Bad and the WiFi" by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.papers.good_bad_wifi import (
    configuration,
    discussion,
    fairness,
    pie_steps,
    rrul,
    rrul_mechanisms,
    section7,
    table2,
    transient,
    voip,
    web,
)
from sojourn.papers.good_bad_wifi.evidence import Evidence
from sojourn.papers.kit.claims import Claim, judge_with
from sojourn.papers.kit.verdict import Judgement

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
    **section7.JUDGES,
}


def judge(claims: list[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`."""
    return judge_with(JUDGES, claims, evidence)
