"""The claims of seed 000 sections 5.4 and 8: what the results amount to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi import rrul, transient, voip, web
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    FAIR,
    FIFO,
    LINKS,
    WEB_RRUL,
    Evidence,
    differences,
    sides,
)
from sojourn.papers.kit.orders import clear_sign
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, best_of, exact, not_above

#: Disc 03: the one place where the paper itself finds fair queueing slower.
EXCEPTION = web.Place(WEB_RRUL, "huffpost", "10/10")
#: Con 02: "significantly better" is read as less than this share of the settling time.
SIGNIFICANTLY = 0.5
#: Con 04: "generally" is read as in at least this share of the comparisons.
GENERALLY = 0.9

#: A quantity of each repeat of a discipline, the less the better, and what and where it is.
Quantity = tuple[str, Callable[[str], list[float]]]


def quantities(evidence: Evidence) -> Iterator[Quantity]:
    """Return what RRUL measures: latency, and goodput with its sign turned."""
    for link in LINKS:
        yield f"{link}: latency", lambda qdisc, link=link: evidence.latency(link, qdisc)  # type: ignore[misc]
        for side in sides(link):
            yield (
                f"{link} {side}: lack of goodput",
                lambda qdisc, link=link, side=side: [-value for value in evidence.goodput(link, qdisc, side)],  # type: ignore[misc]
            )


def other_quantities(evidence: Evidence) -> Iterator[Quantity]:
    """Return what voice and pages measure, the paper's own exception left out."""
    for traffic in voip.TRAFFICS:
        for link in LINKS:
            for what, measure in (("voice delay", voip.delay), ("voice loss", voip.loss)):
                yield (
                    f"{link} {traffic}: {what}",
                    lambda qdisc, link=link, traffic=traffic, measure=measure: measure(evidence, link, qdisc, traffic),  # type: ignore[misc]
                )
    for place in web.places():
        if place != EXCEPTION:
            yield f"{place.words()}: fetch time", lambda qdisc, place=place: web.times(evidence, place, qdisc)  # type: ignore[misc]


def aqms_improve_on_fifo(evidence: Evidence) -> Judgement:
    """gbw-disc-01: the latency, as in section 5.1."""
    return rrul.aqms_have_lower_latency(evidence)


def some_drop_too_much(evidence: Evidence) -> Judgement:
    """gbw-disc-02."""
    checks: list[Check] = []
    for link, qdisc in (*((link, "ared") for link in LINKS), ("100/100", "pie")):
        for side in sides(link):
            gap = differences(evidence.goodput(link, "codel", side), evidence.goodput(link, qdisc, side))
            checks.append(above(f"{link} {side}: goodput of codel less that of {qdisc}", gap, 0.0, "Mbit/s"))
        gap = differences(evidence.latency(link, qdisc), evidence.latency(link, "codel"))
        checks.append(not_above(f"{link}: latency of {qdisc} less that of codel", gap, 0.0, "ms"))
    return all_of(checks, note="too much: less goodput than codel at no more latency")


def aqms_never_beat_fair_queueing(evidence: Evidence) -> Judgement:
    """gbw-disc-03."""
    checks, missing = [], []
    for what, of in (*quantities(evidence), *other_quantities(evidence)):
        try:
            best, rival = (min(group, key=lambda qdisc: fmean(of(qdisc))) for group in (FAIR, AQMS))
            gap = differences(of(best), of(rival))
        except SojournError as error:
            missing.append(str(error))
            continue
        checks.append(not_above(f"{what}, {best} less {rival}", gap, 0.0, ""))
    note = "the best of fair queueing against the best AQM; apart from Huffpost at 10/10 beside RRUL (gbw-x-02)"
    if missing and all(check.verdict != "fails" for check in checks):
        message = f"{len(missing)} of {len(missing) + len(checks)} quantities are not there: {missing[0]}"
        raise SojournError(message)
    return all_of(checks, note=note)


def sparse_priority_helps_more_at_low_rates(evidence: Evidence) -> Judgement:
    """gbw-disc-04."""
    gain = {link: differences(evidence.latency(link, "sfq"), evidence.latency(link, "fq_codel")) for link in LINKS}
    checks = [above(f"{link}: latency of sfq less that of fq_codel", gain[link], 0.0, "ms") for link in LINKS]
    for faster, slower in zip(LINKS, LINKS[1:], strict=False):
        more = differences(gain[slower], gain[faster])
        checks.append(above(f"this difference at {slower} less that at {faster}", more, 0.0, "ms"))
    return all_of(checks)


def _measured(evidence: Evidence, link: str, qdisc: str, what: str) -> list[float]:
    """Return the latency, or the goodput on the link's slowest side."""
    return evidence.latency(link, qdisc) if what == "latency" else evidence.goodput(link, qdisc, sides(link)[-1])


def aqm_order_varies(evidence: Evidence) -> Judgement:
    """gbw-con-01."""
    improvements = [
        above(
            f"{link}: latency of {FIFO} less that of {aqm}",
            differences(evidence.latency(link, FIFO), evidence.latency(link, aqm)),
            0.0,
            "ms",
        )
        for link in LINKS
        for aqm in AQMS
    ]
    changes = []
    for a, b in combinations(AQMS, 2):
        for what in ("latency", "goodput"):
            signs = {link: clear_sign(*(_measured(evidence, link, qdisc, what) for qdisc in (a, b))) for link in LINKS}
            if {1, -1} <= set(signs.values()):
                higher = ", ".join(f"{a if sign > 0 else b} at {link}" for link, sign in signs.items() if sign)
                changes.append(f"more {what}: {higher}")
    check = exact("pairs of AQMs whose order changes with the link", len(changes), ">", 0, "pairs")
    return all_of([*improvements, check], note="; ".join(changes) or "no pair's order changes clearly")


def ared_settles_sooner(evidence: Evidence) -> Judgement:
    """gbw-con-02."""
    checks = [
        transient.settles_earlier(evidence, (link, "ared"), (link, qdisc), SIGNIFICANTLY)
        for link, qdisc in transient.SPIKES
    ]
    note = "significantly is read as in less than half the time; PIE at 100/100 is left out, as it has no spike there"
    return all_of(checks, note=note)


def start_up_can_exceed_fifo(evidence: Evidence) -> Judgement:
    """gbw-con-03."""
    found = [transient.higher_than_fifo(evidence, link, qdisc) for link in LINKS for qdisc in ("codel", "pie")]
    return all_of([best_of(found)], note="the case that speaks most for it, of codel and pie on three links")


def fair_queueing_is_generally_superior(evidence: Evidence) -> Judgement:
    """gbw-con-04."""
    worse, number = [], 0
    for what, of in quantities(evidence):
        for fair in FAIR:
            for aqm in AQMS:
                number += 1
                if clear_sign(of(fair), of(aqm)) > 0:
                    worse.append(f"{what} {fair} against {aqm}")
    share = 1 - len(worse) / number
    check = exact("share of comparisons in which fair queueing is not clearly worse", share, ">", GENERALLY, "")
    note = f"{number} comparisons of latency and goodput; worse: {', '.join(worse[:6]) or 'none'}"
    return all_of([check], note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-disc-01": aqms_improve_on_fifo,
    "gbw-disc-02": some_drop_too_much,
    "gbw-disc-03": aqms_never_beat_fair_queueing,
    "gbw-disc-04": sparse_priority_helps_more_at_low_rates,
    "gbw-con-01": aqm_order_varies,
    "gbw-con-02": ared_settles_sooner,
    "gbw-con-03": start_up_can_exceed_fifo,
    "gbw-con-04": fair_queueing_is_generally_superior,
}
