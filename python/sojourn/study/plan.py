"""A plan: which cells are run how often, and running it. Each run is made or found, and observed.

The cells of a plan can be data, `plan.toml` of a paper:

    [[cells]]
    parts = ["tau"]
    for = { scheme = "SCHEMES", load = "LOADS", setting = "TAU" }
    at = { experiment = "ns2" }

Loops (`for`) and cells (`at`) are those of the claims (`sojourn.study.rules`). A table of a loop may have `parts` of
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from sojourn import cells
from sojourn.backends import SIMULATOR
from sojourn.cells import K, Means, Planned
from sojourn.errors import refused
from sojourn.progress import progress_bar
from sojourn.store.run import Run
from sojourn.store.stored_run import StoredRun
from sojourn.study.cell import Cell, Observation
from sojourn.study.claims import reader_of, stored
from sojourn.study.evidence import Evidence
from sojourn.study.paper import Profile
from sojourn.study.rules import Changes, Variables, Vocabulary

if TYPE_CHECKING:
    from sojourn.study.reproduction import Request

E = TypeVar("E")


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[E]):
    """What came of a plan: the evidence, and how many runs there were."""

    evidence: E
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """What all runs of a paper share; that of a paper may have more, which worlds can set."""

    #: How much is run: `repeat` of most cells, `other_repeat` of those that `Paper.other` names.
    profile: Profile
    #: Of the paper.
    parts: tuple[str, ...]
    #: Of the first repeat.
    seed: int = 1
    #: Whose loss recovery the flows have.
    tcp: str = "linux-6.1"
    #: What makes the runs, by name.
    backend: str = SIMULATOR.name

    @property
    def whose_tcp(self) -> str:
        """Whose TCP the flows have, in words."""
        return self.tcp if self.backend == SIMULATOR.name else "the kernel"

    @classmethod
    def of(cls, request: Request, **own: Any) -> Self:
        """Return the bed that is asked for; a world's settings go before the fields of its `own`."""
        shared = {
            "profile": request.profile,
            "parts": request.run_parts,
            "seed": request.seed,
            "tcp": request.tcp,
            "backend": request.backend.name,
        }
        return cls(**{**shared, **own, **request.settings})


def observed(
    planned: Sequence[Planned[K]],
    observe: Callable[[K, Run], Observation],
    means: Means,
) -> tuple[dict[K, tuple[Observation, ...]], int]:
    """Run a plan, and return what is kept of each cell's repeats, in its order, and how many runs there were.

    Raises `ParamError` if a value is refused, and `SojournError` if a run fails, or cannot be kept.
    """
    runs = cells.run(planned, means)
    by_cell: dict[K, list[Observation]] = {}
    with progress_bar(len(runs), None if means.progress is None else "reading the runs") as tick:
        for one, run in zip(planned, runs, strict=True):
            kept = observe(one.cell, run)
            kept.run = run.id if isinstance(run, StoredRun) else ""
            by_cell.setdefault(one.cell, []).append(kept)
            tick()
    return {cell: tuple(each) for cell, each in by_cell.items()}, len(runs)


class _PlannedCells(Struct, frozen=True, forbid_unknown_fields=True):
    parts: list[str] = []
    for_: Variables = msgspec.field(name="for", default_factory=dict)
    at: Changes = []


class _PlanFile(Struct, frozen=True, forbid_unknown_fields=True):
    cells: list[_PlannedCells]
    names: Variables = {}


def cells_of(paper: str, vocabulary: Vocabulary, parts: Sequence[str], names: Variables | None = None) -> list[Cell]:
    """Return the cells that parts of a paper (the name of its folder) need, each once, in the order of the file.

    - `paper`, `vocabulary`: the paper, and what its claims speak of.
    - `names`: what loops may name besides what the file and the claims do.
    """
    file = stored(paper, "plan", _PlanFile)
    reader = reader_of(paper, vocabulary, Evidence(cells={}), {**file.names, **(names or {})})
    turns = ((one, turn) for one in file.cells for turn in reader.loops(one.for_, {}))
    found = (
        vocabulary.axes(**reader.fields(reader.placed({}, turn), one.at, turn))
        for one, turn in turns
        if set(reader.value(turn.get("parts", one.parts), turn)) & set(parts)
    )
    return list(dict.fromkeys(found))


def ready(cells: Sequence[Cell], lacks: Callable[[Cell], Sequence[str]]) -> str:
    """Return in words how many of the cells can be run."""
    return f"{sum(not lacks(cell) for cell in cells)} of {len(cells)}"


def missing(cells: Iterable[Cell], lacks: Callable[[Cell], Sequence[str]]) -> list[str]:
    """Return a sentence for each thing that keeps cells from being run, the most needed first."""
    cells = list(cells)
    needs = Counter(thing for cell in cells for thing in lacks(cell))
    return [f"{count} of {len(cells)} cells need {thing}." for thing, count in needs.most_common()]


def runnable(cells: Sequence[Cell], lacks: Callable[[Cell], Sequence[str]], parts: Iterable[str]) -> list[Cell]:
    """Return the cells of parts of a paper that can be run; raises `ParamError` if there are none."""
    ready = [cell for cell in cells if not lacks(cell)]
    if not ready:
        most = missing(cells, lacks)[0].rstrip(".")
        raise refused(",".join(parts), "only", f"nothing of it can be run yet: {most}")
    return ready
