"""The claims of seed 000 that are shown by disciplines driven by hand, and by what the presets expand to."""

from __future__ import annotations

from collections.abc import Callable

from sojourn import _native
from sojourn.errors import SojournError
from sojourn.papers import by_hand
from sojourn.papers.good_bad_wifi import pie_steps
from sojourn.papers.good_bad_wifi.evidence import AXES, FAIR, LARGE_OBJECTS, LINKS, RRUL, WEB_RRUL, Evidence
from sojourn.papers.good_bad_wifi.pie_steps import LOW, MIDDLE, mean_step
from sojourn.papers.good_bad_wifi.quantities import fetch_time
from sojourn.study.evidence import differences, ratios
from sojourn.study.verdict import Judgement, above, all_of, between, exact

#: ARED's target delay, of which the lower threshold is half (ms).
ARED_TARGET_MS = 20.0
#: Bytes of a full packet on the wire: the paper's MTU.
FULL = by_hand.FULL
#: cfg-09: byte shares are equal if they differ by less than this share.
SAME = 0.05
#: web-10: the packets of a small object's burst, and the standing queue of an AQM at 10 Mbit/s (packets).
BURST, STANDING = 10, 16
#: tran-06: nothing is dropped so early (ms).
ENGAGED_MS = 100.0
#: tran-08: shares that a law predicts are met if they are so near.
NEAR = 0.15
#: tran-09: the cap of an update (percentage points), and the delay from which more is added (ms).
CAP, RULE_MS = 2.0, 250.0


def parameters(preset: str, rate_mbit: int) -> dict[str, str]:
    """Return the parameters that a preset stands for at a rate, by name."""
    words = _native.expand_qdisc(preset, rate_mbit * 1_000_000).split()
    return dict(zip(words, words[1:], strict=False))


def ared_thresholds_follow_the_target(evidence: Evidence) -> Judgement:
    """gbw-cfg-04; it needs no runs."""
    del evidence
    checks = []
    for rate in (10, 100):
        found = parameters("gbw:ared", rate)
        low, high = float(found["min"]), float(found["max"])
        half = rate * 1e6 * ARED_TARGET_MS / 2 / 8000
        checks += [
            exact(f"{rate} Mbit/s: lower threshold", low, "=", half, "bytes"),
            exact(f"{rate} Mbit/s: upper threshold as a multiple of the lower", high / low, "=", 3.0, ""),
            exact(
                f"{rate} Mbit/s: time of a queue midway",
                (low + high) / 2 * 8000 / (rate * 1e6),
                "=",
                ARED_TARGET_MS,
                "ms",
            ),
        ]
    return all_of(checks)


