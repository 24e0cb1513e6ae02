"""What the claims about the queue flusher are said of: numbers of a run, and numbers of several runs of a seed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sojourn.papers.flusher.evidence import (
    AXES,
    BASES_MS,
    BUFFERS,
    CAPACITY_MBIT,
    CODEL,
    CUBIC,
    FLOOR_MS,
    PIE,
    RANKS,
    RENO,
    SLOT_MS,
    TCPS,
    THRESHOLDS,
    Evidence,
    Quantity,
    at_rank,
    mbit,
    mean,
    median,
    passive,
)
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import BySeed
from sojourn.study.rules import Vocabulary

#: A second with so much of PIE's median throughput is not below it.
AS_MUCH = 0.98


def _mean_of(values: tuple[float, ...]) -> float | None:
    return float(np.mean(values)) if values else None


def _around(run: Observation, which: int, first: int, last: int, of: Callable[..., object]) -> float | None:
    """Return a number of tenths of a second around flushes, from 1 s before them on: 0 goodput, 1 round trip."""
    return None if run.after is None else float(of(run.after[which][first:last]))  # type: ignore[arg-type]


def _dip(run: Observation) -> float | None:
    before, lowest = _around(run, 0, 0, 10, np.mean), _around(run, 0, 10, 20, np.min)
    return None if before is None or lowest is None else lowest - before


def _recovery(run: Observation) -> float | None:
    """Return the best tenth within three of the lowest one, less half of the way back to the level before, Mbit/s.

    Three tenths of a second are a round trip with a full queue: 50 ms, and 100 packets of 2.4 ms.
    """
    if run.after is None:
        return None
    rates = run.after[0]
    lowest = 10 + int(np.argmin(rates[10:20]))
    halfway = (float(rates[lowest]) + float(rates[:10].mean())) / 2
    return float(rates[lowest + 1 : lowest + 4].max()) - halfway


def _rise_after(run: Observation) -> float:
    return (_around(run, 1, 10, 25, np.max) or 0.0) - (_around(run, 1, 0, 9, np.mean) or 0.0)


def _fall_after(run: Observation) -> float:
    return (_around(run, 1, 0, 9, np.mean) or 0.0) - (_around(run, 1, 15, 40, np.min) or 0.0)


def _while_standing(run: Observation) -> float | None:
    """Return the goodput in bins that begin and end with a queue of 5 packets at least, over the link's."""
    course = run.course
    standing = (course.backlog >= 5) & (np.roll(course.backlog, 1) >= 5) & (course.t > 20.0)
    return float(course.goodput[standing].mean()) / CAPACITY_MBIT if standing.any() else None


def _jump(run: Observation) -> float:
    """Return the percentile after which the RTT rises most within two per cent of the runs, from the median on."""
    step = 4
    rises = run.rtt[step:] - run.rtt[:-step]
    first = len(RANKS) // 2
    return 100 * float(RANKS[first + int(np.argmax(rises[first:-1]))])


def _flusher_above_sender(run: Observation, rank: str) -> float | None:
    """Return by how much the flusher's RTT at a rank is above the sender's, per cent."""
    if run.flusher_rtt is None:
        return None
    i = round(float(rank) * (run.sender_rtt.size - 1))
    return 100 * (float(run.flusher_rtt[i]) / float(run.sender_rtt[i]) - 1)


def _long(run: Observation, ranked: NDArray[np.float64] | None) -> float:
    """Return the share of RTTs within a tenth of the longest of all pairs."""
    return 0.0 if ranked is None else float((ranked > 0.9 * run.most).mean())


def _long_beyond(run: Observation, whose: str) -> float:
    return _long(run, run.rtt) - _long(run, run.flusher_rtt if whose == "flusher" else run.sender_rtt)


