"""Round-trip times between two points of a path, from a capture at each.

The compiled part (`sojourn-trace`, module `pairs`) finds the packets that are in both, and makes pairs of them; here
are their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sojourn import _native, bounded, schema
from sojourn.bounds import Plain
from sojourn.errors import refused

FORMAT = "sojourn-rtt/1"

#: Percentiles that are told, by their names.
PERCENTILES = {"p5_ms": 5.0, "median_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}

DEFAULT_HORIZON_NS = 10_000_000_000
DEFAULT_GAP_NS = 1_000_000_000


class Packets(Struct, frozen=True):
    """What became of the packets of a capture."""

    ambiguous: int
    crowded: int
    damage: str | None
    duplicates: int
    first_ns: int | None
    frames: int
    last_ns: int | None
    matched: int
    missing: int
    outside: int
    packets: int
    skipped: dict[str, int]
    unselected: int


class Pairs(Struct, frozen=True):
    """A flow that is in both captures, from the first one's side."""

    both_ways: bool
    far: str
    matched_back: int
    matched_forth: int
    near: str
    pairs: int
    protocol: str

    @property
    def name(self) -> str:
        """The flow in words: protocol, the endpoint on the first capture's side, the other."""
        return f"{self.protocol} {self.near} {self.far}"


class Report(Struct, frozen=True):
    """Counts of both captures and of each flow."""

    apart: int
    captures: tuple[Packets, Packets]
    flows: list[Pairs]
    negative: int
    offset_ns: int | None
    pairs: int
    unpaired: int


@dataclass(frozen=True, kw_only=True)
class RoundTrips:
    """What two captures tell."""

    #: Counts of both captures and of each flow.
    report: Report
    #: When each pair of packets was complete, nanoseconds since 1970 by the first capture's clock, about in order.
    at_ns: NDArray[np.uint64]
    #: The round-trip time of each.
    rtt_ns: NDArray[np.uint64]
    #: Number of its flow in `report.flows`.
    flow: NDArray[np.uint32]

    def as_json(self) -> Mapping[str, Plain]:
        """Return the report with the numbers of all pairs and of each flow's, as plain values."""
        plain = msgspec.to_builtins(self.report)
        flows, without = [], []
        for number, flow in enumerate(plain.pop("flows")):
            if flow["pairs"]:
                flows.append(flow | {"rtt": numbers(self.of_flow(number))})
            else:
                without.append(flow)
        return {"format": FORMAT, **plain, "rtt": numbers(self.rtt_ns), "flows": flows, "flows_without_pairs": without}

    def of_flow(self, number: int) -> NDArray[np.uint64]:
        """Return the round-trip times of a flow."""
        found: NDArray[np.uint64] = self.rtt_ns[self.flow == number]
        return found

    def names(self) -> list[str]:
        """Return the flows in words."""
        return [flow.name for flow in self.report.flows]


def measure(
    a: Path,
    b: Path,
    *,
    hosts: Sequence[str] = (),
    ports: Sequence[int] = (),
    protocol: str | None = None,
    horizon_ns: int = DEFAULT_HORIZON_NS,
    gap_ns: int = DEFAULT_GAP_NS,
) -> RoundTrips:
    """Measure the round-trip times from the point of one capture to that of another and back.

    Raises `ParamError` if a value is refused, or a file is no capture, and `SojournError` if one is a pipe with a name.

    - `a`, `b`: captures, pcap or pcapng. Their clocks need not agree.
    - `hosts`, `ports`, `protocol`: only flows that have all of these addresses and ports, and this protocol (`tcp`,
      `udp`, `icmp`).
    - `horizon_ns`: how long a packet is looked for in the other capture.
    - `gap_ns`: how far apart the packets of a pair may be at the second point.
    """
    for path in (a, b):
        bounded.check_stream(path)
    if a.is_file() and b.is_file() and a.samefile(b):
        raise refused(str(b), "b", "must be another file than a: the capture of a second point of the path")
    report, at, rtt, flow = _native.packet_pairs(a, b, list(hosts), list(ports), protocol, horizon_ns, gap_ns)
    return RoundTrips(
        report=schema.decoder(Report).decode(report),
        at_ns=np.frombuffer(at, dtype="<u8"),
        rtt_ns=np.frombuffer(rtt, dtype="<u8"),
        flow=np.frombuffer(flow, dtype="<u4"),
    )


def numbers(rtt_ns: NDArray[np.uint64]) -> dict[str, float | int | None]:
    """Return count, least, mean, percentiles and largest of round-trip times, ms; `None` where there are none."""
    names = ("min_ms", "mean_ms", *PERCENTILES, "max_ms")
    if rtt_ns.size == 0:
        return {"count": 0, **dict.fromkeys(names)}
    ms = rtt_ns / 1e6
    found = np.percentile(ms, list(PERCENTILES.values()))
    values = (ms.min(), ms.mean(), *found, ms.max())
    return {"count": int(ms.size), **{name: float(value) for name, value in zip(names, values, strict=True)}}
