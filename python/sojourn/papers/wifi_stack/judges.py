"""The judges of the claims about the Wi-Fi stack that rules cannot say, and the numbers of notes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import fmean

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.wifi_stack import by_hand
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    AXES,
    FIFO,
    FQ_CODEL,
    FQ_MAC,
    LOSSLESS,
    LOSSY,
    ORDER,
    SLOW,
    TCP,
    Evidence,
    pooled_ping,
)
from sojourn.papers.wifi_stack.quantities import QUANTITIES, VOCABULARY
from sojourn.study.claims import Judges
from sojourn.study.evidence import differences, needed, ratios
from sojourn.study.verdict import Judgement, above, all_of, between, exact, not_below, within

#: Two latencies are the same within this share.
SAME = 0.2
#: "A little": largest distance of two distributions, at least what chance explains, at most this.
LITTLE = 0.5
#: How close the throughput must come to the share of frames that a loss rate leaves.
CLOSE = 0.15


def _each(evidence: Evidence, experiment: str, scheme: str, quantity: str) -> list[float]:
    name, *arguments = quantity.split()
    return evidence.each(AXES(experiment, scheme), lambda run: QUANTITIES[name](run, *arguments))


def airtime_changes_the_shape(evidence: Evidence) -> Judgement:
    """wst-09."""
    before, after = (np.sort(pooled_ping(evidence, TCP, scheme, SLOW)) for scheme in (FQ_MAC, AIRTIME))
    places = np.concatenate([before, after])
    distance = float(
        np.abs(
            np.searchsorted(before, places, side="right") / len(before)
            - np.searchsorted(after, places, side="right") / len(after)
        ).max()
    )
    # Kolmogorov and Smirnov's bound for two samples at 5 %.
    chance = 1.358 * float(np.sqrt(1 / len(before) + 1 / len(after)))
    what = f"largest distance of the slow station's distributions under {FQ_MAC} and {AIRTIME}"
    medians = ratios(*(_each(evidence, TCP, scheme, "latency slow") for scheme in (AIRTIME, FQ_MAC)))
    same = f"latency under {AIRTIME} over that under {FQ_MAC}, slow"
    return all_of(
        [
            *between(what, distance, round(chance, 4), LITTLE, ""),
            *within(same, medians, 1 - SAME, 1 + SAME, ""),
        ]
    )


def resent_frames_go_first(evidence: Evidence) -> Judgement:
    """wst-26."""
    first, last = by_hand.resend(first=True), by_hand.resend(first=False)
    lossy, lossless = AXES(LOSSY, FQ_MAC), AXES(LOSSLESS, FQ_MAC)
    pairs = evidence.paired(lossy, lossless, QUANTITIES["total"])
    again = {
        run.seed: run.stations["fast1"].retries / run.stations["fast1"].transmissions
        for run in evidence.of(lossy)
        if run.seed in pairs
    }
    left = [one / whole / (1 - again[seed]) for seed, (one, whole) in pairs.items()]
    return all_of(
        [
            exact("turns without a frame to send, resent frames first", first.stalled, "=", 0, "turns"),
            exact("the same with resent frames last", last.stalled, ">", last.turns / 2, "turns"),
            *within("throughput with losses over what the losses leave, in a cell", left, 1 - CLOSE, 1 + CLOSE, ""),
        ],
        note=f"by hand, of {first.turns} turns: {first.delivered} frames delivered, and {last.delivered}; in the cell "
        f"{100 * fmean(again.values()):.0f} % of the transmissions are repeated",
    )


def numbers_are_assigned_last(evidence: Evidence) -> Judgement:
    """wst-28."""
    before, after = by_hand.discarded(numbered_before=True), by_hand.discarded(numbered_before=False)
    losses = [loss for run in evidence.of(AXES(ORDER, FQ_MAC)) for loss in run.loss.values()]
    lost = needed(max(losses, default=None), "datagrams")
    return all_of(
        [
            exact("packets discarded, numbered before flow queueing", before, ">", 0, "packets"),
            exact("packets discarded, numbered after it", after, "=", 0, "packets"),
            exact("share of packets lost in a cell with four flows of a station", lost, "=", 0, ""),
        ],
        note="by hand, of 400 packets of four flows through fq_codel, without a drop",
    )


def it_costs_more(evidence: Evidence) -> Judgement:
    """wst-30."""
    mac, fifo = (evidence.cpu_ns.get(scheme, ()) for scheme in (FQ_MAC, FIFO))
    if not mac or not fifo:
        message = "the processor time of a packet was not measured: this back end does not say"
        raise SojournError(message)
    return all_of(
        [above(f"processor time of a packet under {FQ_MAC} over that under {FIFO}", ratios(mac, fifo), 1.0, "")],
        note=f"the whole simulation of a packet, {fmean(mac):.0f} and {fmean(fifo):.0f} ns: a bound from below on the "
        "ratio of the queues alone",
    )


def latencies_are_in_order(evidence: Evidence) -> Judgement:
    """wst-31."""
    order = [(FIFO, "fast"), (FQ_CODEL, "slow"), (FQ_CODEL, "fast"), (FQ_MAC, "slow"), (FQ_MAC, "fast")]
    checks = []
    for (first, here), (second, there) in pairwise(order):
        higher = _each(evidence, TCP, first, f"latency {here}")
        gaps = differences(higher, _each(evidence, TCP, second, f"latency {there}"))
        what = f"latency under {first}, {here}, less that under {second}, {there}"
        # The paper finds fq_codel's fast stations and fq_mac's slow one alike.
        alike = (second, there) == (FQ_MAC, "slow")
        room = -round(SAME * fmean(higher), 3)
        checks.append(not_below(what, gaps, room, "ms") if alike else above(what, gaps, 0.0, "ms"))
    note = "the slow station's latency under FIFO is no less than the fast ones'; the third and the fourth may be alike"
    return all_of(checks, note=note)


def fairness_can_come_before_priority(_evidence: Evidence) -> Judgement:
    """wst-32."""
    fair, strict = (by_hand.lower_before_higher(fairness_first=first) for first in (True, False))
    return all_of(
        [
            exact("best-effort frames sent while voice waits, fairness first", fair, ">", 0, "frames"),
            exact("the same with priority first", strict, "=", 0, "frames"),
        ],
        note="by hand, 300 frames of two stations",
    )


FUNCTIONS: dict[str, Callable[[Evidence], Judgement]] = {
    "wst-09": airtime_changes_the_shape,
    "wst-26": resent_frames_go_first,
    "wst-28": numbers_are_assigned_last,
    "wst-30": it_costs_more,
    "wst-31": latencies_are_in_order,
    "wst-32": fairness_can_come_before_priority,
}
JUDGES = Judges(paper="wifi_stack", vocabulary=VOCABULARY, by_function=FUNCTIONS)
