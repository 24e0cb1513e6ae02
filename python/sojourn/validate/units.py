"""Times and rates of checked scenarios as numbers. The compiled part is the validator; this only reads."""

from __future__ import annotations

_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_RATES = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "bit": 1}


def seconds(text: str) -> float:
    """Return a time such as `60s` or `2.5ms` in seconds."""
    return _read(text, _TIMES)


def bits_per_s(text: str) -> int:
    """Return a rate such as `10mbit` in bit/s."""
    return round(_read(text, _RATES))


def _read(text: str, units: dict[str, float] | dict[str, int]) -> float:
    unit = next(unit for unit in units if text.endswith(unit))
    return float(text.removesuffix(unit)) * units[unit]
