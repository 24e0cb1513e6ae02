"""One direction of a voice call beside bulk traffic.

Source: seed 000 section 5.2: an isochronous stream of 64 kbit/s from client to server, with one TCP flow in the
same direction or with the real-time response under load test.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.experiments import options, rrul
from sojourn.experiments.bulk import MOST_FLOWS
from sojourn.experiments.options import Options, option, scenario
from sojourn.scenario import Probe, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class VoipOptions(options.Options):
    """The numbers of flows beside the voice stream, too."""

    flows_up: int = option(1, "number of TCP flows up", range=(0, MOST_FLOWS))
    flows_down: int = option(0, "number of TCP flows down", range=(0, MOST_FLOWS))


def build(options: VoipOptions) -> Scenario:
    """Return the scenario of voice beside bulk flows, by default one up."""
    flows_up, flows_down = options.flows_up, options.flows_down
    return scenario("voip", options, flows_up=flows_up, flows_down=flows_down, probes=(voice(),))


def build_rrul(options: Options) -> Scenario:
    """Return the scenario of voice beside the RRUL traffic and its probes."""
    each = rrul.FLOWS_EACH_WAY
    return scenario("voip_rrul", options, flows_up=each, flows_down=each, probes=(*rrul.probes(), voice()))


def voice() -> Probe:
    """Return G.711 from client to server: 160 bytes of voice each 20 ms, 214 on the wire."""
    return Probe(name="voip", kind="voip", direction="up", codec="g711", frame="20ms", headers=40)
