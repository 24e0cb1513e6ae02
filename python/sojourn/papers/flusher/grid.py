"""The claims about the thesis's grid of runs: section 6.3, Figs. 6.2 to 6.15.

Each judge takes the evidence and a reading: the thesis as its text describes it, or as its listings are printed. A
sentence that names no buffer is held against 100 packets, one about thresholds against all three, any other against the
recommended one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from sojourn.papers.flusher.evidence import (
    BASES_MS,
    BUFFERS,
    CUBIC,
    FLOOR_MS,
    RANKS,
    RECOMMENDED,
    RENO,
    SLOT_MS,
    TCPS,
    THRESHOLDS,
    Cell,
    Evidence,
    Quantity,
    Seen,
    active,
    at_rank,
    mbit,
    mean,
    median,
    passive,
)
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below, exact, not_above, not_below, within

Judge = Callable[[Evidence, str], Judgement]

#: "Significant": the least fall of the mean RTT, per cent; and the largest loss of throughput that is "slight".
LEAST_FALL, SLIGHT_LOSS = 20.0, 20.0
#: Buffers that are large enough for a queue to stand.
LARGE = tuple(buffer for buffer in BUFFERS if buffer >= 40)
#: "Equal" maxima and minima, and "no visible difference": per cent.
EQUAL_ENDS, VISIBLE = 5.0, 10.0
#: "About the same" gain at 10 ms, ms; "roughly equal" gain at 50 ms, per cent of the larger.
SAME_GAIN_MS, ROUGHLY = 5.0, 25.0


def gain(evidence: Evidence, tcp: str, base: int, threshold: float, reading: str) -> list[float]:
    """Return the mean RTT passive less that active at 100 packets, ms, for each seed."""
    return evidence.gaps(passive(tcp, base), active(tcp, base, threshold=threshold, reading=reading), mean)


def gain_curve(evidence: Evidence, tcp: str, base: int, threshold: float, reading: str) -> list[NDArray[np.float64]]:
    """Return the gain at each of `RANKS`, for each seed: Figs. 6.10 to 6.12."""
    flushed = {seen.seed: seen.rtt for seen in evidence.of(active(tcp, base, threshold=threshold, reading=reading))}
    return [seen.rtt - flushed[seen.seed] for seen in evidence.of(passive(tcp, base)) if seen.seed in flushed]


def less(one: Iterable[float], other: Iterable[float]) -> list[float]:
    """Return the differences, seed by seed."""
    return [a - b for a, b in zip(one, other, strict=False)]


def loss(evidence: Evidence, cell: Cell) -> list[float]:
    """Return the share of the passive throughput that a cell loses, per cent, for each seed."""
    other = cell._replace(active=False, threshold=0.0, reading=passive(cell.tcp, cell.base).reading, variant="")
    return [100 * (1 - ratio) for ratio in evidence.ratios(cell, other, mbit)]


def near(what: str, values: list[float], about: float, tolerance: float, unit: str) -> list[Check]:
    """Return the checks that a mean is within a tolerance of a number."""
    return within(what, values, about - tolerance, about + tolerance, unit)


def percent_apart(evidence: Evidence, one: Cell, other: Cell, quantity: Quantity) -> list[float]:
    """Return by how much the first cell's quantity is above the second's, per cent, for each seed."""
    return [100 * (ratio - 1) for ratio in evidence.ratios(one, other, quantity)]


def falls_at_little_cost(evidence: Evidence, reading: str) -> Judgement:
    """flu-01."""
    checks = []
    for tcp, base in product(TCPS, (50, 100)):
        cell = active(tcp, base, reading=reading)
        fall = [-value for value in percent_apart(evidence, cell, passive(tcp, base), mean)]
        checks.append(above(f"fall of the mean RTT, {cell.words()}", fall, LEAST_FALL, "percent"))
        checks.append(below(f"throughput lost, {cell.words()}", loss(evidence, cell), SLIGHT_LOSS, "percent"))
    return all_of(checks)


def mean_falls_at_50(evidence: Evidence, reading: str) -> Judgement:
    """flu-02."""
    return all_of(
        [
            below(
                f"mean RTT active less passive, {cell.words()}",
                evidence.gaps(cell, passive(cell.tcp, 50, cell.buffer), mean),
                0.0,
                "ms",
            )
            for cell in _grid50(reading, LARGE)
        ]
    )


def most_is_the_same(evidence: Evidence, reading: str) -> Judgement:
    """flu-03."""
    checks = []
    for cell in _grid50(reading, BUFFERS):
        apart = percent_apart(evidence, cell, passive(cell.tcp, 50, cell.buffer), lambda seen: seen.most)
        checks += near(f"longest RTT active above passive, {cell.words()}", apart, 0.0, EQUAL_ENDS, "percent")
    return all_of(checks)


def outliers_are_flushes(evidence: Evidence, reading: str) -> Judgement:
    """flu-04."""
    return all_of(
        [
            above(
                f"share of the longest RTTs within 1.5 s after a flush, {cell.words()}",
                evidence.each(cell, lambda seen: seen.near_flush),
                0.8,
                "",
            )
            for cell in (active(tcp, 50, reading=reading) for tcp in TCPS)
        ]
    )


def cubic_is_back_sooner(evidence: Evidence, _reading: str) -> Judgement:
    """flu-05."""
    gaps = evidence.gaps(passive(CUBIC, 50), passive(RENO, 50), lambda seen: seen.halvings)
    return all_of([above("reductions of the window in a run, CUBIC less Reno, passive, 50 ms", gaps, 0.0, "")])


def window_is_about_110(evidence: Evidence, _reading: str) -> Judgement:
    """flu-06."""
    checks = []
    for tcp in TCPS:
        checks += within(f"largest window, {tcp}", evidence.each(passive(tcp, 50), _cwnd), 105.0, 125.0, "packets")
    return all_of(checks)


def cubic_has_a_packet_or_two_more(evidence: Evidence, _reading: str) -> Judgement:
    """flu-10."""
    gaps = evidence.gaps(passive(CUBIC, 50), passive(RENO, 50), _cwnd)
    checks = [not_below("largest window, CUBIC less Reno", gaps, 0.0, "packets")]
    return all_of([*checks, not_above("largest window, CUBIC less Reno", gaps, 5.0, "packets")])


def boxes_look_alike(evidence: Evidence, reading: str) -> Judgement:
    """flu-12."""
    checks = []
    for cell in (*_grid50(reading, LARGE, (RENO,)), *(passive(RENO, 50, buffer) for buffer in LARGE)):
        for rank in (0.25, 0.5, 0.75):
            apart = percent_apart(evidence, cell._replace(tcp=CUBIC), cell, _at(rank))
            what = f"RTT at rank {rank}, CUBIC above Reno, {cell.words()}"
            checks += near(what, apart, 0.0, VISIBLE, "percent")
    return all_of(checks)


def ends_are_the_same(evidence: Evidence, reading: str) -> Judgement:
    """flu-13."""
    checks = []
    for cell in (*_grid50(reading, BUFFERS, (RENO,)), *(passive(RENO, 50, buffer) for buffer in BUFFERS)):
        for name, quantity in (("longest", _most), ("shortest", _least)):
            apart = percent_apart(evidence, cell._replace(tcp=CUBIC), cell, quantity)
            checks += near(f"{name} RTT, CUBIC above Reno, {cell.words()}", apart, 0.0, EQUAL_ENDS, "percent")
    return all_of(checks)


def cubic_gains_more_at_10_and_50(evidence: Evidence, reading: str) -> Judgement:
    """flu-14."""
    return all_of(
        [
            not_below(f"gain of CUBIC less Reno, {base} ms, {threshold:g}", between, 0.0, "ms")
            for base, threshold in product((10, 50), THRESHOLDS)
            for between in [_cubic_less_reno(evidence, base, threshold, reading)]
        ]
    )


def lower_thresholds_gain_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-15."""
    return all_of(_gains_above_two(evidence, reading, TCPS, (50, 100)))


