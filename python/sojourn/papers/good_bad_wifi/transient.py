"""The claims of seed 000 section 6.2: the measured latency in the first 25 s of RRUL, read from Fig. 7."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.curves import (
    LEAST_MARGIN_MS,
    MARGIN,
    START_BINS,
    Drawn,
    StartUp,
    interval,
    smaller,
    start_up,
)
from sojourn.papers.good_bad_wifi.evidence import FAIR, FIFO, LINKS, Evidence, differences, rates
from sojourn.papers.good_bad_wifi.observation import Observation, known
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.verdict import Check, Judgement, Relation, above, all_of, best_of, exact

#: Claim 01: "far above" is read as at least so many times the other's peak.
FAR = 2.0
#: Claim 05: several seconds, and the longest (s).
SEVERAL_S, LONGEST_S = 2.0, 20.0
#: Claim 06: nothing is dropped so early (ms).
ENGAGED_MS = 100.0
#: Claim 08: shares that a law predicts are met if they are so near.
NEAR = 0.15
#: Claim 09: the cap of an update (percentage points), and the delay from which more is added (ms).
CAP, RULE_MS = 2.0, 250.0
#: Claim 10: about 250 ms (ms).
ABOUT_250 = (200.0, 320.0)
#: Claim 11: "relative lack" is read as less than this share.
SMALL = 0.5
#: Claim 12: at most so many times the steady level.
SMOOTH = 1.5
#: Claim 13: within so many packet times.
PACKETS = 2.0
#: Where the paper sees a spike: CoDel everywhere, PIE below 100 Mbit/s (claims 02 and 11).
SPIKES = tuple((link, "codel") for link in LINKS) + (("10/10", "pie"), ("10/1", "pie"))


def checked(
    what: str,
    statistic: Callable[[Drawn], float],
    cells: tuple[StartUp, ...],
    relation: Relation,
    bound: float,
    unit: str,
) -> Check:
    """Return the check of a statistic of mean curves."""
    found = interval(statistic, smaller(*cells))
    return Check(what=what, interval=found, relation=relation, bound=bound, unit=unit)


def higher_than_fifo(evidence: Evidence, link: str, qdisc: str) -> Check:
    """Return the check that the curve is above FIFO's where it peaks."""
    mine, fifo = start_up(evidence, link, qdisc), start_up(evidence, link, FIFO)

    def gap(drawn: Drawn) -> float:
        place = mine.peak_place(drawn)
        return float(mine.curve(drawn)[place] - fifo.curve(drawn)[place])

    return checked(
        f"{link}: latency of {qdisc} at its peak less that of {FIFO} then", gap, (mine, fifo), ">", 0.0, "ms"
    )


def settling(evidence: Evidence, link: str, qdisc: str) -> float:
    """Return when the mean curve is back at its steady level (s)."""
    cell = start_up(evidence, link, qdisc)
    return cell.settling(np.arange(cell.n))


def settles_earlier(evidence: Evidence, first: tuple[str, str], second: tuple[str, str], share: float) -> Check:
    """Return the check that a cell has settled before a share of the time that another takes."""
    one, other = start_up(evidence, *first), start_up(evidence, *second)
    factor = "" if share == 1 else f"{share:g} of "
    return checked(
        f"{factor}settling time of {second[1]} at {second[0]} less that of {first[1]} at {first[0]}",
        lambda drawn: share * other.settling(drawn) - one.settling(drawn),
        (one, other),
        ">",
        0.0,
        "s",
    )


_SETTLED = f"settled: for 5 s no more than {MARGIN:.0%} or {LEAST_MARGIN_MS:g} ms above the mean of 30 to 60 s"


