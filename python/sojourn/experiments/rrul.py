"""The real-time response under load test, with unmarked traffic (Flent's `rrul_be`).

Source: seed 000 section 5.1: four TCP flows in each direction saturate the link while UDP and ICMP probes
measure its latency. Section 6.2 looks at its first 25 seconds.
"""

from __future__ import annotations

import dataclasses

from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Probe, Scenario

FLOWS_EACH_WAY = 4


def build(options: Options) -> Scenario:
    """Return the RRUL scenario."""
    return _rrul("rrul", options)


def build_transient(options: Options) -> Scenario:
    """Return its beginning: 25 s unless told otherwise, with the idle path 5 s before."""
    transient = _rrul("transient", dataclasses.replace(options, duration=options.duration or "25s"))
    return dataclasses.replace(transient, lead="5s")


def probes() -> tuple[Probe, ...]:
    """Return the ICMP echo and the UDP request and response."""
    return (ping(), Probe(name="udp_rr", kind="udp_rr", timeout="2s", size=60))


def _rrul(name: str, options: Options) -> Scenario:
    options.refuse_foreign(name)
    return scenario(name, options, flows_up=FLOWS_EACH_WAY, flows_down=FLOWS_EACH_WAY, probes=probes())