def gain_at_10_has_no_threshold(evidence: Evidence, reading: str) -> Judgement:
    """flu-16."""
    checks = []
    for tcp, (one, other) in product(TCPS, pairwise(THRESHOLDS)):
        gaps = less(gain(evidence, tcp, 10, one, reading), gain(evidence, tcp, 10, other, reading))
        checks += near(f"gain of {one:g} less {other:g}, {tcp}, 10 ms", gaps, 0.0, SAME_GAIN_MS, "ms")
    return all_of(checks)


def the_lowest_threshold_gains_most(evidence: Evidence, reading: str) -> Judgement:
    """flu-17."""
    return all_of(
        [
            not_below(
                f"gain of 1.5 less {other:g}, {tcp}, {base} ms",
                less(gain(evidence, tcp, base, 1.5, reading), gain(evidence, tcp, base, other, reading)),
                0.0,
                "ms",
            )
            for tcp, base, other in product(TCPS, (50, 100), (1.7, 2.0))
        ]
    )


def tcps_part_with_base(evidence: Evidence, reading: str) -> Judgement:
    """flu-18."""
    checks = []
    for before, after in pairwise(BASES_MS):
        one, other = (_mean_apart(evidence, base, reading) for base in (before, after))
        checks.append(above(f"difference of the gains, {after} less {before} ms", less(other, one), 0.0, "ms"))
    return all_of(checks)


