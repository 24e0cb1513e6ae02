"""Any number of bulk TCP flows each way, and an ICMP probe."""

from __future__ import annotations

from sojourn.errors import ParamError
from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Scenario

#: More flows than the probe could tell apart; the limit keeps a slip of the finger from filling the memory.
MOST_FLOWS = 10_000


def build(options: Options) -> Scenario:
    """Return the bulk scenario.

    Raises
    ------
    ParamError
        If a number of flows is out of range.
    """
    options.refuse_foreign("bulk", flow_counts=True)
    up = _count("flows-up", options.flows_up)
    down = _count("flows-down", options.flows_down)
    return scenario("bulk", options, flows_up=up, flows_down=down, probes=(ping(),))


def _count(field: str, value: int | None) -> int:
    if value is None:
        return 1
    if not 0 <= value <= MOST_FLOWS:
        message = f"{field} is {value}, but must be from 0 to {MOST_FLOWS}"
        raise ParamError(message)
    return value
