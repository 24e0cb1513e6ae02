"""The claims of seed 000 section 5.1 on latency and goodput under the RRUL test, read from Fig. 2.

An ordering is read on means over repeats, paired by seed (papers' own plots show medians and 1-sigma ellipses).
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    PURE_SCHEDULERS,
    SPARED,
    Evidence,
    Side,
    differences,
    induced_latency,
    ratios,
    sides,
)
from sojourn.papers.good_bad_wifi.observation import Observation, known
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below

#: What "among the top" means for claim 02: at least this share of the best discipline's goodput.
NEAR_BEST = 0.95
#: What "slightly" means for claim 03: the loss is less than this share.
SLIGHT = 0.10
#: What "a tiny bit" means for claim 18.
TINY = 0.97
#: What "very close to zero" means for claim 21, and "practically zero" for claim 22 at 10/10 (ms).
NEAR_ZERO_100_MS = 2.0
NEAR_ZERO_10_MS = 3.0
#: Bits of a full packet on the wire of the bottleneck (1514 bytes).
PACKET_BITS = 1514 * 8


def _side(side: Side) -> str:
    return "" if side == "both" else f" {side}"


def _latency_below(evidence: Evidence, link: str, lower: str, higher: str) -> Check:
    gap = differences(evidence.latency(link, higher), evidence.latency(link, lower))
    return above(f"{link}: latency of {higher} less that of {lower}", gap, 0.0, "ms")


def _goodput_above(evidence: Evidence, link: str, side: Side, higher: str, lower: str) -> Check:
    gap = differences(evidence.goodput(link, higher, side), evidence.goodput(link, lower, side))
    return above(f"{link}{_side(side)}: goodput of {higher} less that of {lower}", gap, 0.0, "Mbit/s")


def fifo_has_the_highest_latency(evidence: Evidence) -> Judgement:
    """gbw-rrul-01."""
    others = [qdisc for qdisc in DISCIPLINES if qdisc != FIFO]
    return all_of([_latency_below(evidence, link, qdisc, FIFO) for link in LINKS for qdisc in others])


def fifo_goodput_is_high(evidence: Evidence) -> Judgement:
    """gbw-rrul-02."""
    checks = []
    for link in ("100/100", "10/10"):
        best = evidence.best(link, "both")
        share = ratios(evidence.goodput(link, FIFO, "both"), evidence.goodput(link, best, "both"))
        checks.append(above(f"{link}: goodput of {FIFO} as a share of the best, {best},", share, NEAR_BEST, ""))
    return all_of(checks)


def fifo_downstream_suffers_slightly(evidence: Evidence) -> Judgement:
    """gbw-rrul-03."""
    checks = []
    for qdisc in FAIR:
        fifo, fair = evidence.goodput("10/1", FIFO, "down"), evidence.goodput("10/1", qdisc, "down")
        checks.append(
            above(f"10/1 down: goodput of {qdisc} less that of {FIFO}", differences(fair, fifo), 0.0, "Mbit/s")
        )
        lost = [1 - ratio for ratio in ratios(fifo, fair)]
        checks.append(below(f"10/1 down: share of {qdisc}'s goodput that {FIFO} lacks", lost, SLIGHT, ""))
    return all_of(checks, note=f"slightly is read as less than {SLIGHT:.0%}")


def ared_downstream_is_even_lower(evidence: Evidence) -> Judgement:
    """gbw-rrul-05."""
    dropped = evidence.each("10/1", "ared", lambda run: run.up.ack_drops)
    checks = [
        _goodput_above(evidence, "10/1", "down", FIFO, "ared"),
        above("10/1: acknowledgements that ared drops upstream in a run", dropped, 0.0, "packets"),
    ]
    note = ", ".join(
        f"{qdisc} {fmean(evidence.goodput('10/1', qdisc, 'down')):.3f} Mbit/s down" for qdisc in (FIFO, *AQMS, *FAIR)
    )
    return all_of(checks, note=note)


def pie_is_more_aggressive_at_100(evidence: Evidence) -> Judgement:
    """gbw-rrul-12."""

    def wait(run: Observation) -> float:
        return fmean(known(end.wait_ms, run, "sojourn time") for end in run.ends)

    def lack(link: str, side: Side) -> list[float]:
        best = evidence.best(link, side)
        return [
            100 * (1 - share)
            for share in ratios(evidence.goodput(link, "pie", side), evidence.goodput(link, best, side))
        ]

    checks = []
    places: tuple[tuple[str, Side], ...] = (("10/10", "both"), ("10/1", "up"))
    for link, side in places:
        gap = differences(evidence.each(link, "pie", wait), evidence.each("100/100", "pie", wait))
        checks.append(above(f"mean sojourn time of pie at {link} less that at 100/100", gap, 0.0, "ms"))
        more = differences(lack("100/100", "both"), lack(link, side))
        what = f"goodput that pie lacks against the best at 100/100 less that at {link}{_side(side)}"
        checks.append(above(what, more, 0.0, "percentage points"))
    return all_of(checks, note="more aggressive is read as a shorter queue and a larger loss of goodput")


def ared_latency_is_below_fifo(evidence: Evidence) -> Judgement:
    """gbw-rrul-06."""
    return all_of([_latency_below(evidence, "10/1", "ared", FIFO)])


def aqms_have_lower_latency(evidence: Evidence) -> Judgement:
    """gbw-rrul-07."""
    return all_of([_latency_below(evidence, link, aqm, FIFO) for link in LINKS for aqm in AQMS])


def newer_aqms_have_more_goodput(evidence: Evidence) -> Judgement:
    """gbw-rrul-08."""
    places: tuple[tuple[str, Side], ...] = (("10/10", "both"), ("10/1", "up"))
    return all_of(
        [_goodput_above(evidence, link, side, aqm, "ared") for link, side in places for aqm in ("pie", "codel")]
    )


def codel_is_between_ared_and_pie(evidence: Evidence) -> Judgement:
    """gbw-rrul-09."""
    checks = []
    for link in ("10/10", "10/1"):
        checks += [_latency_below(evidence, link, "ared", "codel"), _latency_below(evidence, link, "codel", "pie")]
        for side in sides(link):
            checks += [
                _goodput_above(evidence, link, side, "codel", "ared"),
                _goodput_above(evidence, link, side, "pie", "codel"),
            ]
    return all_of(checks, note="PIE at 100/100 is left out, as the paper does")


def ared_falls_furthest_short_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-rrul-10."""

    def shortfall(link: str, side: Side) -> list[float]:
        best = evidence.best(link, side)
        return [
            100 * (1 - share)
            for share in ratios(evidence.goodput(link, "ared", side), evidence.goodput(link, best, side))
        ]

    places: tuple[tuple[str, Side], ...] = (("100/100", "both"), ("10/10", "both"), ("10/1", "down"))
    worst = shortfall("10/1", "up")
    checks = [
        above(
            f"shortfall of ared behind the best at 10/1 up less that at {link}{_side(side)}",
            differences(worst, shortfall(link, side)),
            0.0,
            "percentage points",
        )
        for link, side in places
    ]
    return all_of(checks, note=f"at 10/1 up ared is {fmean(worst):.1f} % behind the best")


