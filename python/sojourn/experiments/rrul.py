"""The real-time response under load test, with unmarked traffic (Flent's `rrul_be`).

Source: seed 000 section 5.1: four TCP flows in each direction saturate the link while UDP and ICMP probes
measure its latency.
"""

from __future__ import annotations

from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Probe, Scenario

FLOWS_EACH_WAY = 4


def build(options: Options) -> Scenario:
    """Return the RRUL scenario."""
    options.refuse_flow_counts("rrul")
    udp = Probe(name="udp_rr", kind="udp_rr", timeout="2s", size=60)
    return scenario("rrul", options, flows_up=FLOWS_EACH_WAY, flows_down=FLOWS_EACH_WAY, probes=(ping(), udp))
