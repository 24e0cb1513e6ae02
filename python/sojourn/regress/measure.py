"""Runs of scenarios on a kernel that is named, or that is a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sojourn import backends, rounds, runner
from sojourn.lazy import chained
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore

#: Makes the runs of scenarios, each with its first seed, on a kernel, as `--kernel` takes it: of each scenario so many,
#: with the next seeds, in their order. The last is the word before the progress bar. It raises as
#: `sojourn.runner.run_all`, and `ParamError` if there is no such kernel.
Measure = Callable[[str, Sequence[Scenario], int, str], list[list[Run]]]


def runs_here(workers: int | None, store: RunStore | None) -> Measure:
    """Return what makes runs on this machine; runs that the store has are not made again."""

    def measure(kernel: str, scenarios: Sequence[Scenario], repeat: int, describe: str) -> list[list[Run]]:
        plan = chained([rounds.repeats(scenario, repeat) for scenario in scenarios])
        backend = backends.named(f"linux:{kernel}")
        runs = runner.run_all(plan, workers=workers, describe=describe, store=store, backend=backend)
        return [runs[place * repeat : (place + 1) * repeat] for place in range(len(scenarios))]

    return measure