def schedulers_have_the_highest_goodput(evidence: Evidence) -> Judgement:
    """gbw-rrul-17."""
    others = tuple(qdisc for qdisc in DISCIPLINES if qdisc not in PURE_SCHEDULERS)
    checks = []
    for link in LINKS:
        for side in sides(link):
            pure = evidence.best(link, side, PURE_SCHEDULERS)
            rival = evidence.best(link, side, others)
            checks.append(_goodput_above(evidence, link, side, pure, rival))
    return all_of(checks, note="the better of sfq and fq_nocodel against the best of the others")


def fq_codel_lags_a_tiny_bit(evidence: Evidence) -> Judgement:
    """gbw-rrul-18."""
    checks = []
    for link in LINKS:
        for side in sides(link):
            pure = evidence.best(link, side, PURE_SCHEDULERS)
            mine = evidence.goodput(link, "fq_codel", side)
            share = ratios(mine, evidence.goodput(link, pure, side))
            fifo = ratios(mine, evidence.goodput(link, FIFO, side))
            where = f"{link}{_side(side)}: goodput of fq_codel as a share of that of"
            checks += [
                below(f"{where} {pure}", share, 1.0, ""),
                above(f"{where} {pure}", share, TINY, ""),
                above(f"{where} {FIFO}", fifo, NEAR_BEST, ""),
            ]
    return all_of(checks, note=f"a tiny bit is read as less than {1 - TINY:.0%}")


