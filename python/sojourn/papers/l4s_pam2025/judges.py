"""The judges of the claims about L4S: what the rules speak of; no claim needs a function."""

from __future__ import annotations

from sojourn.papers.kit.claims import Judges
from sojourn.papers.kit.evidence import BySeed
from sojourn.papers.kit.rules import Vocabulary
from sojourn.papers.l4s_pam2025.evidence import Cell, Evidence, Observation, measured, share
from sojourn.papers.l4s_pam2025.plan import CONTROLLED


def share_off(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the share less the measured one, points."""
    stated = share(measured()[cell])
    return {seed: value - stated for seed, value in evidence.by_seed(cell, share).items()}


def each_over_each(evidence: Evidence, cell: Cell) -> BySeed:
    """Return what an L4S flow has over what a classic one has."""
    flows = cell.classic_flows / cell.l4s_flows
    return evidence.by_seed(cell, lambda run: flows * run.l4s_mbit / run.classic_mbit if run.classic_mbit else None)


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
JUDGES: Judges[Cell, Observation] = Judges(
    paper="l4s_pam2025",
    vocabulary=Vocabulary(
        cell=Cell,
        fields=Cell._fields,
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
)
