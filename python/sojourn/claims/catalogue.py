"""The claims of a paper as data, and their judges by id."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, TypeVar

from sojourn.claims import (
    configuration,
    discussion,
    fairness,
    flusher_aqm,
    flusher_evidence,
    flusher_grid,
    flusher_other,
    flusher_throughput,
    pie_steps,
    rrul,
    rrul_mechanisms,
    rural_bed,
    rural_evidence,
    rural_study,
    table2,
    transient,
    voip,
    web,
    wifi_code,
    wifi_evidence,
    wifi_link,
    wifi_three,
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
    **wifi_link.JUDGES,
}

RURAL_JUDGES: dict[str, Callable[[rural_evidence.Evidence], Judgement]] = {**rural_study.JUDGES, **rural_bed.JUDGES}
FLUSHER_JUDGES: dict[str, flusher_grid.Judge] = {
    **flusher_grid.JUDGES,
    **flusher_throughput.JUDGES,
    **flusher_aqm.JUDGES,
    **flusher_other.JUDGES,
}
WIFI_JUDGES: dict[str, Callable[[wifi_evidence.Evidence], Judgement]] = {**wifi_three.JUDGES, **wifi_code.JUDGES}

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
    """Return the claims of a paper whose ids begin with `prefix`."""
    stored = tomllib.loads(files("sojourn.claims").joinpath(f"{paper}.toml").read_text(encoding="utf-8"))
    return [Claim(**claim) for claim in stored["claims"] if claim["id"].startswith(prefix)]


def judge_all(claims: list[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim of "The Good, the Bad and the WiFi", in the form of `claims.json`."""
    return judge_with(JUDGES, claims, evidence)


def judge_rural(claims: list[Claim], evidence: rural_evidence.Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim of the rural study, in the form of `claims.json`."""
    return judge_with(RURAL_JUDGES, claims, evidence)


def judge_wifi(claims: list[Claim], evidence: wifi_evidence.Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim about the Wi-Fi stack, in the form of `claims.json`."""
    return judge_with(WIFI_JUDGES, claims, evidence)


def judge_flusher(claims: list[Claim], evidence: Mapping[str, flusher_evidence.Evidence]) -> list[dict[str, Any]]:
    """Return what became of each claim about the queue flusher, in the form of `claims.json`, in each reading.

    `evidence` is that on each emulator of the thesis. The key `readings` has the verdict of each reading on each: of
    the thesis's text, of the same with Karn's rule, and of its listings; with `(ipfw)` on the second emulator. The
    claim holds if it does in one of them; what is told is from the first in which it does, else from the first of all.
    """
    places = [(emulator, reading) for emulator in evidence for reading in flusher_evidence.READINGS]
    names = {
        (emulator, reading): reading if emulator == flusher_evidence.NETEM else f"{reading} ({emulator})"
        for emulator, reading in places
    }
    found = []
    for claim in claims:
        judge = FLUSHER_JUDGES[claim.id]
        bare = dataclasses.replace(claim, why="")
        each = {
            names[emulator, reading]: _judge(_in_reading(judge, reading), bare, evidence[emulator])
            for emulator, reading in places
        }
        first = next((name for name, one in each.items() if one["verdict"] == "holds"), next(iter(each)))
        told = each[first]
        same = all(one == told for one in each.values())
        verdicts = "" if same else "; ".join(f"{name}: {one['verdict']}" for name, one in each.items())
        why = claim.why if told["verdict"] != "holds" else ""
        parts = [verdicts, told["reason"] if same else f"{first}: {told['reason']}", f"why: {why}" if why else ""]
        found.append(
            {"id": claim.id, "section": claim.section, "says": claim.says}
            | told
            | {"reason": "; ".join(part for part in parts if part)}
            | {"readings": {name: one["verdict"] for name, one in each.items()}}
        )
    return found


def _in_reading(judge: flusher_grid.Judge, reading: str) -> Callable[[flusher_evidence.Evidence], Judgement]:
    return lambda evidence: judge(evidence, reading)


def judge_with(
    judges: Mapping[str, Callable[[AnyEvidence], Judgement]], claims: list[Claim], evidence: AnyEvidence
) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`.

    A claim that the runs say nothing about (too short, no probe answered) cannot be told; its numbers are null.
    """
    return [
        {"id": claim.id, "section": claim.section, "says": claim.says, **_judge(judges[claim.id], claim, evidence)}
        for claim in claims
    ]


def _judge(judge: Callable[[AnyEvidence], Judgement], claim: Claim, evidence: AnyEvidence) -> dict[str, Any]:
    try:
        found = asdict(judge(evidence))
    except SojournError as error:
        return {"verdict": "cannot tell", "value": None, "low": None, "high": None, "unit": "", "reason": str(error)}
    if found["verdict"] != "holds" and claim.why:
        found["reason"] += f"; why: {claim.why}"
    return found