def codel_drops_gain_no_latency(evidence: Evidence) -> Judgement:
    """gbw-rrul-19."""
    checks = []
    for link in LINKS:
        slowest = min(float(rate) for rate in link.split("/"))
        packet_ms = PACKET_BITS / slowest / 1000
        gain = differences(evidence.latency(link, "fq_nocodel"), evidence.latency(link, "fq_codel"))
        checks.append(below(f"{link}: latency of fq_nocodel less that of fq_codel", gain, round(packet_ms, 3), "ms"))
    return all_of(checks, note="no gain is read as less than the time of one full packet on the slower direction")


def fair_latency_is_near_zero(evidence: Evidence) -> Judgement:
    """gbw-rrul-21."""
    return all_of(
        [
            below(f"100/100: latency of {qdisc}", evidence.latency("100/100", qdisc), NEAR_ZERO_100_MS, "ms")
            for qdisc in FAIR
        ]
    )


def sparse_flows_gain_at_low_rates(evidence: Evidence) -> Judgement:
    """gbw-rrul-22."""
    checks, left_out = [], 0
    for link in ("10/10", "10/1"):
        for qdisc in ("fq_codel", "fq_nocodel"):
            pairs = list(zip(evidence.of(link, qdisc), evidence.of(link, "sfq"), strict=True))
            clean = [(fq, sfq) for fq, sfq in pairs if not fq.collisions and not sfq.collisions]
            left_out += len(pairs) - len(clean)
            gap = [induced_latency(sfq) - induced_latency(fq) for fq, sfq in clean or pairs]
            checks.append(above(f"{link}: latency of sfq less that of {qdisc}", gap, 0.0, "ms"))
    near_zero = evidence.latency("10/10", "fq_codel")
    checks.append(below("10/10: latency of fq_codel", near_zero, NEAR_ZERO_10_MS, "ms"))
    return all_of(checks, note=f"{left_out} pairs of runs with a hash collision are left out")


def acks_dropped_upstream_cost_goodput(evidence: Evidence) -> Judgement:
    """gbw-rrul-04: the mechanism behind claim 03, by an ablation."""
    dropped = evidence.each("10/1", FIFO, lambda run: run.up.ack_drops)
    normal = evidence.goodput("10/1", FIFO, "down")
    spared = evidence.goodput("10/1", FIFO, "down", SPARED)
    fair = fmean(fmean(evidence.goodput("10/1", qdisc, "down")) for qdisc in FAIR)
    checks = [
        above(f"10/1: acknowledgements that {FIFO} drops upstream in a run", dropped, 0.0, "packets"),
        above(
            "10/1 down: goodput with those drops suppressed less goodput without",
            differences(spared, normal),
            0.0,
            "Mbit/s",
        ),
    ]
    note = f"{fmean(normal):.3f} Mbit/s become {fmean(spared):.3f}; the fair schedulers reach {fair:.3f}"
    return all_of(checks, note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-rrul-01": fifo_has_the_highest_latency,
    "gbw-rrul-02": fifo_goodput_is_high,
    "gbw-rrul-03": fifo_downstream_suffers_slightly,
    "gbw-rrul-04": acks_dropped_upstream_cost_goodput,
    "gbw-rrul-05": ared_downstream_is_even_lower,
    "gbw-rrul-06": ared_latency_is_below_fifo,
    "gbw-rrul-07": aqms_have_lower_latency,
    "gbw-rrul-08": newer_aqms_have_more_goodput,
    "gbw-rrul-09": codel_is_between_ared_and_pie,
    "gbw-rrul-10": ared_falls_furthest_short_at_1_mbit,
    "gbw-rrul-12": pie_is_more_aggressive_at_100,
    "gbw-rrul-17": schedulers_have_the_highest_goodput,
    "gbw-rrul-18": fq_codel_lags_a_tiny_bit,
    "gbw-rrul-19": codel_drops_gain_no_latency,
    "gbw-rrul-21": fair_latency_is_near_zero,
    "gbw-rrul-22": sparse_flows_gain_at_low_rates,
}
