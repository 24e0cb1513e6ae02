"""What a build makes of a scenario: the canonical text on each back end or the sentence of a refusal, and the run's record.

Texts and records are held as hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sojourn import _native

FILE = Path(__file__).parents[1] / "testdata" / "frozen.jsonl"
BACKENDS = ("sim", "linux", "live")


def _judged(scenario: str, backend: str) -> dict[str, str]:
    try:
        return {"canonical": _hash(_native.normalize(scenario, backend))}
    except _native.ParamError as refusal:
        return {"refused": str(refusal)}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def record(scenario: str) -> str:
    """Return the hash of a run's record without what differs between two builds or two runs: `code_version` and `cost`."""
    made: dict[str, Any] = json.loads(_native.run(scenario))
    del made["code_version"], made["cost"]
    return _hash(json.dumps(made, sort_keys=True))


def taken(scenario: str) -> dict[str, Any]:
    """Return all that is held fast of one scenario; back ends that have the simulator's text or sentence are left out."""
    line: dict[str, Any] = {"scenario": scenario} | {backend: _judged(scenario, backend) for backend in BACKENDS}
    for backend in BACKENDS[1:]:
        if line[backend] == line["sim"]:
            del line[backend]
    if "canonical" in line["sim"]:
        line["record"] = record(scenario)
    return line
