"""A Wi-Fi cell: two fast stations and a slow one, or many of mixed rates, and what the access point sends to them.

Source: seed 002 section 3.2: three wireless clients, an access point, and a server one Gigabit Ethernet hop away. The
rates are those of the paper behind it (T. Høiland-Jørgensen and others, "Ending the Anomaly", USENIX ATC 2017): 144.4
and 7.2 Mbit/s, 20 MHz in the 5 GHz band. Its UDP rate and the length of the wire are not stated: 50 Mbit/s to each
station, which is more than a third of the cell carries, and 1 ms are assumed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sojourn.experiments import options
from sojourn.experiments.options import DEFAULT_CC, option, ping
from sojourn.scenario import Flow, Probe, Scenario
from sojourn.scenario_keys import Station, Wifi

FAST, SLOW = "ht mcs 15 20mhz sgi", "ht mcs 0 20mhz sgi"
#: The cell of the paper.
STATIONS = (Station(name="fast1", rate=FAST), Station(name="fast2", rate=FAST), Station(name="slow", rate=SLOW))
SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")

#: The wire between access point and server.
WIRE, WIRE_RTT, WIRE_QUEUE = "1gbit", "1ms", "pfifo limit 1000"
UDP_RATE = "50mbit"

#: What `wifi_dense` draws from: old and new devices, near and far.
RATES = (
    *(f"ht mcs {mcs} 20mhz sgi" for mcs in (0, 2, 4, 7, 9, 11, 13, 15)),
    *(f"vht mcs {mcs} nss 1 80mhz sgi" for mcs in (0, 2, 4, 7)),
    *(f"vht mcs {mcs} nss 2 80mhz sgi" for mcs in (1, 3, 5, 7, 9)),
    "ofdm 24mbit",
)
MOST_STATIONS = 64
#: What its UDP floods come to, in all: no cell of these rates carries it, and the wire does (kbit/s).
DENSE_UDP_KBIT = 800_000
PROTOCOLS = ("tcp", "udp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """The scheme of the access point, too; the defaults are of the wire between it and the server."""

    up: str = WIRE
    down: str = WIRE
    rtt: str = WIRE_RTT
    qdisc_up: str = WIRE_QUEUE
    qdisc_down: str = WIRE_QUEUE
    duration: str = "30s"
    scheme: str = option(
        "airtime", "how the access point queues: fifo, fq_codel, fq_mac or airtime", words=lambda: SCHEMES
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceOptions(Options):
    """The code point of the voice stream, too."""

    dscp: str = option("CS0", "code point of the voice stream: CS0 is best effort, EF is video, CS6 is voice")


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseOptions(Options):
    """The number of stations and what is sent to them, too."""

    stations: int = option(10, "number of stations, 1 to 64", range=(1, MOST_STATIONS))
    protocol: str = option("tcp", "what each station receives: tcp or udp", words=lambda: PROTOCOLS)


def build_tcp(options: Options) -> Scenario:
    """Return the scenario of TCP downloads to the three stations."""
    return cell("wifi_tcp", options, STATIONS, flows=tcp(STATIONS, options.cc))


def build_udp(options: Options) -> Scenario:
    """Return the scenario of UDP floods to the three stations."""
    return cell("wifi_udp", options, STATIONS, flows=udp(STATIONS))


def build_voip(options: VoiceOptions) -> Scenario:
    """Return the scenario of TCP downloads to the three stations and a voice stream to the slow one."""
    built = cell("wifi_voip", options, STATIONS, flows=tcp(STATIONS, options.cc))
    voice = Probe(
        name="voip",
        kind="voip",
        direction="down",
        codec="g711",
        frame="20ms",
        headers=40,
        station="slow",
        dscp=options.dscp,
    )
    return replace(built, probes=(*built.probes, voice))


def build_dense(options: DenseOptions) -> Scenario:
    """Return the scenario of downloads to many stations, whose rates the seed draws."""
    stations = draw(options.stations, options.seed)
    rate = f"{DENSE_UDP_KBIT // options.stations}kbit"
    flows = tcp(stations, options.cc) if options.protocol == "tcp" else udp(stations, rate)
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
    """Return the scenario of a cell at the end of a fast wire; where no probes are given, each station has a ping."""
    return Scenario(
        experiment=experiment,
        flows=flows,
        probes=pings(stations) if probes is None else probes,
        wifi=Wifi(scheme=options.scheme, stations=tuple(stations)),
        **options.scenario_fields(),
    )


def with_options(scenario: Scenario, **options: Any) -> Scenario:
    """Return a scenario whose access point has other options."""
    assert scenario.wifi is not None
    return replace(scenario, wifi=replace(scenario.wifi, **options))


def tcp(stations: Sequence[Station], cc: str = DEFAULT_CC) -> tuple[Flow, ...]:
    """Return a TCP flow down to each station."""
    return tuple(
        Flow(name=f"tcp_{one.name}", direction="down", congestion_control=cc, station=one.name) for one in stations
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
