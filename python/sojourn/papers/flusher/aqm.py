"""The claims about the flusher beside CoDel and PIE: sections 6.3.2 and 6.3.3, Figs. 6.21 to 6.30."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from sojourn.papers.flusher.evidence import (
    BASES_MS,
    CODEL,
    CUBIC,
    FQ_CODEL,
    PIE,
    RANKS,
    RECOMMENDED,
    RENO,
    SLOT_MS,
    TCPS,
    Cell,
    Evidence,
    Seen,
    active,
    at_rank,
    mbit,
    mean,
    median,
    passive,
)
from sojourn.papers.flusher.grid import Judge, gain, less, loss, near, percent_apart
from sojourn.papers.kit.verdict import Judgement, above, all_of, below, not_above, not_below, within

AQMS = (CODEL, PIE)


def aqms_then_flusher_then_fifo(evidence: Evidence, reading: str) -> Judgement:
    """flu-50."""
    checks = []
    for tcp, base in product(TCPS, BASES_MS):
        cell = active(tcp, base, reading=reading)
        gaps = evidence.gaps(cell, passive(tcp, base), mean)
        checks.append(below(f"mean RTT less passive, {cell.words()}", gaps, 0.0, "ms"))
        for queue in AQMS:
            gaps = evidence.gaps(cell, passive(tcp, base, queue=queue), mean)
            checks.append(above(f"mean RTT less {queue}'s, {cell.words()}", gaps, 0.0, "ms"))
    return all_of(checks)


def close_to_pie_at_10(evidence: Evidence, reading: str) -> Judgement:
    """flu-51."""
    checks = []
    for tcp in TCPS:
        cell = active(tcp, 10, reading=reading)
        apart = percent_apart(evidence, cell, passive(tcp, 10, queue=PIE), median)
        checks += near(f"median RTT above PIE's, {cell.words()}", apart, 0.0, 40.0, "percent")
    return all_of(checks)


def reno_improves_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-52."""
    return all_of(
        [
            above(
                f"gain of Reno less CUBIC, {base} ms",
                less(*(gain(evidence, tcp, base, RECOMMENDED, reading) for tcp in (RENO, CUBIC))),
                0.0,
                "ms",
            )
            for base in (50, 100)
        ]
    )


def cubic_is_a_little_better_at_10(evidence: Evidence, reading: str) -> Judgement:
    """flu-53."""
    gaps = evidence.gaps(active(CUBIC, 10, reading=reading), active(RENO, 10, reading=reading), mean)
    return all_of([below("mean RTT of CUBIC less Reno, 10 ms", gaps, 0.0, "ms")])


def the_distribution_jumps_at_88(evidence: Evidence, reading: str) -> Judgement:
    """flu-54."""
    checks = []
    for tcp, base in product(TCPS, BASES_MS):
        cell = active(tcp, base, reading=reading)
        ranks = evidence.each(cell, _jump)
        checks += within(f"percentile of the steepest rise of the RTT, {cell.words()}", ranks, 80.0, 95.0, "")
    return all_of(checks)


def flushes_make_peaks(evidence: Evidence, reading: str) -> Judgement:
    """flu-55."""
    return all_of(
        [
            above(
                f"rises above 95 % of the longest RTT in a run less passive, {cell.words()}",
                evidence.gaps(cell, passive(cell.tcp, cell.base), lambda seen: seen.peaks),
                0.0,
                "",
            )
            for cell in (active(tcp, base, reading=reading) for tcp, base in product(TCPS, BASES_MS))
        ]
    )


def aqms_lead_more_on_long_paths(evidence: Evidence, reading: str) -> Judgement:
    """flu-56."""
    checks = []
    for tcp, queue, (before, after) in product(TCPS, AQMS, pairwise(BASES_MS)):
        gaps = [
            evidence.gaps(active(tcp, base, reading=reading), passive(tcp, base, queue=queue), mean)
            for base in (after, before)
        ]
        checks.append(above(f"mean RTT less {queue}'s, {tcp}, {after} ms less {before} ms", less(*gaps), 0.0, "ms"))
    return all_of(checks)


