"""The judges of the claims about the queue flusher by id, and what each claim comes to in each reading."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from sojourn.papers.flusher import aqm, grid, other, throughput
from sojourn.papers.flusher.evidence import NETEM, READINGS, Evidence
from sojourn.papers.flusher.grid import Judge
from sojourn.papers.kit.claims import Claim, judged
from sojourn.papers.kit.verdict import Judgement

JUDGES: dict[str, Judge] = {**grid.JUDGES, **throughput.JUDGES, **aqm.JUDGES, **other.JUDGES}


def judge(claims: list[Claim], evidence: Mapping[str, Evidence]) -> list[dict[str, Any]]:
    """Return what became of each claim about the queue flusher, in the form of `claims.json`, in each reading.

    `evidence` is that on each emulator of the thesis. The key `readings` has the verdict of each reading on each: of
    the thesis's text, of the same with Karn's rule, and of its listings; with `(ipfw)` on the second emulator. The
    claim holds if it does in one of them; what is told is from the first in which it does, else from the first of all.
    """
    places = [(emulator, reading) for emulator in evidence for reading in READINGS]
    names = {
        (emulator, reading): reading if emulator == NETEM else f"{reading} ({emulator})" for emulator, reading in places
    }
    found = []
    for claim in claims:
        one_judge = JUDGES[claim.id]
        bare = dataclasses.replace(claim, why="")
        each = {
            names[emulator, reading]: judged(_in_reading(one_judge, reading), bare, evidence[emulator])
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


def _in_reading(judge: Judge, reading: str) -> Callable[[Evidence], Judgement]:
    return lambda evidence: judge(evidence, reading)
