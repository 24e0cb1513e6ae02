"""Whether a stack can be trusted in the simulator: it fails in no cell, and two runs of one seed are the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.backends import Backend
from sojourn.scenario import Scenario

#: What each run costs, and nothing that is simulated.
_COST = ("wall_s", "peak_rss_mb")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What became of a stack in a cell."""

    #: The cell's name.
    cell: str
    #: Goodput, Mbit/s.
    goodput_mbit: float
    #: Of each flow that failed, why; and whether two runs differ. Empty if all is well.
    faults: tuple[str, ...]


def check(cells: Sequence[tuple[str, Scenario]], backend: Backend) -> list[Checked]:
    """Run each cell twice; raises as `Backend.run`."""
    return [_one(name, scenario.normalized("sim"), backend) for name, scenario in cells]


def _one(name: str, scenario: str, backend: Backend) -> Checked:
    records = [json.loads(backend.run(scenario)) for _ in range(2)]
    for record in records:
        for key in _COST:
            record["cost"].pop(key)
    first, second = records
    faults = [f"{flow['name']}: {flow['error']}" for flow in first["flows"] if "error" in flow]
    if first != second:
        faults.append("two runs of one seed differ: something in it reads a clock, or draws from the system")
    return Checked(cell=name, goodput_mbit=first["summary"]["goodput_up_mbit"], faults=tuple(faults))
