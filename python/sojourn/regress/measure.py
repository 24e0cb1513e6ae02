"""Runs of scenarios on a kernel that is named, or that is a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sojourn import backends, rounds, runner
from sojourn.lazy import chained
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore


class Measure(Protocol):
    """Makes the runs of scenarios on a kernel, each `repeat` times with the next seeds."""

    def __call__(self, kernel: str, scenarios: Sequence[Scenario], repeat: int, describe: str) -> list[list[Run]]:
        """Return the runs of each scenario, in the order of their seeds.

        Parameters
        ----------
        kernel
            As `--kernel` takes it.
        scenarios
            Each with its first seed.
        repeat
            How many runs of each.
        describe
            Word before the progress bar.

        Raises
        ------
        ParamError
            If there is no such kernel, or a scenario is refused.
        SojournError
            If a run fails.
        """


def runs_here(workers: int | None, store: RunStore | None) -> Measure:
    """Return what makes runs on this machine; runs that the store has are not made again."""

    def measure(kernel: str, scenarios: Sequence[Scenario], repeat: int, describe: str) -> list[list[Run]]:
        plan = chained([rounds.repeats(scenario, repeat) for scenario in scenarios])
        backend = backends.named(f"linux:{kernel}")
        runs = runner.run_all(plan, workers=workers, describe=describe, store=store, backend=backend)
        return [runs[place * repeat : (place + 1) * repeat] for place in range(len(scenarios))]

    return measure
