"""What is told of the next steps: words by hand (`claims.toml`), numbers from the runs.

In a text `{QUANTITY|OPTION|LOAD}` stands for the mean of a quantity in a cell of the part, and
`{QUANTITY|OPTION|LOAD|OTHER OPTION|OTHER LOAD}` for how much it differs, in per cent, from that in another cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.kit.claims import stored
from sojourn.papers.wifi_next_steps.evidence import Cell, Evidence, each, unit_of

_MARK = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is written of a part.

    Attributes
    ----------
    title, section, says, caption
        As an exhibit has them.
    columns
        Quantities of its table.
    brings, costs
        A paragraph each, with marks for numbers.
    """

    title: str
    section: str
    says: str
    caption: str
    columns: tuple[str, ...]
    brings: str
    costs: str


def told(part: str) -> Told:
    """Return what is written of a part."""
    plain = stored("wifi_next_steps")["parts"][part]
    return Told(**{**plain, "columns": tuple(plain["columns"])})


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
    value = fmean(each(evidence, Cell(part, words[1], words[2]), quantity))
    if len(words) == 3:
        _, unit, digits = unit_of(quantity)
        return f"{value:.{digits}f}{f' {unit}' if unit else ''}"
    other = fmean(each(evidence, Cell(part, words[3], words[4]), quantity))
    if other == 0:
        message = f"{quantity} is 0 there, but a difference in per cent needs more"
        raise SojournError(message)
    return f"{round(100 * (value / other - 1)):+d} %"
