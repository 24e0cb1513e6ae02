"""The claims of the rural study about its simulations: sections IV-B to IV-G and what VI says of them.

A sentence about Figs. 3 to 5 that names no load is held against every curve of the figure: both loads, and both
disciplines where it names none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product
from statistics import fmean

from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below, not_above, not_below, within
from sojourn.papers.rural.evidence import (
    CODEL,
    DEFAULT,
    DROPTAIL,
    FQ_CODEL,
    LAMBDA_MS,
    LAMBDA_OF_TAU,
    LOADS,
    NS2,
    ONE_QUEUE,
    RTT_PAIRS,
    RTTS_MS,
    RURAL,
    SCHEMES,
    TAU_MS,
    TAU_OF_LAMBDA,
    TWO_RTT,
    Cell,
    Evidence,
    Quantity,
    Seen,
    Setting,
    improvements,
    increases,
)

#: "Reasonably close to 90 %", "slightly above 90 %", "at least 90 %": per cent.
CLOSE_TO_90, SLIGHTLY_ABOVE_90, LEAST = (85.0, 95.0), (90.0, 95.0), 90.0
#: "< 50 ms".
COMPROMISE_MS = 50.0
#: "Much smaller than the base RTT": less than a third of 300 ms.
MUCH_SMALLER_MS = 100.0
#: Up to this path CoDel gains bulk throughput, ms.
CODEL_GAINS_TO_MS = 350
#: "Similarly" in utilisation: points.
SIMILAR_POINTS = 2.0
#: "Low latency": the paper's own couple of packets, ms.
LOW_MS = 30.0
#: "Close to the one without AQM", per cent.
CLOSE_PERCENT = 7.0

#: A fall by less than this share of the value is none, as in the orders of docs/claims.md.
NO_FALL = 0.01

CURVES = tuple(product(SCHEMES, LOADS))


def utilisation(seen: Seen) -> float:
    """Return the utilisation, per cent."""
    return 100 * seen.utilisation


def queueing(seen: Seen) -> float:
    """Return the mean waiting at the bottleneck, ms."""
    return seen.queueing_ms


def drop_share(seen: Seen) -> float:
    """Return how many packets of a hundred CoDel dropped; those for want of room are not its choice."""
    return 100 * seen.aqm_drops / (seen.packets + seen.drops)


def fct(seen: Seen) -> float | None:
    """Return the mean file completion time, s."""
    return seen.fct_s


def bulk(seen: Seen) -> float | None:
    """Return the throughput of a bulk flow, Mbit/s."""
    return seen.bulk_mbit


def thin(seen: Seen) -> float | None:
    """Return the waiting of the thin streams' packets, ms."""
    return seen.thin_ms


def of_lambda(scheme: str, load: str) -> list[Cell]:
    """Return the cells of a curve of Fig. 3."""
    return [Cell(NS2, scheme, Setting(TAU_OF_LAMBDA, interval), load) for interval in LAMBDA_MS]


def of_tau(scheme: str, load: str) -> list[Cell]:
    """Return the cells of a curve of Fig. 4."""
    return [Cell(NS2, scheme, Setting(target, LAMBDA_OF_TAU), load) for target in TAU_MS]


def rising(evidence: Evidence, cells: Sequence[Cell], what: str, quantity: Quantity, unit: str) -> list[Check]:
    """Return the checks that a quantity rises along a curve: from end to end, and clearly falls at no step.

    A fall of less than 1 % of the value counts as none.
    """

    def gains(one: Cell, other: Cell) -> list[float]:
        return [after - before for before, after in evidence.pairs(one, other, quantity)]

    ends = above(f"{what}, {_step(cells[0], cells[-1])}", gains(cells[0], cells[-1]), 0.0, unit)
    steps = [
        not_below(
            f"{what}, {_step(one, other)}",
            gains(one, other),
            round(-NO_FALL * abs(fmean(evidence.each(one, quantity))), 4),
            unit,
        )
        for one, other in pairwise(cells)
    ]
    return [ends, *steps]


def utilisation_and_delay_rise_with_lambda(evidence: Evidence) -> Judgement:
    """rur-08."""
    return all_of(_both_rise(evidence, (of_lambda(CODEL, load) for load in LOADS)))


def lambda_of_300_is_close_to_90(evidence: Evidence) -> Judgement:
    """rur-09."""
    cells = [Cell(NS2, CODEL, Setting(TAU_OF_LAMBDA, 300), load) for load in LOADS]
    return all_of(_within(evidence, cells, *CLOSE_TO_90))


