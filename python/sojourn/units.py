"""Times, rates and sizes in the spelling of `tc`, as numbers. The compiled part is the validator; this only reads."""

from __future__ import annotations

import re
from decimal import Decimal

#: A unit in those without a prefix, by what follows a number: seconds, bit/s, and what has none.
TIMES = {"ns": Decimal("1e-9"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1)}
RATES = {"bit": Decimal(1), "kbit": Decimal(10**3), "mbit": Decimal(10**6), "gbit": Decimal(10**9)}
COUNTS = {"": Decimal(1), "b": Decimal(1), "p": Decimal(1)}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]*)")


def value(text: str, units: dict[str, Decimal], unit: str = "") -> Decimal:
    """Return a quantity exactly, in another of the units; without one, in that without a prefix.

    Raises `ValueError` if it is no number with one of the units.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        message = f"{text!r} is not a number with {' or '.join(units)}"
        raise ValueError(message)
    return Decimal(match[1]) * units[match[2]] / (units[unit] if unit else 1)


def exact_seconds(text: str) -> Decimal:
    """Return a time such as `1.5s` in seconds, exactly."""
    return value(text, TIMES)


def seconds(text: str) -> float:
    """Return a time such as `60s` or `2.5ms` in seconds."""
    return float(value(text, TIMES))


def bits_per_s(text: str) -> int:
    """Return a rate such as `10mbit` in bit/s."""
    return round(value(text, RATES))


def size(text: str) -> int:
    """Return a number of bytes such as `3028b`."""
    return int(value(text, COUNTS))
