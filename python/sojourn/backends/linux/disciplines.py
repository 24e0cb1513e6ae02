"""A discipline under test, as `sojourn._native.kernel_qdisc` tells it, ready for netlink messages."""

from __future__ import annotations

import json
from typing import Any

from sojourn import _native
from sojourn.backends.linux.messages import Encoded


def encoded(discipline: dict[str, Any]) -> tuple[str, Encoded | None]:
    """Return the kind and its options (`None` for none) as `sojourn.backends.linux.messages.qdisc` takes them."""
    payload, nested, _ = _native.netlink_options(json.dumps(discipline))
    return str(discipline["kind"]), None if payload is None else Encoded(payload=payload, nested=nested)


def queue_length(discipline: dict[str, Any]) -> int | None:
    """Return the transmit queue length of the device, where the discipline has its limit from there."""
    _, _, length = _native.netlink_options(json.dumps(discipline))
    return length