def delay_is_above_tau(evidence: Evidence) -> Judgement:
    """rur-10."""
    cells = [cell for curve in CURVES for cell in of_lambda(*curve)]
    return all_of(
        [above(f"mean delay, {cell.words()}", evidence.each(cell, queueing), TAU_OF_LAMBDA, "ms") for cell in cells]
    )


def larger_lambda_drops_less(evidence: Evidence) -> Judgement:
    """rur-11."""
    checks = []
    for curve in CURVES:
        cells = of_lambda(*curve)
        checks += rising(evidence, cells, "fall of the drop share", lambda seen: -drop_share(seen), "points")
    shares = []
    for scheme, load in CURVES:
        ends = of_lambda(scheme, load)[:: len(LAMBDA_MS) - 1]
        full = [fmean(evidence.each(cell, lambda seen: seen.drops - seen.aqm_drops)) for cell in ends]
        shares.append(f"{scheme} {load} {full[0]:.0f} to {full[1]:.0f}")
    return all_of(checks, note=f"drops of a full buffer in a run, not counted: {', '.join(shares)}")


def rural_delay_is_below_50(evidence: Evidence) -> Judgement:
    """rur-12."""
    return all_of(
        [
            below(f"mean delay, {cell.words()}", evidence.each(cell, queueing), COMPROMISE_MS, "ms")
            for cell in _rural_cells()
        ]
    )


def rural_utilisation_is_slightly_above_90(evidence: Evidence) -> Judgement:
    """rur-13."""
    return all_of(_within(evidence, _rural_cells(), *SLIGHTLY_ABOVE_90))


def rural_meets_the_goal(evidence: Evidence) -> Judgement:
    """rur-14."""
    checks = []
    for cell in _rural_cells():
        checks.append(not_below(f"utilisation, {cell.words()}", evidence.each(cell, utilisation), LEAST, "percent"))
        checks.append(below(f"mean delay, {cell.words()}", evidence.each(cell, queueing), MUCH_SMALLER_MS, "ms"))
    return all_of(checks)


def utilisation_and_delay_rise_with_tau(evidence: Evidence) -> Judgement:
    """rur-15."""
    return all_of(_both_rise(evidence, (of_tau(*curve) for curve in CURVES)))


def files_are_faster_at_every_rtt(evidence: Evidence) -> Judgement:
    """rur-16."""
    return all_of(
        [
            above(f"imp of FCT, {_path(cell)}", improvements(evidence, cell, fct), 0.0, "percent")
            for curve in CURVES
            for cell in paths(*curve)
        ]
    )


def thin_streams_wait_longer_under_codel(evidence: Evidence) -> Judgement:
    """rur-17."""
    return all_of(
        [
            above(f"inc of thin-stream delay, {_path(cell)}", increases(evidence, cell, thin), 0.0, "ms")
            for load in LOADS
            for cell in paths(CODEL, load)
        ]
    )


def bulk_flows_gain(evidence: Evidence) -> Judgement:
    """rur-19."""
    return all_of(
        [
            above(f"inc of bulk throughput, {_path(cell)}", increases(evidence, cell, bulk), 0.0, "Mbit/s")
            for curve in CURVES
            for cell in paths(*curve)
            if cell.scheme == FQ_CODEL or cell.rtt <= CODEL_GAINS_TO_MS
        ]
    )


def long_paths_gain(evidence: Evidence) -> Judgement:
    """rur-21."""
    checks = []
    for scheme, (rtt, other) in product(SCHEMES, RTT_PAIRS):
        cell = Cell(TWO_RTT, scheme, DEFAULT, "low", rtt, other)
        gains = improvements(evidence, cell, lambda seen: seen.file_fct_s[1])
        checks.append(above(f"imp of FCT of the path of {other} ms beside {rtt} ms, {scheme}", gains, 0.0, "percent"))
    return all_of(checks)


