"""The judges of what is expected of the next steps: all of it is said in rules."""

from __future__ import annotations

from collections.abc import Callable

from sojourn.papers.wifi_next_steps.evidence import AXES, unit_of
from sojourn.study.cell import Cell, Observation
from sojourn.study.claims import Judges
from sojourn.study.rules import Vocabulary


class _Numbers(dict[str, Callable[[Observation], "float | None"]]):
    """Every name is a quantity: a run has a number for it or not."""

    def __missing__(self, name: str) -> Callable[[Observation], float | None]:
        return lambda run: run.numbers.get(name)


def _describe(quantity: str, at: Cell, _word: str, other: Cell | None) -> str:
    words, _, _ = unit_of(quantity)
    over = "" if other is None else f" over that with {other.option} ({other.load})"
    return f"{words} with {at.option} ({at.load}){over}"


JUDGES = Judges(
    paper="wifi_next_steps",
    vocabulary=Vocabulary(axes=AXES, quantities=_Numbers(), describe=_describe),
)
