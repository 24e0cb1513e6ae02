"""The real-time response under load test, with unmarked traffic (Flent's `rrul_be`).

Source: seed 000 section 5.1: four TCP flows in each direction saturate the link while UDP and ICMP probes
measure its latency. Section 6.2 looks at its first 25 seconds.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Probe, Scenario

FLOWS_EACH_WAY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientOptions(Options):
    """The same, for 25 s."""

    duration: str = "25s"


def build(options: Options) -> Scenario:
    """Return the RRUL scenario."""
    return _rrul("rrul", options)


def build_transient(options: TransientOptions) -> Scenario:
    """Return its beginning, with the idle path 5 s before."""
    return dataclasses.replace(_rrul("transient", options), lead="5s")


def probes() -> tuple[Probe, ...]:
    """Return the ICMP echo and the UDP request and response."""
    return (ping(), Probe(name="udp_rr", kind="udp_rr", timeout="2s", size=60))


def _rrul(name: str, options: Options) -> Scenario:
    return scenario(name, options, flows_up=FLOWS_EACH_WAY, flows_down=FLOWS_EACH_WAY, probes=probes())
