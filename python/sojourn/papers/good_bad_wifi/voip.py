"""The claims of seed 000 section 5.2 on a voice flow up, beside one TCP flow up (`voip`) and beside RRUL (`voip_rrul`).

The delay is induced one-way delay: the mean of each 200 ms, less the delay without a queue. Table 2 is in `table2`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    VOIP,
    VOIP_RRUL,
    Evidence,
    Side,
    differences,
    sides,
)
from sojourn.papers.good_bad_wifi.observation import START_S, Observation, VoiceSeen, known
from sojourn.papers.kit.orders import agreement, same_order
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, exact

TRAFFICS = (VOIP, VOIP_RRUL)
#: Claim 05: a long tail has a 99th percentile at least so many times the median.
LONG_TAIL = 2.0
#: Claim 05: the tail is the start-up's if more than this share of it was sent then.
MOST = 0.5
#: Claim 04: the struck run makes the 99th percentile over all runs at least so many times what it is without.
HEAVY = 2.0
#: Claim 07: loss from which a conversation is hopeless (percent).
HOPELESS_PERCENT = 1.0
#: Claim 09 (percent).
ARED_LOSS_PERCENT = 25.0
#: The cells in which the paper's fair queueing disciplines lose voice packets.
LOSING = (("sfq", "10/1", VOIP_RRUL), ("fq_codel", "10/1", VOIP_RRUL))


def voice(run: Observation) -> VoiceSeen:
    """Return the voice flow of a run."""
    found = known(run.voice, run, "voice flow")
    if not found.delay_ms.size:
        message = f"the run with seed {run.seed} has no delay of voice: no packet arrived"
        raise SojournError(message)
    return found


def median_delay(run: Observation) -> float:
    """Return the median induced one-way delay (ms)."""
    return float(np.median(voice(run).delay_ms))


def loss(evidence: Evidence, link: str, qdisc: str, experiment: str) -> list[float]:
    """Return the share of voice packets lost in each repeat (percent)."""
    return evidence.each(link, qdisc, lambda run: known(run.voice, run, "voice flow").loss_percent, experiment)


def lost(evidence: Evidence, link: str, qdisc: str, experiment: str) -> int:
    """Return how many voice packets were lost in all repeats."""
    return sum(known(run.voice, run, "voice flow").lost for run in evidence.of(link, qdisc, experiment))


def delay(evidence: Evidence, link: str, qdisc: str, experiment: str) -> list[float]:
    """Return the median delay of each repeat (ms)."""
    return evidence.each(link, qdisc, median_delay, experiment)


def falling_loss(evidence: Evidence, link: str, experiment: str, order: Sequence[str]) -> list[Check]:
    """Return the checks that loss falls along the disciplines."""
    checks = []
    for more, less in zip(order, order[1:], strict=False):
        gap = differences(loss(evidence, link, more, experiment), loss(evidence, link, less, experiment))
        checks.append(above(f"{link} {experiment}: loss of {more} less that of {less}", gap, 0.0, "percentage points"))
    return checks


def goodput_mirrors_rrul(evidence: Evidence) -> Judgement:
    """gbw-voip-01."""
    found = []
    for link in LINKS:
        places: list[tuple[str, Side, Side]] = [(VOIP, "up", sides(link)[-1])]
        places += [(VOIP_RRUL, side, side) for side in sides(link)]
        for experiment, side, in_rrul in places:
            rrul = {qdisc: evidence.goodput(link, qdisc, in_rrul) for qdisc in DISCIPLINES}
            here = {qdisc: evidence.goodput(link, qdisc, side, experiment) for qdisc in DISCIPLINES}
            found.append(agreement(f"{link} {experiment} {side}", rrul, here))
    return same_order(found, "whose order by goodput is not that under RRUL")


def aqms_have_less_delay(evidence: Evidence) -> Judgement:
    """gbw-voip-02."""
    checks = []
    for experiment in TRAFFICS:
        for link in LINKS:
            for aqm in AQMS:
                gap = differences(delay(evidence, link, FIFO, experiment), delay(evidence, link, aqm, experiment))
                checks.append(above(f"{link} {experiment}: median delay of {FIFO} less that of {aqm}", gap, 0.0, "ms"))
    return all_of(checks)


def fair_queueing_has_the_least_delay(evidence: Evidence) -> Judgement:
    """gbw-voip-03."""
    checks = []
    for experiment in TRAFFICS:
        for link in LINKS:
            delays = {qdisc: delay(evidence, link, qdisc, experiment) for qdisc in DISCIPLINES}
            fair = min(FAIR, key=lambda qdisc: fmean(delays[qdisc]))
            for other in (FIFO, *AQMS):
                gap = differences(delays[other], delays[fair])
                what = f"{link} {experiment}: median delay of {other} less that of the best of fair queueing, {fair},"
                checks.append(above(what, gap, 0.0, "ms"))
    note = (
        "the lowest delay is fair queueing's, as in the claim on the highest goodput: of SFQ alone the paper says "
        "otherwise, as it finds ARED's delay very low at 1 Mbit/s"
    )
    return all_of(checks, note=note)


def collisions_weigh_on_delay(evidence: Evidence) -> Judgement:
    """gbw-voip-04."""
    checks, notes = [], []
    for qdisc in ("sfq", "fq_nocodel"):
        found = evidence.collisions.get((VOIP_RRUL, qdisc))
        if found is None:
            message = f"no seed was found in which voice shares a queue under {qdisc} at 10/1"
            raise SojournError(message)
        runs = evidence.of("10/1", qdisc, VOIP_RRUL)
        clean = [voice(run).delay_ms for run in runs if all(probe != voice(run).name for probe, _ in run.collisions)]
        if len(clean) < 2:
            message = f"{len(clean)} runs at 10/1 under {qdisc} have no collision, but the claim needs at least 2"
            raise SojournError(message)
        without = float(np.percentile(np.concatenate(clean), 99))
        struck = voice(found.seen).delay_ms
        share = float(np.percentile(np.concatenate([*clean, struck]), 99)) / max(without, 1e-9)
        what = f"10/1: 99th percentile of the delay under {qdisc} with the struck run as a multiple of that without"
        checks.append(exact(what, share, ">", HEAVY, ""))
        notes.append(
            f"{qdisc}: seed {found.seen.seed}, number {found.tried} of those tried, puts voice into the queue of "
            f"{found.flow}, median {np.median(struck):.1f} ms, without {np.median(np.concatenate(clean)):.1f} ms"
        )
    return all_of(checks, note="; ".join(notes))


def codel_and_pie_have_a_tail(evidence: Evidence) -> Judgement:
    """gbw-voip-05."""

    def tail(run: Observation) -> float:
        return float(np.percentile(voice(run).delay_ms, 99)) / max(median_delay(run), 1e-9)

    def early(run: Observation) -> float:
        seen = voice(run)
        if run.duration_s <= 2 * START_S:
            message = f"duration is too short to tell a tail of the start-up: {run.duration_s:g} s"
            raise SojournError(message)
        beyond = seen.delay_ms >= np.percentile(seen.delay_ms, 99)
        return float((seen.t_s[beyond] <= START_S).mean())

    checks = []
    for link in ("10/10", "10/1"):
        for qdisc in ("codel", "pie"):
            where = f"{link} {VOIP_RRUL}"
            tails = evidence.each(link, qdisc, tail, VOIP_RRUL)
            starts = evidence.each(link, qdisc, early, VOIP_RRUL)
            checks += [
                above(f"{where}: 99th percentile of the delay over the median under {qdisc}", tails, LONG_TAIL, ""),
                above(f"{where}: share of {qdisc}'s delays beyond it that are of the first 25 s", starts, MOST, ""),
            ]
    return all_of(checks, note=f"a long tail is read as {LONG_TAIL:g} times the median, and mostly of the start-up")


def loss_is_ordered_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-voip-06."""
    checks = falling_loss(evidence, "10/1", VOIP, ("ared", "codel", "pie", FIFO))
    fifo = loss(evidence, "10/1", FIFO, VOIP)
    checks.append(above(f"10/1 {VOIP}: loss of {FIFO}", fifo, 0.0, "percent"))
    checks += [
        exact(f"10/1 {VOIP}: packets lost under {fair}", lost(evidence, "10/1", fair, VOIP), "=", 0, "packets")
        for fair in FAIR
    ]
    return all_of(checks)


