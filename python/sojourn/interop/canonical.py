"""Times, rates and sizes as a canonical scenario spells them: a number and the unit, exactly."""

from __future__ import annotations

from decimal import Decimal

#: How a canonical scenario spells times, the longest unit last.
_UNITS = {"ns": Decimal("1e-9"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1)}

_RATES = {"gbit": 10**9, "mbit": 10**6, "kbit": 10**3, "bit": 1}


def seconds(canonical: str) -> Decimal:
    """Return a time of a canonical scenario, such as `1.5s`, in seconds, exactly."""
    unit = next(unit for unit in _UNITS if canonical.endswith(unit))
    return Decimal(canonical.removesuffix(unit)) * _UNITS[unit]


def bits_per_second(canonical: str) -> int:
    """Return a rate of a canonical scenario, such as `1.5gbit`."""
    unit = next(unit for unit in _RATES if canonical.endswith(unit))
    return int(Decimal(canonical.removesuffix(unit)) * _RATES[unit])


def size(canonical: str) -> int:
    """Return a number of bytes of a canonical scenario, such as `3028b`."""
    return int(canonical.removesuffix("b"))
