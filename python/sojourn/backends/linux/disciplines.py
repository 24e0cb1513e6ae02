"""A discipline, as `sojourn._native.kernel_qdisc` tells it, ready for netlink messages."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import msgspec
from msgspec import Struct
from pyroute2.netlink import NLA_F_NESTED

from sojourn import _native, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What an attribute holds; `nested` if that is attributes itself."""

    payload: bytes
    nested: bool = False

    def attribute(self, number: int) -> bytes:
        """Return the attribute, padded to whole words."""
        kind = number | (NLA_F_NESTED if self.nested else 0)
        padding = bytes(-len(self.payload) % 4)
        return struct.pack("=HH", 4 + len(self.payload), kind) + self.payload + padding


class Below(Struct, frozen=True):
    """A discipline of a class, a class or a filter; handles are pairs of numbers."""

    adds: str
    parent: tuple[int, int]
    id: tuple[int, int]
    kind: str
    options: dict[str, bool | int | str]


class Discipline(Struct, frozen=True, omit_defaults=True):
    """What load plans say of a discipline: for a kernel, and as a text for a bottleneck of ours."""

    kind: str
    options: dict[str, bool | int | str]
    text: str = ""
    below: list[Below] = []

    def json(self) -> str:
        """Return it as the compiled part takes it."""
        return msgspec.json.encode(self).decode()


def of_text(text: str, rate_bps: int) -> Discipline:
    """Return how a kernel is told to use a discipline on a link of this rate."""
    return schema.decoder(Discipline).decode(_native.kernel_qdisc(text, rate_bps))


def encoded(discipline: Discipline) -> tuple[str, Encoded | None]:
    """Return the kind and its options (`None` for none) as `sojourn.backends.linux.messages.qdisc` takes them."""
    payload, nested, _ = _native.netlink_options(discipline.json())
    return discipline.kind, None if payload is None else Encoded(payload=payload, nested=nested)


def below(discipline: Discipline, *, index: int, major: int) -> list[tuple[str, bytes]]:
    """Return the requests for the classes of a discipline, their disciplines and filters, and what each is for.

    Parameters
    ----------
    discipline
        With classes or without.
    index
        The number of the device; 0 if the agent fills it in.
    major
        The major number of the discipline.
    """
    return _native.netlink_below(discipline.json(), index, major)


def queue_length(discipline: Discipline) -> int | None:
    """Return the transmit queue length of the device, where the discipline has its limit from there."""
    _, _, length = _native.netlink_options(discipline.json())
    return length
