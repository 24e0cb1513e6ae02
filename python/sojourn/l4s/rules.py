"""Rules of thumb: of the cells of a pair at a bottleneck, the one bound that tells best where both get along."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn.l4s.cells import SENDERS, Cell
from sojourn.l4s.outcome import Found, by_verdict

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
#: Fewer cells give no rule.
FEWEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a pair does at a bottleneck.

    Attributes
    ----------
    l4s, classic, bottleneck
        Where.
    cells
        How many were judged: those that fill the link and can be told.
    alike
        In how many of them both get along.
    worst
        The most frequent verdict of the others, or nothing.
    bound
        Words of the bound, or nothing.
    below, above
        Of the cells up to the bound, and above: how many get along, and how many there are.
    """

    l4s: str
    classic: str
    bottleneck: str
    cells: int
    alike: int
    worst: str = ""
    bound: str = ""
    below: tuple[int, int] = (0, 0)
    above: tuple[int, int] = (0, 0)

    def sentence(self) -> str:
        """Return it as a sentence or two."""
        pair = f"{SENDERS[self.l4s].title} beside {SENDERS[self.classic].title}"
        if not self.cells:
            return f"{pair}: no cell can be judged."
        text = f"{pair}: they get along in {self.alike} of {self.cells} cells."
        if self.worst:
            text += f" Where they do not, mostly {self.worst}."
        if self.bound:
            text += (
                f" Where {self.bound} they get along in {self.below[0]} of {self.below[1]} cells, "
                f"and above in {self.above[0]} of {self.above[1]}."
            )
        return text


def rule(found: Sequence[Found]) -> Rule:
    """Return the rule of the cells of one pair at one bottleneck; at least one cell.

    The bound is a decision stump: of all bounds of all features the one that gets fewest cells wrong, the first of
    several. It describes these cells, and is no proof for others.
    """
    cell = found[0].cell
    told = [one for one in found if one.verdict not in ("cannot tell", "not filled")]
    counts = {verdict: n for verdict, n in by_verdict(told).items() if n and verdict != "alike"}
    alike = sum(one.verdict == "alike" for one in told)
    plain = Rule(
        l4s=cell.l4s,
        classic=cell.classic,
        bottleneck=cell.bottleneck,
        cells=len(told),
        alike=alike,
        worst=max(counts, key=lambda verdict: counts[verdict]) if counts else "",
    )
    wrong = min(alike, len(told) - alike)
    if len(told) < FEWEST or not wrong:
        return plain
    best = min(_stumps(told), key=lambda stump: stump[0], default=None)
    if best is None or best[0] > (1 - WORTH) * wrong:
        return plain
    _, bound, below, above = best
    return Rule(
        l4s=plain.l4s,
        classic=plain.classic,
        bottleneck=plain.bottleneck,
        cells=plain.cells,
        alike=plain.alike,
        worst=plain.worst,
        bound=bound,
        below=below,
        above=above,
    )


def _stumps(told: Sequence[Found]) -> list[tuple[int, str, tuple[int, int], tuple[int, int]]]:
    """Return each bound with how many cells it gets wrong, and what is on both sides of it."""
    found = []
    for name, (unit, read) in FEATURES.items():
        values = sorted({read(one.cell) for one in told})
        for low, high in zip(values, values[1:], strict=False):
            if math.isclose(low, high):
                continue
            sides = ([one for one in told if read(one.cell) <= low], [one for one in told if read(one.cell) > low])
            (good_below, below), (good_above, above) = (
                (sum(one.verdict == "alike" for one in side), len(side)) for side in sides
            )
            wrong = min(good_below, below - good_below) + min(good_above, above - good_above)
            amount = f"{low:.3g}{f' {unit}' if unit else ''}"
            words = f"{name} is at most {amount}" if low else f"{name} is 0"
            found.append((wrong, words, (good_below, below), (good_above, above)))
    return found
