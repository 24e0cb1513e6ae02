"""Random TCP segments, as an ACK filter may meet them: mostly acknowledgements, and all that must not be taken for one.

Only headers are drawn. A segment's payload is zeros.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

#: Flags of a TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1), and the three bits beside its length.
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
BESIDE = (0x100, 0x200, 0x400, 0x800)

#: Bytes of a header without options, and of all options at most.
HEADER, _OPTIONS = 20, 40
#: Bytes of a full-sized segment's payload.
_FULL = 1_448
#: Kinds of options (RFC 9293 section 3.2, RFC 2018, RFC 7323, RFC 2385), and one for experiments (RFC 4727).
_END, _NOTHING, _MSS, _SACK, _STAMPS, _MD5, _EXPERIMENT = 0, 1, 2, 5, 8, 19, 254
_WORD = 2**32
#: Segments that tell something besides an acknowledgement number, by how often they come.
_SHARE_PAYLOAD, _SHARE_FLAG, _SHARE_ODD, _SHARE_OTHER = 0.12, 0.08, 0.08, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment."""

    #: Its TCP header with options, from the sequence number on: ports are of the conversation.
    header: bytes
    #: Bytes behind the header.
    payload: int

    @property
    def size(self) -> int:
        """Bytes with the ports."""
        return 4 + len(self.header) + self.payload

    def shorter(self, less: int) -> Segment:
        """Return it with so many bytes of payload less."""
        assert less <= self.payload
        return Segment(header=self.header, payload=self.payload - less)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The side of a conversation that acknowledges.

    Attributes
    ----------
    numbers
        Where it is drawn from.
    ack
        The largest acknowledgement number so far. Some conversations begin just before numbers wrap around.
    stamps
        The time stamp and its echo; `None` without.
    steady
        How likely flags of ECN stay as they are from segment to segment.
    """

    numbers: random.Random
    ack: int = 0
    sequence: int = 0
    stamps: tuple[int, int] | None = None
    steady: float = 1.0
    _ecn: int = 0
    _ranges: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def begin(cls, numbers: random.Random) -> Conversation:
        """Draw a conversation."""
        near_the_end = numbers.random() < 0.3
        ack = _WORD - numbers.randrange(20 * _FULL) if near_the_end else numbers.randrange(_WORD)
        stamps = None
        if numbers.random() < 0.75:
            first = _WORD - numbers.randrange(10) if numbers.random() < 0.2 else numbers.randrange(_WORD)
            stamps = (first, numbers.randrange(_WORD))
        return cls(
            numbers=numbers,
            ack=ack % _WORD,
            sequence=numbers.randrange(_WORD),
            stamps=stamps and (stamps[0] % _WORD, stamps[1]),
            steady=numbers.choice((1.0, 0.9, 0.6)),
        )

    def next(self) -> Segment | None:
        """Draw the next segment; `None` for a packet of another protocol."""
        numbers = self.numbers
        if numbers.random() < _SHARE_OTHER:
            return None
        ack = self._acknowledge()
        options = self._options(ack)
        flags = ACK | self._flags()
        if numbers.random() < _SHARE_FLAG:
            other = numbers.choice((FIN, SYN, RST, PSH, URG, ACK, *BESIDE))
            flags ^= other
        payload = 0
        if numbers.random() < _SHARE_PAYLOAD:
            payload = numbers.choice((1, _FULL, numbers.randint(2, _FULL)))
            payload = min(payload, _FULL + 12 - len(options))
        words = (HEADER + len(options)) // 4
        header = struct.pack(
            "!IIHHHH", self.sequence, ack, words << 12 | flags, numbers.randrange(2**16), 0, numbers.choice((0, 0, 9))
        )
        self.sequence = (self.sequence + payload) % _WORD
        return Segment(header=header + options, payload=payload)

    def _acknowledge(self) -> int:
        """Draw an acknowledgement number: larger, the same, one from before, or any."""
        numbers, draw = self.numbers, self.numbers.random()
        if draw < 0.02:
            return numbers.randrange(_WORD)
        if draw < 0.10:
            return (self.ack - _FULL * numbers.randint(1, 6)) % _WORD
        if draw > 0.35 and not (self._ranges and numbers.random() < 0.6):
            self.ack = (self.ack + numbers.choice((_FULL, 2 * _FULL, numbers.randint(1, 4 * _FULL)))) % _WORD
        if self.stamps is not None and numbers.random() < 0.5:
            value, echo = self.stamps
            self.stamps = ((value + numbers.randint(0, 3)) % _WORD, (echo + numbers.choice((0, 0, 1, 4))) % _WORD)
        return self.ack

    def _flags(self) -> int:
        if self.numbers.random() > self.steady:
            self._ecn = self.numbers.choice((0, 0, ECE, CWR, ECE | CWR))
        return self._ecn

    def _options(self, ack: int) -> bytes:
        """Draw the options, padded to whole words."""
        numbers, parts = self.numbers, []
        if self.stamps is not None and numbers.random() < 0.97:
            # Some carry an older time stamp than the one before, or an older echo.
            back = [numbers.randint(1, 5) if numbers.random() < 0.05 else 0 for _ in self.stamps]
            values = [(stamp - less) % _WORD for stamp, less in zip(self.stamps, back, strict=True)]
            parts.append(_option(_STAMPS, struct.pack("!II", *values)))
        ranges = self._next_ranges(ack)
        if ranges:
            parts.append(_option(_SACK, b"".join(struct.pack("!II", *one) for one in ranges)))
        if numbers.random() < _SHARE_ODD:
            parts.insert(numbers.randint(0, len(parts)), self._odd())
        laid = b""
        for part in parts:
            padding = bytes([_NOTHING]) * numbers.choice((0, -(len(laid) + len(part)) % 4))
            if len(laid) + len(padding) + len(part) <= _OPTIONS:
                laid += padding + part
        filler = numbers.choice((_NOTHING, _END))
        return laid + bytes([filler]) * (-len(laid) % 4)

    def _next_ranges(self, ack: int) -> list[tuple[int, int]]:
        """Draw what is acknowledged selectively: ranges that grow, that come to be, and a duplicate now and then."""
        numbers = self.numbers
        if not self._ranges:
            if numbers.random() < 0.12:
                self._ranges = [self._range(ack)]
        elif numbers.random() < 0.15:
            self._ranges = []
        elif numbers.random() < 0.7:
            start, end = self._ranges[0]
            self._ranges[0] = (start, (end + _FULL) % _WORD)
        elif numbers.random() < 0.5:
            self._ranges = [self._range(self._ranges[0][1]), *self._ranges]
        else:
            numbers.shuffle(self._ranges)
        told = self._ranges[: numbers.choice((1, 2, 3, 4, 4))]
        if numbers.random() < 0.04:
            start = (ack - _FULL * numbers.randint(1, 3)) % _WORD
            told = [(start, (start + _FULL) % _WORD), *told]
        most = (_OPTIONS - (10 if self.stamps is not None else 0) - 2) // 8
        return told[:most]

    def _range(self, after: int) -> tuple[int, int]:
        start = (after + _FULL * self.numbers.randint(1, 3)) % _WORD
        return start, (start + _FULL * self.numbers.randint(1, 3)) % _WORD

    def _odd(self) -> bytes:
        """Draw an option that is seldom there, or that is wrong."""
        kinds = (
            _option(_MD5, bytes(16)),
            _option(_EXPERIMENT, bytes(2)),
            _option(_MSS, struct.pack("!H", 1460)),
            _option(_STAMPS, bytes(self.numbers.choice((4, 7)))),
            _option(_SACK, bytes(self.numbers.choice((0, 4, 12)))),
            # Lengths that end the options, and the end of the list with something behind it.
            bytes([_EXPERIMENT, 0]),
            bytes([_EXPERIMENT, 200]),
            bytes([_END, _EXPERIMENT, 3, 0]),
        )
        return self.numbers.choice(kinds)


def _option(kind: int, value: bytes) -> bytes:
    return bytes([kind, len(value) + 2]) + value
