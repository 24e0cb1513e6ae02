"""The judges of the claims about L4S: what the rules speak of, and how many cells are near to the bed's."""

from __future__ import annotations

from functools import partial

from sojourn.errors import SojournError
from sojourn.papers.l4s_pam2025.bars import compared
from sojourn.papers.l4s_pam2025.evidence import AXES, measured, share
from sojourn.papers.l4s_pam2025.plan import CONTROLLED, MANY, PAIR
from sojourn.study.cell import Cell
from sojourn.study.claims import Judges
from sojourn.study.evidence import BySeed, Evidence
from sojourn.study.rules import Vocabulary
from sojourn.study.verdict import Judgement, all_of, exact


def share_off(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the share less the measured one, points."""
    stated = share(measured()[cell])
    return {seed: value - stated for seed, value in evidence.by_seed(cell, share).items()}


def each_over_each(evidence: Evidence, cell: Cell) -> BySeed:
    """Return what an L4S flow has over what a classic one has."""
    flows = cell.classic_flows / cell.l4s_flows
    return evidence.by_seed(cell, lambda run: flows * run.l4s_mbit / run.classic_mbit if run.classic_mbit else None)


def _cells_within(evidence: Evidence, *, part: str, bar: float) -> Judgement:
    """Judge how many of the measured cells of a part are within the bars, per cent.

    Raises `SojournError` if not all that can be run were run.
    """
    there = [cell for cell in measured() if cell.part == part and not evidence.lacks(cell)]
    found = [one for one in compared(evidence) if one.cell.part == part]
    if len(found) < len(there):
        missing = len(there) - len(found)
        message = f"there are no runs of {missing} of {len(there)} cells; the profile paper has them all"
        raise SojournError(message)
    near = 100 * sum(one.within for one in found) / len(found)
    return all_of([exact(f"cells within the bars, of {len(found)}", near, ">=", bar, "%")])


def _describe(quantity: str, at: Cell, word: str, other: Cell | None) -> str:
    return f"{WORDS[quantity]}, {at.words()}" + ("" if other is None else f", {word} that of {other.words()}")


#: What each quantity is.
WORDS = {
    "share": "share of the L4S side",
    "share_off": "share of the L4S side less the measured one",
    "each_over_each": "an L4S flow's goodput over a classic one's",
    "both": "goodput of all flows",
    "l4s_ms": "round-trip time of the L4S side",
    "classic_ms": "round-trip time of the classic side",
}
JUDGES = Judges(
    paper="l4s_pam2025",
    vocabulary=Vocabulary(
        axes=AXES,
        names={"CONTROLLED": CONTROLLED},
        quantities={
            "share": share,
            "both": lambda run: run.l4s_mbit + run.classic_mbit,
            "l4s_ms": lambda run: run.l4s_ms,
            "classic_ms": lambda run: run.classic_ms,
        },
        series={"share_off": share_off, "each_over_each": each_over_each},
        describe=_describe,
    ),
    by_function={
        "l4s-c4": partial(_cells_within, part=PAIR, bar=80),
        "l4s-c5": partial(_cells_within, part=MANY, bar=75),
    },
)
