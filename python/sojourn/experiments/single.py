"""One TCP flow in one direction, and an ICMP probe (Flent's `tcp_1up` and `tcp_1down`)."""

from __future__ import annotations

from sojourn.experiments.options import Options, ping, scenario
from sojourn.scenario import Scenario


def build_up(options: Options) -> Scenario:
    """Return the scenario of one flow from client to server."""
    return scenario("tcp_1up", options, flows_up=1, flows_down=0, probes=(ping(),))


def build_down(options: Options) -> Scenario:
    """Return the scenario of one flow from server to client."""
    return scenario("tcp_1down", options, flows_up=0, flows_down=1, probes=(ping(),))
