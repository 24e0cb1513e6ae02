"""The packets of a play, as the agent and the simulator get them."""

from __future__ import annotations

import struct
from dataclasses import replace

from sojourn import units
from sojourn.backends.linux.disciplines import Encoded
from sojourn.regress.bugs.cases import Play
from sojourn.validate.calls import kinds
from sojourn.validate.calls.draw import LARGEST, Packet, Sequence

_MS = 1_000_000
#: Of all packets: they are of one flow.
_HASH = 2_654_435_769
#: Attributes of RED's options (linux/pkt_sched.h), and the place of the flags in the old structure.
_PARMS, _FLAGS, _OLD_FLAGS = 1, 4, 15


def sequence(play: Play, qdisc: str | None = None) -> Sequence:
    """Return the packets of a play.

    - `qdisc`: the discipline in the simulator, if it is another than the kernel's.
    """
    text = play.qdisc if qdisc is None else qdisc
    offers: dict[int, list[Packet]] = {}
    number = 0
    for part in play.parts:
        for count in range(part.packets):
            at = round((part.at_ms + count // part.burst * part.every_ms) * _MS)
            offers.setdefault(at, []).append(_packet(number))
            number += 1
    shaped = units.bits_per_s(play.shaped) if play.shaped else None
    return Sequence(
        text=text,
        kind=text.split()[0],
        shaped_bps=shaped,
        burst_bytes=None if shaped is None else LARGEST,
        offers=tuple((at, tuple(packets)) for at, packets in sorted(offers.items())),
        end_ns=round(play.end_ms * _MS),
    )


def for_simulator(asked: Sequence) -> Sequence:
    """Return a sequence with the time that passes from the setup of its discipline to the first packet."""
    lead = kinds.of(asked.kind).lead_ns
    return replace(
        asked, offers=tuple((lead + at, packets) for at, packets in asked.offers), end_ns=lead + asked.end_ns
    )


def numbers(play: Play, part: int) -> range:
    """Return the numbers of the packets of a part, which counts from 1."""
    first = sum(one.packets for one in play.parts[: part - 1])
    return range(first, first + play.parts[part - 1].packets)


def old_flags(options: Encoded) -> Encoded:
    """Return RED's options as `tc` sent them before iproute2 5.7: with the flags in the old structure."""
    kept, flags = {}, 0
    rest = options.payload
    while rest:
        length, kind = struct.unpack_from("=HH", rest)
        body, rest = rest[4:length], rest[length + -length % 4 :]
        if kind == _FLAGS:
            flags = struct.unpack_from("=I", body)[0]
        else:
            kept[kind] = body
    kept[_PARMS] = kept[_PARMS][:_OLD_FLAGS] + bytes([flags])
    payload = b"".join(Encoded(payload=body).attribute(kind) for kind, body in kept.items())
    return Encoded(payload=payload, nested=options.nested)


def _packet(number: int) -> Packet:
    return Packet(id=number, size=LARGEST, flow=0, hash=_HASH, ecn="not-ect", dscp=0, source=0, destination=0)