def aqms_are_hopeless_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-voip-07."""
    checks = [
        above(f"10/1 {VOIP}: loss of {aqm}", loss(evidence, "10/1", aqm, VOIP), HOPELESS_PERCENT, "percent")
        for aqm in AQMS
    ]
    note = f"hopeless is read as a loss above {HOPELESS_PERCENT:g} %, the usual limit for G.711 without concealment"
    return all_of(checks, note=note)


def rrul_loses_more(evidence: Evidence) -> Judgement:
    """gbw-voip-08."""
    checks = []
    for link in LINKS:
        for qdisc in (FIFO, *AQMS):
            gap = differences(loss(evidence, link, qdisc, VOIP_RRUL), loss(evidence, link, qdisc, VOIP))
            what = f"{link}: loss of {qdisc} beside RRUL less that beside one flow"
            checks.append(above(what, gap, 0.0, "percentage points"))
    return all_of(checks)


def ared_loses_a_quarter(evidence: Evidence) -> Judgement:
    """gbw-voip-09."""
    found = loss(evidence, "10/1", "ared", VOIP_RRUL)
    return all_of([above(f"10/1 {VOIP_RRUL}: loss of ared", found, ARED_LOSS_PERCENT, "percent")])


def fair_queueing_protects_voice(evidence: Evidence) -> Judgement:
    """gbw-voip-10."""
    checks = []
    for experiment in TRAFFICS:
        for link in LINKS:
            for fair in FAIR:
                number = lost(evidence, link, fair, experiment)
                relation, word = (">", "its exception") if (fair, link, experiment) in LOSING else ("=", "no loss")
                what = f"{link} {experiment}: packets lost under {fair} ({word})"
                checks.append(exact(what, number, relation, 0, "packets"))  # type: ignore[arg-type]
    return all_of(checks, note="the exceptions the paper names are sfq and fq_codel at 10/1 beside RRUL")


def voice_builds_a_queue_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-voip-11."""

    def own_queue(run: Observation) -> float:
        seen = voice(run)
        return 100 * float((seen.most_ms > seen.frame_ms).mean())

    checks = []
    for qdisc in ("sfq", "fq_codel"):
        slow = evidence.each("10/1", qdisc, own_queue, VOIP_RRUL)
        fast = evidence.each("10/10", qdisc, own_queue, VOIP_RRUL)
        number = lost(evidence, "10/1", qdisc, VOIP_RRUL)
        checks += [
            above(f"10/1: share of 200 ms in which voice waits for voice under {qdisc}", slow, 0.0, "percent"),
            above(f"the same less that at 10/10 under {qdisc}", differences(slow, fast), 0.0, "percentage points"),
            exact(f"10/1 {VOIP_RRUL}: packets lost under {qdisc}", number, ">", 0, "packets"),
        ]
    note = (
        "a voice packet that waits longer than the time between two has another behind it; what fq_codel drops then is "
        "dropped by CoDel, on the voice queue"
    )
    return all_of(checks, note=note)


