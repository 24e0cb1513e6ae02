"""Runs of every cell on the back ends that are compared, and a guess of what they cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, cast

from sojourn.cells import InWorld, Planned, repeats
from sojourn.lazy import mapped
from sojourn.scenario import Scenario
from sojourn.store.run import Run
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

#: Measured of the kernel in virtual time, on one core: full packets of the bottleneck in a second, and what a run takes
#: before its first. Only the guess at the beginning depends on them.
_KERNEL_PACKETS_PER_S = 16_000
_KERNEL_RUN_S = 2.0
#: What a run in real time takes beside its scenario: it begins 5 s before its flows, and lingers.
_LIVE_RUN_S = 8.0
_FRAME_BITS = 8 * 1514


@dataclass(frozen=True, kw_only=True)
class Both:
    """The runs of one cell."""

    #: What was run.
    cell: PlannedCell
    #: The runs on each back end, one for each seed: the one that is judged, mostly the simulator, and the one that
    #: it is judged by, mostly the kernel.
    sim: tuple[Run, ...]
    kernel: tuple[Run, ...]
    #: Their names.
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
    cells: Sequence[PlannedCell],
    number: Repeats,
    run: InWorld,
    real: Sequence[str] = (KERNEL,),
    kernel: str | None = None,
) -> dict[Pair, list[Both]]:
    """Run every cell: on the real back ends first, which may not be there and take longer, then in the simulator.

    `kernel` names the one of the runs on the kernel. The simulator's disciplines behave as those of its release.
    """
    plan = repeats((place, cell.scenario, number.kernel) for place, cell in enumerate(cells))
    runs = {name: run(plan, spec_of(name, kernel), TITLES[name]) for name in real}
    release = _release(runs[KERNEL][0][0]) if KERNEL in real and cells else ""
    simulated = repeats((place, cell.scenario, number.sim) for place, cell in enumerate(cells))
    runs[SIM] = run(mapped(partial(_as_in, release), simulated), SIM, "sim")
    return {
        pair: [
            Both(cell=cell, sim=runs[pair[0]][place], kernel=runs[pair[1]][place], pair=pair)
            for place, cell in enumerate(cells)
        ]
        for pair in pairs_of(real)
    }


def _as_in(release: str, one: Planned[int]) -> Planned[int]:
    return replace(one, scenario=as_in(one.scenario, release))


def _release(run: Run) -> str:
    """Return the release of the kernel that made a run; nothing if none did."""
    kernel = run.record.kernel
    return "" if kernel is None else kernel.release


def spec_of(backend: str, kernel: str | None) -> str:
    """Return a back end with the kernel that was named for runs on the kernel, as `sojourn.backends.named` takes it."""
    return f"{backend}:{kernel}" if backend == KERNEL and kernel is not None else backend


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