def one_queue_is_like_codel(evidence: Evidence) -> Judgement:
    """rur-23."""
    checks = []
    for setting, load in product((DEFAULT, RURAL), LOADS):
        one, codel, fair = (Cell(NS2, scheme, setting, load) for scheme in (ONE_QUEUE, CODEL, FQ_CODEL))
        for sign in (1, -1):
            gaps = [sign * (a - b) for a, b in evidence.pairs(one, codel, utilisation)]
            what = f"utilisation {'above' if sign > 0 else 'below'} CoDel's, {one.words()}"
            checks.append(below(what, gaps, SIMILAR_POINTS, "points"))
        nearer = [
            abs(codel_ms - fair_ms) / 2 - abs(one_ms - codel_ms)
            for (one_ms, codel_ms), (fair_ms, _) in zip(
                evidence.pairs(one, codel, thin), evidence.pairs(fair, codel, thin), strict=False
            )
        ]
        what = f"half of CoDel's distance from FQ-CoDel in thin-stream delay, less that from one queue, {one.words()}"
        checks.append(above(what, nearer, 0.0, "ms"))
    return all_of(checks)


def fair_queueing_protects_thin_streams(evidence: Evidence) -> Judgement:
    """rur-33."""
    checks = []
    for load in LOADS:
        for cell in paths(FQ_CODEL, load):
            here = cell._replace(setting=RURAL)
            gaps = [a - b for a, b in evidence.pairs(here._replace(scheme=CODEL), here, thin)]
            checks.append(above(f"thin-stream delay of CoDel less that of FQ-CoDel, {_path(cell)}", gaps, 0.0, "ms"))
            checks.append(below(f"thin-stream delay, {here.words()}", evidence.each(here, thin), LOW_MS, "ms"))
    return all_of(checks)


def rural_is_close_to_droptail(evidence: Evidence) -> Judgement:
    """rur-34."""
    checks = []
    for cell in _rural_cells():
        pairs = evidence.pairs(Cell(NS2, DROPTAIL, load=cell.load), cell, utilisation)
        lost = [100 * (full - here) / full for full, here in pairs]
        checks.append(not_above(f"utilisation lost against droptail, {cell.words()}", lost, CLOSE_PERCENT, "percent"))
    return all_of(checks)


def tuning_improves(evidence: Evidence) -> Judgement:
    """rur-36."""
    checks = []
    for cell in _rural_cells():
        checks.append(above(f"imp of FCT, {_path(cell)}", improvements(evidence, cell, fct), 0.0, "percent"))
        gains = increases(evidence, cell, utilisation)
        checks.append(above(f"inc of utilisation, {_path(cell)}", gains, 0.0, "points"))
    return all_of(checks)


def paths(scheme: str, load: str) -> list[Cell]:
    """Return the paths of a curve of Fig. 5."""
    return [Cell(NS2, scheme, DEFAULT, load, rtt) for rtt in RTTS_MS]


def _rural_cells() -> list[Cell]:
    return [Cell(NS2, scheme, RURAL, load) for scheme, load in CURVES]


def _both_rise(evidence: Evidence, curves: Iterable[Sequence[Cell]]) -> list[Check]:
    checks = []
    for cells in curves:
        checks += rising(evidence, cells, "gain in utilisation", utilisation, "points")
        checks += rising(evidence, cells, "gain in mean delay", queueing, "ms")
    return checks


def _within(evidence: Evidence, cells: Iterable[Cell], low: float, high: float) -> list[Check]:
    checks = []
    for cell in cells:
        checks += within(f"utilisation, {cell.words()}", evidence.each(cell, utilisation), low, high, "percent")
    return checks


def _step(one: Cell, other: Cell) -> str:
    before, after = one.setting, other.setting
    ends = (
        (f"target {before.target}", after.target)
        if before.interval == after.interval
        else (f"interval {before.interval}", after.interval)
    )
    return f"{one.scheme}, {one.load} load, {ends[0]} to {ends[1]} ms"


def _path(cell: Cell) -> str:
    return f"{cell.scheme}, {cell.load} load, RTT {cell.rtt} ms"


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "rur-08": utilisation_and_delay_rise_with_lambda,
    "rur-09": lambda_of_300_is_close_to_90,
    "rur-10": delay_is_above_tau,
    "rur-11": larger_lambda_drops_less,
    "rur-12": rural_delay_is_below_50,
    "rur-13": rural_utilisation_is_slightly_above_90,
    "rur-14": rural_meets_the_goal,
    "rur-15": utilisation_and_delay_rise_with_tau,
    "rur-16": files_are_faster_at_every_rtt,
    "rur-17": thin_streams_wait_longer_under_codel,
    "rur-19": bulk_flows_gain,
    "rur-21": long_paths_gain,
    "rur-23": one_queue_is_like_codel,
    "rur-33": fair_queueing_protects_thin_streams,
    "rur-34": rural_is_close_to_droptail,
    "rur-36": tuning_improves,
}
