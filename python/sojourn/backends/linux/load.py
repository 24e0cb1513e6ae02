"""What a load plan says of a cell and of programs, as `sojourn._native.load_plan` makes it."""

from __future__ import annotations

import re

from msgspec import Struct

from sojourn.backends.linux.disciplines import Discipline


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
