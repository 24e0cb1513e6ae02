"""What is told of the next steps: words by hand (`wifi_next_steps.toml`), numbers from the runs.

In a text `{QUANTITY|OPTION|LOAD}` stands for the mean of a quantity in a cell of the part, and
`{QUANTITY|OPTION|LOAD|OTHER OPTION|OTHER LOAD}` for how much it differs, in per cent, from that in another cell. A
claim is a list of checks: a quantity (`of`) in a cell (`at`), as a multiple (`over`) of that in another, and a bound.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import ratios
from sojourn.papers.kit.claims import Claim, judge_with
from sojourn.papers.kit.verdict import Check, Judgement, all_of
from sojourn.papers.wifi_next_steps.evidence import QUANTITIES, Cell, Evidence
from sojourn.stats import mean_interval

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A claim, the part that it is judged from, and its checks as the file has them."""

    claim: Claim
    part: str
    checks: tuple[dict[str, Any], ...]


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("claims.toml").read_text(encoding="utf-8"))


def told(part: str) -> Told:
    """Return what is written of a part."""
    plain = _file()["parts"][part]
    return Told(**{**plain, "columns": tuple(plain["columns"])})


def claims_about(parts: Sequence[str]) -> list[Expected]:
    """Return the claims that are judged from parts, in the order of the file."""
    return [
        Expected(
            claim=Claim(**{key: one[key] for key in ("id", "section", "says", "why") if key in one}),
            part=one["part"],
            checks=tuple(one["checks"]),
        )
        for one in _file()["claims"]
        if one["part"] in parts
    ]


def judge(expected: Sequence[Expected], evidence: Evidence) -> list[dict[str, Any]]:
    """Return what became of each claim, in the form of `claims.json`."""
    judges = {one.claim.id: _judge(one) for one in expected}
    return judge_with(judges, [one.claim for one in expected], evidence)


def filled(text: str, part: str, evidence: Evidence) -> str:
    """Return a text with its numbers; where there are none, with `(no data)`."""

    def number(found: re.Match[str]) -> str:
        try:
            return _number(found.group(1).split("|"), part, evidence)
        except SojournError:
            return "(no data)"

    return " ".join(_MARK.sub(number, text).split())


def unit_of(quantity: str) -> tuple[str, str, int]:
    """Return what a quantity is, with its station if it is of one, its unit, and its decimals."""
    name, _, station = quantity.partition(".")
    words, unit, digits = QUANTITIES[name]
    return (f"{words}, {station}" if station else words), unit, digits


def _number(words: Sequence[str], part: str, evidence: Evidence) -> str:
    quantity = words[0]
    value = fmean(evidence.each(Cell(part, words[1], words[2]), quantity))
    if len(words) == 3:
        _, unit, digits = unit_of(quantity)
        return f"{value:.{digits}f}{f' {unit}' if unit else ''}"
    other = fmean(evidence.each(Cell(part, words[3], words[4]), quantity))
    if other == 0:
        message = f"{quantity} is 0 there, but a difference in per cent needs more"
        raise SojournError(message)
    return f"{round(100 * (value / other - 1)):+d} %"


def _judge(expected: Expected) -> Any:
    def verdict(evidence: Evidence) -> Judgement:
        return all_of([_check(one, expected.part, evidence) for one in expected.checks])

    return verdict


def _check(plain: dict[str, Any], part: str, evidence: Evidence) -> Check:
    quantity, at = plain["of"], Cell(part, *plain["at"])
    words, unit, _ = unit_of(quantity)
    values = evidence.each(at, quantity)
    what = f"{words} with {at.option} ({at.load})"
    if "over" in plain:
        other = Cell(part, *plain["over"])
        values = ratios(values, evidence.each(other, quantity))
        what, unit = f"{what} over that with {other.option} ({other.load})", ""
    return Check(what=what, interval=mean_interval(values), relation=plain["relation"], bound=plain["bound"], unit=unit)
