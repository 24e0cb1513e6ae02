"""What the claims of the rural study are said of: numbers of a run, and comparisons with other runs of its seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.papers.rural.evidence import (
    AXES,
    CODEL,
    DEFAULT,
    DROPTAIL,
    FQ_CODEL,
    LAMBDA_MS,
    LAMBDA_OF_TAU,
    LOADS,
    NONE,
    NS2,
    RTT_PAIRS,
    RTTS_MS,
    RURAL,
    SCHEMES,
    TAU_MS,
    TAU_OF_LAMBDA,
    Evidence,
    Setting,
    improvement,
    increase,
)
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import BySeed
from sojourn.study.rules import Vocabulary


def utilisation(run: Observation) -> float:
    """Return the utilisation, per cent."""
    return 100 * run.utilisation


def queueing(run: Observation) -> float | None:
    """Return the mean waiting at the bottleneck, ms."""
    return run.queueing_ms


def drop_share(run: Observation) -> float:
    """Return how many packets of a hundred CoDel dropped; those for want of room are not its choice."""
    return 100 * run.aqm_drops / (run.packets + run.drops)


def fct(run: Observation) -> float | None:
    """Return the mean file completion time, s."""
    return run.fct_s


def bulk(run: Observation) -> float | None:
    """Return the throughput of a bulk flow, Mbit/s."""
    return run.bulk_mbit


def thin(run: Observation) -> float | None:
    """Return the waiting of the thin streams' packets, ms."""
    return run.thin_ms


QUANTITIES: dict[str, Callable[..., float | None]] = {
    "utilisation": utilisation,
    "idle": lambda run: 100 - utilisation(run),
    "queueing": queueing,
    "queueing_p95": lambda run: run.queueing_p95_ms,
    "drop_share": drop_share,
    "fct": fct,
    "second_fct": lambda run: run.file_fct_s[1],
    "bulk": bulk,
    "thin": thin,
    "ping": lambda run: run.ping_ms,
    "ping_p90": lambda run: run.ping_p90_ms,
    "ping_max": lambda run: run.ping_max_ms,
}


def of_lambda(scheme: str, load: str) -> list[Cell]:
    """Return the cells of a curve of Fig. 3."""
    return [AXES(NS2, scheme, Setting(TAU_OF_LAMBDA, interval), load) for interval in LAMBDA_MS]


def compared(
    evidence: Evidence, first: Cell, second: Cell, quantity: str, of: Callable[[float, float], float]
) -> BySeed:
    """Return what is made of a quantity in two cells, for each seed that both have it of."""
    return {seed: of(*pair) for seed, pair in evidence.paired(first, second, QUANTITIES[quantity]).items()}


def imp(evidence: Evidence, cell: Cell, quantity: str) -> BySeed:
    """Return imp_M of the cell's scheme, path and load; its setting does not matter."""
    default, rural = (cell.replaced(setting=setting) for setting in (DEFAULT, RURAL))
    return compared(evidence, default, rural, quantity, improvement)


def inc(evidence: Evidence, cell: Cell, quantity: str) -> BySeed:
    """Return inc_N in the same way."""
    default, rural = (cell.replaced(setting=setting) for setting in (DEFAULT, RURAL))
    return compared(evidence, default, rural, quantity, increase)


def lost(evidence: Evidence, cell: Cell, quantity: str) -> BySeed:
    """Return what the cell loses of a quantity against droptail, per cent of droptail's."""
    return compared(evidence, cell.replaced(scheme=DROPTAIL, setting=NONE), cell, quantity, improvement)


def slope(evidence: Evidence, cell: Cell) -> BySeed:
    """Return how the loss of bulk throughput grows along the paths, points in 100 ms."""
    each = [lost(evidence, cell.replaced(rtt=rtt), "bulk") for rtt in RTTS_MS]
    seeds = [seed for seed in each[0] if all(seed in one for one in each)]
    return {seed: 100 * float(np.polyfit(RTTS_MS, [one[seed] for one in each], 1)[0]) for seed in seeds}


def nearer_to_codel(evidence: Evidence, cell: Cell) -> BySeed:
    """Return half of CoDel's distance from FQ-CoDel in thin-stream delay, less that of the cell from CoDel, ms."""
    here, codel, fair = (
        evidence.by_seed(cell.replaced(scheme=scheme), thin) for scheme in (cell.scheme, CODEL, FQ_CODEL)
    )
    seeds = [seed for seed in here if seed in codel and seed in fair]
    return {seed: abs(codel[seed] - fair[seed]) / 2 - abs(here[seed] - codel[seed]) for seed in seeds}


VOCABULARY = Vocabulary(
    axes=AXES,
    names={
        "SCHEMES": SCHEMES,
        "LOADS": LOADS,
        "RTTS": RTTS_MS,
        "LAMBDA": [Setting(TAU_OF_LAMBDA, interval) for interval in LAMBDA_MS],
        "TAU": [Setting(target, LAMBDA_OF_TAU) for target in TAU_MS],
        "LAMBDA_STEPS": [{"ms": ms, "setting": Setting(TAU_OF_LAMBDA, ms)} for ms in LAMBDA_MS],
        "TAU_STEPS": [{"ms": ms, "setting": Setting(ms, LAMBDA_OF_TAU)} for ms in TAU_MS],
        "PAIRS": [{"rtt": one, "other_rtt": other} for one, other in RTT_PAIRS],
        "PAIRS_BOTH_WAYS": [
            {"ratio": pair[mine] / pair[1 - mine], "mine": mine, "rtt": pair[0], "other_rtt": pair[1]}
            for pair in RTT_PAIRS
            for mine in (0, 1)
        ],
        "RURAL_TARGET": RURAL.target,
    },
    quantities=QUANTITIES,
    series={
        "imp": imp,
        "inc": inc,
        "lost": lost,
        "slope": slope,
        "nearer_to_codel": nearer_to_codel,
    },
)