def loss_is_ordered_at_100_mbit(evidence: Evidence) -> Judgement:
    """gbw-voip-12."""
    checks = falling_loss(evidence, "100/100", VOIP_RRUL, (FIFO, "ared", "pie", "codel"))
    found = loss(evidence, "100/100", "codel", VOIP_RRUL)
    return all_of([*checks, above(f"100/100 {VOIP_RRUL}: loss of codel", found, 0.0, "percent")])


def loss_is_ordered_at_10_mbit(evidence: Evidence) -> Judgement:
    """gbw-voip-13."""
    checks = falling_loss(evidence, "10/10", VOIP, ("ared", FIFO, "pie", "codel"))
    found = loss(evidence, "10/10", "codel", VOIP)
    return all_of([*checks, above(f"10/10 {VOIP}: loss of codel", found, 0.0, "percent")])


def ared_buys_delay_with_loss(evidence: Evidence) -> Judgement:
    """gbw-voip-14."""
    checks = []
    for other in ("pie", "codel"):
        gap = differences(delay(evidence, "10/1", other, VOIP_RRUL), delay(evidence, "10/1", "ared", VOIP_RRUL))
        checks.append(above(f"10/1 {VOIP_RRUL}: median delay of {other} less that of ared", gap, 0.0, "ms"))
        checks += falling_loss(evidence, "10/1", VOIP_RRUL, ("ared", other))
    most = loss(evidence, "10/1", "ared", VOIP_RRUL)
    checks.append(above(f"10/1 {VOIP_RRUL}: loss of ared", most, ARED_LOSS_PERCENT, "percent"))
    return all_of(checks)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-voip-01": goodput_mirrors_rrul,
    "gbw-voip-02": aqms_have_less_delay,
    "gbw-voip-03": fair_queueing_has_the_least_delay,
    "gbw-voip-04": collisions_weigh_on_delay,
    "gbw-voip-05": codel_and_pie_have_a_tail,
    "gbw-voip-06": loss_is_ordered_at_1_mbit,
    "gbw-voip-07": aqms_are_hopeless_at_1_mbit,
    "gbw-voip-08": rrul_loses_more,
    "gbw-voip-09": ared_loses_a_quarter,
    "gbw-voip-10": fair_queueing_protects_voice,
    "gbw-voip-11": voice_builds_a_queue_at_1_mbit,
    "gbw-voip-12": loss_is_ordered_at_100_mbit,
    "gbw-voip-13": loss_is_ordered_at_10_mbit,
    "gbw-voip-14": ared_buys_delay_with_loss,
}
