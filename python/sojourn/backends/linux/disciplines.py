"""A discipline, as `sojourn._native.kernel_qdisc` tells it, ready for netlink messages."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from pyroute2.netlink import NLA_F_NESTED

from sojourn import _native


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


def encoded(discipline: dict[str, Any]) -> tuple[str, Encoded | None]:
    """Return the kind and its options (`None` for none) as `sojourn.backends.linux.messages.qdisc` takes them."""
    payload, nested, _ = _native.netlink_options(json.dumps(discipline))
    return str(discipline["kind"]), None if payload is None else Encoded(payload=payload, nested=nested)


def below(discipline: dict[str, Any], *, index: int, major: int) -> list[tuple[str, bytes]]:
    """Return the requests for the classes of a discipline, their disciplines and filters, and what each is for.

    Parameters
    ----------
    discipline
        What `sojourn._native.kernel_qdisc` says.
    index
        The number of the device; 0 if the agent fills it in.
    major
        The major number of the discipline.
    """
    return _native.netlink_below(json.dumps(discipline), index, major)


def queue_length(discipline: dict[str, Any]) -> int | None:
    """Return the transmit queue length of the device, where the discipline has its limit from there."""
    _, _, length = _native.netlink_options(json.dumps(discipline))
    return length
