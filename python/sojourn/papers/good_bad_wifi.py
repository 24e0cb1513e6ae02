"""The plan of seed 000, section 5.1: RRUL on three links under seven disciplines (Fig. 2 and its claims)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from sojourn import api, runner
from sojourn.claims.evidence import (
    DISCIPLINES,
    FIFO,
    LINKS,
    RRUL,
    SPARED,
    Cell,
    Collision,
    Evidence,
    Gathering,
)
from sojourn.claims.observation import Observation, observe
from sojourn.results import Cell as Repeats
from sojourn.results import Comparison, Run, gather
from sojourn.scenario import Scenario

#: The figure of each link.
FIGURES = {"100/100": "fig2a", "10/10": "fig2b", "10/1": "fig2c"}

#: How many seeds the search for a hash collision tries. A seed has one with a probability of about 1 %.
MOST_SEEDS = 2000
#: Hashes do not depend on how long a run takes, so the search runs no longer than this.
SEARCH_DURATION = "100ms"

#: What the files of the runs with spared acknowledgements are called.
SPARED_ABLATION = "spared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One run of the plan; `ablation` marks those that are not part of the figure."""

    link: str
    qdisc: str
    scenario: Scenario
    ablation: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of the plan."""

    comparison: Comparison
    evidence: Evidence


def plan(*, duration: str, repeat: int, seed: int = 1, backend: str = "sim") -> list[Planned]:
    """Return all runs but the search for a collision, the longest first."""
    planned = []
    for link in LINKS:
        for qdisc in DISCIPLINES:
            scenario = _scenario(link, qdisc, duration=duration, seed=seed, backend=backend)
            planned += [Planned(link=link, qdisc=qdisc, scenario=one) for one in api.repeats(scenario, repeat)]
    spared = dataclasses.replace(
        _scenario("10/1", FIFO, duration=duration, seed=seed, backend=backend), spare_acks=True
    )
    planned += [
        Planned(link="10/1", qdisc=FIFO, scenario=one, ablation=SPARED_ABLATION) for one in api.repeats(spared, repeat)
    ]
    return planned


def reproduce(
    *,
    duration: str,
    repeat: int,
    seed: int = 1,
    backend: str = "sim",
    workers: int | None = None,
    progress: str | None = None,
    store: RunStore | None = None,
    dask: str | None = None,
) -> Outcome:
    """Run the plan.

    Parameters
    ----------
    duration, repeat, seed, backend
        As `sojourn.compare` takes them.
    workers
        Number of processes (default: one for each core).
    progress
        Word for a progress bar on standard error; `None` shows none.
    store, dask
        As `sojourn.runner.run_all` takes them.

    Raises
    ------
    ParamError
        If a value is refused.
    """
    planned = plan(duration=duration, repeat=repeat, seed=seed, backend=backend)
    runs = runner.run_all([one.scenario for one in planned], workers=workers, describe=progress, store=store, dask=dask)
    main = [(one, run) for one, run in zip(planned, runs, strict=True) if not one.ablation]
    by_cell = gather([(one.link, one.qdisc) for one, _ in main], [run for _, run in main])
    gathering = Gathering()
    for one, run in zip(planned, runs, strict=True):
        gathering.add(Cell(SPARED if one.ablation else RRUL, one.link, one.qdisc), run)
    found = find_collision(gathering.evidence(), duration=duration, seed=seed + repeat)
    if found is not None and done is not None:
        done(preset("fq_nocodel"), "collision", found[1])
    cells = tuple(Repeats(link=cell.link, qdisc=preset(cell.qdisc), runs=cell.runs) for cell in by_cell)
    return Outcome(
        comparison=Comparison(experiment="rrul", cells=cells),
        evidence=gathering.evidence({} if found is None else {(RRUL, "fq_nocodel"): found[0]}),
    )


def preset(qdisc: str) -> str:
    """Return the preset of a discipline of Table 1."""
    return f"gbw:{qdisc}"


def find_collision(evidence: Evidence, *, duration: str, seed: int) -> tuple[Collision, Run] | None:
    """Return a run at 10/1 under fq_nocodel in which a probe shares its queue with an upstream data flow.

    The repeats come first; then seeds are tried in order, from `seed` on, so the same run is found each time.
    """
    repeats = evidence.of("10/1", "fq_nocodel")
    for number, seen in enumerate(repeats, start=1):
        if (pair := _upstream_pair(seen)) is not None:
            again = dataclasses.replace(next(_search(seen.seed)), duration=duration)
            return Collision(seen=seen, probe=pair[0], flow=pair[1], tried=number), api.run(again)
    for number, short in enumerate(_search(seed), start=1):
        if (pair := _upstream_pair(observe(api.run(short)))) is not None:
            run = api.run(dataclasses.replace(short, duration=duration))
            tried = len(repeats) + number
            return Collision(seen=observe(run), probe=pair[0], flow=pair[1], tried=tried), run
    return None


def _search(seed: int) -> Iterator[Scenario]:
    scenario = _scenario("10/1", "fq_nocodel", duration=SEARCH_DURATION, seed=seed, backend="sim")
    for number in range(MOST_SEEDS):
        yield dataclasses.replace(scenario, seed=seed + number)


def _upstream_pair(seen: Observation) -> tuple[str, str] | None:
    upstream = {flow.name for flow in seen.flows if flow.direction == "up"}
    return next(((probe, flow) for probe, flow in seen.collisions if flow in upstream), None)


def _scenario(link: str, qdisc: str, *, duration: str, seed: int, backend: str) -> Scenario:
    down, up = link.split("/")
    return api.build(
        "rrul",
        qdisc=preset(qdisc),
        down=f"{down}mbit",
        up=f"{up}mbit",
        rtt="50ms",
        cc="cubic",
        duration=duration,
        seed=seed,
        backend=backend,
    )
