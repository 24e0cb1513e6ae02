"""What is known of a paper that can be reproduced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is run.

    Attributes
    ----------
    duration
        Time text: the measured window of each run.
    repeat
        Runs of each cell.
    """

    duration: str
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name
        What one types.
    reference
        Authors, title, where and when.
    parts
        What can be asked for with `--only`, and what it is.
    profiles
        By name.
    """

    name: str
    reference: str
    parts: dict[str, str]
    profiles: dict[str, Profile]