def reno_gains_more_at_100(evidence: Evidence, reading: str) -> Judgement:
    """flu-19."""
    return all_of(
        [
            below(f"gain of CUBIC less Reno, 100 ms, {threshold:g}", gaps, 0.0, "ms")
            for threshold in THRESHOLDS
            for gaps in [_cubic_less_reno(evidence, 100, threshold, reading)]
        ]
    )


def gains_at_100_span_25_ms(evidence: Evidence, reading: str) -> Judgement:
    """flu-20."""
    gains = np.array([gain(evidence, tcp, 100, threshold, reading) for tcp, threshold in product(TCPS, THRESHOLDS)])
    spans = [float(value) for value in gains.max(axis=0) - gains.min(axis=0)]
    return all_of(within("best less worst gain, 100 ms", spans, 10.0, 50.0, "ms"))


def reno_at_100_orders_thresholds(evidence: Evidence, reading: str) -> Judgement:
    """flu-21."""
    return all_of(
        [
            not_below(
                f"gain of {one:g} less {other:g}, Reno, 100 ms",
                less(gain(evidence, RENO, 100, one, reading), gain(evidence, RENO, 100, other, reading)),
                0.0,
                "ms",
            )
            for one, other in pairwise(THRESHOLDS)
        ]
    )


def reno_gains_most_only_at_100(evidence: Evidence, reading: str) -> Judgement:
    """flu-22."""
    checks = []
    for base in BASES_MS:
        best = {
            tcp: np.array([gain(evidence, tcp, base, threshold, reading) for threshold in THRESHOLDS]).max(axis=0)
            for tcp in TCPS
        }
        gaps = [float(value) for value in best[RENO] - best[CUBIC]]
        what = f"best gain of Reno less that of CUBIC, {base} ms"
        checks.append(above(what, gaps, 0.0, "ms") if base == 100 else not_above(what, gaps, 0.0, "ms"))
    return all_of(checks)


def gains_at_50_are_roughly_equal(evidence: Evidence, reading: str) -> Judgement:
    """flu-23."""
    checks = []
    for threshold in THRESHOLDS:
        gains = {tcp: gain(evidence, tcp, 50, threshold, reading) for tcp in TCPS}
        apart = [100 * (a - b) / max(abs(a), abs(b)) for a, b in zip(gains[CUBIC], gains[RENO], strict=False)]
        checks += near(f"gain of CUBIC above Reno, 50 ms, {threshold:g}", apart, 0.0, ROUGHLY, "percent")
    return all_of(checks)


def cubic_gains_at_lower_ranks(evidence: Evidence, reading: str) -> Judgement:
    """flu-24."""
    ranks = {tcp: [_half(curve) for curve in gain_curve(evidence, tcp, 50, RECOMMENDED, reading)] for tcp in TCPS}
    gaps = less(ranks[CUBIC], ranks[RENO])
    return all_of([below("rank at which half of the largest gain is reached, CUBIC less Reno", gaps, 0.0, "")])


