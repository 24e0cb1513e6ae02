"""What was run of a paper's plan: for each cell its repeats, of each of which only what the claims need is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sojourn.errors import SojournError
from sojourn.study.cell import Cell, Observation

#: A quantity of each repeat, by the repeat's seed, in the order of the seeds.
BySeed = dict[int, float]
#: A quantity of a run; `None` if the run does not have it.
Quantity = Callable[[Observation], float | None]


def needed(value: float | None, what: str) -> float:
    """Return a value of a run without which nothing can be said of it; raises `SojournError` if it was not measured."""
    if value is None:
        message = f"a run has no {what}: it is too short for what is read of it"
        raise SojournError(message)
    return value


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was run: for each cell the repeats in the order of their seeds."""

    #: The repeats.
    cells: Mapping[Cell, tuple[Observation, ...]]
    #: What a cell needs that the back end lacks, each thing in words; empty if it can be run.
    lacks: Callable[[Cell], tuple[str, ...]] = field(default=lambda _cell: ())
    #: The names of the stored runs that were asked for since it was cleared: those that a claim is judged by.
    run_names: dict[str, None] = field(default_factory=dict, compare=False, repr=False)

    def of(self, cell: Cell) -> tuple[Observation, ...]:
        """Return the repeats of a cell; raises `SojournError` if there are none, or can be none."""
        if lacking := self.lacks(cell):
            message = f"it needs {' and '.join(lacking)}, which the back end lacks: {cell.words()}"
            raise SojournError(message)
        runs = self.cells.get(cell, ())
        if not runs:
            message = f"there are no runs of {cell.words()}"
            raise SojournError(message)
        self.run_names.update(dict.fromkeys(run.run for run in runs if run.run))
        return runs

    def by_seed(self, cell: Cell, quantity: Quantity) -> BySeed:
        """Return a quantity of each repeat that has it, by seed.

        Raises `SojournError` if none has: no file was completed, no echo answered, or nothing was flushed.
        """
        found = {run.seed: value for run in self.of(cell) if (value := quantity(run)) is not None}
        if not found:
            message = f"no run of {cell.words()} has the quantity: the window is too short"
            raise SojournError(message)
        return found

    def each(self, cell: Cell, quantity: Quantity) -> list[float]:
        """Return a quantity of each repeat that has it; raises as `by_seed`."""
        return list(self.by_seed(cell, quantity).values())

    def paired(self, first: Cell, second: Cell, quantity: Quantity) -> dict[int, tuple[float, float]]:
        """Return a quantity of two cells by each seed for which both have it.

        Raises `SojournError` if there is no such seed.
        """
        others = {run.seed: quantity(run) for run in self.of(second)}
        found = {
            run.seed: (float(mine), float(other))
            for run in self.of(first)
            if (mine := quantity(run)) is not None and (other := others.get(run.seed)) is not None
        }
        if not found:
            message = f"no seed gives the quantity both for {first.words()} and for {second.words()}"
            raise SojournError(message)
        return found

    def pairs(self, first: Cell, second: Cell, quantity: Quantity) -> list[tuple[float, float]]:
        """Return a quantity of two cells for each seed for which both have it; raises as `paired`."""
        return list(self.paired(first, second, quantity).values())

    def gaps(self, first: Cell, second: Cell, quantity: Quantity) -> list[float]:
        """Return the quantity in the first cell less that in the second, for each seed that both have."""
        return [a - b for a, b in self.pairs(first, second, quantity)]


def differences(a: Iterable[float], b: Iterable[float]) -> list[float]:
    """Return `a - b`, seed by seed, of the repeats that both have (their seeds begin with the same)."""
    return [one - other for one, other in zip(a, b, strict=False)]


def ratios(a: Iterable[float], b: Iterable[float]) -> list[float]:
    """Return `a / b`, seed by seed, of the repeats that both have; raises `SojournError` if one of `b` is 0."""
    a, b = list(a), list(b)
    if 0 in b:
        message = "a ratio cannot be formed: what it is a share of is 0 in one of the runs"
        raise SojournError(message)
    return [one / other for one, other in zip(a, b, strict=False)]
