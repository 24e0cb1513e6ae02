"""From an experiment to the cells of a validation: links x disciplines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import api
from sojourn.errors import refused
from sojourn.scenario import Scenario
from sojourn.store.cell import link_name
from sojourn.units import bits_per_s
from sojourn.validate.disciplines import Discipline

#: Down/up, in Mbit/s.
LINKS = ("100/100", "10/10", "10/1")

_RATE = r"\d+(?:\.\d+)?(?:[kmg]bit)?"
_LINK = re.compile(rf"({_RATE})/({_RATE})")


@dataclass(frozen=True, kw_only=True)
class PlannedCell:
    """One scenario, without its repeats."""

    #: What it is called.
    name: str
    #: Rates, down before up.
    link: str
    #: Name of the discipline.
    qdisc: str
    #: With the first seed.
    scenario: Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The rates of a bottleneck."""

    #: Rate texts.
    down: str
    up: str

    @property
    def name(self) -> str:
        """What it is called: `10/1`."""
        return link_name(self.down, self.up)


def read_links(text: str) -> tuple[Link, ...]:
    """Read links such as `100/100,10/1` (down/up, in Mbit/s, or with a unit).

    Raises `ParamError` if one is spelled wrong, or is there twice.
    """
    found: list[Link] = []
    for part in text.split(","):
        match = _LINK.fullmatch(part.strip().lower())
        if match is None or not all(bits_per_s(_with_unit(rate)) for rate in match.groups()):
            raise refused(text, "links", "must be rates above 0 down/up, such as 100/100,10/10,10/1 (Mbit/s)")
        down, up = (_with_unit(rate) for rate in match.groups())
        link = Link(down=down, up=up)
        if link in found:
            raise refused(text, "links", f"each link must be named once, and {link.name} is there twice")
        found.append(link)
    return tuple(found)


def cells(
    experiment: str, links: Sequence[Link], disciplines: Sequence[Discipline], **options: Any
) -> tuple[PlannedCell, ...]:
    """Return the cells of an experiment, link by link; all are checked.

    Raises `ParamError` if a value is refused.

    - `experiment`: a built-in name or the path of a TOML file.
    - `links`, `disciplines`: the grid.
    - `**options`: of `sojourn.api.build`: `rtt`, `cc`, `duration`, `seed`, `page`, `flows_up`, `flows_down`.
    """
    found = []
    for link in links:
        for discipline in disciplines:
            scenario = api.build(
                experiment,
                up=link.up,
                down=link.down,
                qdisc_up=discipline.at(bits_per_s(link.up)),
                qdisc_down=discipline.at(bits_per_s(link.down)),
                **options,
            )
            scenario.normalized()
            words = [scenario.experiment, link.name, discipline.name]
            if options.get("cc") is not None:
                words.append(options["cc"])
            found.append(PlannedCell(name=" ".join(words), link=link.name, qdisc=discipline.name, scenario=scenario))
    return tuple(found)


def _with_unit(rate: str) -> str:
    return rate if rate.endswith("bit") else f"{rate}mbit"
