"""Random sequences of packets for a discipline."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sojourn import _native
from sojourn.validate.calls import kinds
from sojourn.validate.calls.segments import Conversation, Segment

#: Bytes of a frame, its header of 14 included.
SMALLEST, LARGEST = 60, 1514
#: Sizes for which the memory of a packet depends on who made it, so none has them: a raw socket allocates less before
#: the packet than the simulator takes for granted, and the allocator rounds up to another power of two.
_UNCERTAIN = ((129, 175), (641, 687))
#: Bytes before a TCP header: those of Ethernet and of IPv4.
_BEFORE_TCP = 34
#: 2^32 divided by the golden ratio (Knuth's multiplicative hash).
_GOLDEN = 2654435769
#: Most flows and hosts of a sequence.
_FLOWS, _HOSTS = 8, 3
#: Loads, and packets of a sequence at one of them.
_LOADS, _PACKETS = (0.6, 0.95, 1.1, 1.5, 3.0), (40, 160)
#: For a discipline that draws random numbers a sequence has two parts: under the first the probability of a drop grows,
#: and the second shows how large it is.
_PARTS = (((1.5, 3.0), (100, 250)), ((0.5, 0.9), (100, 250)))
#: No packet is offered so near to the time at which another is due: a timer of the kernel goes off up to a microsecond
#: late, and then nobody could say which of both comes first.
GUARD_NS = 5_000
#: From the last departure to the end of a sequence.
_REST_NS = 20_000_000
#: Most calls for a departure of one sequence; a discipline that asks for more is broken.
_MOST_CALLS = 1_000_000

_CODE_POINTS = (0, 0, 8, 10, 14, 16, 18, 22, 24, 26, 32, 34, 38, 40, 46, 48, 56)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """A packet of a sequence."""

    #: Its number, counting from 0: that of `sojourn.Qdisc`.
    id: int
    #: Bytes of its frame.
    size: int
    #: Its flow.
    flow: int
    #: The flow's hash, for the simulator.
    hash: int
    #: Its code point of ECN, as `sojourn.Qdisc` names it.
    ecn: str
    #: Its code point.
    dscp: int
    #: Its hosts.
    source: int
    destination: int
    #: What it carries, if that is TCP; otherwise it is a datagram.
    segment: Segment | None = None

    @property
    def tcp(self) -> bytes | None:
        """Its TCP header, and a byte if there is payload: what an ACK filter reads."""
        if self.segment is None:
            return None
        return bytes(4) + self.segment.header + bytes(self.segment.payload > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A discipline and the packets that it is offered."""

    #: The discipline, canonical.
    text: str
    #: Its kind.
    kind: str
    #: The shaper above it; `None` for none.
    shaped_bps: int | None
    burst_bytes: int | None
    #: Times, in nanoseconds from the beginning, and the packets of each.
    offers: tuple[tuple[int, tuple[Packet, ...]], ...]
    #: When both sides hold no packet any more.
    end_ns: int

    def model(self, seed: int = 1) -> _native.Qdisc:
        """Return the discipline of the simulator, empty."""
        return _native.Qdisc(self.text, seed, shaped_bps=self.shaped_bps, burst_bytes=self.burst_bytes)


def enqueue(model: _native.Qdisc, now_ns: int, packet: Packet) -> None:
    """Offer a packet to the discipline of the simulator."""
    model.enqueue(
        now_ns,
        packet.size,
        flow=packet.hash,
        ecn=packet.ecn,
        dscp=packet.dscp,
        source=_spread(2 * packet.source),
        destination=_spread(2 * packet.destination + 1),
        tcp=packet.tcp,
    )


def _spread(number: int) -> int:
    """Return what stands for the hash of a flow or host: none is 0, and no two, nor two pairs, are the same."""
    return (number + 1) * _GOLDEN % 2**32


def sequence(text: str, seed: int, number: int) -> Sequence:
    """Return the sequence of this number for a discipline; raises `ParamError` if the discipline is not modelled."""
    random_numbers = random.Random(f"{seed} {number} {text}")
    canonical = _native.Qdisc(kinds.exact(text), rate_bps=kinds.RATES[0]).text
    kind = str(json.loads(_native.kernel_qdisc(canonical, kinds.RATES[0]))["kind"])
    shaped, burst, rate = None, None, kinds.rate_of(canonical)
    if not kinds.is_alone(canonical):
        shaped = rate = random_numbers.choice(kinds.RATES)
        burst = random_numbers.choice((2 * LARGEST, 3 * LARGEST, 6000, 10_000))
    draft = Sequence(text=canonical, kind=kind, shaped_bps=shaped, burst_bytes=burst, offers=(), end_ns=0)
    offers, end_ns = _timed(draft, _packets(draft, rate, random_numbers))
    return Sequence(
        text=canonical, kind=kind, shaped_bps=shaped, burst_bytes=burst, offers=tuple(offers), end_ns=end_ns
    )


