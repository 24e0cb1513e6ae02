"""The claims of seed 000 section 6.1: four flows of 10, 50, 200 and 500 ms up, and how they share the link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FIFO,
    LINKS,
    PURE_SCHEDULERS,
    RTT_FAIRNESS,
    Evidence,
    differences,
    ratios,
)
from sojourn.papers.good_bad_wifi.observation import FlowSeen, Observation, known
from sojourn.papers.kit.orders import agreement, same_order
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below, exact, within
from sojourn.stats import jain

#: Base round-trip times of the flows (ms).
SHORTEST, SHORT, LONGEST = 10.0, 50.0, 500.0
#: Claim 05: what "perfect fairness" means.
PERFECT = 0.98
#: Claim 13: what "identical" means.
IDENTICAL = 0.98
#: Claim 12: the losses of total goodput that the paper states at 1 Mbit/s (percent), within a factor.
STATED_LOSS = {"ared": 10.0, "fq_codel": 5.0}
FACTOR = 2.0
#: The disciplines whose 10 ms flow has less than its 50 ms flow at 1 Mbit/s.
PECULIAR = (FIFO, "ared", "fq_codel")
#: An ablation: fq_nocodel with room for what the long flows need at 100 Mbit/s.
LONG_QUEUE = "rtt_fairness long queue"


def flow_of(run: Observation, rtt_ms: float) -> FlowSeen:
    """Return the flow with this base round-trip time."""
    return known(next((flow for flow in run.flows if flow.rtt_ms == rtt_ms), None), run, f"flow of {rtt_ms:g} ms")


def index(run: Observation) -> float:
    """Return Jain's index over the flows' goodput."""
    return jain(flow.goodput for flow in run.flows)


def _index(evidence: Evidence, link: str, qdisc: str, experiment: str = RTT_FAIRNESS) -> list[float]:
    return evidence.each(link, qdisc, index, experiment)


def _flow(evidence: Evidence, link: str, qdisc: str, rtt_ms: float) -> list[float]:
    return evidence.each(link, qdisc, lambda run: flow_of(run, rtt_ms).goodput, RTT_FAIRNESS)


def _fairer(evidence: Evidence, link: str, fairer: str, other: str) -> Check:
    gap = differences(_index(evidence, link, fairer), _index(evidence, link, other))
    return above(f"{link}: Jain's index of {fairer} less that of {other}", gap, 0.0, "")


def aqms_worsen_fairness(evidence: Evidence) -> Judgement:
    """gbw-fair-01."""
    return all_of([_fairer(evidence, link, FIFO, aqm) for link in LINKS for aqm in AQMS])


def aqms_hurt_the_longest_flow(evidence: Evidence) -> Judgement:
    """gbw-fair-02."""
    checks = []
    for link in LINKS:
        for aqm in AQMS:
            gap = differences(_flow(evidence, link, FIFO, LONGEST), _flow(evidence, link, aqm, LONGEST))
            checks.append(above(f"{link}: goodput of the 500 ms flow under {FIFO} less {aqm}", gap, 0.0, "Mbit/s"))
    return all_of(checks)


def aqm_losses_are_even(evidence: Evidence) -> Judgement:
    """gbw-fair-03."""

    def unevenness(run: Observation) -> float | None:
        flow = flow_of(run, LONGEST)
        known(flow.gaps, run, "times between the drops of a flow")
        return flow.gaps_cv

    checks, left_out = [], 0
    for link in LINKS:
        fifo = [unevenness(run) for run in evidence.of(link, FIFO, RTT_FAIRNESS)]
        for aqm in AQMS:
            mine = [unevenness(run) for run in evidence.of(link, aqm, RTT_FAIRNESS)]
            pairs = [(a, b) for a, b in zip(fifo, mine, strict=True) if a is not None and b is not None]
            left_out += len(mine) - len(pairs)
            if not pairs:
                message = f"no run of {aqm} and {FIFO} at {link} has enough drops of the 500 ms flow"
                raise SojournError(message)
            gap = [a - b for a, b in pairs]
            what = f"{link}: variation of the times between losses of the 500 ms flow under {FIFO} less {aqm}"
            checks.append(above(what, gap, 0.0, ""))
    note = (
        "standard deviation over mean of the times between successive drops: 1 if they are independent, 0 if evenly "
        f"spaced; {left_out} pairs of runs with too few drops are left out"
    )
    return all_of(checks, note=note)


def fifo_delay_evens_out_rtts(evidence: Evidence) -> Judgement:
    """gbw-fair-04."""

    def ratio(run: Observation) -> float:
        long, short = (
            flow.rtt_ms + known(flow.wait_ms, run, "sojourn time of a flow")
            for flow in (flow_of(run, LONGEST), flow_of(run, SHORTEST))
        )
        return long / short

    checks = []
    for link in LINKS:
        fifo = evidence.each(link, FIFO, ratio, RTT_FAIRNESS)
        for aqm in AQMS:
            gap = differences(evidence.each(link, aqm, ratio, RTT_FAIRNESS), fifo)
            checks.append(above(f"{link}: longest over shortest effective RTT, {aqm} less {FIFO}", gap, 0.0, ""))
    note = "effective RTT: the base and the mean sojourn time of the flow's packets; the base ratio is 50"
    return all_of(checks, note=note)


def pure_schedulers_are_fair(evidence: Evidence) -> Judgement:
    """gbw-fair-05."""
    checks = [
        above(f"{link}: Jain's index of {qdisc}", _index(evidence, link, qdisc), PERFECT, "")
        for link in ("10/10", "10/1")
        for qdisc in PURE_SCHEDULERS
    ]
    return all_of(checks, note=f"perfect is read as above {PERFECT:g}")


def fq_codel_is_less_fair(evidence: Evidence) -> Judgement:
    """gbw-fair-06."""
    return all_of([_fairer(evidence, link, pure, "fq_codel") for link in LINKS for pure in PURE_SCHEDULERS])


def fq_codel_is_fairer_than_aqms(evidence: Evidence) -> Judgement:
    """gbw-fair-07."""
    return all_of([_fairer(evidence, link, "fq_codel", other) for link in LINKS for other in (FIFO, *AQMS)])


def short_queues_cost_fairness_at_100(evidence: Evidence) -> Judgement:
    """gbw-fair-08: less than perfect, and better with more room."""
    checks = [
        below(f"100/100: Jain's index of {qdisc}", _index(evidence, "100/100", qdisc), PERFECT, "")
        for qdisc in PURE_SCHEDULERS
    ]
    usual = _index(evidence, "100/100", "fq_nocodel")
    gain = differences(_index(evidence, "100/100", "fq_nocodel", LONG_QUEUE), usual)
    checks.append(
        above("100/100: Jain's index of fq_nocodel with a long queue less that with 1000 packets", gain, 0.0, "")
    )
    note = (
        f"perfect is read as {PERFECT:g}; sfq cannot be given more room: a flow never has more than 127 packets in it"
    )
    return all_of(checks, note=note)


def the_shortest_flow_falls_behind(evidence: Evidence) -> Judgement:
    """gbw-fair-09."""
    checks = []
    for qdisc in PECULIAR:
        short, shortest = (_flow(evidence, "10/1", qdisc, rtt) for rtt in (SHORT, SHORTEST))
        gap = [1000 * value for value in differences(short, shortest)]
        checks.append(above(f"10/1: goodput of the 50 ms flow less the 10 ms flow under {qdisc}", gap, 0.0, "kbit/s"))
    return all_of(checks)


def why_the_shortest_flow_falls_behind(evidence: Evidence) -> Judgement:
    """gbw-fair-10: the windows under FIFO, and the timeouts under ARED and FQ-CoDel."""

    def growth(run: Observation) -> float:
        flow = flow_of(run, SHORTEST)
        short = "window after its early time: duration is too short for it"
        return known(flow.early_window, run, short) - known(flow.late_window, run, short)

    def timeouts_a_minute(run: Observation, rtt_ms: float) -> float:
        return known(flow_of(run, rtt_ms).timeouts, run, "count of timeouts by flow") / (run.duration_s / 60)

    grows = evidence.each("10/1", FIFO, growth, RTT_FAIRNESS)
    checks = [above(f"10/1: window of the 10 ms flow under {FIFO}, first 30 s less after", grows, 0.0, "segments")]
    for qdisc in ("ared", "fq_codel"):
        shortest, short = (
            evidence.each("10/1", qdisc, partial(timeouts_a_minute, rtt_ms=rtt), RTT_FAIRNESS)
            for rtt in (SHORTEST, SHORT)
        )
        checks += [
            above(f"10/1: timeouts of the 10 ms flow under {qdisc}", shortest, 0.0, "per minute"),
            above(
                f"10/1: timeouts of the 10 ms flow less those of the 50 ms flow under {qdisc}",
                differences(shortest, short),
                0.0,
                "per minute",
            ),
        ]
    return all_of(checks)


def bandwidth_delay_product(evidence: Evidence) -> Judgement:
    """gbw-fair-11: of the shortest flow's quarter of 1 Mbit/s."""
    run = evidence.of("10/1", "fq_codel", RTT_FAIRNESS)[0]
    rate = known(run.up.rate_mbit, run, "rate of the link")
    product = rate * 1e6 / len(run.flows) * min(flow.rtt_ms for flow in run.flows) / 8000
    return all_of([exact("10/1: rate of a flow's share times the shortest RTT", int(product), "=", 312, "bytes")])


