"""Whether disciplines come in the same order in two places.

By the paper's reading conventions two means are different only if their paired difference is beyond the 95 %
interval; and here only if it is at least 1 % of the larger, as smaller ones cannot be read off a figure. A pair of
disciplines is reversed if it is clearly in one order in the first place and clearly in the other in the second. Too
few repeats make no pair clear; then nothing can be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from sojourn.errors import SojournError
from sojourn.stats import mean_interval
from sojourn.study.verdict import Check, Judgement, all_of, exact

#: Two means that differ by less than this share of the larger are in no order: no reader of a figure sees it.
NOTICEABLE = 0.01
#: What a claim that takes differences for none says of it.
NOTICEABLE_SETTLED = "a difference below 1 percent is none, a number chosen on 21 November 2026, after first results"
#: A quantity of each repeat, by discipline.
Values = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the pairs of disciplines that are clearly ordered in a first place are ordered in a second."""

    #: Number of pairs in the same order, and of those that are in no clear order in the second place.
    same: int
    unclear: int
    #: The others, in words.
    reversed: tuple[str, ...]


def clear_sign(a: list[float], b: list[float]) -> int:
    """Return 1 if `a` is clearly and noticeably above `b`, -1 if below, else 0."""
    if len(a) != len(b):
        shorter = min(len(a), len(b))
        a, b = a[:shorter], b[:shorter]
    gap = mean_interval(one - other for one, other in zip(a, b, strict=True))
    if gap.low is None or gap.high is None:
        message = "an order of disciplines needs at least 2 repeats"
        raise SojournError(message)
    if abs(gap.value) < NOTICEABLE * max(abs(sum(a)), abs(sum(b))) / len(a):
        return 0
    return gap.sign()


def agreement(place: str, first: Values, second: Values) -> Agreement:
    """Compare the orders in two places; `place` names the second in words."""
    same, unclear, reversals = 0, 0, []
    for a, b in combinations(first, 2):
        before, after = clear_sign(first[a], first[b]), clear_sign(second[a], second[b])
        if before == 0:
            continue
        if after == before:
            same += 1
        elif after == 0:
            unclear += 1
        else:
            higher, lower = (a, b) if after > 0 else (b, a)
            values = [sum(second[name]) / len(second[name]) for name in (higher, lower)]
            reversals.append(f"{place}: {higher} {values[0]:.4g} > {lower} {values[1]:.4g}")
    return Agreement(same=same, unclear=unclear, reversed=tuple(reversals))


def same_order(found: Iterable[Agreement], what: str, *, note: str = "") -> Judgement:
    """Return the judgement that no pair is reversed in any place.

    Raises `SojournError` if none is, but fewer pairs are clearly in the same order than in none.
    """
    found = list(found)
    same, unclear = sum(one.same for one in found), sum(one.unclear for one in found)
    reversals = [words for one in found for words in one.reversed]
    if not reversals and same <= unclear:
        message = f"too few repeats: {same} pairs of disciplines keep their order, and {unclear} have no clear order"
        raise SojournError(message)
    check: Check = exact(f"pairs of disciplines {what}", len(reversals), "=", 0, "pairs")
    parts = [f"{same} pairs are clearly in the same order, {unclear} in none"]
    if reversals:
        parts.append("reversed: " + ", ".join(reversals[:6]) + (", ..." if len(reversals) > 6 else ""))
    return all_of([check], note="; ".join(parts + ([note] if note else [])))