def codel_and_pie_have_spikes(evidence: Evidence) -> Judgement:
    """gbw-tran-01."""
    checks = []
    for link, qdisc in SPIKES:
        mine = start_up(evidence, link, qdisc)
        for other in ("ared", *FAIR):
            theirs = start_up(evidence, link, other)
            checks.append(
                checked(
                    f"{link}: induced latency of {qdisc} at its peak as a multiple of that of {other}",
                    lambda drawn, mine=mine, theirs=theirs: mine.induced_peak(drawn) / theirs.induced_peak(drawn),  # type: ignore[misc]
                    (mine, theirs),
                    ">",
                    FAR,
                    "",
                )
            )
    return all_of(checks, note=f"far above is read as {FAR:g} times; PIE at 100/100 is left out as the paper does")


def pie_has_the_higher_peak(evidence: Evidence) -> Judgement:
    """gbw-tran-02."""
    checks = []
    for link in ("10/10", "10/1"):
        pie, codel = start_up(evidence, link, "pie"), start_up(evidence, link, "codel")
        checks.append(
            checked(
                f"{link}: peak of pie less that of codel",
                lambda drawn, pie=pie, codel=codel: pie.peak(drawn) - codel.peak(drawn),  # type: ignore[misc]
                (pie, codel),
                ">",
                0.0,
                "ms",
            )
        )
    return all_of(checks)


def pie_exceeds_fifo(evidence: Evidence) -> Judgement:
    """gbw-tran-03."""
    return all_of([higher_than_fifo(evidence, "10/10", "pie")])


def codel_is_worse_at_100(evidence: Evidence) -> Judgement:
    """gbw-tran-04."""

    def excess(run: Observation) -> float:
        steady = known(run.settled_ms, run, "latency after the start-up: duration is too short for it")
        return float(np.nanmean(run.curve_ms[:START_BINS])) - steady

    gap = differences(evidence.each("100/100", "codel", excess), evidence.each("100/100", "pie", excess))
    check = above("100/100: latency of the first 25 s above the steady level, codel less pie", gap, 0.0, "ms")
    return all_of([check])


def control_takes_long(evidence: Evidence) -> Judgement:
    """gbw-tran-05."""
    several, longest = [], []
    for link, qdisc in SPIKES:
        cell = start_up(evidence, link, qdisc)
        what = f"{link}: settling time of {qdisc}"
        several.append(checked(what, cell.settling, (cell,), ">", SEVERAL_S, "s"))
        longest.append(checked(f"longest {what}", cell.settling, (cell,), ">", LONGEST_S, "s"))
    return all_of([*several, best_of(longest)], note=_SETTLED)


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
            for run in evidence.of(link, qdisc):
                times = [end.first_drop_s for end in run.ends]
                drops = [1000 * time for time in times if time is not None]
                if drops:
                    what = f"{link}: first drop of {qdisc} with seed {run.seed}"
                    checks.append(exact(what, min(drops), ">", ENGAGED_MS, "ms"))
    ared = [by_hand.first_drop_ms("gbw:ared", rate) for rate in (1, 10, 100)]
    shown = ", ".join("never" if first is None else f"{first:.0f}" for first in ared)
    return all_of(checks, note=f"four flows start at once, driven by hand; ared's first drops come after {shown} ms")


def control_takes_longer_on_fast_links(evidence: Evidence) -> Judgement:
    """gbw-tran-07."""
    slow_to_fast = ("10/1", "10/10", "100/100")
    checks = [
        settles_earlier(evidence, (slower, "codel"), (faster, "codel"), 1.0)
        for slower, faster in zip(slow_to_fast, slow_to_fast[1:], strict=False)
    ]
    times = ", ".join(f"{link} {settling(evidence, link, 'codel'):.1f} s" for link in slow_to_fast)
    return all_of(checks, note=f"{times}; {_SETTLED}")


