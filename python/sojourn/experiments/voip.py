"""One direction of a voice call beside bulk traffic.

Source: seed 000 section 5.2: an isochronous stream of 64 kbit/s from client to server, with one TCP flow in the
same direction or with the real-time response under load test.
"""

from __future__ import annotations

from sojourn.experiments import rrul
from sojourn.experiments.options import Options, scenario
from sojourn.scenario import Probe, Scenario


def build(options: Options) -> Scenario:
    """Return the scenario of voice beside one flow up."""
    return scenario("voip", options, flows_up=1, flows_down=0, probes=(voice(),))


def build_rrul(options: Options) -> Scenario:
    """Return the scenario of voice beside the RRUL traffic and its probes."""
    each = rrul.FLOWS_EACH_WAY
    return scenario("voip_rrul", options, flows_up=each, flows_down=each, probes=(*rrul.probes(), voice()))


def voice() -> Probe:
    """Return G.711 from client to server: 160 bytes of voice each 20 ms, 214 on the wire."""
    return Probe(name="voip", kind="voip", direction="up", codec="g711", frame="20ms", headers=40)