def the_lowest_threshold_is_lowest(evidence: Evidence, reading: str) -> Judgement:
    """flu-25."""
    checks = []
    for tcp, base, other in product(TCPS, BASES_MS, (1.7, 2.0)):
        first = active(tcp, base, threshold=1.5, reading=reading)
        gaps = evidence.gaps(first, first._replace(threshold=other), mean)
        checks.append(not_above(f"mean RTT of 1.5 less {other:g}, {tcp}, {base} ms", gaps, 0.0, "ms"))
    return all_of(checks)


def cubic_has_the_lower_median_at_10(evidence: Evidence, reading: str) -> Judgement:
    """flu-26."""
    return all_of(
        [
            below(
                f"median RTT of CUBIC less Reno, 10 ms, {threshold:g}",
                evidence.gaps(*both(10, threshold, reading), median),
                0.0,
                "ms",
            )
            for threshold in THRESHOLDS
        ]
    )


def thresholds_part_with_base(evidence: Evidence, reading: str) -> Judgement:
    """flu-27."""
    checks = []
    for tcp, (before, after) in product(TCPS, pairwise(BASES_MS)):
        gaps = less(_spread(evidence, tcp, after, reading), _spread(evidence, tcp, before, reading))
        checks.append(above(f"spread of the mean RTT over thresholds, {tcp}, {after} less {before} ms", gaps, 0, "ms"))
    return all_of(checks)


def improvements_at_100(evidence: Evidence, reading: str) -> Judgement:
    """flu-28."""
    return all_of(_gains_above_two(evidence, reading, TCPS, (100,)))


def two_suits_cubic(evidence: Evidence, reading: str) -> Judgement:
    """flu-29."""
    return all_of(
        [
            not_below(
                f"gain of CUBIC less Reno, {base} ms, 2", _cubic_less_reno(evidence, base, 2.0, reading), 0.0, "ms"
            )
            for base in (50, 100)
        ]
    )


def small_buffers_are_left_alone(evidence: Evidence, reading: str) -> Judgement:
    """flu-30."""
    return all_of(
        [
            not_above(
                f"flushes by threshold, {cell.words()}",
                evidence.each(cell, lambda seen: len(seen.flushes)),
                0.0,
                "",
            )
            for cell in _grid50(reading, (10, 20, 30))
        ]
    )


def the_queue_grows_by_30(evidence: Evidence, reading: str) -> Judgement:
    """flu-31."""
    checks = []
    for tcp, threshold in product(TCPS, THRESHOLDS):
        cell = active(tcp, 100, threshold=threshold, reading=reading)
        growth = evidence.each(cell, partial(_growth, threshold=threshold))
        checks.append(not_above(f"growth of the queue up to the flush, {cell.words()}", growth, 30.0, "packets"))
    return all_of(checks)


def queue_at_activation(evidence: Evidence, reading: str) -> Judgement:
    """flu-32."""
    checks = []
    for tcp, threshold in product(TCPS, THRESHOLDS):
        cell = active(tcp, 100, threshold=threshold, reading=reading)
        checks += activation(evidence, cell, 30.0)
    return all_of(checks, note="from the queue that the threshold stands for to 30 packets more (flu-x-19)")


def activation(evidence: Evidence, cell: Cell, window: float) -> list[Check]:
    """Return the checks that the queue at flushes is between that of the threshold and `window` packets more.

    The least and the greatest are the 5th and the 95th percentile; smoothing lags by up to three packets.
    """
    low = evidence.each(cell, lambda seen: _growth(seen, cell.threshold, 0.05))
    high = evidence.each(cell, lambda seen: _growth(seen, cell.threshold))
    what = f"queue at a flush above the threshold's, {cell.words()}"
    return [
        not_below(f"least {what}", low, -3.0, "packets"),
        not_above(f"greatest {what}", high, window, "packets"),
    ]