QUANTITIES: dict[str, Callable[..., float | None]] = {
    "mean": mean,
    "median": median,
    "std": lambda run: run.std,
    "least": lambda run: run.least,
    "most": lambda run: run.most,
    "rtt_at": lambda run, rank: at_rank(run, float(rank)),
    "jump": _jump,
    "peaks": lambda run: run.peaks,
    "mbit": mbit,
    "best_second": lambda run: float(run.per_second[-1]),
    "first_less_second": lambda run: run.flow_mbit[0] - run.flow_mbit[1],
    "while_standing": _while_standing,
    "cwnd": lambda run: run.cwnd,
    "halvings": lambda run: run.halvings,
    "together": lambda run: run.together,
    "drop_rise": lambda run: run.drop_rise,
    "flushes": lambda run: len(run.flushes),
    "forced_gap": lambda run: float(np.mean(np.diff(run.forced))) if len(run.forced) > 1 else None,
    "near_flush": lambda run: run.near_flush,
    "reaction": lambda run: _mean_of(run.reaction_ms),
    "dip": _dip,
    "recovery": _recovery,
    "rise_after": _rise_after,
    "fall_after": _fall_after,
    "most_mbit": lambda run: float(np.nanmax(run.course.flusher_mbit)),
    "spikes": lambda run: run.spikes,
    "flusher_most": lambda run: run.flusher_most - run.most,
    "flusher_above_sender": _flusher_above_sender,
    "long_beyond": _long_beyond,
}


def growth(evidence: Evidence, cell: Cell, rank: str) -> BySeed:
    """Return by how much the queue at a flush exceeded what the threshold stands for, at a rank, packets."""

    def of(run: Observation) -> float | None:
        if not run.at_flush:
            return None
        trigger = max(cell.threshold * run.least, FLOOR_MS)
        return float(np.quantile(run.at_flush, float(rank))) - (trigger - run.least) / SLOT_MS

    return evidence.by_seed(cell, of)


def gain(evidence: Evidence, cell: Cell, quantity: Quantity = mean) -> BySeed:
    """Return the mean RTT passive less that in the cell, ms."""
    idle = passive(cell.tcp, cell.base, cell.buffer)
    flushed = evidence.by_seed(cell, quantity)
    return {seed: value - flushed[seed] for seed, value in evidence.by_seed(idle, quantity).items() if seed in flushed}


def _over_thresholds(evidence: Evidence, cell: Cell, tcps: tuple[str, ...]) -> tuple[list[int], NDArray[np.float64]]:
    """Return the seeds of all, and the gains: a row for each TCP and threshold, a column for each seed."""
    rows = [gain(evidence, cell.replaced(tcp=tcp, threshold=threshold)) for tcp in tcps for threshold in THRESHOLDS]
    seeds = [seed for seed in rows[0] if all(seed in row for row in rows)]
    return seeds, np.array([[row[seed] for seed in seeds] for row in rows])


def tcps_apart(evidence: Evidence, cell: Cell) -> BySeed:
    """Return how far the gains of CUBIC and Reno are apart, mean over the thresholds, ms."""
    seeds, gains = _over_thresholds(evidence, cell, (CUBIC, RENO))
    apart = np.abs(gains[: len(THRESHOLDS)] - gains[len(THRESHOLDS) :]).mean(axis=0)
    return dict(zip(seeds, map(float, apart), strict=True))


