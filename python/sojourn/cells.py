"""Cells of a plan, each with its repeats: what comparisons, sweeps, validations and studies run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from sojourn import backends, rounds, runner
from sojourn.backends import SIMULATOR, Backend
from sojourn.bounds import check_repeat
from sojourn.lazy import chained, mapped
from sojourn.rounds import Precision, is_narrow, next_count
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore

#: What runs are repeats of: a cell, or a cell in one of several worlds.
K = TypeVar("K", bound=Hashable)
#: Called with a run as soon as it is there, its place in the plan, and its cell.
Done = Callable[[int, K, Run], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Generic[K]):
    """One run of a plan, and the cell that it is a repeat of."""

    cell: K
    scenario: Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """How a plan is run."""

    #: Number of processes (default: one for each core).
    workers: int | None = None
    #: Word for a progress bar on standard error; `None` shows none.
    progress: str | None = None
    #: As `sojourn.runner.run_all` takes them.
    store: RunStore | None = None
    dask: str | None = None
    backend: Backend = SIMULATOR


@dataclass(kw_only=True)
class Grown:
    """The runs of a cell."""

    runs: list[Run] = field(default_factory=list)
    #: Whether all its intervals are narrow enough; `None` if that was not asked for.
    reached: bool | None = None


def repeats(cells: Iterable[tuple[K, Scenario, int]]) -> Sequence[Planned[K]]:
    """Return the plan of cells, each with its first scenario and how often it is repeated, as a lazy sequence."""
    return chained([_of_cell(cell, rounds.repeats(scenario, repeat)) for cell, scenario, repeat in cells])


def _of_cell(cell: K, scenarios: Sequence[Scenario]) -> Sequence[Planned[K]]:
    return mapped(lambda scenario: Planned(cell=cell, scenario=scenario), scenarios)


def run(planned: Sequence[Planned[K]], means: Means, done: Done[K] | None = None) -> list[Run]:
    """Run a plan and return the runs in its order; raises as `sojourn.runner.run_all`."""

    def hand_over(place: int, run: Run) -> None:
        if done is not None:
            done(place, planned[place].cell, run)

    return runner.run_all(
        mapped(lambda item: item.scenario, planned),
        workers=means.workers,
        describe=means.progress,
        done=hand_over,
        store=means.store,
        dask=means.dask,
        backend=means.backend,
    )


def runs_of(planned: Sequence[Planned[K]], means: Means) -> dict[K, tuple[Run, ...]]:
    """Run a plan and return the runs of each cell, in its order; raises as `run`."""
    by_cell: dict[K, list[Run]] = {}
    for item, of_item in zip(planned, run(planned, means), strict=True):
        by_cell.setdefault(item.cell, []).append(of_item)
    return {cell: tuple(runs) for cell, runs in by_cell.items()}


class InWorld(Protocol):
    """Runs a plan in a world: the runs of each cell, by cell."""

    def __call__(self, planned: Sequence[Planned[K]], world: str, progress: str) -> dict[K, tuple[Run, ...]]:
        """Run a plan; raises as `run`, and `ParamError` if there is no such world.

        - `world`: what makes the runs, as `sojourn.backends.named` takes it.
        - `progress`: word for a progress bar on standard error.
        """


def in_world(means: Means) -> InWorld:
    """Return what runs plans in worlds; but for the world and the progress they are run by the means."""

    def run(planned: Sequence[Planned[K]], world: str, progress: str) -> dict[K, tuple[Run, ...]]:
        return runs_of(planned, replace(means, backend=backends.named(world), progress=progress))

    return run


def grow(
    cells: Sequence[tuple[K, Scenario]],
    repeat: int,
    until: Precision | None,
    means: Means,
    *,
    together: bool,
    done: Done[K] | None = None,
) -> list[Grown]:
    """Run each cell `repeat` times, and then, if `until` is given, in rounds until its intervals are narrow.

    Raises as `run`.

    - `cells`: each with its scenario with the first seed.
    - `until`: when to stop; `None` is after `repeat`.
    - `together`: whether all cells get the same seeds, as many as the one that needs most.
    """
    check_repeat(repeat)
    grown = {cell: Grown() for cell, _ in cells}
    counts = dict.fromkeys(grown, repeat)
    while True:
        planned = chained(
            [
                _of_cell(cell, rounds.repeats(scenario, counts[cell], begin=len(grown[cell].runs)))
                for cell, scenario in cells
                if counts[cell] > len(grown[cell].runs)
            ]
        )
        if not planned:
            return list(grown.values())
        for item, of_item in zip(planned, run(planned, means, done), strict=True):
            grown[item.cell].runs.append(of_item)
        if until is None:
            return list(grown.values())
        for cell, repeated in grown.items():
            counts[cell] = next_count(repeated.runs, until)
            repeated.reached = counts[cell] == len(repeated.runs) and is_narrow(repeated.runs, until)
        if together:
            counts = dict.fromkeys(counts, max(counts.values()))
