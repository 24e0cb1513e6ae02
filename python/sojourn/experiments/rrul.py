"""The real-time response under load test: unmarked traffic (Flent's `rrul_be`), or four code points (its `rrul`).

Source: seed 000 section 5.1: four TCP flows in each direction saturate the link while UDP and ICMP probes
measure its latency. Section 6.2 looks at its first 25 seconds.

With `marks` the four flows of a direction are best effort, CS1 (Flent calls it BK), CS5 and EF, and there is a UDP
request and response of each of best effort, CS1 and EF. The ICMP echo is unmarked. Source: `rrul.conf` of Flent 2.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sojourn.experiments.options import Options, option, ping, scenario
from sojourn.scenario import Probe, Scenario

FLOWS_EACH_WAY = 4

#: What Flent calls the flows of its `rrul`, and their code points; and those of which there is a UDP probe.
FLENT_MARKS = {"be": None, "bk": "CS1", "cs5": "CS5", "ef": "EF"}
_PROBED = ("be", "bk", "ef")
MARKS = ("none", "flent")


@dataclass(frozen=True, slots=True, kw_only=True)
class RrulOptions(Options):
    """Whether its traffic is marked, too."""

    marks: str = option(
        "none",
        "code points of the flows: none, or flent for those of its rrul (CS0, CS1, CS5, EF)",
        words=lambda: MARKS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientOptions(Options):
    """The same, for 25 s."""

    duration: str = "25s"


def build(options: RrulOptions) -> Scenario:
    """Return the RRUL scenario."""
    plain = _rrul("rrul", options)
    if options.marks == "none":
        return plain
    marks = list(FLENT_MARKS)
    flows = tuple(
        dataclasses.replace(flow, name=f"tcp_{flow.direction}_{mark}", dscp=FLENT_MARKS[mark])
        for flow, mark in zip(plain.flows, 2 * marks, strict=True)
    )
    echo, asked = probes()
    marked = (dataclasses.replace(asked, name=f"udp_rr_{mark}", dscp=FLENT_MARKS[mark]) for mark in _PROBED)
    return dataclasses.replace(plain, flows=flows, probes=(echo, *marked))


def build_transient(options: TransientOptions) -> Scenario:
    """Return its beginning, with the idle path 5 s before."""
    return dataclasses.replace(_rrul("transient", options), lead="5s")


def probes() -> tuple[Probe, ...]:
    """Return the ICMP echo and the UDP request and response."""
    return (ping(), Probe(name="udp_rr", kind="udp_rr", timeout="2s", size=60))


def _rrul(name: str, options: Options) -> Scenario:
    return scenario(name, options, flows_up=FLOWS_EACH_WAY, flows_down=FLOWS_EACH_WAY, probes=probes())
