"""When a simulated run took place, for formats that want a date.

A run has no date: the same scenario gives the same bytes at any time. A file that must hold one gets a date that nobody
takes for real, and that differs between seeds: the measured window, and with it the TCP flows, begins 5 seconds after
midnight (UTC) of the day `seed` modulo 10,000 after 2000-01-01. Flent's tests begin at midnight then.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sojourn.units import exact_seconds

#: Flent's tests begin and end with so many seconds without TCP traffic (its `DELAY`).
DELAY_S = 5.0

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAYS = 10_000


def window_begins(seed: int) -> datetime:
    """Return when the measured window of a run of this seed begins."""
    return _FIRST + timedelta(days=seed % _DAYS, seconds=DELAY_S)


def epoch_ns(scenario: dict[str, object]) -> int:
    """Return the nanoseconds from 1970 to the beginning of a simulation, `lead` before its measured window."""
    whole = round(window_begins(int(str(scenario["seed"]))).timestamp())
    return whole * 1_000_000_000 - int(exact_seconds(str(scenario["lead"])) * 1_000_000_000)
