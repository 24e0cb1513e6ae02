"""Settings on the bench: each is run at every RTT with the same seeds as all others, and its measures are gathered.

A run is the unit of work and of the journal, so all cores have work to the end, a killed search loses at most the runs
that were under way, and the number of workers changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from sojourn import cells, plan
from sojourn.backends import Backend
from sojourn.cells import Means, Planned
from sojourn.scenario import Direction
from sojourn.store.run import Run
from sojourn.tune.goals import METRICS, Goal
from sojourn.tune.link import Link
from sojourn.tune.loads import Load
from sojourn.tune.measure import Journal, Measures, measures
from sojourn.tune.space import Setting

#: A kind of seeds begins so many after the one before, so that no seed is of two kinds.
STRIDE = 1_000_000

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """The seeds of the three steps, of which no two steps share one."""

    #: Those that all candidates are run with.
    search: range
    #: Those that the best are run with besides, to choose between them.
    choice: range
    #: Those that the one chosen, and the known settings, are judged by.
    fresh: range

    @classmethod
    def of(cls, first: int, *, search: int, choice: int, fresh: int) -> Seeds:
        """Return so many of each kind, from a first one on."""
        return cls(
            search=range(first, first + search),
            choice=range(first + STRIDE, first + STRIDE + choice),
            fresh=range(first + 2 * STRIDE, first + 2 * STRIDE + fresh),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A setting and what was measured."""

    #: The setting.
    setting: Setting
    #: `"default"`, `"rural"`, or `""` for one that the search asked for.
    name: str
    #: For each metric, for each RTT, a value for each seed.
    samples: dict[str, list[list[float]]]

    def means(self, metric: str) -> list[float]:
        """Return the mean over the seeds at each RTT."""
        return [fmean(values) for values in self.samples[metric]]

    def worst(self, metric: str) -> float:
        """Return the worst of these means: what a setting is judged by."""
        return METRICS[metric].worst(self.means(metric))

    def mean(self, metric: str) -> float:
        """Return the mean over the RTTs."""
        return fmean(self.means(metric))

    def vector(self, names: Sequence[str]) -> list[float]:
        """Return the worst means of some metrics, turned so that less is better."""
        return [METRICS[name].sign * self.worst(name) for name in names]

    def shortfall(self, goals: Sequence[Goal], references: Sequence[Scored]) -> float:
        """Return how far the setting is from the goal that it misses most; at most 0 if it meets all."""
        return max((self.shortfall_of(goal, references) for goal in goals), default=0.0)

    def shortfall_of(self, goal: Goal, references: Sequence[Scored]) -> float:
        """Return `Goal.shortfall` of the means."""
        known = {one.name: one.means(goal.metric) for one in references}
        return goal.shortfall(self.means(goal.metric), known)

    def with_more(self, other: Scored) -> Scored:
        """Return this with the samples of other seeds added."""
        samples = {
            name: [[*mine, *more] for mine, more in zip(by_rtt, other.samples[name], strict=True)]
            for name, by_rtt in self.samples.items()
        }
        return Scored(setting=self.setting, name=self.name, samples=samples)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What settings are run on."""

    #: The link, its traffic, and the direction under test.
    link: Link
    load: Load
    direction: Direction
    #: Congestion control; `None` is the load's.
    cc: str | None = None
    #: What makes the runs.
    backend: Backend
    workers: int | None = None
    dask: str | None = None
    #: What is done already.
    journal: Journal

    def run(
        self, settings: Sequence[tuple[str, Setting]], seeds: Sequence[int], tick: Tick = lambda: None
    ) -> list[Scored]:
        """Run named settings at every RTT with every seed; what the journal has is not run again.

        Raises `ParamError` if a scenario is refused, and `SojournError` if a run fails.

        - `settings`: names (`""` for none) and settings.
        - `seeds`: the same for all: common random numbers.
        - `tick`: called for each run that is done.
        """
        rtts = self.link.rtts_ms
        scenarios = [
            self.load.scenario(self.link, self.direction, qdisc=setting.text, rtt_ms=rtt, seed=seed, cc=self.cc)
            for _, setting in settings
            for rtt in rtts
            for seed in seeds
        ]
        ids = [job.id for job in plan.jobs(scenarios, backend=self.backend)]
        known = self.journal.known
        there = {run_id for run_id in ids if known.get(run_id, {}).keys() >= METRICS.keys()}
        todo = {run_id: scenario for run_id, scenario in zip(ids, scenarios, strict=True) if run_id not in there}
        for run_id in ids:
            if run_id in there:
                tick()

        def done(_: int, run_id: str, run: Run) -> None:
            self.journal.add(run_id, measures(run.record, self.direction))
            tick()

        planned = [Planned(cell=run_id, scenario=scenario) for run_id, scenario in todo.items()]
        cells.run(planned, Means(workers=self.workers, dask=self.dask, backend=self.backend), done)
        found = iter([known[run_id] for run_id in ids])
        return [self._scored(name, setting, [[next(found) for _ in seeds] for _ in rtts]) for name, setting in settings]

    def _scored(self, name: str, setting: Setting, by_rtt: list[list[Measures]]) -> Scored:
        samples = {
            metric: [[self._value(one, metric) for one in by_seed] for by_seed in by_rtt]
            for metric in self.load.metrics
        }
        return Scored(setting=setting, name=name, samples=samples)

    def _value(self, one: Measures, metric: str) -> float:
        """Return a measure; a run in which no file was completed counts as if one had taken all of it."""
        value = one[metric]
        if value is not None:
            return value
        return self.link.duration_s * 1e3 if metric == "fct" else 0.0