def ared_and_fq_codel_lose_goodput(evidence: Evidence) -> Judgement:
    """gbw-fair-12."""
    others = tuple(qdisc for qdisc in DISCIPLINES if qdisc not in STATED_LOSS)
    best = evidence.best("10/1", "up", others, RTT_FAIRNESS)
    top = evidence.goodput("10/1", best, "up", RTT_FAIRNESS)
    checks: list[Check] = []
    for qdisc, stated in STATED_LOSS.items():
        lost = [100 * (1 - share) for share in ratios(evidence.goodput("10/1", qdisc, "up", RTT_FAIRNESS), top)]
        checks += within(
            f"10/1: total goodput that {qdisc} lacks against {best}", lost, stated / FACTOR, stated * FACTOR, "percent"
        )
    return all_of(checks, note="just over 10 % for ared and around 5 % for fq_codel, read within a factor of 2")


def other_totals_are_identical(evidence: Evidence) -> Judgement:
    """gbw-fair-13."""
    checks = []
    for link in LINKS:
        among = tuple(qdisc for qdisc in DISCIPLINES if link != "10/1" or qdisc not in STATED_LOSS)
        best = evidence.best(link, "up", among, RTT_FAIRNESS)
        top = evidence.goodput(link, best, "up", RTT_FAIRNESS)
        for qdisc in among:
            if qdisc == best:
                continue
            share = ratios(evidence.goodput(link, qdisc, "up", RTT_FAIRNESS), top)
            checks.append(above(f"{link}: total goodput of {qdisc} as a share of {best}'s", share, IDENTICAL, ""))
    return all_of(checks, note="identical is read as within 2 % of the best; ared and fq_codel at 10/1 are left out")


