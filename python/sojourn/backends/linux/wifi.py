"""The kernel for scenarios with a cell: one that has mac80211 and Sojourn's radios."""

from __future__ import annotations

from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel, find


def needed(choice: str | None = None) -> Kernel:
    """Return the kernel.

    Parameters
    ----------
    choice
        As `sojourn.kernel.find.find` takes it.

    Raises
    ------
    ParamError
        If `choice` or the environment names what cannot be used.
    SojournError
        If there is none.
    """
    return find(choice, wifi=True)


def or_none(choice: str | None = None) -> Kernel | None:
    """Return the kernel, or `None` where there is none, or the chosen one has no radios."""
    try:
        return needed(choice)
    except (ParamError, SojournError):
        return None