def the_floor_is_below_the_threshold(evidence: Evidence, reading: str) -> Judgement:
    """flu-68."""
    lowest = min(THRESHOLDS) * min(base for base in BASES_MS if base >= 50)
    arithmetic = exact("1.5 x 50 ms", lowest, ">", FLOOR_MS, "ms")
    checks = [arithmetic]
    for tcp, base in product(TCPS, (50, 100)):
        cell = active(tcp, base, threshold=1.5, reading=reading)
        least = evidence.each(cell, lambda seen: seen.least)
        checks.append(above(f"1.5 x shortest RTT, {cell.words()}", [1.5 * value for value in least], FLOOR_MS, "ms"))
    return all_of(checks)


def short_paths_react_sooner(evidence: Evidence, reading: str) -> Judgement:
    """flu-84."""
    checks = []
    for tcp, (before, after) in product(TCPS, pairwise(BASES_MS)):
        gaps = evidence.gaps(
            active(tcp, after, reading=reading),
            active(tcp, before, reading=reading),
            lambda seen: _mean(seen.reaction_ms),
        )
        checks.append(above(f"time from the trigger to the flush, {tcp}, {after} less {before} ms", gaps, 0.0, "ms"))
    return all_of(checks)


def reno_is_best(evidence: Evidence, reading: str) -> Judgement:
    """flu-86."""
    gaps = _cubic_less_reno(evidence, 100, RECOMMENDED, reading)
    checks = [below("gain of CUBIC less Reno, 100 ms", gaps, 0, "ms")]
    return all_of(checks, note="at 100 ms: at 10 and 50 ms the thesis itself has CUBIC gain more (flu-x-20)")


def cubic_is_flushed_less(evidence: Evidence, reading: str) -> Judgement:
    """flu-88."""
    gaps = evidence.gaps(*both(50, 2.0, reading), lambda seen: len(seen.flushes))
    return all_of([below("flushes by threshold in a run, CUBIC less Reno, 50 ms, 2", gaps, 0.0, "")])


def short_queues_halve_more(evidence: Evidence, _reading: str) -> Judgement:
    """flu-91."""
    return all_of(
        [
            above(
                f"reductions of Reno's window in a run at {one} packets less at {other}",
                evidence.gaps(passive(RENO, 50, one), passive(RENO, 50, other), lambda seen: seen.halvings),
                0.0,
                "",
            )
            for one, other in ((20, 40), (40, 60), (60, 80), (80, 100))
        ]
    )


def a_queue_remains_at_10(evidence: Evidence, reading: str) -> Judgement:
    """flu-93."""
    checks = []
    for tcp, threshold in product(TCPS, THRESHOLDS):
        cell = active(tcp, 10, threshold=threshold, reading=reading)
        checks += within(f"median RTT, {cell.words()}", evidence.each(cell, median), 30.0, 110.0, "ms")
    return all_of(checks)


def the_goal_is_met(evidence: Evidence, reading: str) -> Judgement:
    """flu-96."""
    checks = []
    for tcp, base in product(TCPS, BASES_MS):
        cell = active(tcp, base, reading=reading)
        checks.append(
            below(f"mean RTT less passive, {cell.words()}", evidence.gaps(cell, passive(tcp, base), mean), 0, "ms")
        )
        lost = loss(evidence, cell)
        checks.append(not_below(f"throughput lost, {cell.words()}", lost, 0.0, "percent"))
        checks.append(below(f"throughput lost, {cell.words()}", lost, SLIGHT_LOSS, "percent"))
    return all_of(checks)


def _grid50(reading: str, buffers: Iterable[int], tcps: Iterable[str] = TCPS) -> list[Cell]:
    return [
        active(tcp, 50, buffer, threshold, reading=reading)
        for tcp, buffer, threshold in product(tcps, buffers, THRESHOLDS)
    ]


def both(base: int, threshold: float, reading: str) -> tuple[Cell, Cell]:
    """Return the cells of CUBIC and Reno."""
    return (
        active(CUBIC, base, threshold=threshold, reading=reading),
        active(RENO, base, threshold=threshold, reading=reading),
    )