def new_reno_keeps_the_fairness_order(evidence: Evidence) -> Judgement:
    """gbw-fair-14."""
    found = []
    for link in LINKS:
        cubic, reno = (
            {qdisc: evidence.each(link, qdisc, index, RTT_FAIRNESS, cc) for qdisc in DISCIPLINES}
            for cc in ("cubic", "reno")
        )
        found.append(agreement(link, cubic, reno))
    change = fmean(
        abs(fmean(evidence.each(link, qdisc, index, RTT_FAIRNESS, "reno")) - fmean(_index(evidence, link, qdisc)))
        for link in LINKS
        for qdisc in DISCIPLINES
    )
    return same_order(found, "whose order by Jain's index New Reno reverses", note=f"mean change {change:.3f}")


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-fair-01": aqms_worsen_fairness,
    "gbw-fair-02": aqms_hurt_the_longest_flow,
    "gbw-fair-03": aqm_losses_are_even,
    "gbw-fair-04": fifo_delay_evens_out_rtts,
    "gbw-fair-05": pure_schedulers_are_fair,
    "gbw-fair-06": fq_codel_is_less_fair,
    "gbw-fair-07": fq_codel_is_fairer_than_aqms,
    "gbw-fair-08": short_queues_cost_fairness_at_100,
    "gbw-fair-09": the_shortest_flow_falls_behind,
    "gbw-fair-10": why_the_shortest_flow_falls_behind,
    "gbw-fair-11": bandwidth_delay_product,
    "gbw-fair-12": ared_and_fq_codel_lose_goodput,
    "gbw-fair-13": other_totals_are_identical,
    "gbw-fair-14": new_reno_keeps_the_fairness_order,
}
