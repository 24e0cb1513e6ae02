"""Running a paper's plan: each run is made or found, and handed on to what judges and draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sojourn import rounds, runner
from sojourn.backends import SIMULATOR, Backend
from sojourn.lazy import chained, mapped
from sojourn.progress import progress_bar
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore

Cell = TypeVar("Cell")
Evidence = TypeVar("Evidence")
Observation = TypeVar("Observation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Generic[Cell]):
    """One run of a plan, and the cell that it is a repeat of."""

    cell: Cell
    scenario: Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """How a plan is run.

    Attributes
    ----------
    workers
        Number of processes (default: one for each core).
    progress
        Word for a progress bar on standard error; `None` shows none.
    store, dask, backend
        As `sojourn.runner.run_all` takes them.
    """

    workers: int | None = None
    progress: str | None = None
    store: RunStore | None = None
    dask: str | None = None
    backend: Backend = SIMULATOR


def repeats(cells: Iterable[tuple[Cell, Scenario, int]]) -> Sequence[Planned[Cell]]:
    """Return the plan of cells, each with its first scenario and how often it is repeated, as a lazy sequence."""
    return chained([_of_cell(cell, rounds.repeats(scenario, repeat)) for cell, scenario, repeat in cells])


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[Evidence]):
    """What came of a plan: the evidence, and how many runs there were."""

    evidence: Evidence
    runs: int


def observed(
    planned: Sequence[Planned[Cell]], observe: Callable[[Cell, Run], Observation], means: Means
) -> tuple[dict[Cell, tuple[Observation, ...]], int]:
    """Run a plan (see `execute`) and return what is kept of each cell's repeats, in its order, and how many runs."""
    found: dict[Cell, list[Observation]] = {}
    runs = execute(planned, lambda cell, run: found.setdefault(cell, []).append(observe(cell, run)), means)
    return {cell: tuple(each) for cell, each in found.items()}, len(runs)


def _of_cell(cell: Cell, scenarios: Sequence[Scenario]) -> Sequence[Planned[Cell]]:
    return mapped(lambda one: Planned(cell=cell, scenario=one), scenarios)


def execute(
    planned: Sequence[Planned[Cell]],
    take: Callable[[Cell, Run], None],
    means: Means,
    *,
    order: Callable[[Planned[Cell]], Any] | None = None,
) -> list[Run]:
    """Run a plan, hand each run with its cell to `take`, and return the runs in the order of the plan.

    Parameters
    ----------
    planned
        The plan.
    take
        Called once for each run, when all are there.
    means
        How it is run.
    order
        Key by which runs are handed over (default: the order of the plan).

    Raises
    ------
    ParamError
        If a value is refused.
    SojournError
        If a run fails, or cannot be kept.
    """
    runs = runner.run_all(
        mapped(lambda one: one.scenario, planned),
        workers=means.workers,
        describe=means.progress,
        store=means.store,
        dask=means.dask,
        backend=means.backend,
    )
    pairs = list(zip(planned, runs, strict=True))
    if order is not None:
        pairs.sort(key=lambda pair: order(pair[0]))
    with progress_bar(len(runs), None if means.progress is None else "reading the runs") as tick:
        for one, run in pairs:
            take(one.cell, run)
            tick()
    return runs
