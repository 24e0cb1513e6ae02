"""What a build makes of a scenario: its canonical text or the sentence of its refusal, and the record of its run.

Texts and records are held as hashes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from sojourn import _native
from tests.records import Json

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
    """Return the hash of a run's record, without `code_version` and `cost`, which differ between two builds or runs."""
    made: Json = json.loads(_native.run(scenario))
    del made["code_version"], made["cost"]
    return _hash(json.dumps(made, sort_keys=True))


def frozen_line(scenario: str) -> Json:
    """Return what is held fast of one scenario; a back end that answers as the simulator does is left out."""
    line: Json = {"scenario": scenario} | {backend: _judged(scenario, backend) for backend in BACKENDS}
    for backend in BACKENDS[1:]:
        if line[backend] == line["sim"]:
            del line[backend]
    if "canonical" in line["sim"]:
        line["record"] = record(scenario)
    return line
