"""A slow, long link: file downloads, bulk transfers and thin streams, or an echo, through 25 packets at 1 Mbit/s.

Source: seed 001 sections III-A (Fig. 1) and IV-A. The bottleneck with the discipline under test is the upstream one;
the return path is a FIFO of 25 packets at the same rate.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.experiments import options
from sojourn.experiments.options import option, ping
from sojourn.scenario import Download, Flow, Probe, Scenario, Tcp

#: How many flows of each kind there are at each load.
LOADS = {"low": 1, "high": 2}
#: Which kinds: in the simulations thin streams measure the delay, on the emulated bed echoes do.
TRAFFIC = ("ns2", "emulation")

#: The repeated file, and the mean of the exponential idle time after it.
FILE_BYTES = 1_700_000
GAP = "9.5s"
#: A thin stream's packet, and how often it is sent.
WRITE = "150b"
WRITE_INTERVAL = "300ms"
#: 300 ms at 1 Mbit/s.
FIFO = "pfifo limit 25"

DEFAULT_CC = "reno"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """The load and the kind of traffic, too."""

    up: str = "1mbit"
    down: str = "1mbit"
    rtt: str = "300ms"
    qdisc_up: str = "rural:fq_codel"
    qdisc_down: str = FIFO
    cc: str = DEFAULT_CC
    duration: str = "300s"
    load: str = option("low", "low has one flow of each kind, high has two", words=lambda: tuple(LOADS))
    traffic: str = option("ns2", "ns2 has thin streams, emulation has an echo instead", words=lambda: TRAFFIC)


def build(options: Options) -> Scenario:
    """Return the scenario."""
    cc, traffic = options.cc, options.traffic
    numbers = range(1, LOADS[options.load] + 1)
    thin = tuple(
        Flow(name=f"thin_{n}", direction="up", congestion_control=cc, write=WRITE, write_interval=WRITE_INTERVAL)
        for n in numbers
    )
    probes: tuple[Probe, ...] = (ping(),)
    return Scenario(
        experiment="rural",
        flows=(
            *(Flow(name=f"bulk_{n}", direction="up", congestion_control=cc) for n in numbers),
            *(thin if traffic == "ns2" else ()),
        ),
        downloads=tuple(download(f"file_{n}", cc) for n in numbers),
        probes=() if traffic == "ns2" else probes,
        lead="0s",
        edge_rate="100mbit",
        edge_limit=300,
        start_jitter="1s",
        # The paper's throughput is a mean over seconds.
        sample_interval="1s",
        tcp=Tcp(initial_window=3),
        **options.scenario_fields(),
    )


def download(name: str, cc: str = DEFAULT_CC, *, rtt: str | None = None) -> Download:
    """Return the repeated download of the study."""
    return Download(name=name, direction="up", bytes=FILE_BYTES, gap=GAP, congestion_control=cc, rtt=rtt)