def _cubic_less_reno(evidence: Evidence, base: int, threshold: float, reading: str) -> list[float]:
    return less(*(gain(evidence, tcp, base, threshold, reading) for tcp in (CUBIC, RENO)))


def _gains_above_two(evidence: Evidence, reading: str, tcps: Iterable[str], bases: Iterable[int]) -> list[Check]:
    return [
        above(
            f"gain of {threshold:g} less 2, {tcp}, {base} ms",
            less(gain(evidence, tcp, base, threshold, reading), gain(evidence, tcp, base, 2.0, reading)),
            0.0,
            "ms",
        )
        for tcp, base, threshold in product(tcps, bases, (1.5, 1.7))
    ]


def _mean_apart(evidence: Evidence, base: int, reading: str) -> list[float]:
    """Return how far the gains of CUBIC and Reno are apart, mean over the thresholds, for each seed."""
    apart = np.abs([_cubic_less_reno(evidence, base, threshold, reading) for threshold in THRESHOLDS])
    return [float(value) for value in apart.mean(axis=0)]


def _spread(evidence: Evidence, tcp: str, base: int, reading: str) -> list[float]:
    means = np.array(
        [evidence.each(active(tcp, base, threshold=threshold, reading=reading), mean) for threshold in THRESHOLDS]
    )
    return [float(value) for value in means.max(axis=0) - means.min(axis=0)]


def _half(curve: NDArray[np.float64]) -> float:
    """Return the first rank at which a gain curve reaches half of its maximum."""
    return float(RANKS[int(np.argmax(curve >= curve.max() / 2))])


def _growth(seen: Seen, threshold: float, rank: float = 0.95) -> float | None:
    """Return by how much the queue at a flush exceeded what the threshold stands for, at a rank, packets."""
    if not seen.at_flush:
        return None
    trigger = max(threshold * seen.least, FLOOR_MS)
    return float(np.quantile(seen.at_flush, rank)) - (trigger - seen.least) / SLOT_MS


def _at(rank: float) -> Quantity:
    return lambda seen: at_rank(seen, rank)


def _cwnd(seen: Seen) -> float:
    return seen.cwnd


def _most(seen: Seen) -> float:
    return seen.most


def _least(seen: Seen) -> float:
    return seen.least


def _mean(values: tuple[float, ...]) -> float | None:
    return float(np.mean(values)) if values else None


JUDGES: dict[str, Judge] = {
    "flu-01": falls_at_little_cost,
    "flu-02": mean_falls_at_50,
    "flu-03": most_is_the_same,
    "flu-04": outliers_are_flushes,
    "flu-05": cubic_is_back_sooner,
    "flu-06": window_is_about_110,
    "flu-10": cubic_has_a_packet_or_two_more,
    "flu-12": boxes_look_alike,
    "flu-13": ends_are_the_same,
    "flu-14": cubic_gains_more_at_10_and_50,
    "flu-15": lower_thresholds_gain_more,
    "flu-16": gain_at_10_has_no_threshold,
    "flu-17": the_lowest_threshold_gains_most,
    "flu-18": tcps_part_with_base,
    "flu-19": reno_gains_more_at_100,
    "flu-20": gains_at_100_span_25_ms,
    "flu-21": reno_at_100_orders_thresholds,
    "flu-22": reno_gains_most_only_at_100,
    "flu-23": gains_at_50_are_roughly_equal,
    "flu-24": cubic_gains_at_lower_ranks,
    "flu-25": the_lowest_threshold_is_lowest,
    "flu-26": cubic_has_the_lower_median_at_10,
    "flu-27": thresholds_part_with_base,
    "flu-28": improvements_at_100,
    "flu-29": two_suits_cubic,
    "flu-30": small_buffers_are_left_alone,
    "flu-31": the_queue_grows_by_30,
    "flu-32": queue_at_activation,
    "flu-68": the_floor_is_below_the_threshold,
    "flu-84": short_paths_react_sooner,
    "flu-86": reno_is_best,
    "flu-88": cubic_is_flushed_less,
    "flu-91": short_queues_halve_more,
    "flu-93": a_queue_remains_at_10,
    "flu-96": the_goal_is_met,
}