def ared_thresholds_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-cfg-05; it needs no runs."""
    del evidence
    found = parameters("gbw:ared", 1)
    checks = [
        exact("1 Mbit/s: lower threshold", float(found["min"]), "=", float(FULL), "bytes"),
        exact("1 Mbit/s: upper threshold", float(found["max"]), "=", 2.0 * FULL, "bytes"),
    ]
    return all_of(checks)


def codel_target_fits_a_packet(evidence: Evidence) -> Judgement:
    """gbw-cfg-07; it needs no runs."""
    del evidence
    target = parameters("gbw:codel", 1)["target"]
    if not target.endswith("ms"):
        message = f"the target of gbw:codel at 1 Mbit/s is {target}, but must be in ms"
        raise SojournError(message)
    found = float(target.removesuffix("ms"))
    packet_ms = FULL * 8 / 1000
    checks = [
        exact("1 Mbit/s: CoDel's target", found, "=", 13.0, "ms"),
        exact("1 Mbit/s: CoDel's target less the time of a full packet", found - packet_ms, ">", 0.0, "ms"),
    ]
    return all_of(checks)


def sparse_flows_stay_new(evidence: Evidence) -> Judgement:
    """gbw-cfg-08; it needs no runs. SFQ, and a flow that does not drain, show that the drive can tell."""
    del evidence
    sparse = by_hand.others_ahead("gbw:fq_codel", gap_ms=20, size=200)
    dense = by_hand.others_ahead("gbw:fq_codel", gap_ms=3, size=FULL)
    sfq = by_hand.others_ahead("gbw:sfq", gap_ms=20, size=200)
    checks = [
        exact("packets of a sparse flow that were served", len(sparse), ">", 0, "packets"),
        exact("packets of old queues served before one of a sparse flow", max(sparse, default=0), "=", 0, "packets"),
        exact("the same for a flow whose queue does not drain", max(dense, default=0), ">", 0, "packets"),
    ]
    note = (
        f"{len(sparse)} packets of 200 bytes, 20 ms apart, beside four bulk flows at 10 Mbit/s, served by hand; "
        f"under sfq up to {max(sfq, default=0)} packets of others go before"
    )
    return all_of(checks, note=note)


def small_packets_share_bytes(evidence: Evidence) -> Judgement:
    """gbw-cfg-09; it needs no runs."""
    del evidence
    large, small = by_hand.shares("gbw:fq_codel", (FULL, 200))
    what = "bytes of a flow of small packets as a multiple of those of one of full packets"
    checks = [
        *between(what, small.bytes / max(large.bytes, 1), 1 - SAME, 1 + SAME, ""),
        exact("its packets as a multiple of the other's", small.packets / max(large.packets, 1), ">", 1.5, ""),
    ]
    return all_of(checks, note="two flows that always wait, 1514 and 200 bytes a packet, quantum 1514, served by hand")


def overflow_drops_from_the_longest(evidence: Evidence) -> Judgement:
    """gbw-cfg-10; it needs no runs."""
    del evidence
    text = "fq_codel limit 100 flows 1024 quantum 1514 target 100s interval 100s noecn variant linux-3.14"
    queues = {1: (30, FULL), 2: (70, 100)}
    victims = by_hand.overflow_victims(text, queues, arriving=2, packets=5)
    checks = [
        exact("packets dropped on overflow from the queue with the most bytes", victims[1], "=", 5, "packets"),
        exact("packets dropped from the queue with the most packets", victims[2], "=", 0, "packets"),
    ]
    note = "30 packets of 1514 bytes and 70 of 100 bytes fill the 100 places; then five more small ones arrive"
    return all_of(checks, note=note)


def nothing_is_dropped_early(evidence: Evidence) -> Judgement:
    """gbw-tran-06: driven by hand, and in the runs if their records tell."""
    checks = []
    for qdisc in ("codel", "pie"):
        for rate in (1, 10, 100):
            first = by_hand.first_drop_ms(f"gbw:{qdisc}", rate)
            if first is None:
                message = f"{qdisc} dropped nothing at {rate} Mbit/s"
                raise SojournError(message)
            checks.append(exact(f"{rate} Mbit/s: first drop of {qdisc}, driven by hand", first, ">", ENGAGED_MS, "ms"))
        for link in LINKS:
            for run in evidence.of(AXES(RRUL, link, qdisc)):
                times = [end.first_drop_s for end in (run.up, run.down)]
                drops = [1000 * time for time in times if time is not None]
                if drops:
                    what = f"{link}: first drop of {qdisc} with seed {run.seed}"
                    checks.append(exact(what, min(drops), ">", ENGAGED_MS, "ms"))
    ared = [by_hand.first_drop_ms("gbw:ared", rate) for rate in (1, 10, 100)]
    shown = ", ".join("never" if first is None else f"{first:.0f}" for first in ared)
    return all_of(checks, note=f"four flows start at once, driven by hand; ared's first drops come after {shown} ms")


def codel_drop_rate_is_linear(evidence: Evidence) -> Judgement:
    """gbw-tran-08; it needs no runs."""
    del evidence
    slow, fast = (by_hand.codel_drops("gbw:codel", rate, delay_ms=60, until_s=(4, 8)) for rate in (10, 100))
    checks = []
    for rate, found in ((10, slow), (100, fast)):
        growth = found[1][0] / max(found[0][0], 1)
        what = f"{rate} Mbit/s: drops after 8 s as a share of four times those after 4 s"
        checks += between(what, growth / 4, 1 - NEAR, 1 + NEAR, "")
    shares = [drops / sent for drops, sent in (slow[1], fast[1])]
    what = "share of packets dropped in 8 s, ten times that at 100 Mbit/s over that at 10"
    checks += between(what, 10 * shares[1] / shares[0], 1 - NEAR, 1 + NEAR, "")
    note = (
        "a rate that grows linearly makes the count grow with the square of time; queue held at 60 ms by hand; "
        f"{slow[1][0]} drops in 8 s at 10 Mbit/s, {fast[1][0]} at 100 Mbit/s"
    )
    return all_of(checks, note=note)


def pie_steps_are_capped(evidence: Evidence) -> Judgement:
    """gbw-tran-09; it needs no runs."""
    del evidence

    def largest(per_departure: int, lowest: float = 0.0) -> float:
        steps = by_hand.pie_steps_in_overload("gbw:pie", per_departure=per_departure)
        rises = [
            100 * (step.after - step.before) for step in steps if step.delay_ms <= RULE_MS and step.before >= lowest
        ]
        if not rises:
            message = f"PIE made no update from a drop probability of {lowest:.0%} on below {RULE_MS:g} ms"
            raise SojournError(message)
        return max(rises)

    below_rule = largest(2)
    # The probability is a 32-bit fraction: a step at the cap may be above it by rounding.
    check = exact(
        "largest rise in an update at up to 250 ms, arrivals at twice the rate as in slow start",
        round(below_rule, 3),
        "<=",
        CAP,
        "percentage points",
    )
    note = (
        f"driven by hand at 10 Mbit/s; from a probability of 10 % on, the largest rise is {largest(2, 0.1):.2f}, and "
        f"with arrivals at three times the rate it is {largest(3):.2f} over all; Linux 3.14 caps only from 10 % on"
    )
    return all_of([check], note=note)


def bursts_are_split_up(evidence: Evidence) -> Judgement:
    """gbw-web-10: a burst driven by hand, and a page of the same size in few objects."""
    single = by_hand.burst("gbw:codel", packets=BURST, standing=STANDING)
    checks = []
    for fair in FAIR:
        split = by_hand.burst(f"gbw:{fair}", packets=BURST, standing=STANDING)
        checks.append(
            exact(
                f"others' packets within a burst under {fair} less those under codel",
                split.between - single.between,
                ">",
                0,
                "packets",
            )
        )
        what = f"time a burst takes under {fair} less that under codel"
        checks.append(exact(what, split.took_ms - single.took_ms, ">", 0.0, "ms"))
        small, large = (
            ratios(
                evidence.numbers("10/10", fair, fetch_time, experiment),
                evidence.numbers("10/10", "codel", fetch_time, experiment),
            )
            for experiment in (f"{WEB_RRUL}:huffpost", LARGE_OBJECTS)
        )
        what = f"10/10: fetch time of {fair} over that of codel, many small objects less a few large ones"
        checks.append(above(what, differences(small, large), 0.0, ""))
    note = f"by hand: {BURST} packets into a queue in which four flows have {STANDING}, at 10 Mbit/s"
    return all_of(checks, note=note)


def autotuning_is_too_coarse(evidence: Evidence) -> Judgement:
    """gbw-rrul-14; it needs no runs."""
    del evidence
    old, finer = pie_steps.steps("linux-3.14"), pie_steps.steps("rfc8033")
    low, middle, high = (mean_step(old, bounds) for bounds in (LOW, MIDDLE, pie_steps.HIGH))
    what = "Linux 3.14: step of an update from 0.1 to 1 % as a multiple of that below 0.1 %"
    checks = [
        *between(what, middle / low, 1 - pie_steps.SAME, 1 + pie_steps.SAME, ""),
        exact("Linux 3.14: step above 1 % as a multiple of that below", high / middle, ">", 1.5, ""),
        exact(
            "RFC 8033, whose table goes on below 0.1 %: the same multiple",
            mean_step(finer, MIDDLE) / mean_step(finer, LOW),
            ">",
            1.5,
            "",
        ),
    ]
    note = (
        f"at a steady delay just above target an update adds {low:.5f} percentage points below 0.1 %, "
        f"{middle:.5f} from 0.1 to 1 %, {high:.5f} above; the lowest entry of the 3.14 code is 1 %, not 0.1 %"
    )
    return all_of(checks, note=note)


FUNCTIONS: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-cfg-04": ared_thresholds_follow_the_target,
    "gbw-cfg-05": ared_thresholds_at_1_mbit,
    "gbw-cfg-07": codel_target_fits_a_packet,
    "gbw-cfg-08": sparse_flows_stay_new,
    "gbw-cfg-09": small_packets_share_bytes,
    "gbw-cfg-10": overflow_drops_from_the_longest,
    "gbw-rrul-14": autotuning_is_too_coarse,
    "gbw-tran-06": nothing_is_dropped_early,
    "gbw-tran-08": codel_drop_rate_is_linear,
    "gbw-tran-09": pie_steps_are_capped,
    "gbw-web-10": bursts_are_split_up,
}
