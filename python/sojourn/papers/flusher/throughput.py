"""The claims about what the thesis's flusher costs in throughput: section 6.3.1, Figs. 6.16 to 6.20."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from sojourn.papers.flusher.evidence import (
    BASES_MS,
    BUFFERS,
    CAPACITY_MBIT,
    CUBIC,
    RENO,
    TCPS,
    THRESHOLDS,
    Evidence,
    Seen,
    active,
    mbit,
    mean,
    passive,
)
from sojourn.papers.flusher.grid import Judge, both, less, loss, near, percent_apart
from sojourn.papers.kit.verdict import Judgement, above, all_of, below, not_above, not_below


def little_is_lost_at_50(evidence: Evidence, reading: str) -> Judgement:
    """flu-35."""
    checks = []
    for buffer in BUFFERS:
        cell = active(RENO, 50, buffer, reading=reading)
        checks.append(below(f"throughput lost, {cell.words()}", loss(evidence, cell), 15.0, "percent"))
        apart = percent_apart(evidence, cell, passive(RENO, 50, buffer), _best)
        checks += near(f"best second above the passive one's, {cell.words()}", apart, 0.0, 5.0, "percent")
    return all_of(checks)


def nothing_is_lost_at_10_packets(evidence: Evidence, reading: str) -> Judgement:
    """flu-36."""
    cell = active(RENO, 50, 10, reading=reading)
    return all_of(near(f"throughput lost, {cell.words()}", loss(evidence, cell), 0.0, 1.0, "percent"))


def throughput_is_lowest_from_60_on(evidence: Evidence, reading: str) -> Judgement:
    """flu-37."""
    curve = {buffer: loss(evidence, active(RENO, 50, buffer, reading=reading)) for buffer in BUFFERS}
    rise = less(curve[60], curve[30])
    later = [max(curve[b][i] for b in (80, 90, 100)) - curve[60][i] for i in range(len(curve[60]))]
    return all_of(
        [
            above("throughput lost at 60 packets less that at 30, Reno, 50 ms", rise, 0.0, "percent"),
            not_above("and the most lost at 80 to 100 packets less that at 60", later, 2.0, "percent"),
        ]
    )


def tcps_carry_the_same(evidence: Evidence, reading: str) -> Judgement:
    """flu-39."""
    checks = []
    for buffer in BUFFERS:
        for cell in (active(RENO, 50, buffer, reading=reading), passive(RENO, 50, buffer)):
            apart = percent_apart(evidence, cell._replace(tcp=CUBIC), cell, mbit)
            checks += near(f"throughput of CUBIC above Reno, {cell.words()}", apart, 0.0, 3.0, "percent")
    return all_of(checks)


def the_lowest_threshold_loses_most(evidence: Evidence, reading: str) -> Judgement:
    """flu-40."""
    checks = []
    for tcp, base, other in product(TCPS, BASES_MS, (1.7, 2.0)):
        first = active(tcp, base, threshold=1.5, reading=reading)
        gaps = less(loss(evidence, first), loss(evidence, first._replace(threshold=other)))
        checks.append(not_below(f"loss of 1.5 less {other:g}, {tcp}, {base} ms", gaps, 0.0, "percent"))
    return all_of(checks)


def thresholds_carry_the_same_at_10(evidence: Evidence, reading: str) -> Judgement:
    """flu-41."""
    checks = []
    for tcp, other in product(TCPS, (1.7, 2.0)):
        first = active(tcp, 10, threshold=1.5, reading=reading)
        apart = percent_apart(evidence, first._replace(threshold=other), first, mbit)
        checks += near(f"throughput of {other:g} above 1.5, {tcp}, 10 ms", apart, 0.0, 3.0, "percent")
    return all_of(checks)


def two_carries_most(evidence: Evidence, reading: str) -> Judgement:
    """flu-42."""
    return all_of(
        [
            not_below(
                f"throughput of 2 above {other:g}, {tcp}, {base} ms",
                percent_apart(
                    evidence,
                    active(tcp, base, threshold=2.0, reading=reading),
                    active(tcp, base, threshold=other, reading=reading),
                    mbit,
                ),
                0.0,
                "percent",
            )
            for tcp, base, other in product(TCPS, (50, 100), (1.5, 1.7))
        ]
    )


def cubic_is_a_little_lower_at_50(evidence: Evidence, reading: str) -> Judgement:
    """flu-43."""
    checks = []
    for threshold in THRESHOLDS:
        pair = both(50, threshold, reading)
        gaps = evidence.gaps(*pair, mean)
        checks.append(not_above(f"mean RTT of CUBIC less Reno, 50 ms, {threshold:g}", gaps, 0.0, "ms"))
        apart = percent_apart(evidence, *pair, mbit)
        checks.append(not_above(f"throughput of CUBIC above Reno, 50 ms, {threshold:g}", apart, 0.0, "percent"))
    return all_of(checks)


def thresholds_trade(evidence: Evidence, reading: str) -> Judgement:
    """flu-44."""
    checks = []
    for tcp, base, (one, other) in product(TCPS, (50, 100), pairwise(THRESHOLDS)):
        pair = [active(tcp, base, threshold=threshold, reading=reading) for threshold in (other, one)]
        where = f"{other:g} less {one:g}, {tcp}, {base} ms"
        checks.append(not_below(f"mean RTT of {where}", evidence.gaps(pair[0], pair[1], mean), 0.0, "ms"))
        checks.append(not_below(f"throughput of {where}", evidence.gaps(pair[0], pair[1], mbit), 0.0, "Mbit/s"))
    return all_of(checks)


def lower_thresholds_are_close(evidence: Evidence, reading: str) -> Judgement:
    """flu-45."""
    checks = []
    for tcp in TCPS:
        cells = [active(tcp, 100, threshold=threshold, reading=reading) for threshold in THRESHOLDS]
        gaps = less(evidence.gaps(cells[2], cells[1], mean), evidence.gaps(cells[1], cells[0], mean))
        checks.append(above(f"step of the mean RTT to 2 less that to 1.7, {tcp}, 100 ms", gaps, 0.0, "ms"))
    return all_of(checks)


def throughput_dips_and_recovers(evidence: Evidence, reading: str) -> Judgement:
    """flu-48."""
    checks = []
    for tcp in TCPS:
        cell = active(tcp, 50, reading=reading)
        # From 1 s before a flush on, in tenths of a second.
        before = evidence.each(cell, lambda seen: _around(seen, 0, 0, 10))
        dip = evidence.each(cell, lambda seen: _lowest(seen, 10, 20))
        later = evidence.each(cell, lambda seen: _around(seen, 0, 30, 40))
        checks.append(
            below(f"lowest tenth of a second after a flush less before, {cell.words()}", less(dip, before), 0, "Mbit/s")
        )
        checks.append(above(f"2 to 3 s after a flush less the lowest, {cell.words()}", less(later, dip), 0, "Mbit/s"))
    return all_of(checks)


def a_standing_queue_fills_the_link(evidence: Evidence, _reading: str) -> Judgement:
    """flu-49."""
    return all_of(
        [
            above(
                f"goodput while a queue stands over what the link carries, {cell.words()}",
                evidence.each(cell, _while_standing),
                0.98,
                "",
            )
            for cell in (passive(tcp, base) for tcp, base in product(TCPS, BASES_MS))
        ]
    )


def _around(seen: Seen, which: int, first: int, last: int) -> float | None:
    return None if seen.after is None else float(seen.after[which][first:last].mean())


def _lowest(seen: Seen, first: int, last: int) -> float | None:
    return None if seen.after is None else float(seen.after[0][first:last].min())


def _while_standing(seen: Seen) -> float | None:
    """Return the goodput in bins that begin and end with a queue of 5 packets at least, over the link's."""
    course = seen.course
    standing = (course.backlog >= 5) & (np.roll(course.backlog, 1) >= 5) & (course.t > 20.0)
    return float(course.goodput[standing].mean()) / CAPACITY_MBIT if standing.any() else None


def _best(seen: Seen) -> float:
    """Return the throughput of the best second."""
    return float(seen.per_second[-1])


JUDGES: dict[str, Judge] = {
    "flu-35": little_is_lost_at_50,
    "flu-36": nothing_is_lost_at_10_packets,
    "flu-37": throughput_is_lowest_from_60_on,
    "flu-39": tcps_carry_the_same,
    "flu-40": the_lowest_threshold_loses_most,
    "flu-41": thresholds_carry_the_same_at_10,
    "flu-42": two_carries_most,
    "flu-43": cubic_is_a_little_lower_at_50,
    "flu-44": thresholds_trade,
    "flu-45": lower_thresholds_are_close,
    "flu-48": throughput_dips_and_recovers,
    "flu-49": a_standing_queue_fills_the_link,
}
