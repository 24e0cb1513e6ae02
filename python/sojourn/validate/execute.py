"""Runs of every cell on the back ends that are compared, and a guess of what they cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from sojourn import backends, rounds, runner
from sojourn.lazy import chained, mapped
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from sojourn.units import bits_per_s, seconds
from sojourn.validate.disciplines import as_in
from sojourn.validate.grid import PlannedCell

Name = Literal["sim", "linux", "live"]
SIM: Final = "sim"
KERNEL: Final = "linux"
LIVE: Final = "live"

#: What a back end is called in a report.
TITLES: dict[str, str] = {SIM: "simulator", KERNEL: "kernel", LIVE: "live"}

#: Two back ends: the one that is judged, and the one that it is judged by.
Pair = tuple[Name, Name]

#: Makes all runs of a plan on a back end, in order; the last is the word of the progress bar.
RunPlan = Callable[[Sequence[Scenario], str, str], list[Run]]

#: Measured of the kernel in virtual time, on one core: full packets of the bottleneck in a second, and what a run takes
#: before its first. Only the guess at the beginning depends on them.
_KERNEL_PACKETS_PER_S = 16_000
_KERNEL_RUN_S = 2.0
#: What a run in real time takes beside its scenario: it begins 5 s before its flows, and lingers.
_LIVE_RUN_S = 8.0
_FRAME_BITS = 8 * 1514


@dataclass(frozen=True, kw_only=True)
class Both:
    """The runs of one cell.

    Attributes
    ----------
    cell
        What was run.
    sim, kernel
        The runs on each back end, one for each seed: the one that is judged, mostly the simulator, and the one that
        it is judged by, mostly the kernel.
    pair
        Their names.
    """

    cell: PlannedCell
    sim: tuple[Run, ...]
    kernel: tuple[Run, ...]
    pair: Pair = (SIM, KERNEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How many runs of each cell, with seeds from the scenario's own on."""

    sim: int
    kernel: int


def pairs_of(real: Sequence[str]) -> tuple[Pair, ...]:
    """Return what is compared: the simulator with the first of the real back ends, and that with the next."""
    return cast("tuple[Pair, ...]", tuple(zip((SIM, *real), real, strict=False)))


def run_pairs(
    cells: Sequence[PlannedCell], repeats: Repeats, run_plan: RunPlan, real: Sequence[str] = (KERNEL,)
) -> dict[Pair, list[Both]]:
    """Run every cell: on the real back ends first, which may not be there and take longer, then in the simulator.

    The simulator's disciplines behave as those of the kernel's release.
    """
    runs = {name: run_plan(_repeated(cells, repeats.kernel), name, TITLES[name]) for name in real}
    release = _release(runs.get(KERNEL, []))
    runs[SIM] = run_plan(mapped(lambda one: as_in(one, release), _repeated(cells, repeats.sim)), SIM, "sim")

    def of_cell(name: str, place: int) -> tuple[Run, ...]:
        number = repeats.sim if name == SIM else repeats.kernel
        return tuple(runs[name][place * number : (place + 1) * number])

    return {
        pair: [
            Both(cell=cell, sim=of_cell(pair[0], place), kernel=of_cell(pair[1], place), pair=pair)
            for place, cell in enumerate(cells)
        ]
        for pair in pairs_of(real)
    }


def _release(runs: Sequence[Run]) -> str:
    """Return the release of the kernel that made the runs; nothing if none did."""
    kernel = runs[0].record.kernel if runs else None
    return "" if kernel is None else kernel.release


def spec_of(backend: str, kernel: str | None) -> str:
    """Return a back end with the kernel that was named for runs on the kernel, as `sojourn.backends.named` takes it."""
    return f"{backend}:{kernel}" if backend == KERNEL and kernel is not None else backend


def runs_here(workers: int | None, store: RunStore | None, kernel: str | None = None) -> RunPlan:
    """Return what runs plans by `sojourn.runner`; `kernel` names the one of the runs on the kernel."""

    def run_plan(scenarios: Sequence[Scenario], backend: str, describe: str) -> list[Run]:
        made = backends.named(spec_of(backend, kernel))
        return runner.run_all(scenarios, workers=workers, describe=describe, store=store, backend=made)

    return run_plan


def kernel_seconds(cells: Sequence[PlannedCell], repeats: Repeats, workers: int) -> float:
    """Return roughly how long the kernel's runs take on this machine, if none of them is stored."""
    one_each = sum(_kernel_run_s(cell.scenario) for cell in cells)
    return one_each * repeats.kernel / max(workers, 1)


def live_seconds(cells: Sequence[PlannedCell], repeats: Repeats) -> float:
    """Return how long the live runs take, one after the other, if none of them is stored."""
    return repeats.kernel * sum(
        seconds(json.loads(cell.scenario.normalized())["duration"]) + _LIVE_RUN_S for cell in cells
    )


def _kernel_run_s(scenario: Scenario) -> float:
    plain = json.loads(scenario.normalized())
    loaded = {flow["direction"] for flow in plain["flows"]}
    bits = sum(bits_per_s(plain[way]) for way in loaded)
    return _KERNEL_RUN_S + seconds(plain["duration"]) * bits / _FRAME_BITS / _KERNEL_PACKETS_PER_S


def _repeated(cells: Sequence[PlannedCell], repeat: int) -> Sequence[Scenario]:
    return chained([rounds.repeats(cell.scenario, repeat) for cell in cells])