def fq_codel_is_codel_for_one_flow(evidence: Evidence, _reading: str) -> Judgement:
    """flu-57."""
    checks = []
    for tcp, base in product(TCPS, BASES_MS):
        pair = (passive(tcp, base, queue=FQ_CODEL), passive(tcp, base, queue=CODEL))
        where = f"{tcp}, {base} ms"
        checks += near(f"mean RTT above CoDel's, {where}", percent_apart(evidence, *pair, mean), 0.0, 3.0, "percent")
        checks += near(f"throughput above CoDel's, {where}", percent_apart(evidence, *pair, mbit), 0.0, 3.0, "percent")
    return all_of(checks)


def beside_an_aqm_it_rests(evidence: Evidence, reading: str) -> Judgement:
    """flu-58."""
    checks = []
    for tcp, base, queue in product(TCPS, BASES_MS, AQMS):
        cell = Cell(tcp, base, 100, queue, reading, True, RECOMMENDED)
        flushes = evidence.each(cell, lambda seen: len(seen.flushes))
        # Slow start is none of the AQM's: a flush in it is allowed.
        checks.append(not_above(f"flushes by threshold in a run, {cell.words()}", flushes, 1.0, ""))
        apart = percent_apart(evidence, cell, passive(tcp, base, queue=queue), mean)
        checks += near(f"mean RTT above passive, {cell.words()}", apart, 0.0, 5.0, "percent")
    return all_of(checks)


def aqm_drops_make_no_spike(evidence: Evidence, _reading: str) -> Judgement:
    """flu-59."""
    return all_of(
        [
            below(
                f"RTT of the tenths of a second with a drop over the others', {cell.words()}",
                evidence.each(cell, lambda seen: seen.drop_rise),
                1.5,
                "",
            )
            for cell in (passive(tcp, base, queue=queue) for tcp, base, queue in product(TCPS, BASES_MS, AQMS))
        ]
    )


def flushes_cost_throughput(evidence: Evidence, reading: str) -> Judgement:
    """flu-60."""
    return all_of(
        [
            above(f"throughput lost, {cell.words()}", loss(evidence, cell), 0.0, "percent")
            for cell in (active(tcp, base, reading=reading) for tcp, base in product(TCPS, BASES_MS))
        ]
    )


def tcps_carry_the_same(evidence: Evidence, reading: str) -> Judgement:
    """flu-61."""
    checks = []
    for base in BASES_MS:
        cells = [passive(RENO, base), active(RENO, base, reading=reading)]
        cells += [passive(RENO, base, queue=queue) for queue in AQMS]
        for cell in cells:
            apart = percent_apart(evidence, cell._replace(tcp=CUBIC), cell, mbit)
            checks += near(f"throughput of CUBIC above Reno, {cell.words()}", apart, 0.0, 5.0, "percent")
    return all_of(checks)


def codel_falls_with_base(evidence: Evidence, _reading: str) -> Judgement:
    """flu-62."""
    return all_of(
        [
            below(
                f"throughput of CoDel, {tcp}, {after} ms less {before} ms",
                evidence.gaps(passive(tcp, after, queue=CODEL), passive(tcp, before, queue=CODEL), mbit),
                0.0,
                "Mbit/s",
            )
            for tcp, (before, after) in product(TCPS, pairwise(BASES_MS))
        ]
    )


def pie_is_the_benchmark(evidence: Evidence, _reading: str) -> Judgement:
    """flu-63."""
    checks = []
    for tcp in TCPS:
        falls = [
            evidence.gaps(passive(tcp, 10, queue=queue), passive(tcp, 100, queue=queue), mbit) for queue in (CODEL, PIE)
        ]
        checks.append(above(f"fall from 10 to 100 ms, CoDel less PIE, {tcp}", less(*falls), 0.0, "Mbit/s"))
        for base in BASES_MS:
            gaps = evidence.gaps(passive(tcp, base, queue=PIE), passive(tcp, base, queue=CODEL), mbit)
            checks.append(not_below(f"throughput of PIE less CoDel, {tcp}, {base} ms", gaps, 0.0, "Mbit/s"))
    return all_of(checks)


def half_of_the_run_is_below_pie(evidence: Evidence, reading: str) -> Judgement:
    """flu-64."""
    cell, pie = active(RENO, 50, reading=reading), passive(RENO, 50, queue=PIE)
    usual = {seen.seed: float(np.median(seen.per_second)) for seen in evidence.of(pie)}
    below_it = [float((seen.per_second < 0.98 * usual[seen.seed]).mean()) for seen in evidence.of(cell)]
    best = [float(np.quantile(seen.per_second, 0.9)) / usual[seen.seed] for seen in evidence.of(cell)]
    return all_of(
        [
            *near("share of seconds with less than PIE's median throughput", below_it, 0.5, 0.2, ""),
            above("best tenth of the seconds over PIE's median", best, 0.95, ""),
        ]
    )


