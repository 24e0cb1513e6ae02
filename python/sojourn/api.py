"""Running experiments from Python."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sojourn import _native, runner
from sojourn.errors import ParamError, SojournError
from sojourn.experiments import Options, find, overlay
from sojourn.results import Comparison, Run, gather, link_name
from sojourn.scenario import Scenario

BACKENDS = ("sim", "linux", "live")


def require_backend(name: str) -> None:
    """Raise unless runs can be made on this back end.

    Raises
    ------
    ParamError
        If there is no such back end.
    SojournError
        If it is not there yet.
    """
    if name not in BACKENDS:
        message = f"backend is {name!r}, but must be one of {', '.join(BACKENDS)}"
        raise ParamError(message)
    if name != "sim":
        message = f"backend is {name!r}, which this version does not have yet: use sim"
        raise SojournError(message)


def build(
    experiment: str | Path | Scenario,
    *,
    qdisc: str | None = None,
    rate: str | None = None,
    backend: str = "sim",
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
        `"sim"`.
    **options
        The fields of `sojourn.experiments.Options`.
    """
    require_backend(backend)
    _refuse_both("qdisc", qdisc, options, "qdisc_up", "qdisc_down")
    _refuse_both("rate", rate, options, "up", "down")
    if qdisc is not None:
        options |= {"qdisc_up": qdisc, "qdisc_down": qdisc}
    if rate is not None:
        options |= {"up": rate, "down": rate}
    try:
        asked = Options(**options)
    except TypeError as error:
        unknown = sorted(options.keys() - {field.name for field in dataclasses.fields(Options)})
        message = f"there is no option {unknown[0]!r}"
        raise ParamError(message) from error
    if isinstance(experiment, Scenario):
        return overlay(experiment, asked)
    return find(str(experiment)).build(asked)


def run(experiment: str | Path | Scenario, **options: Any) -> Run:
    """Run one experiment once.

    >>> import sojourn
    >>> run = sojourn.run("rrul", qdisc="fq_codel", up="1mbit", down="10mbit", rtt="50ms", seed=1)  # doctest: +SKIP

    Parameters
    ----------
    experiment
        A built-in name, the path of a TOML file, or a scenario.
    **options
        Those of `build`: `qdisc` (or `qdisc_up`, `qdisc_down`), `rate` (or `up`, `down`), `rtt`, `cc`,
        `duration`, `seed`, `flows_up`, `flows_down`, `page`.

    Raises
    ------
    ParamError
        If a value is refused.
    """
    return Run(text=_native.run(build(experiment, **options).normalized()))


def repeats(scenario: Scenario, repeat: int) -> list[Scenario]:
    """Return the scenario with its seed, the next one, and so on.

    Raises
    ------
    ParamError
        If `repeat` is less than 1.
    """
    if repeat < 1:
        message = f"repeat is {repeat}, but must be at least 1"
        raise ParamError(message)
    first = int(json.loads(scenario.normalized())["seed"])
    return [dataclasses.replace(scenario, seed=first + number) for number in range(repeat)]


def compare(
    experiment: str | Path | Scenario,
    *,
    qdiscs: Sequence[str],
    repeat: int = 10,
    workers: int | None = None,
    progress: str | None = None,
    done: Callable[[str, Run], None] | None = None,
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
    plan = [(name, one) for name in qdiscs for one in repeats(build(experiment, qdisc=name, **options), repeat)]

    def hand_over(place: int, text: str) -> None:
        if done is not None:
            done(plan[place][0], Run(text=text))

    texts = runner.run_all([one for _, one in plan], workers=workers, describe=progress, done=hand_over)
    records = [Run(text=text) for text in texts]
    scenario = records[0].record["scenario"]
    link = link_name(scenario["down"], scenario["up"])
    cells = gather([(link, name) for name, _ in plan], records)
    return Comparison(experiment=records[0].record["experiment"], cells=cells)


def _refuse_both(name: str, value: str | None, options: dict[str, Any], *directions: str) -> None:
    for direction in directions:
        if value is not None and options.get(direction) is not None:
            message = f"{name} is {value!r}, but must not be given together with {direction}"
            raise ParamError(message)
