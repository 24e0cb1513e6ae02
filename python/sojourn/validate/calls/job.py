"""A sequence as the agent gets it: the requests to the kernel, and crafted packets."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from sojourn.backends.linux import kinds as bed_kinds
from sojourn.backends.linux import messages
from sojourn.backends.linux.disciplines import Encoded, below, encoded, of_text, queue_length
from sojourn.backends.linux.steps import Steps
from sojourn.bounds import Plain
from sojourn.kernel.find import Kernel
from sojourn.validate.calls import kinds
from sojourn.validate.calls.draw import Packet, Sequence

FORMAT = "sojourn-calls/1"
#: Of a packet the identification in its IP header is its number and this, because a kernel fills in one that is 0.
FIRST_ID = 1
ECN_BITS = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 3}

_DEVICE, _INDEX, _HOST = "d0", 10, "queue"
_MTU, _ETHERNET = 1500, 14
_TBF, _CHILD = 1, 0x10
_TIME_TO_LIVE = 64
_FIRST_PORT = 1024

#: The priority that Linux takes from a type of service, by its bits 0x18: best effort, bulk, interactive, interactive
#: bulk (`rt_tos2priority`; the numbers are those of include/uapi/linux/pkt_sched.h).
_PRIORITIES = (0, 2, 6, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the agent saw of a sequence."""

    #: When the packets of each instant were offered, on the guest's clock.
    offered_ns: tuple[int, ...]
    #: What left: when, the number of the packet, and its type of service then.
    left: tuple[tuple[int, int, int], ...]
    #: The discipline's counters at the end, those of its kind alone among them.
    counters: dict[str, float]


#: What changes the options of a discipline on their way to the kernel.
Rework = Callable[[Encoded], Encoded]


def job(
    sequences: Several[Sequence], kernel: Kernel, reworks: Mapping[int, Rework] = MappingProxyType({})
) -> Mapping[str, Plain]:
    """Return the job of some sequences.

    - `reworks`: by the place of a sequence, from 0: what the kernel gets in place of the options that `tc` sends today.
    """
    setup = Steps()
    setup.send(_HOST, f"add {_DEVICE}", messages.dummy(name=_DEVICE, index=_INDEX))
    setup.send(_HOST, f"set {_DEVICE} up", messages.link_up(index=_INDEX, mtu=_MTU))
    setup.send(_HOST, f"give {_DEVICE} its address", messages.address(index=_INDEX, ip="10.0.0.1", prefix=8))
    return {
        "format": FORMAT,
        "modules": [str(module) for module in kernel.modules],
        "setup": msgspec.to_builtins(setup.steps),
        "device": _DEVICE,
        "sequences": [_plain(sequence, reworks.get(place)) for place, sequence in enumerate(sequences)],
    }


def seen(measured: str) -> list[Seen]:
    """Return what the agent saw, from what it wrote."""
    found = []
    for one in json.loads(measured)["sequences"]:
        counters = {name: value for name, value in one["counters"].items() if name != "at_ns"}
        left = tuple((at, number - FIRST_ID, tos) for at, number, tos in one["left"])
        found.append(Seen(offered_ns=tuple(one["offered_ns"]), left=left, counters=one["extra"] | counters))
    return found


def _plain(sequence: Sequence, rework: Rework | None) -> Mapping[str, Plain]:
    steps, parent = Steps(), messages.ROOT
    if sequence.shaped_bps is not None:
        assert sequence.burst_bytes is not None
        shaper = bed_kinds.tbf(rate_bps=sequence.shaped_bps, burst_bytes=sequence.burst_bytes)
        request = messages.qdisc(index=_INDEX, parent=parent, number=messages.handle(_TBF), kind="tbf", options=shaper)
        steps.send(_HOST, f"add tbf to {_DEVICE}", request)
        parent = messages.handle(_TBF, 1)
    discipline = of_text(sequence.text, kinds.RATES[0])
    length = queue_length(discipline)
    if length is not None:
        steps.send(_HOST, f"set the queue of {_DEVICE}", messages.queue_length(_INDEX, length))
    kind, options = encoded(discipline)
    if rework is not None and options is not None:
        options = rework(options)
    request = messages.qdisc(index=_INDEX, parent=parent, number=messages.handle(_CHILD), kind=kind, options=options)
    steps.send(_HOST, f"add {kind} to {_DEVICE}", request)
    for says, request in below(discipline, index=_INDEX, major=_CHILD):
        steps.send(_HOST, f"{says} on {_DEVICE}", request)
    queues = kinds.queues_of(sequence.kind, sequence.text)
    lead = kinds.of(sequence.kind).lead_ns
    offers = [
        {"at_ns": lead + at, "packets": [_crafted(packet, queues) for packet in packets]}
        for at, packets in sequence.offers
    ]
    return {
        "setup": msgspec.to_builtins(steps.steps),
        "handle": messages.handle(_CHILD),
        "offers": offers,
        "end_ns": lead + sequence.end_ns,
    }


def _crafted(packet: Packet, queues: int | None) -> tuple[int, int, str]:
    """Return a packet's priority, its length from IPv4 on, and its headers: UDP or TCP, no checksum."""
    length, tos = packet.size - _ETHERNET, packet.dscp << 2 | ECN_BITS[packet.ecn]
    source, destination = f"10.1.0.{packet.source + 1}", f"10.2.0.{packet.destination + 1}"
    segment = packet.segment
    protocol = socket.IPPROTO_UDP if segment is None else socket.IPPROTO_TCP
    head = struct.pack(
        "!BBHHHBBH4s4sHH",
        *(0x45, tos, length, packet.id + FIRST_ID, 0, _TIME_TO_LIVE, protocol, 0),
        *(socket.inet_aton(source), socket.inet_aton(destination)),
        *(_FIRST_PORT + packet.flow, _FIRST_PORT),
    )
    head += struct.pack("!HH", length - 20, 0) if segment is None else segment.header
    priority = _PRIORITIES[tos >> 3 & 3] if queues is None else messages.handle(_CHILD, packet.flow % queues + 1)
    return priority, length, head.hex()
