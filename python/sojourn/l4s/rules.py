"""Rules of thumb: of the cells of a pair at a bottleneck, the one bound that tells best where a side has too little."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn.l4s.cells import SENDERS
from sojourn.l4s.outcome import ALIKE, STARVES, JudgedCell, Side
from sojourn.study.cell import Cell

#: What a bound can be of: its name, its unit, and where it is read.
FEATURES: dict[str, tuple[str, Callable[[Cell], float]]] = {
    "the rate": ("Mbit/s", lambda cell: cell.rate_mbit),
    "the longer RTT": ("ms", lambda cell: max(cell.l4s_rtt_ms, cell.classic_rtt_ms)),
    "the RTT of the L4S side over the classic one's": ("", lambda cell: cell.l4s_rtt_ms / cell.classic_rtt_ms),
    "the time between bursts": ("ms", lambda cell: cell.interval_ms),
    "the buffer": ("BDP", lambda cell: cell.buffer_bdp),
    "the number of L4S flows over that of classic ones": ("", lambda cell: cell.l4s_flows / cell.classic_flows),
    "the number of all flows": ("", lambda cell: float(cell.l4s_flows + cell.classic_flows)),
}
#: A bound is told only if it explains this share of the cells that the plain majority gets wrong.
WORTH = 0.25
#: Fewer cells give no bound.
FEWEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many of some cells have a side with too little."""

    few: int
    of: int

    def __str__(self) -> str:
        """Return it in words."""
        if self.of == 1:
            return "in the one cell" if self.few else "not in the one cell"
        if self.few in (0, self.of):
            return f"in all {self.of} cells" if self.few else f"in none of {self.of} cells"
        return f"in {self.few} of {self.of} cells"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What becomes of one side of a pair at a bottleneck."""

    #: One of the cells, for the pair and the bottleneck.
    cell: Cell
    #: Of whom the rule is.
    side: Side
    #: How many cells it has less than half of the other's goodput in, of those that tell.
    less: Count
    #: How many cells it starves in.
    starved: int
    #: Words of the bound, or nothing.
    bound: str = ""
    #: As `less`, of the cells up to the bound and of those above it.
    below: Count | None = None
    above: Count | None = None

    def names(self) -> tuple[str, str]:
        """Return how the side and the other one are called."""
        titles = SENDERS[self.cell.l4s].title, SENDERS[self.cell.classic].title
        if titles[0] == titles[1]:
            titles = f"{titles[0]} on the L4S side", f"{titles[1]} on the classic side"
        return titles if self.side == "L4S" else (titles[1], titles[0])

    def sentence(self) -> str:
        """Return it as a sentence or two."""
        one, other = self.names()
        if not self.less.of:
            return f"No cell tells what {one} has beside {other}."
        text = f"{one} has less than 1/{ALIKE:g} of what {other} has {self.less}"
        text += f", and less than 1/{STARVES:g} in {self.starved} of them." if self.starved else "."
        if self.bound:
            text += f" Where {self.bound}, {self.below}; above, {self.above}."
        return text


def rule(found: Sequence[JudgedCell], side: Side) -> Rule:
    """Return the rule of one side of the cells of one pair at one bottleneck; at least one cell.

    The bound is a decision stump: of all bounds of all features the one that gets fewest cells wrong, the first of
    several. It describes these cells, and is no proof for others.
    """
    told = [(one.cell, lot) for one in found if (lot := one.lot(side)) is not None]
    cells = [(cell, lot != "alike") for cell, lot in told]
    less = _count(cells)
    made = Rule(cell=found[0].cell, side=side, less=less, starved=sum(lot == "starves" for _, lot in told))
    wrong = _wrong(less)
    if less.of < FEWEST or not wrong:
        return made
    best = min(_stumps(cells), key=lambda stump: _wrong(stump[1]) + _wrong(stump[2]), default=None)
    if best is None or _wrong(best[1]) + _wrong(best[2]) > (1 - WORTH) * wrong:
        return made
    bound, below, above = best
    return Rule(cell=made.cell, side=side, less=less, starved=made.starved, bound=bound, below=below, above=above)


def _count(cells: Sequence[tuple[Cell, bool]]) -> Count:
    return Count(few=sum(few for _, few in cells), of=len(cells))


def _wrong(count: Count) -> int:
    """Return how many cells the plain majority gets wrong."""
    return min(count.few, count.of - count.few)


def _stumps(cells: Sequence[tuple[Cell, bool]]) -> list[tuple[str, Count, Count]]:
    """Return each bound in words, and what is on both sides of it."""
    found = []
    for name, (unit, read) in FEATURES.items():
        values = sorted({read(cell) for cell, _ in cells})
        for low, high in zip(values, values[1:], strict=False):
            if math.isclose(low, high):
                continue
            below = _count([one for one in cells if read(one[0]) <= low])
            above = _count([one for one in cells if read(one[0]) > low])
            amount = f"{low:.3g}{f' {unit}' if unit else ''}"
            found.append((f"{name} is at most {amount}" if low else f"{name} is 0", below, above))
    return found
