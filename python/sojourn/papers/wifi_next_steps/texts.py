"""What is told of the next steps: words by hand (`exhibits.toml`), numbers from the runs.

In a text `{QUANTITY|OPTION|LOAD}` stands for the mean of a quantity in a cell of the part, and
`{QUANTITY|OPTION|LOAD|OTHER OPTION|OTHER LOAD}` for how much it differs, in per cent, from that in another cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from sojourn.errors import SojournError
from sojourn.papers.wifi_next_steps.evidence import AXES, Evidence, each, unit_of
from sojourn.study.claims import stored

_MARK = re.compile(r"\{([^{}]*)\}")


class _Exhibit(Struct):
    name: str = ""
    brings: str = ""
    costs: str = ""


class _Exhibits(Struct):
    exhibits: list[_Exhibit]


def texts(part: str) -> tuple[str, str]:
    """Return what a part brings and what it costs, with marks for numbers."""
    (exhibit,) = (one for one in stored("wifi_next_steps", "exhibits", _Exhibits).exhibits if one.name == part)
    return exhibit.brings, exhibit.costs


def filled(text: str, part: str, evidence: Evidence) -> str:
    """Return a text with its numbers; where there are none, with `(no data)`."""

    def number(found: re.Match[str]) -> str:
        try:
            return _number(found.group(1).split("|"), part, evidence)
        except SojournError:
            return "(no data)"

    return " ".join(_MARK.sub(number, text).split())


def _number(words: Sequence[str], part: str, evidence: Evidence) -> str:
    quantity = words[0]
    value = fmean(each(evidence, AXES(part, words[1], words[2]), quantity))
    if len(words) == 3:
        _, unit, digits = unit_of(quantity)
        return f"{value:.{digits}f}{f' {unit}' if unit else ''}"
    other = fmean(each(evidence, AXES(part, words[3], words[4]), quantity))
    if other == 0:
        message = f"{quantity} is 0 there, but a difference in per cent needs more"
        raise SojournError(message)
    return f"{round(100 * (value / other - 1)):+d} %"