def codel_drop_rate_is_linear(evidence: Evidence) -> Judgement:
    """gbw-tran-08; it needs no runs."""
    del evidence
    slow, fast = (by_hand.codel_drops("gbw:codel", rate, delay_ms=60, until_s=(4, 8)) for rate in (10, 100))
    checks = []
    for rate, found in ((10, slow), (100, fast)):
        growth = found[1][0] / max(found[0][0], 1)
        what = f"{rate} Mbit/s: drops after 8 s as a share of four times those after 4 s"
        checks += [exact(what, growth / 4, ">", 1 - NEAR, ""), exact(what, growth / 4, "<", 1 + NEAR, "")]
    shares = [drops / sent for drops, sent in (slow[1], fast[1])]
    what = "share of packets dropped in 8 s, ten times that at 100 Mbit/s over that at 10"
    checks += [
        exact(what, 10 * shares[1] / shares[0], ">", 1 - NEAR, ""),
        exact(what, 10 * shares[1] / shares[0], "<", 1 + NEAR, ""),
    ]
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


def pie_peaks_at_its_rule(evidence: Evidence) -> Judgement:
    """gbw-tran-10."""
    pie = start_up(evidence, "10/10", "pie")
    relations: tuple[tuple[Relation, float], ...] = ((">", ABOUT_250[0]), ("<", ABOUT_250[1]))
    checks = [checked("10/10: peak of pie", pie.peak, (pie,), relation, bound, "ms") for relation, bound in relations]
    note = f"about 250 ms is read as {ABOUT_250[0]:g} to {ABOUT_250[1]:g} ms of measured RTT, the base included"
    return all_of(checks, note=note)


def pie_lacks_a_spike_at_100(evidence: Evidence) -> Judgement:
    """gbw-tran-11."""
    fast, slow = start_up(evidence, "100/100", "pie"), start_up(evidence, "10/10", "pie")

    def share(drawn: Drawn) -> float:
        return (fast.peak(drawn) - fast.steady(drawn)) / max(slow.peak(drawn) - slow.steady(drawn), 1e-9)

    what = "peak of pie above its steady level at 100/100 as a share of that at 10/10"
    check = checked(what, share, (fast, slow), "<", SMALL, "")
    return all_of([check], note=f"relative lack is read as less than {SMALL:g} of it")


def ared_starts_smoothly(evidence: Evidence) -> Judgement:
    """gbw-tran-12."""
    checks = []
    for link in LINKS:
        ared = start_up(evidence, link, "ared")
        checks.append(
            checked(
                f"{link}: latency of ared at its peak as a multiple of its steady level",
                lambda drawn, ared=ared: ared.peak(drawn) / ared.steady(drawn),  # type: ignore[misc]
                (ared,),
                "<",
                SMOOTH,
                "",
            )
        )
    return all_of(
        checks, note=f"almost no spike is read as at most {SMOOTH:g} times the steady level, as Fig. 7 shows them"
    )


def fair_queues_show_no_start(evidence: Evidence) -> Judgement:
    """gbw-tran-13."""
    checks = []
    for link in LINKS:
        bound = PACKETS * sum(by_hand.FULL * 8 / rate / 1000 for rate in rates(link))
        for qdisc in FAIR:
            cell = start_up(evidence, link, qdisc)
            checks.append(
                checked(
                    f"{link}: highest mean latency over 1 s under {qdisc} less the level before the start",
                    cell.induced_second,
                    (cell,),
                    "<",
                    round(bound, 3),
                    "ms",
                )
            )
    return all_of(checks, note=f"no impact is read as less than {PACKETS:g} packet times in each direction")


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-tran-01": codel_and_pie_have_spikes,
    "gbw-tran-02": pie_has_the_higher_peak,
    "gbw-tran-03": pie_exceeds_fifo,
    "gbw-tran-04": codel_is_worse_at_100,
    "gbw-tran-05": control_takes_long,
    "gbw-tran-06": nothing_is_dropped_early,
    "gbw-tran-07": control_takes_longer_on_fast_links,
    "gbw-tran-08": codel_drop_rate_is_linear,
    "gbw-tran-09": pie_steps_are_capped,
    "gbw-tran-10": pie_peaks_at_its_rule,
    "gbw-tran-11": pie_lacks_a_spike_at_100,
    "gbw-tran-12": ared_starts_smoothly,
    "gbw-tran-13": fair_queues_show_no_start,
}