def span_of_gains(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the best less the worst gain over both TCPs and the thresholds, ms."""
    seeds, gains = _over_thresholds(evidence, cell, TCPS)
    return dict(zip(seeds, map(float, gains.max(axis=0) - gains.min(axis=0)), strict=True))


def best_gain(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the best gain over the thresholds, ms."""
    seeds, gains = _over_thresholds(evidence, cell, (cell.tcp,))
    return dict(zip(seeds, map(float, gains.max(axis=0)), strict=True))


def gain_above_reno(evidence: Evidence, cell: Cell) -> BySeed:
    """Return by how much CUBIC's gain is above Reno's, per cent of the larger; no value where neither gains."""
    cubic, reno = (gain(evidence, cell.replaced(tcp=tcp)) for tcp in (CUBIC, RENO))
    larger = {seed: max(abs(value), abs(reno[seed])) for seed, value in cubic.items() if seed in reno}
    return {seed: 100 * (cubic[seed] - reno[seed]) / most for seed, most in larger.items() if most > 0}


def gain_curves(evidence: Evidence, cell: Cell) -> dict[int, NDArray[np.float64]]:
    """Return the gain at each of `RANKS`, by seed: Figs. 6.10 to 6.12."""
    flushed = {run.seed: run.rtt for run in evidence.of(cell)}
    idle = evidence.of(passive(cell.tcp, cell.base))
    return {run.seed: run.rtt - flushed[run.seed] for run in idle if run.seed in flushed}


def rank_of_half_gain(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the first rank at which the gain reaches half of its maximum."""
    curves = gain_curves(evidence, cell)
    return {seed: float(RANKS[int(np.argmax(curve >= curve.max() / 2))]) for seed, curve in curves.items()}


def _means(evidence: Evidence, cell: Cell) -> list[BySeed]:
    return [evidence.by_seed(cell.replaced(threshold=threshold), mean) for threshold in THRESHOLDS]


def span_of_means(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the largest less the smallest mean RTT over the thresholds, ms."""
    means = _means(evidence, cell)
    shared = [seed for seed in means[0] if all(seed in one for one in means)]
    return {seed: max(one[seed] for one in means) - min(one[seed] for one in means) for seed in shared}


def _step(evidence: Evidence, cell: Cell, quantity: Quantity) -> BySeed:
    """Return a quantity in the cell less that with the threshold below."""
    below = {high: low for low, high in pairwise(THRESHOLDS)}[cell.threshold]
    lower = evidence.by_seed(cell.replaced(threshold=below), quantity)
    return {seed: value - lower[seed] for seed, value in evidence.by_seed(cell, quantity).items() if seed in lower}


def step_of_mean(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the mean RTT in the cell less that with the threshold below, ms."""
    return _step(evidence, cell, mean)


def step_of_mbit(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the goodput in the cell less that with the threshold below, Mbit/s."""
    return _step(evidence, cell, mbit)


def most_lost_later(evidence: Evidence, cell: Cell, *buffers: str) -> BySeed:
    """Return the largest loss of throughput with the buffers named less that in the cell, per cent."""

    def lost(buffer: int) -> BySeed:
        other = cell.replaced(buffer=buffer)
        whole = evidence.by_seed(passive(cell.tcp, cell.base, buffer), mbit)
        left = evidence.by_seed(other, mbit)
        return {seed: 100 * (1 - value / whole[seed]) for seed, value in left.items() if seed in whole}

    here, later = lost(cell.buffer), [lost(int(buffer)) for buffer in buffers]
    shared = [seed for seed in here if all(seed in each for each in later)]
    return {seed: max(each[seed] for each in later) - here[seed] for seed in shared}


def _pie_median(evidence: Evidence, cell: Cell) -> BySeed:
    pie = passive(cell.tcp, cell.base, queue=PIE)
    return evidence.by_seed(pie, lambda run: float(np.median(run.per_second)))


def seconds_below_pie(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the share of the seconds with less throughput than PIE's median."""
    usual = _pie_median(evidence, cell)
    runs = [run for run in evidence.of(cell) if run.seed in usual]
    return {run.seed: float((run.per_second < AS_MUCH * usual[run.seed]).mean()) for run in runs}


def best_tenth_over_pie(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the throughput that a tenth of the seconds exceed, over PIE's median."""
    usual = _pie_median(evidence, cell)
    runs = [run for run in evidence.of(cell) if run.seed in usual]
    return {run.seed: float(np.quantile(run.per_second, 0.9)) / usual[run.seed] for run in runs}


VOCABULARY = Vocabulary(
    axes=AXES,
    names={
        "TCPS": TCPS,
        "BASES": BASES_MS,
        "BUFFERS": BUFFERS,
        "THRESHOLDS": THRESHOLDS,
        "AQMS": (CODEL, PIE),
    },
    quantities=QUANTITIES,
    series={
        "growth": growth,
        "tcps_apart": tcps_apart,
        "span_of_gains": span_of_gains,
        "best_gain": best_gain,
        "gain_above_reno": gain_above_reno,
        "rank_of_half_gain": rank_of_half_gain,
        "span_of_means": span_of_means,
        "step_of_mean": step_of_mean,
        "step_of_mbit": step_of_mbit,
        "most_lost_later": most_lost_later,
        "seconds_below_pie": seconds_below_pie,
        "best_tenth_over_pie": best_tenth_over_pie,
    },
)
