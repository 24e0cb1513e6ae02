"""Four flows from client to server that differ in their base round-trip time, and an ICMP probe on each of their paths.

Source: seed 000 section 6.1 (Flent's `rtt_fair_up`): base round-trip times of 10, 50, 200 and 500 ms.
"""

from __future__ import annotations

import dataclasses

from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Flow, Scenario

RTTS_MS = (10, 50, 200, 500)


def build(options: Options) -> Scenario:
    """Return the fairness scenario."""
    flows = tuple(
        Flow(name=f"tcp_{ms}ms", direction="up", congestion_control=options.cc, rtt=f"{ms}ms") for ms in RTTS_MS
    )
    probes = tuple(dataclasses.replace(ping(), name=f"ping_{ms}ms", rtt=f"{ms}ms") for ms in RTTS_MS)
    return dataclasses.replace(scenario("rtt_fairness", options, flows_up=0, flows_down=0, probes=probes), flows=flows)
