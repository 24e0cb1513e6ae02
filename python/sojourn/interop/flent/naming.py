"""Which of Flent's tests a run is, and what that test calls its series.

Source: the test definitions of Flent 2.3.0; its plots look series up by these names. The paper's RRUL test has unmarked
traffic, which Flent calls `rrul_be`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from sojourn.interop.clock import DELAY_S
from sojourn.record import Record
from sojourn.store.record_shape import ScenarioFlow, ScenarioProbe, scenario_of

#: Our word for a direction, and Flent's.
WAYS = {"up": "upload", "down": "download"}

UNIT_RATE, UNIT_TIME, UNIT_INDEX = "Mbits/s", "ms", "Idx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A series that is computed from others, point by point."""

    #: Its name.
    name: str
    #: What is done with the values that are there at a point.
    how: Literal["average", "sum", "fairness"]
    #: The series it is made of.
    of: tuple[str, ...]
    #: As Flent spells it.
    unit: str = UNIT_RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """One of Flent's tests, as far as a file of it needs it."""

    #: Its name.
    test: str
    #: How long it waits before and after the TCP flows.
    delay_s: float
    #: The servers it talks to.
    hosts: tuple[str, ...]
    #: Its test parameters.
    parameters: dict[str, str]
    #: Series by the name of the flow or echo probe.
    flows: dict[str, str]
    probes: dict[str, str]
    #: The series computed from those.
    computed: tuple[Computed, ...]


def naming(record: Record) -> Naming:
    """Return how Flent calls what a record holds."""
    scenario = scenario_of(record)
    flows = scenario.flows
    numbers = {way: sum(flow.direction == way for flow in flows) for way in WAYS}
    test = _test(record, numbers)
    by_rtt = test.startswith("rtt_fair")
    rtts = list(dict.fromkeys(flow.rtt for flow in flows)) if by_rtt else []
    names = _flow_names(test, flows)
    computed = _computed(test, names, flows)
    probes = _probe_names(test, scenario.probes)
    if any(one.name == "TCP totals" for one in computed) or by_rtt:
        computed = (*computed, Computed(name="Ping (ms) avg", how="average", of=tuple(probes.values()), unit=UNIT_TIME))
    parameters = {}
    if test in ("tcp_nup", "rrul_be_nflows"):
        parameters["upload_streams"] = str(numbers["up"])
    if test in ("tcp_ndown", "rrul_be_nflows"):
        parameters["download_streams"] = str(numbers["down"])
    return Naming(
        test=test,
        delay_s=0.0 if test in ("voip", "http", "ping") else DELAY_S,
        hosts=tuple(map(_host, rtts)) or ("server",),
        parameters=parameters,
        flows=names,
        probes=probes,
        computed=tuple(one for one in computed if one.of),
    )


def _test(record: Record, numbers: dict[str, int]) -> str:
    up, down = numbers["up"], numbers["down"]
    for kind, there in (("http", record.web), ("voip", _voip(record))):
        if there:
            if up == down == 0:
                return kind
            return f"{kind}-1up" if (up, down) == (1, 0) else f"{kind}-rrul"
    if up == down == 0:
        return "ping"
    if len({flow.rtt for flow in scenario_of(record).flows}) > 1:
        return "rtt_fair_var" + ("" if up and down else "_up" if up else "_down")
    special = {(4, 4): "rrul_be", (1, 0): "tcp_1up", (0, 1): "tcp_1down", (1, 1): "tcp_bidirectional"}
    if (up, down) in special:
        return special[up, down]
    return "rrul_be_nflows" if up and down else "tcp_nup" if up else "tcp_ndown"


def _voip(record: Record) -> bool:
    return any(probe.kind == "voip" for probe in record.probes)


def _host(rtt: str) -> str:
    return f"rtt-{rtt}"


def _flow_names(test: str, flows: list[ScenarioFlow]) -> dict[str, str]:
    names = {}
    counts: Counter[str] = Counter()
    for flow in flows:
        stem = f"TCP {WAYS[flow.direction]}"
        group = f"{stem} {flow.rtt}" if test.startswith("rtt_fair") else stem
        counts[group] += 1
        number = counts[group]
        marked = "BE" if number == 1 else f"BE{number}"
        if test in ("tcp_1up", "tcp_1down", "tcp_bidirectional", "voip-1up", "http-1up"):
            name = stem
        elif test in ("tcp_nup", "tcp_ndown"):
            name = f"{stem}::{number}"
        elif test == "rrul_be_nflows":
            name = f"{stem} BE::{number}"
        elif test.startswith("rtt_fair"):
            name = f"{stem} {marked} {_host(flow.rtt)}"
        else:
            name = f"{stem} {marked}"
        names[flow.name] = name
    return names


def _probe_names(test: str, probes: list[ScenarioProbe]) -> dict[str, str]:
    names: dict[str, str] = {}
    for probe in probes:
        if probe.kind not in ("icmp", "udp_rr"):
            continue
        number = 1 + sum(name.startswith(_PROBES[probe.kind]) for name in names.values())
        name = _PROBES[probe.kind]
        if test.startswith("rtt_fair"):
            name = f"{name} {_host(probe.rtt)}"
        elif probe.kind == "udp_rr" and test != "ping":
            # The tests with several UDP probes number them.
            name += f" BE{number}" if test in _RRUL else " BE"
        if name in names.values():
            name = f"{_PROBES[probe.kind]} {probe.name} (extra)"
        names[probe.name] = name
    return names


_PROBES = {"icmp": "Ping (ms) ICMP", "udp_rr": "Ping (ms) UDP"}
_RRUL = ("rrul_be", "voip-rrul", "http-rrul")


def _computed(test: str, names: dict[str, str], flows: list[ScenarioFlow]) -> tuple[Computed, ...]:
    if test in ("tcp_1up", "tcp_1down", "tcp_bidirectional", "voip-1up", "http-1up"):
        return ()
    computed = []
    for way, word in WAYS.items():
        of = tuple(names[flow.name] for flow in flows if flow.direction == way)
        stem = f"TCP {word}"
        computed.append(Computed(name=f"{stem} avg", how="average", of=of))
        computed.append(Computed(name=f"{stem} sum", how="sum", of=of))
        if test in ("tcp_nup", "tcp_ndown") or test.startswith("rtt_fair"):
            computed.append(Computed(name=f"{stem} fairness", how="fairness", of=of, unit=UNIT_INDEX))
    if test in (*_RRUL, "rrul_be_nflows"):
        computed.append(Computed(name="TCP totals", how="sum", of=tuple(names.values())))
    return tuple(computed)
