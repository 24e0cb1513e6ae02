"""What a load plan says, as `sojourn._native.load_plan` makes it."""

from __future__ import annotations

import re

from msgspec import Struct, field

from sojourn.backends.linux.disciplines import Discipline


class Side(Struct, frozen=True, kw_only=True):
    """One direction of the bottleneck.

    Attributes
    ----------
    rate_bps
        Its rate, bit/s.
    burst_bytes
        Depth of tbf's bucket.
    discipline
        That under test.
    loss
        Probability that a packet is lost after it, in parts of 2^32.
    jitter_ns
        How much longer than the path's delay a packet takes after it at most.
    """

    rate_bps: int
    burst_bytes: int
    discipline: Discipline = field(name="qdisc")
    loss: int = 0
    jitter_ns: int = 0


class Tcp(Struct, frozen=True, kw_only=True):
    """What may be set on the kernels' TCP, by the keys of a scenario."""

    mss: int
    initial_window: int
    receive_window: str
    hystart: bool
    ecn: bool | str
    delayed_ack: bool
    min_rto: str
    gso: bool = False
    save_metrics: bool = False


class Spec(Struct, frozen=True):
    """What is read of a piece of traffic as the scenario has it."""

    protocol: str | None = None
    rate: str | None = None


class Traffic(Struct, frozen=True):
    """A piece of traffic, and its hosts among those of each side."""

    spec: Spec
    client: int = 0
    server: int = 0


class FlusherPlan(Struct, frozen=True):
    """A queue flusher: where it is, and how it decides, as its daemon's configuration says it."""

    at: str
    parameters: str


class Node(Struct, frozen=True):
    """What a node queues in: frames of a FIFO, 0 for none, and a discipline above it."""

    fifo: int
    qdisc: Discipline | None


class Limits(Struct, frozen=True):
    """Airtime that may be pending, us: of a category below its low and its high mark, and of all together."""

    low_us: int
    high_us: int
    total_us: int


class Category(Struct, frozen=True):
    """How an access category contends."""

    aifsn: int
    cw_min: int
    cw_max: int
    txop_us: int


class Link(Struct, frozen=True):
    """One direction of a station's link; `error` is a probability in parts of 2^32."""

    format: str
    mcs: int
    streams: int
    mhz: int
    short_guard: bool
    error: int


class Station(Struct, frozen=True):
    """A station."""

    name: str
    weight: int
    down: Link
    up: Link


class Cell(Struct, frozen=True, kw_only=True):
    """A cell; the names of its keys are those of radios and of mac80211."""

    access_point: Node
    station: Node
    hardware_queue: int
    aggregate_frames: int
    aggregate_us: int
    retries: int
    aql: Limits | None
    station_aql: Limits | None = None
    airtime_flags: int
    fq_limit: int
    fq_memory: int
    fq_quantum: int
    channel_mhz: int
    vht: bool
    edca_access_point: list[Category]
    edca_station: list[Category]
    stations: list[Station]


_HOST = re.compile(r"(client|server)(\d*)")


class Program(Struct, frozen=True):
    """A program, as a load plan has it."""

    name: str
    host: str
    command: list[str]
    files: list[str] = []

    @property
    def further(self) -> tuple[str, int] | None:
        """The side of its host and its number there, counted from 0, if it is not the first."""
        match = _HOST.fullmatch(self.host)
        return (match[1], int(match[2]) - 1) if match and match[2] else None


def ipv6_of(ip: str) -> str:
    """Return the IPv6 address that a host has beside an address."""
    _, net, link, host = ip.split(".")
    return f"fd00:{net}:{link}::{host}"
