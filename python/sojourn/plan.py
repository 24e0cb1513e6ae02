"""What a plan comes to: each scenario in full, and the name by which its run is known.

A run is a function of its scenario, the seed included, and of the code that simulates it. So the hash of these
names the run wherever it is made, and two plans that hold the same scenario share its run.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sojourn import _native
from sojourn.backends import SIMULATOR, Backend
from sojourn.lazy import Lazy, kinds_of, mapped
from sojourn.scenario import Scenario

#: The form in which a run is stored; part of its name.
STORED_FORMAT = "sojourn-run/1 stored/1"

_ID_LENGTH = 32
_ANY_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to be made."""

    #: Its name: 32 hexadecimal digits.
    id: str
    #: The canonical scenario, one line of JSON.
    text: str
    #: The seed in it.
    seed: int


class Done(NamedTuple):
    """A run that was made."""

    #: Of which.
    job: Job
    #: Its record, or its summary if a store has the rest.
    answer: bytes
    #: Whether it was made of what had been measured before.
    reused: bool


def jobs(scenarios: Sequence[Scenario], *, backend: Backend = SIMULATOR) -> Lazy[Job]:
    """Return the job of each scenario, in the same order; all are checked, and each job is made when it is needed.

    Repeats differ in their seed only, so each kind of scenario is normalized once. Raises `ParamError` if a scenario is
    refused.
    """
    frames: dict[Scenario, tuple[str, str] | None] = {}
    for place in kinds_of(scenarios):
        _text(scenarios[place], frames, backend)
    return mapped(lambda scenario: _job(scenario, frames, backend), scenarios)


def run_id(text: str, *, backend: Backend = SIMULATOR) -> str:
    """Return the name of the run of a canonical scenario by this build on this back end."""
    parts = (STORED_FORMAT, _native.__version__, _native.__build__, backend.identity_of(text), text)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_ID_LENGTH]


def _job(scenario: Scenario, frames: dict[Scenario, tuple[str, str] | None], backend: Backend) -> Job:
    text, seed = _text(scenario, frames, backend)
    return Job(id=run_id(text, backend=backend), text=text, seed=seed)


def _text(scenario: Scenario, frames: dict[Scenario, tuple[str, str] | None], backend: Backend) -> tuple[str, int]:
    """Return the canonical scenario and its seed."""
    seed = scenario.seed
    if type(seed) is int and 0 <= seed < 2**64:
        kind = dataclasses.replace(scenario, seed=_ANY_SEED)
        if kind not in frames:
            frames[kind] = _around_seed(kind.normalized(backend.name))
        if (around := frames[kind]) is not None:
            return f"{around[0]}{seed}{around[1]}", seed
    text = scenario.normalized(backend.name)
    return text, int(json.loads(text)["seed"])


def _around_seed(text: str) -> tuple[str, str] | None:
    """Return what stands before and after the seed, if there is one place where it can be."""
    mark = f'"seed":{_ANY_SEED}'
    parts = text.split(mark)
    if len(parts) != 2 or parts[1][:1] not in {",", "}"}:
        return None
    return f'{parts[0]}"seed":', parts[1]