def cubic_at_100_carries_what_pie_does(evidence: Evidence, reading: str) -> Judgement:
    """flu-66."""
    cell = active(CUBIC, 100, reading=reading)
    apart = percent_apart(evidence, cell, passive(CUBIC, 100, queue=PIE), mbit)
    return all_of(near(f"throughput above PIE's, {cell.words()}", apart, 0.0, 5.0, "percent"))


def long_paths_lose_less(evidence: Evidence, reading: str) -> Judgement:
    """flu-67."""
    checks = []
    for tcp, (before, after) in product(TCPS, pairwise(BASES_MS)):
        gaps = less(*(loss(evidence, active(tcp, base, reading=reading)) for base in (after, before)))
        checks.append(below(f"throughput lost, {tcp}, {after} ms less {before} ms", gaps, 0.0, "percent"))
    return all_of(checks)


def at_best_it_equals_pie(evidence: Evidence, reading: str) -> Judgement:
    """flu-85."""
    checks = []
    for tcp, base in product(TCPS, BASES_MS):
        cell, pie = active(tcp, base, reading=reading), passive(tcp, base, queue=PIE)
        best = evidence.gaps(cell, pie, lambda seen: at_rank(seen, 0.1))
        checks.append(not_above(f"lowest tenth of the RTTs less PIE's, {cell.words()}", best, 2 * SLOT_MS, "ms"))
        checks.append(
            below(f"mean RTT less passive, {cell.words()}", evidence.gaps(cell, passive(tcp, base), mean), 0, "ms")
        )
        for queue in AQMS:
            gaps = evidence.gaps(cell, passive(tcp, base, queue=queue), mean)
            checks.append(above(f"mean RTT less {queue}'s, {cell.words()}", gaps, 0.0, "ms"))
    return all_of(checks)


def pie_halves_reno_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-90."""
    gaps = evidence.gaps(passive(RENO, 100, queue=PIE), active(RENO, 100, reading=reading), lambda seen: seen.halvings)
    return all_of([above("reductions of Reno's window in a run, PIE less the flusher, 100 ms", gaps, 0.0, "")])


def it_jitters_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-94."""
    return all_of(
        [
            above(
                f"standard deviation of the RTT less {queue}'s, {cell.words()}",
                evidence.gaps(cell, passive(cell.tcp, cell.base, queue=queue), lambda seen: seen.std),
                0.0,
                "ms",
            )
            for cell in (active(tcp, base, reading=reading) for tcp, base in product(TCPS, BASES_MS))
            for queue in AQMS
        ]
    )


def _jump(seen: Seen) -> float:
    """Return the percentile after which the RTT rises most within two per cent of the runs, from the median on."""
    step = 4
    rises = seen.rtt[step:] - seen.rtt[:-step]
    first = len(RANKS) // 2
    return 100 * float(RANKS[first + int(np.argmax(rises[first:-1]))])


JUDGES: dict[str, Judge] = {
    "flu-50": aqms_then_flusher_then_fifo,
    "flu-51": close_to_pie_at_10,
    "flu-52": reno_improves_more,
    "flu-53": cubic_is_a_little_better_at_10,
    "flu-54": the_distribution_jumps_at_88,
    "flu-55": flushes_make_peaks,
    "flu-56": aqms_lead_more_on_long_paths,
    "flu-57": fq_codel_is_codel_for_one_flow,
    "flu-58": beside_an_aqm_it_rests,
    "flu-59": aqm_drops_make_no_spike,
    "flu-60": flushes_cost_throughput,
    "flu-61": tcps_carry_the_same,
    "flu-62": codel_falls_with_base,
    "flu-63": pie_is_the_benchmark,
    "flu-64": half_of_the_run_is_below_pie,
    "flu-66": cubic_at_100_carries_what_pie_does,
    "flu-67": long_paths_lose_less,
    "flu-85": at_best_it_equals_pie,
    "flu-90": pie_halves_reno_more,
    "flu-94": it_jitters_more,
}
