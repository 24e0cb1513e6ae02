"""Running experiments from Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sojourn import backends, rounds
from sojourn.bounds import check_integers
from sojourn.cells import Means, grow
from sojourn.errors import ParamError, refused
from sojourn.experiments import StoredExperiment, find
from sojourn.rounds import Precision
from sojourn.scenario import Flow, Scenario
from sojourn.store.cell import DisciplineRuns, link_name
from sojourn.store.comparison import Comparison
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore


def build(
    experiment: str | Path | Scenario,
    *,
    qdisc: str | None = None,
    rate: str | None = None,
    backend: str = "sim",
    stack: str | None = None,
    **options: Any,
) -> Scenario:
    """Return the scenario of an experiment with options laid over it.

    Parameters
    ----------
    experiment
        A built-in name, the path of a TOML file, or a scenario.
    qdisc
        Discipline of both directions.
    rate
        Rate text of both directions.
    backend
        What is to run it: an experiment file may hold what only one back end has.
    stack
        Transport that carries every TCP flow in place of ours (`sojourn.stacks`), with its own control unless `cc`
        names one.
    **options
        The fields of `sojourn.experiments.Options`, and the options of the experiment's own (`sojourn list`).
    """
    given = [name for name, value in options.items() if value is not None]
    _refuse_both("qdisc", qdisc, given, "qdisc_up", "qdisc_down")
    _refuse_both("rate", rate, given, "up", "down")
    if qdisc is not None:
        options |= {"qdisc_up": qdisc, "qdisc_down": qdisc}
    if rate is not None:
        options |= {"up": rate, "down": rate}
    check_integers(options)
    found = (
        StoredExperiment(scenario=experiment) if isinstance(experiment, Scenario) else find(str(experiment), backend)
    )
    made = found.make(**options)
    return made if stack is None else _on_stack(made, stack, keep=isinstance(found, StoredExperiment), **options)


def _on_stack(scenario: Scenario, stack: str, *, keep: bool, cc: str | None = None, **_: Any) -> Scenario:
    """Return a scenario whose TCP flows are of this stack; `keep` says whether they keep their controls."""

    def carried(flow: Flow) -> Flow:
        control = flow.congestion_control if keep else cc
        return dataclasses.replace(flow, kind=None, protocol=None, stack=stack, congestion_control=control)

    flows = tuple(flow if flow.protocol == "udp" else carried(flow) for flow in scenario.flows)
    return dataclasses.replace(scenario, flows=flows)


def repeats(scenario: Scenario, repeat: int) -> list[Scenario]:
    """Return the scenario with its seed, the next one, and so on.

    Raises
    ------
    ParamError
        If `repeat` is less than 1, or more than a plan may have.
    """
    return list(rounds.repeats(scenario, repeat))


def run(experiment: str | Path | Scenario, *, backend: str = "sim", **options: Any) -> Run:
    """Run one experiment once.

    >>> import sojourn
    >>> run = sojourn.run("rrul", qdisc="fq_codel", up="1mbit", down="10mbit", rtt="50ms", seed=1)  # doctest: +SKIP

    Parameters
    ----------
    experiment
        A built-in name, the path of a TOML file, or a scenario.
    backend
        `"sim"`, `"linux"` or `"live"`.
    **options
        Those of `build`: `qdisc` (or `qdisc_up`, `qdisc_down`), `rate` (or `up`, `down`), `rtt`, `cc`,
        `duration`, `seed`, `flows_up`, `flows_down`, `page`.

    Raises
    ------
    ParamError
        If a value is refused.
    SojournError
        If the back end is not there, or fails.
    """
    made = backends.named(backend)
    scenario = build(experiment, backend=made.name, **options)
    return Run(text=made.run(scenario.normalized(made.name)))


def compare(
    experiment: str | Path | Scenario,
    *,
    qdiscs: Sequence[str],
    repeat: int = 10,
    workers: int | None = None,
    progress: str | None = None,
    done: Callable[[str, Run], None] | None = None,
    store: Path | None = None,
    dask: str | None = None,
    until: Precision | None = None,
    backend: str = "sim",
    **options: Any,
) -> Comparison:
    """Run an experiment under several disciplines, several times each.

    Parameters
    ----------
    experiment
        A built-in name, the path of a TOML file, or a scenario.
    qdiscs
        The disciplines, each for both directions.
    repeat
        Runs of each, with the seeds `seed`, `seed + 1`, ...
    workers
        Number of processes (default: one for each core).
    progress
        Word for a progress bar on standard error; `None` shows none.
    done
        Called with the discipline and the run as soon as a run is there.
    store
        Folder of a store (`sojourn.store.run_store`): runs that are there are not made again, and those made are kept.
    dask
        Address of a Dask scheduler, whose workers make the runs.
    until
        Repeat until the intervals are as narrow as this says; all disciplines get the same seeds.
    backend
        `"sim"`, `"linux"` or `"live"`.
    **options
        Those of `run`, apart from the disciplines.

    Raises
    ------
    ParamError
        If a value is refused, a discipline is named twice or none is.
    """
    if not qdiscs:
        message = "qdisc is not given, but a comparison needs at least one"
        raise ParamError(message)
    for number, name in enumerate(qdiscs):
        if name in qdiscs[:number]:
            message = f"qdisc is {name!r} twice, but each discipline must be named once"
            raise ParamError(message)
    made = backends.named(backend)
    bases = [build(experiment, qdisc=name, backend=made.name, **options) for name in qdiscs]
    means = Means(
        workers=workers,
        progress=progress,
        store=None if store is None else RunStore(store),
        dask=dask,
        backend=made,
    )

    def hand_over(_: int, qdisc: str, run: Run) -> None:
        if done is not None:
            done(qdisc, run)

    plan = list(zip(qdiscs, bases, strict=True))
    grown = grow(plan, repeat, until, means, together=True, done=hand_over)
    first = grown[0].runs[0].record
    link = link_name(first.scenario["down"], first.scenario["up"])
    cells = tuple(
        DisciplineRuns(link=link, qdisc=name, runs=tuple(one.runs)) for name, one in zip(qdiscs, grown, strict=True)
    )
    return Comparison(experiment=first.experiment, cells=cells)


def _refuse_both(name: str, value: str | None, options: Sequence[str], *directions: str) -> None:
    for direction in directions:
        if value is not None and direction in options:
            raise refused(value, name, f"must not be given together with {direction}")
