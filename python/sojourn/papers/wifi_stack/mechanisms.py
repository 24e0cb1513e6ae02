"""The claims of seed 002 about how the stack works, each shown by a small scenario or by hand (`wifi_by_hand`)."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import differences, ratios
from sojourn.papers.kit.verdict import Judgement, above, all_of, below, exact, within
from sojourn.papers.wifi_stack import by_hand
from sojourn.papers.wifi_stack.evidence import (
    DEPTHS,
    EQUAL,
    FIFO,
    FQ_MAC,
    LEVEL_BE,
    LEVEL_VO,
    LEVELS,
    LOSSLESS,
    LOSSY,
    ONE_TID,
    ORDER,
    OVERLOAD,
    SHAPED,
    TWO_TIDS,
    VOICE_BE,
    VOICE_VO,
    Evidence,
    Quantity,
    Seen,
    VoiceSeen,
    median_ping,
)

#: The reasons under which a record counts packets dropped for want of room.
NO_ROOM = ("queue_limit", "memory_limit")
#: Two scores are the same within this, as in the paper behind the seed: 4.37 to 4.41.
SAME_MOS = 0.1
#: What two aggregates are allowed to be, by Little's law.
TWO = (1.9, 2.1)
#: Share of frames that a loss rate leaves, and how close the throughput must come to it.
CLOSE = 0.15
#: Voice streams of the aggregates that are counted; one leaves alone, the rest in one aggregate for each identifier.
STREAMS = 16
#: Highest first: the voice streams of `LEVELS`.
LEVEL_NAMES, LEVEL_TIDS = ("vo", "vi", "be", "bk"), (6, 5, 0, 1)


def the_longest_queue_pays(evidence: Evidence) -> Judgement:
    """wst-20."""

    def lost(name: str) -> Quantity:
        return lambda seen: 100 * seen.loss[f"udp_{name}"]

    def full(name: str) -> Quantity:
        return lambda seen: float(sum(seen.stations[name].drops.get(reason, 0) for reason in NO_ROOM))

    thin, flood = "fast2", "fast1"
    fifo = fmean(evidence.each(OVERLOAD, FIFO, lost(thin)))
    return all_of(
        [
            above("packets of the flood dropped for want of room", evidence.each(OVERLOAD, FQ_MAC, full(flood)), 0, ""),
            exact("those of the thin flow", sum(evidence.each(OVERLOAD, FQ_MAC, full(thin))), "=", 0, "packets"),
            exact("loss of the thin flow", max(evidence.each(OVERLOAD, FQ_MAC, lost(thin))), "=", 0, "%"),
        ],
        note=f"2 Mbit/s beside a flood of 200 at a limit of 100 packets; under {FIFO} the thin flow loses {fifo:.1f} %",
    )


def best_effort_does_for_voice(evidence: Evidence) -> Judgement:
    """wst-21."""

    def score(seen: Seen) -> float:
        found = _voice(seen, "voip").mos
        if found is None:
            message = f"the run with seed {seen.seed} has no score of its voice stream"
            raise SojournError(message)
        return found

    best, voice = (evidence.each(cell, FQ_MAC, score) for cell in (VOICE_BE, VOICE_VO))
    delays = [fmean(_delays(evidence, cell, FQ_MAC)) for cell in (VOICE_BE, VOICE_VO)]
    fifo = fmean(evidence.each(VOICE_BE, FIFO, score))
    what = "score (MOS) of a stream in the voice queue less that of one marked best effort"
    return all_of(
        [below(what, differences(voice, best), SAME_MOS, ""), above(what, differences(voice, best), -SAME_MOS, "")],
        note=f"induced delay {delays[0]:.1f} and {delays[1]:.1f} ms, best effort and voice, at the slow station; "
        f"MOS of best effort under {FIFO} {fifo:.2f}, under {FQ_MAC} {fmean(best):.2f}",
    )


def shaping_takes_more_off(evidence: Evidence) -> Judgement:
    """wst-22."""
    plain, shaped = (_all_pings(evidence, cell) for cell in (EQUAL, SHAPED))
    what = f"latency under {FQ_MAC} less that with a shaper below the wireless rate"
    mbit = [fmean(evidence.each(cell, FQ_MAC, lambda seen: sum(seen.goodput.values()))) for cell in (EQUAL, SHAPED)]
    return all_of(
        [above(what, differences(plain, shaped), 0.0, "ms")],
        note=f"three stations of 144.4 Mbit/s, {mbit[0]:.1f} Mbit/s together, and {mbit[1]:.1f} through fq_codel "
        "at the shaper",
    )


def levels_are_in_order(evidence: Evidence) -> Judgement:
    """wst-23."""
    delays = {
        name: evidence.each(LEVELS, FQ_MAC, lambda seen, name=name: _voice(seen, f"voice_{name}").delay_ms)  # type: ignore[misc]
        for name in LEVEL_NAMES
    }
    checks = [
        above(f"delay of {low} less that of {high}", differences(delays[low], delays[high]), 0.0, "ms")
        for high, low in zip(LEVEL_NAMES, LEVEL_NAMES[1:], strict=False)
    ]
    packets = ", ".join(
        f"{name} {fmean(evidence.each(LEVELS, FQ_MAC, _packets(tid))):.0f}"
        for name, tid in zip(LEVEL_NAMES, LEVEL_TIDS, strict=True)
    )
    return all_of(checks, note=f"a thin stream on each level beside a flood on each; packets sent: {packets}")


def voice_is_not_aggregated(evidence: Evidence) -> Judgement:
    """wst-24."""
    voice, best = (max(evidence.each(cell, FQ_MAC, _frames)) for cell in (LEVEL_VO, LEVEL_BE))
    return all_of(
        [
            exact("frames in an aggregate of a flood on the voice level", voice, "=", 1, "frames"),
            exact("the same of one on best effort", best, ">", 1, "frames"),
        ]
    )


def hardware_holds_two(evidence: Evidence) -> Judgement:
    """wst-25."""

    def held(seen: Seen) -> float:
        one = seen.stations["fast1"]
        return one.aggregates / seen.duration_s * (one.hardware_ms or 0.0) / 1000

    others = ", ".join(f"{fmean(evidence.each(DEPTHS[depth], FQ_MAC, held)):.2f} with {depth}" for depth in (1, 4))
    return all_of(
        within(
            "aggregates from built to delivered at a saturated station",
            evidence.each(DEPTHS[2], FQ_MAC, held),
            *TWO,
            "",
        ),
        note=f"by Little's law, aggregates a second times the time each is there; {others}",
    )


def resent_frames_go_first(evidence: Evidence) -> Judgement:
    """wst-26."""
    first, last = by_hand.resend(first=True), by_hand.resend(first=False)
    share = ratios(
        evidence.each(LOSSY, FQ_MAC, lambda seen: sum(seen.goodput.values())),
        evidence.each(LOSSLESS, FQ_MAC, lambda seen: sum(seen.goodput.values())),
    )
    again = [
        seen.stations["fast1"].retries / seen.stations["fast1"].transmissions for seen in evidence.of(LOSSY, FQ_MAC)
    ]
    left = [one / (1 - resent) for one, resent in zip(share, again, strict=True)]
    return all_of(
        [
            exact("turns without a frame to send, resent frames first", first.stalled, "=", 0, "turns"),
            exact("the same with resent frames last", last.stalled, ">", last.turns / 2, "turns"),
            *within("throughput with losses over what the losses leave, in a cell", left, 1 - CLOSE, 1 + CLOSE, ""),
        ],
        note=f"by hand, of {first.turns} turns: {first.delivered} frames delivered, and {last.delivered}; in the cell "
        f"{100 * fmean(again):.0f} % of the transmissions are repeated",
    )


def identifiers_do_not_mix(evidence: Evidence) -> Judgement:
    """wst-27."""
    one, two = (evidence.each(cell, FQ_MAC, _frames) for cell in (ONE_TID, TWO_TIDS))
    most = STREAMS / 3
    return all_of(
        [
            above("frames in an aggregate, packets of one identifier", one, most, "frames"),
            exact("the same with two identifiers", max(two), "<", most + 0.05, "frames"),
        ],
        note=f"{STREAMS} packets arrive together and the first leaves alone: one aggregate more, or two",
    )


def numbers_are_given_last(evidence: Evidence) -> Judgement:
    """wst-28."""
    before, after = by_hand.discarded(numbered_before=True), by_hand.discarded(numbered_before=False)
    lost = max(max(seen.loss.values()) for seen in evidence.of(ORDER, FQ_MAC))
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


def fairness_can_come_before_priority(evidence: Evidence) -> Judgement:
    """wst-32."""
    del evidence
    fair, strict = (by_hand.lower_before_higher(fairness_first=first) for first in (True, False))
    return all_of(
        [
            exact("best-effort frames sent while voice waits, fairness first", fair, ">", 0, "frames"),
            exact("the same with priority first", strict, "=", 0, "frames"),
        ],
        note="by hand, 300 frames of two stations",
    )


def _voice(seen: Seen, name: str) -> VoiceSeen:
    if name not in seen.voices:
        message = f"the run with seed {seen.seed} has no voice stream {name}"
        raise SojournError(message)
    return seen.voices[name]


def _delays(evidence: Evidence, experiment: str, scheme: str) -> list[float]:
    return evidence.each(experiment, scheme, lambda seen: _voice(seen, "voip").delay_ms)


def _all_pings(evidence: Evidence, experiment: str) -> list[float]:
    return evidence.each(experiment, FQ_MAC, lambda seen: median_ping(seen, tuple(seen.stations)))


def _frames(seen: Seen) -> float:
    return seen.stations["fast1"].aggregate_frames


def _packets(tid: int) -> Quantity:
    return lambda seen: float(seen.stations["fast1"].tids.get(tid, 0))


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "wst-20": the_longest_queue_pays,
    "wst-21": best_effort_does_for_voice,
    "wst-22": shaping_takes_more_off,
    "wst-23": levels_are_in_order,
    "wst-24": voice_is_not_aggregated,
    "wst-25": hardware_holds_two,
    "wst-26": resent_frames_go_first,
    "wst-27": identifiers_do_not_mix,
    "wst-28": numbers_are_given_last,
    "wst-30": it_costs_more,
    "wst-32": fairness_can_come_before_priority,
}
