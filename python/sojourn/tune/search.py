"""The search: Optuna proposes settings, the bench runs them.

The first settings are a scrambled Sobol sequence, spread evenly over the space; they also feed the sensitivity. After
them Optuna's sampler proposes in batches: it is asked for a whole batch before it is told of any, and told in the
order in which it was asked. So the settings, and all that follows, are a function of the seed and not of the number of
workers or of which run ends first. A search that goes on is the same search: its runs are in the journal, so it is
simply done again, and only what is missing is run.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.bounds import check_trials
from sojourn.tune.bench import Bench, Scored, Tick
from sojourn.tune.goals import Goal
from sojourn.tune.space import Space

if TYPE_CHECKING:
    import optuna

#: Settings that are asked for before one is told of.
BATCH = 16
#: The share of the trials that the Sobol sequence has, and the most that it has.
SPREAD_SHARE = 1 / 3
MOST_SPREAD = 32
#: What can propose settings; `tpe` unless the tests ask for another.
SAMPLERS = ("tpe", "nsga2", "spread")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is searched for."""

    #: What a setting must meet, and what is minimised.
    goals: tuple[Goal, ...]
    minimise: tuple[str, ...]
    #: Settings that are tried, apart from the known ones.
    trials: int
    #: Of the proposals.
    seed: int
    #: No batch begins after so long; `None` is no bound.
    time_s: float | None = None
    #: One of `SAMPLERS`.
    sampler: str = "tpe"

    @property
    def axes(self) -> tuple[str, ...]:
        """The metrics that span the front: what is minimised, and what the goals are about."""
        return tuple(dict.fromkeys([*self.minimise, *(goal.metric for goal in self.goals)]))


def search(
    bench: Bench, space: Space, request: Request, seeds: Sequence[int], tick: Tick = lambda: None
) -> list[Scored]:
    """Run the known settings and those that are proposed; return all, the known ones first.

    Raises `ParamError` if a scenario is refused, and `SojournError` if a run fails.
    """
    check_trials(request.trials)
    began = time.monotonic()
    references = bench.run(list(space.references().items()), seeds, tick)
    study = _study(space, request)
    with _quiet():
        _tell_known(study, space, request, references)
        spread = _spread(space, request)
        found = list(references)
        while (left := request.trials - (len(found) - len(references))) > 0:
            if request.time_s is not None and time.monotonic() - began >= request.time_s:
                break
            for values in spread[: min(BATCH, left)]:
                study.enqueue_trial(values)
            spread = spread[min(BATCH, left) :]
            trials = [study.ask(_distributions(space)) for _ in range(min(BATCH, left))]
            settings = [space.setting(trial.params) for trial in trials]
            scored = bench.run([("", setting) for setting in settings], seeds, tick)
            for trial, one in zip(trials, scored, strict=True):
                for goal in request.goals:
                    trial.set_constraint(goal.text, one.shortfall_of(goal, references))
                study.tell(trial, one.vector(request.axes))
            found += scored
    return found


def propose(
    space: Space, request: Request, judge: Callable[[dict[str, float]], Sequence[float]]
) -> list[tuple[dict[str, float], Sequence[float]]]:
    """Search a function instead of a bench: for comparing samplers. Goals are left out."""
    study = _study(space, request)
    found: list[tuple[dict[str, float], Sequence[float]]] = []
    with _quiet():
        spread = _spread(space, request)
        while (left := request.trials - len(found)) > 0:
            for values in spread[: min(BATCH, left)]:
                study.enqueue_trial(values)
            spread = spread[min(BATCH, left) :]
            trials = [study.ask(_distributions(space)) for _ in range(min(BATCH, left))]
            for trial in trials:
                chosen = dict(space.setting(trial.params).values)
                vector = judge(chosen)
                study.tell(trial, vector)
                found.append((chosen, vector))
    return found


def _study(space: Space, request: Request) -> optuna.Study:
    with _quiet():
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        seed = request.seed % 2**32
        sampler: Any
        if request.sampler == "nsga2":
            sampler = optuna.samplers.NSGAIISampler(population_size=BATCH, seed=seed)
        else:
            sampler = optuna.samplers.TPESampler(n_startup_trials=0, multivariate=True, seed=seed)
        return optuna.create_study(directions=["minimize"] * len(request.axes), sampler=sampler)


def _tell_known(study: optuna.Study, space: Space, request: Request, references: Sequence[Scored]) -> None:
    """Tell of the known settings that are in the space."""
    import optuna

    for one in references:
        if not space.holds(one.setting):
            continue
        trial = optuna.create_trial(
            params={knob.name: one.setting.values[knob.name] for knob in space.knobs},
            distributions=dict(_distributions(space)),
            values=one.vector(request.axes),
            constraints={goal.text: one.shortfall_of(goal, references) for goal in request.goals},
        )
        study.add_trial(trial)


def _distributions(space: Space) -> dict[str, optuna.distributions.BaseDistribution]:
    import optuna

    return {knob.name: optuna.distributions.FloatDistribution(knob.low, knob.high, log=True) for knob in space.knobs}


def _spread(space: Space, request: Request) -> list[dict[str, float]]:
    """Return settings of a scrambled Sobol sequence."""
    from scipy.stats import qmc

    number = (
        request.trials if request.sampler == "spread" else min(math.ceil(request.trials * SPREAD_SHARE), MOST_SPREAD)
    )
    points = qmc.Sobol(len(space.knobs), rng=request.seed).random(number)
    return [
        {
            knob.name: min(max(knob.low * (knob.high / knob.low) ** float(x), knob.low), knob.high)
            for knob, x in zip(space.knobs, point, strict=True)
        }
        for point in points
    ]


def _quiet() -> warnings.catch_warnings:
    """Keep what the libraries warn of off standard error."""
    return warnings.catch_warnings(action="ignore")
