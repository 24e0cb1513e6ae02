"""The class that a kernel's filters choose for each code point."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from tests.tc.guest import attributes_of

#: `ETH_P_ALL` and `ETH_P_IP`.
PROTOCOLS = (3, 0x0800)
#: `TCA_U32_CLASSID` and `TCA_MATCHALL_CLASSID`, `TCA_U32_SEL`.
CLASS, SELECTOR = 1, 5


def takes(selector: bytes, header: bytes) -> bool:
    """Return whether a `struct tc_u32_sel` takes a packet with this header."""
    for at in range(16, 16 + 16 * selector[2], 16):
        mask, value, offset = struct.unpack_from("=IIi", selector, at)
        (word,) = struct.unpack_from("=I", header, offset)
        if (word ^ value) & mask:
            return False
    return True


def choice(filters: Sequence[Sequence[str | int]]) -> list[int | None]:
    """Return the class of each code point in IPv4, None for none. Filters are as a kernel has them."""
    rules: list[tuple[bytes | None, int]] = []
    for info, kind, options in filters:
        attributes = dict(attributes_of(bytes.fromhex(str(options))))
        # Of matchall an attribute of this number is padding.
        selector = attributes.get(SELECTOR) if kind == "u32" else None
        if socket.ntohs(int(info) & 0xFFFF) in PROTOCOLS and CLASS in attributes and (selector or kind == "matchall"):
            rules.append((selector, struct.unpack("=I", attributes[CLASS])[0]))
    chosen = []
    for code in range(64):
        header = struct.pack("!BB18x", 0x45, code << 2) + bytes(64)
        classes = (own for selector, own in rules if selector is None or takes(selector, header))
        chosen.append(next(classes, None))
    return chosen
