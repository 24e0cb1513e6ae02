"""Flows of one host beside those of another, with an ICMP probe at each: who gets how much of the link.

A discipline that is fair to flows gives the host with more flows more. One that isolates hosts, such as `cake`, gives
each host half. Source: T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE", LANMAN 2018, which compares hosts
that have many flows and few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from sojourn.experiments import options
from sojourn.experiments.options import option, ping, scenario
from sojourn.scenario import Flow, Probe, Scenario

Traffic = TypeVar("Traffic", Flow, Probe)

#: On which side the two hosts are, and which way their flows go.
SIDES = ("client", "server")
WAYS = ("up", "down", "both")
MOST_FLOWS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """The numbers of flows, the side and the way, too."""

    first: int = option(8, "number of TCP flows of the first host, each way", range=(1, MOST_FLOWS))
    second: int = option(1, "number of TCP flows of the second host, each way", range=(1, MOST_FLOWS))
    side: str = option("client", "which side the two hosts are on: client or server", words=lambda: SIDES)
    way: str = option("both", "which way the flows go: up, down or both", words=lambda: WAYS)


def build(options: Options) -> Scenario:
    """Return the scenario of two hosts."""
    ways = {"up": int(options.way != "down"), "down": int(options.way != "up")}
    total = options.first + options.second
    plain = scenario("hosts", options, flows_up=ways["up"] * total, flows_down=ways["down"] * total, probes=(ping(),))
    places = [("first", i + 1) for i in range(options.first)] + [("second", i + 1) for i in range(options.second)]
    flows = tuple(
        _at(options.side, host, replace(flow, name=f"tcp_{flow.direction}_{host}_{number}"))
        for flow, (host, number) in zip(plain.flows, places * sum(ways.values()), strict=True)
    )
    probes = tuple(_at(options.side, host, replace(ping(), name=f"ping_{host}")) for host in ("first", "second"))
    return replace(plain, flows=flows, probes=probes)


def _at(side: str, host: str, traffic: Traffic) -> Traffic:
    """Return a flow or a probe at a host."""
    if host == "first":
        return traffic
    return replace(traffic, client=2) if side == "client" else replace(traffic, server=2)