def _packets(draft: Sequence, rate_bps: int, numbers: random.Random) -> Iterator[tuple[int, list[Packet]]]:
    """Yield the gap before each instant, ns, and its packets."""
    about = kinds.of(draft.kind)
    flows = numbers.randint(1, _FLOWS)
    hosts = _HOSTS if about.hosts else 1
    traits = [
        Packet(
            id=0,
            size=0,
            flow=flow,
            hash=_spread(flow) if about.queues is None else flow,
            ecn=numbers.choice(("not-ect", "not-ect", "ect0", "ect1")),
            dscp=numbers.choice(_CODE_POINTS) if about.dscp else 0,
            source=numbers.randrange(hosts),
            destination=numbers.randrange(hosts),
        )
        for flow in range(flows)
    ]
    talks = [Conversation.begin(numbers) for _ in traits] if kinds.reads_acks(draft.text) else None
    parts = _PARTS if kinds.is_random(draft.text) else ((_LOADS, _PACKETS),)
    loads = [numbers.choice(loads) for loads, _ in parts]
    sizes = numbers.choice(((LARGEST, LARGEST), (SMALLEST, LARGEST), (SMALLEST, 300), (400, LARGEST)))
    together = numbers.choice((0.0, 0.3, 0.7))
    number = 0
    for load, (_, packets_of_part) in zip(loads, parts, strict=True):
        left = numbers.randint(*packets_of_part)
        while left > 0:
            count = min(left, 1 if numbers.random() >= together else numbers.randint(2, 12))
            packets = []
            for _ in range(count):
                packets.append(_packet(number, numbers, sizes, traits, talks))
                number += 1
            left -= count
            sent_ns = sum(packet.size for packet in packets) * 8e9 / rate_bps
            gap_ns = numbers.expovariate(1.0) * sent_ns / load
            if numbers.random() < 0.03:
                gap_ns += numbers.uniform(0.0, 40.0) * sent_ns
            yield int(gap_ns), packets


def _packet(
    number: int,
    numbers: random.Random,
    sizes: tuple[int, int],
    traits: list[Packet],
    talks: list[Conversation] | None,
) -> Packet:
    """Draw a packet with the traits of one of the flows: a datagram, or the next of its conversation."""
    if talks is None:
        size = _size(numbers, *sizes)
        return replace(numbers.choice(traits), id=number, size=size)
    flow = numbers.randrange(len(traits))
    segment = talks[flow].next()
    if segment is None:
        # Datagrams between the same ports are another flow.
        return replace(traits[flow], id=number, size=_size(numbers, *sizes), hash=_spread(flow + _FLOWS))
    size = _BEFORE_TCP + segment.size
    less = size - _certain(size)
    return replace(traits[flow], id=number, size=size - less, segment=segment.shorter(less))


def _size(numbers: random.Random, smallest: int, largest: int) -> int:
    return _certain(numbers.randint(smallest, largest))


def _certain(size: int) -> int:
    """Return the largest size up to this one whose memory is certain."""
    below = [low - 1 for low, high in _UNCERTAIN if low <= size <= high]
    return below[0] if below else size


def _timed(
    draft: Sequence, drawn: Iterator[tuple[int, list[Packet]]]
) -> tuple[list[tuple[int, tuple[Packet, ...]]], int]:
    """Give the packets their times, none near to a departure; return them, and the end of the sequence."""
    model, offers, at, clock, last, calls = draft.model(), [], GUARD_NS, 0, -GUARD_NS, 0

    def leave(until: int | None) -> None:
        """Let what is due before a time leave."""
        nonlocal clock, last, calls
        while (due := model.ready_at(clock)) is not None:
            due = max(due, clock)
            if until is not None and due >= until:
                return
            calls += 1
            assert calls < _MOST_CALLS, f"{draft.text} is always about to let a packet go and never does"
            if model.dequeue(due) is None:
                clock = due + 1
            else:
                clock = last = due

    for gap_ns, packets in drawn:
        at += gap_ns
        while True:
            leave(at)
            if at - last < GUARD_NS:
                at = last + GUARD_NS
                continue
            due = model.ready_at(clock)
            if due is None or due > at + GUARD_NS:
                break
            at = max(due, clock) + GUARD_NS
        at = max(at, clock)
        for packet in packets:
            enqueue(model, at, packet)
            while model.dequeue(at) is not None:
                last = at
        offers.append((at, tuple(packets)))
        clock = at
    leave(None)
    return offers, max(clock, at) + _REST_NS
