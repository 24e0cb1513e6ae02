"""The kernel for scenarios with a cell: one that has mac80211 and Sojourn's radios."""

from __future__ import annotations

from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel, find


def needed() -> Kernel:
    """Return the kernel.

    Raises
    ------
    ParamError
        If the environment names what cannot be used.
    SojournError
        If there is none.
    """
    return find(wifi=True)


def or_none() -> Kernel | None:
    """Return the kernel, or `None` where there is none."""
    try:
        return needed()
    except (ParamError, SojournError):
        return None
