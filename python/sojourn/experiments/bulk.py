"""Any number of bulk TCP flows each way, and an ICMP probe."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.experiments import options
from sojourn.experiments.options import option, ping, scenario
from sojourn.scenario import Scenario

#: More flows than the probe could tell apart; the limit keeps a slip of the finger from filling the memory.
MOST_FLOWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """The numbers of flows, too."""

    flows_up: int = option(1, "number of TCP flows up", range=(0, MOST_FLOWS))
    flows_down: int = option(1, "number of TCP flows down", range=(0, MOST_FLOWS))


def build(options: Options) -> Scenario:
    """Return the bulk scenario."""
    return scenario("bulk", options, flows_up=options.flows_up, flows_down=options.flows_down, probes=(ping(),))
