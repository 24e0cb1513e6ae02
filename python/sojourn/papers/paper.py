"""The papers that can be reproduced: what is known of them before anything is run."""

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


GOOD_BAD_WIFI = Paper(
    name="good-bad-wifi",
    reference=(
        "T. Høiland-Jørgensen, P. Hurtig, A. Brunstrom: The Good, the Bad and the WiFi: Modern AQMs in a residential "
        "setting. Computer Networks, 2015"
    ),
    parts={"rrul": "section 5.1: Fig. 2 and the claims about it"},
    profiles={"quick": Profile(duration="60s", repeat=10), "paper": Profile(duration="140s", repeat=30)},
)

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (GOOD_BAD_WIFI,)}
