"""A Wi-Fi cell: two fast stations and a slow one, or many of mixed rates, and what the access point sends to them.

Source: seed 002 section 3.2: three wireless clients, an access point, and a server one Gigabit Ethernet hop away. The
rates are those of the paper behind it (T. Høiland-Jørgensen and others, "Ending the Anomaly", USENIX ATC 2017): 144.4
and 7.2 Mbit/s, 20 MHz in the 5 GHz band. Its UDP rate and the length of the wire are not stated: 50 Mbit/s to each
station, which is more than a third of the cell carries, and 1 ms are assumed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sojourn.errors import ParamError
from sojourn.experiments.options import DEFAULT_CC, Options, ping
from sojourn.scenario import Flow, Probe, Scenario
from sojourn.scenario_keys import Station, Wifi

FAST, SLOW = "ht mcs 15 20mhz sgi", "ht mcs 0 20mhz sgi"
#: The cell of the paper.
STATIONS = (Station(name="fast1", rate=FAST), Station(name="fast2", rate=FAST), Station(name="slow", rate=SLOW))
SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")

#: The wire between access point and server.
WIRE, WIRE_RTT, WIRE_QUEUE = "1gbit", "1ms", "pfifo limit 1000"
DURATION = "30s"
UDP_RATE = "50mbit"

#: What `wifi_dense` draws from: old and new devices, near and far.
RATES = (
    *(f"ht mcs {mcs} 20mhz sgi" for mcs in (0, 2, 4, 7, 9, 11, 13, 15)),
    *(f"vht mcs {mcs} nss 1 80mhz sgi" for mcs in (0, 2, 4, 7)),
    *(f"vht mcs {mcs} nss 2 80mhz sgi" for mcs in (1, 3, 5, 7, 9)),
    "ofdm 24mbit",
)
MOST_STATIONS, DEFAULT_STATIONS = 64, 10
#: What its UDP floods come to, in all: no cell of these rates carries it, and the wire does (kbit/s).
DENSE_UDP_KBIT = 800_000
PROTOCOLS = ("tcp", "udp")


def build_tcp(options: Options) -> Scenario:
    """Return the scenario of TCP downloads to the three stations."""
    options.refuse_foreign("wifi_tcp", wifi=("scheme",))
    return cell("wifi_tcp", options, STATIONS, flows=tcp(STATIONS, options.cc))


def build_udp(options: Options) -> Scenario:
    """Return the scenario of UDP floods to the three stations."""
    options.refuse_foreign("wifi_udp", wifi=("scheme",))
    return cell("wifi_udp", options, STATIONS, flows=udp(STATIONS))


def build_voip(options: Options) -> Scenario:
    """Return the scenario of TCP downloads to the three stations and a voice stream to the slow one."""
    options.refuse_foreign("wifi_voip", wifi=("scheme", "dscp"))
    built = cell("wifi_voip", options, STATIONS, flows=tcp(STATIONS, options.cc))
    voice = Probe(
        name="voip",
        kind="voip",
        direction="down",
        codec="g711",
        frame="20ms",
        headers=40,
        station="slow",
        dscp=options.dscp or "CS0",
    )
    return replace(built, probes=(*built.probes, voice))


def build_dense(options: Options) -> Scenario:
    """Return the scenario of downloads to many stations, whose rates the seed draws.

    Raises
    ------
    ParamError
        If there are too many stations or none, or the protocol is neither.
    """
    options.refuse_foreign("wifi_dense", wifi=("scheme", "stations", "protocol"))
    number = DEFAULT_STATIONS if options.stations is None else options.stations
    if not 1 <= number <= MOST_STATIONS:
        message = f"stations is {number}, but must be from 1 to {MOST_STATIONS}"
        raise ParamError(message)
    protocol = options.protocol or PROTOCOLS[0]
    if protocol not in PROTOCOLS:
        message = f"protocol is {protocol!r}, but must be one of {', '.join(PROTOCOLS)}"
        raise ParamError(message)
    stations = draw(number, 1 if options.seed is None else options.seed)
    flows = tcp(stations, options.cc) if protocol == "tcp" else udp(stations, f"{DENSE_UDP_KBIT // number}kbit")
    return cell("wifi_dense", options, stations, flows=flows)


def draw(number: int, seed: int) -> tuple[Station, ...]:
    """Return stations of rates drawn from `RATES`: the same seed gives the same, fewer are the first of more."""
    generator = random.Random(seed)  # `random()` is the same for a seed in every version of Python.
    return tuple(
        Station(name=f"sta{place}", rate=RATES[int(generator.random() * len(RATES))]) for place in range(1, number + 1)
    )


def cell(
    experiment: str,
    options: Options,
    stations: Sequence[Station],
    *,
    flows: tuple[Flow, ...] = (),
    probes: tuple[Probe, ...] | None = None,
) -> Scenario:
    """Return the scenario of a cell at the end of a fast wire, with a ping at each station unless told otherwise.

    Raises
    ------
    ParamError
        If the scheme is none.
    """
    if options.scheme is not None and options.scheme not in SCHEMES:
        message = f"scheme is {options.scheme!r}, but must be one of {', '.join(SCHEMES)}"
        raise ParamError(message)
    wire: dict[str, Any] = {
        "up": WIRE,
        "down": WIRE,
        "rtt": WIRE_RTT,
        "qdisc_up": WIRE_QUEUE,
        "qdisc_down": WIRE_QUEUE,
        "duration": DURATION,
        "seed": 1,
    }
    return Scenario(
        experiment=experiment,
        flows=flows,
        probes=pings(stations) if probes is None else probes,
        wifi=Wifi(scheme=options.scheme or "airtime", stations=tuple(stations)),
        **(wire | options.given()),
    )


def tcp(stations: Sequence[Station], cc: str | None = None) -> tuple[Flow, ...]:
    """Return a TCP flow down to each station."""
    return tuple(
        Flow(name=f"tcp_{one.name}", direction="down", congestion_control=cc or DEFAULT_CC, station=one.name)
        for one in stations
    )


def udp(stations: Sequence[Station], rate: str = UDP_RATE) -> tuple[Flow, ...]:
    """Return a UDP flood down to each station."""
    return tuple(
        Flow(name=f"udp_{one.name}", direction="down", kind=None, protocol="udp", rate=rate, station=one.name)
        for one in stations
    )


def pings(stations: Sequence[Station]) -> tuple[Probe, ...]:
    """Return a ping at each station."""
    return tuple(replace(ping(), name=f"ping_{one.name}", station=one.name) for one in stations)
