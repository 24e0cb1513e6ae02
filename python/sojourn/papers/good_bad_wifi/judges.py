"""The judges of the claims of "The Good, the Bad and the WiFi" that rules cannot say, and the numbers of notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from statistics import fmean, stdev, variance
from typing import NamedTuple

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi import driven, tables
from sojourn.papers.good_bad_wifi.curves import StartUp
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    AXES,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    PAGES,
    RRUL,
    RTT_FAIRNESS,
    VOIP,
    VOIP_RRUL,
    WEB,
    WEB_IDLE,
    WEB_RRUL,
    Evidence,
    induced_latency,
    sides,
)
from sojourn.papers.good_bad_wifi.observation import Array, PageObservation, known
from sojourn.papers.good_bad_wifi.quantities import (
    VOCABULARY,
    fairness,
    fetch_time,
    median_delay,
    pages,
    paired_with_sfq,
    unevenness,
    voice,
    voice_loss,
    voice_lost,
)
from sojourn.papers.good_bad_wifi.section7 import (
    FACTOR,
    FAST_LINK,
    SLOW_LINKS,
    TABLE_3,
    WIFI_RRUL,
    WIFI_VOIP,
    WIFI_VOIP_RRUL,
)
from sojourn.study.cell import Observation
from sojourn.study.claims import Judges
from sojourn.study.evidence import differences, ratios
from sojourn.study.orders import clear_sign
from sojourn.study.redraw import Drawn, drawn_interval
from sojourn.study.verdict import Check, Judgement, above, all_of, best_of, exact, not_above, within

#: cfg-01: bytes that rounding may leave.
ROUNDING = 0.01
#: rrul-23: the run with the collision makes the variance at least this many times what it is without.
VARIANCE_FACTOR = 4.0
#: voip-04: the struck run makes the 99th percentile over all runs at least so many times what it is without.
HEAVY = 2.0
#: Table 2: up to this a number is a few packets (per cent), and the factor within which such a number is met.
FEW_PERCENT, FACTOR_OF_FEW = 0.05, 10.0
#: What the cross traffic is called in Table 2.
LOADS = {VOIP: "1 stream", VOIP_RRUL: "RRUL"}
#: web-03: SYN losses explain the variance if they make up more than this share of it.
EXPLAINS = 0.5
#: web-08: very close to the unloaded time, and in many cells.
CLOSE, MANY = 1.25, 0.5
#: con-04: "generally" is read as in at least this share of the comparisons.
GENERALLY = 0.9
#: fair-13: what "identical" means; and the disciplines whose totals the paper itself sets apart at 10/1.
IDENTICAL, APART = 0.98, ("ared", "fq_codel")
#: wifi-01: no meaningful difference: a share of the goodput, and of the latency or so many ms.
SAME_GOODPUT, SAME_LATENCY, SAME_MS = 0.1, 0.2, 10.0

#: A quantity of each repeat of a discipline, the less the better, and what and where it is.
Quantity = tuple[str, Callable[[str], list[float]]]


def goodput_is_payload_of_bulk_flows(evidence: Evidence) -> Judgement:
    """gbw-cfg-01: an arithmetic check on records, in which counting probes or headers would show."""
    checks: list[Check] = []
    for link in LINKS:
        run = evidence.of(AXES(RRUL, link, "fq_codel"))[0]
        flows = sum(flow.goodput for flow in run.flows)
        probes = known(run.probe_mbit, run, "count of the probes' packets")
        gap = abs(run.goodput_up + run.goodput_down - flows)
        what = f"{link}: goodput less the sum over the bulk flows, as a share of what the probes sent"
        checks.append(exact(what, gap / max(probes, 1e-12), "<", 0.001, ""))
        remainder = max(known(flow.payload_remainder, run, "segment size") for flow in run.flows)
        what = f"{link}: bytes of a flow that are no whole segment of payload"
        checks.append(exact(what, remainder, "<", ROUNDING, "bytes"))
    return all_of(checks, note="one run each under fq_codel; a segment with its headers would leave a remainder")


def a_collision_makes_the_variance(evidence: Evidence) -> Judgement:
    """gbw-rrul-23."""
    found = evidence.collisions.get((RRUL, "fq_nocodel"))
    if found is None:
        message = "no seed with a hash collision was found"
        raise SojournError(message)
    runs = evidence.of(AXES(RRUL, "10/1", "fq_nocodel"))
    clean = [induced_latency(run) for run in runs if not run.collisions]
    if len(clean) < 2:
        message = f"{len(clean)} runs at 10/1 under fq_nocodel have no collision, but the claim needs at least 2"
        raise SojournError(message)
    struck = induced_latency(found.run)
    what = "10/1: latency of the run with the collision less the highest without"
    checks = [
        exact(what, struck - max(clean), ">", 0.0, "ms"),
        exact(
            "10/1: variance of the latency with that run as a multiple of that without",
            variance([*clean, struck]) / max(variance(clean), 1e-12),
            ">",
            VARIANCE_FACTOR,
            "",
        ),
    ]
    note = (
        f"seed {found.run.seed}, number {found.tried} of the seeds tried in order, puts {found.probe} into the queue "
        f"of {found.flow}: {struck:.1f} ms, not {fmean(clean):.1f} ms (deviation {stdev(clean):.1f}) in the "
        f"{len(clean)} runs without a collision; two flows seldom meet in 1024 queues, so the seed was looked for"
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
        runs = evidence.of(AXES(VOIP_RRUL, "10/1", qdisc))
        clean = [voice(run).delay_ms for run in runs if all(probe != voice(run).name for probe, _ in run.collisions)]
        if len(clean) < 2:
            message = f"{len(clean)} runs at 10/1 under {qdisc} have no collision, but the claim needs at least 2"
            raise SojournError(message)
        without = float(np.percentile(np.concatenate(clean), 99))
        struck = voice(found.run).delay_ms
        share = float(np.percentile(np.concatenate([*clean, struck]), 99)) / max(without, 1e-9)
        what = f"10/1: 99th percentile of the delay under {qdisc} with the struck run as a multiple of that without"
        checks.append(exact(what, share, ">", HEAVY, ""))
        notes.append(
            f"{qdisc}: seed {found.run.seed}, number {found.tried} of those tried, puts voice into the queue of "
            f"{found.flow}, median {np.median(struck):.1f} ms, without {np.median(np.concatenate(clean)):.1f} ms"
        )
    return all_of(checks, note="; ".join(notes))


def row_of_table_2(experiment: str, qdisc: str, evidence: Evidence) -> Judgement:
    """Judge a row of Table 2; its numbers are data, `tables.toml`."""
    checks: list[Check] = []
    for column, link in tables.LINK_OF_COLUMN.items():
        stated, what = tables.stated_loss(LOADS[experiment], qdisc, column), f"{link}: voice lost under {qdisc}"
        if stated == 0:
            number = sum(evidence.numbers(link, qdisc, voice_lost, experiment))
            checks.append(exact(f"{what}, where the paper has no loss,", number, "=", 0, "packets"))
            continue
        factor = FACTOR if stated > FEW_PERCENT else FACTOR_OF_FEW
        values = evidence.numbers(link, qdisc, voice_loss, experiment)
        checks += within(f"{what}, {stated:g} % in the paper,", values, stated / factor, stated * factor, "percent")
    return all_of(checks, note="factor 2, or 10 up to 0.05 %; no loss exactly")


def row_of_table_3(qdisc: str, evidence: Evidence) -> Judgement:
    """Judge a row of Table 3."""
    checks: list[Check] = []
    for experiment, stated in zip((WIFI_VOIP, WIFI_VOIP_RRUL), TABLE_3[qdisc], strict=True):
        values = evidence.numbers(FAST_LINK, qdisc, voice_loss, experiment)
        what = f"voice lost under {qdisc}, {'one stream' if experiment == WIFI_VOIP else 'RRUL'}, {stated:g} % there,"
        checks += within(what, values, stated / FACTOR, stated * FACTOR, "percent")
    return all_of(checks, note="factor 2")


class Place(NamedTuple):
    """Where fetch times are compared: traffic, page and link."""

    traffic: str
    page: str
    link: str

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return f"{self.traffic}:{self.page}"

    def words(self) -> str:
        """Return the place in words."""
        return f"{self.link} {self.experiment}"


def places(links: tuple[str, ...] = LINKS, traffics: tuple[str, ...] = (WEB, WEB_RRUL)) -> Iterator[Place]:
    """Return all places on these links."""
    for traffic, page, link in product(traffics, PAGES, links):
        yield Place(traffic, page, link)


def times(evidence: Evidence, place: Place, qdisc: str) -> list[float]:
    """Return the fetch time of each repeat (s)."""
    return evidence.numbers(place.link, qdisc, fetch_time, place.experiment)


def mean_time(evidence: Evidence, place: Place, qdisc: str) -> float:
    """Return the mean fetch time over repeats (s)."""
    return fmean(times(evidence, place, qdisc))


def unloaded(evidence: Evidence, place: Place) -> float:
    """Return the mean fetch time without other traffic (s)."""
    return mean_time(evidence, Place(WEB_IDLE, place.page, place.link), FIFO)


def ared_is_variable_and_sometimes_worse(evidence: Evidence) -> Judgement:
    """gbw-web-02."""

    def variability(values: list[float]) -> Callable[[Drawn], float]:
        sample = np.asarray(values)
        return lambda drawn: float(sample[drawn].std() / sample[drawn].mean())

    checks = []
    for place in places(links=("10/1",)):
        ared = times(evidence, place, "ared")
        for other in ("pie", "codel"):
            rival = times(evidence, place, other)
            mine, theirs = variability(ared), variability(rival)
            found = drawn_interval(
                lambda drawn, mine=mine, theirs=theirs: mine(drawn) - theirs(drawn),  # type: ignore[misc]
                min(len(ared), len(rival)),
            )
            what = f"{place.words()}: variation of ared's fetch time over repeats less that of {other}"
            checks.append(Check(what=what, interval=found, relation=">", bound=0.0, unit=""))
    worse = []
    for place in places(links=("10/1", "10/10")):
        gap = differences(times(evidence, place, "ared"), times(evidence, place, FIFO))
        worse.append(above(f"{place.words()}: fetch time of ared less that of {FIFO}", gap, 0.0, "s"))
    note = "variation: standard deviation over mean; sometimes worse than FIFO: in some place at 10/1 or 10/10"
    return all_of([*checks, best_of(worse)], note=note)


def lost_syns_slow_ared(evidence: Evidence) -> Judgement:
    """gbw-web-03."""

    def explained(found: PageObservation, counts: Array) -> float:
        """Return the share of the variance of the fetch time that goes with the counts (r squared)."""
        if counts.std() == 0 or found.time_s.std() == 0:
            return 0.0
        return float(np.corrcoef(counts, found.time_s)[0, 1] ** 2)

    def slower(run: Observation) -> float | None:
        found = pages(run)
        struck = found.syns > 0
        if not struck.any() or struck.all():
            return None
        return float(found.time_s[struck].mean() - found.time_s[~struck].mean())

    checks, others = [], []
    for place in places(links=("10/1",), traffics=(WEB,)):
        runs = evidence.of(AXES(place.experiment, place.link, "ared"))
        shares = [explained(pages(run), pages(run).syns) for run in runs]
        look_ups = fmean(explained(pages(run), pages(run).look_ups) for run in runs)
        others.append(f"{look_ups:.2f} of {place.page}")
        what = f"{place.words()}: share of the variance of ared's fetch times that SYN retransmissions explain"
        checks.append(above(what, shares, EXPLAINS, ""))
        gaps = [gap for run in runs if (gap := slower(run)) is not None]
        if gaps:
            what = f"{place.words()}: time of ared's fetches with a SYN retransmission less that of those without"
            checks.append(above(what, gaps, 0.0, "s"))
    note = (
        "the square of the correlation of a fetch's time with the number of SYN packets it sent again, mean over runs; "
        f"lost look-ups of the name, asked again after 5 s, explain {' and '.join(others)}"
    )
    return all_of(checks, note=note)


def _each_discipline(of: Callable[[str], list[float]]) -> dict[str, list[float]]:
    """Return a quantity of each repeat under each AQM and each kind of fair queueing."""
    return {qdisc: of(qdisc) for qdisc in (*AQMS, *FAIR)}


def _repeats(found: dict[str, list[float]]) -> int:
    return min(len(values) for values in found.values())


def _of_groups(found: dict[str, list[float]], drawn: Drawn) -> tuple[float, float]:
    """Return the means of drawn repeats over the AQMs and over fair queueing."""
    aqm, fair = (fmean(float(np.asarray(found[qdisc])[drawn].mean()) for qdisc in group) for group in (AQMS, FAIR))
    return aqm, fair


def many_are_close_to_unloaded(evidence: Evidence) -> Judgement:
    """gbw-web-08."""
    close = [
        mean_time(evidence, place, qdisc) < CLOSE * unloaded(evidence, place)
        for place in places()
        for qdisc in (*AQMS, *FAIR)
    ]
    what = "share of the cells of AQMs and fair queueing with a fetch time close to the unloaded"
    check = exact(what, sum(close) / len(close), ">", MANY, "")
    note = f"{sum(close)} of {len(close)}; close is read as within {CLOSE - 1:.0%}, many as more than half"
    return all_of([check], note=note)


def web_differs_less_than_latency(evidence: Evidence) -> Judgement:
    """gbw-web-11."""
    fetches = {place: _each_discipline(partial(times, evidence, place)) for place in places()}
    latencies = {link: _each_discipline(partial(evidence.latency, link)) for link in LINKS}

    def share(drawn: Drawn) -> float:
        less = []
        for place, found in fetches.items():
            aqm, fair = _of_groups(found, drawn)
            apart = max(aqm / fair, fair / aqm)
            aqm, fair = _of_groups(latencies[place.link], drawn)
            less.append(apart < max(aqm, 1e-9) / max(fair, 1e-9))
        return sum(less) / len(less)

    what = "share of the places where AQMs and fair queueing differ by a smaller factor than in latency under RRUL"
    found = drawn_interval(share, min(map(_repeats, (*fetches.values(), *latencies.values()))))
    check = Check(what=what, interval=found, relation=">", bound=MANY, unit="")
    return all_of([check], note="means over the AQMs and over the fair queueing disciplines")


def far_from_unloaded_they_differ_more(evidence: Evidence) -> Judgement:
    """gbw-web-12."""
    fetches = {place: _each_discipline(partial(times, evidence, place)) for place in places()}
    # Which places are close is of all repeats, so that a draw compares the same places.
    far = [
        place
        for place, found in fetches.items()
        if fmean(fmean(values) for values in found.values()) >= CLOSE * unloaded(evidence, place)
    ]
    near = [place for place in fetches if place not in far]
    if not near or not far:
        message = f"{len(near)} places are close to the unloaded time and {len(far)} far: there is nothing to compare"
        raise SojournError(message)

    def spread(place: Place, drawn: Drawn) -> float:
        means = [float(np.asarray(values)[drawn].mean()) for values in fetches[place].values()]
        return (max(means) - min(means)) / fmean(means)

    def more(drawn: Drawn) -> float:
        return fmean(spread(place, drawn) for place in far) - fmean(spread(place, drawn) for place in near)

    what = "spread over disciplines as a share of the mean, far from the unloaded time less close to it"
    found = drawn_interval(more, min(map(_repeats, fetches.values())))
    check = Check(what=what, interval=found, relation=">", bound=0.0, unit="")
    note = (
        f"{len(far)} places are far, {len(near)} close (mean over disciplines within {CLOSE - 1:.0%} of the unloaded)"
    )
    return all_of([check], note=note)


def of_rrul(evidence: Evidence) -> Iterator[Quantity]:
    """Return what RRUL measures: latency, and goodput with its sign turned."""
    for link in LINKS:
        yield f"{link}: latency", partial(evidence.latency, link)
        for side in sides(link):
            yield (
                f"{link} {side}: lack of goodput",
                lambda qdisc, link=link, side=side: [-value for value in evidence.goodput(link, qdisc, side)],  # type: ignore[misc]
            )


def of_others(evidence: Evidence) -> Iterator[Quantity]:
    """Return what voice and pages measure, the one place left out where the paper itself finds fair queueing slower."""
    for traffic, link in product((VOIP, VOIP_RRUL), LINKS):
        for what, measure in (("voice delay", median_delay), ("voice loss", voice_loss)):
            yield (
                f"{link} {traffic}: {what}",
                lambda qdisc, link=link, traffic=traffic, of=measure: evidence.numbers(link, qdisc, of, traffic),  # type: ignore[misc]
            )
    for place in places():
        if place != Place(WEB_RRUL, "huffpost", "10/10"):
            yield f"{place.words()}: fetch time", partial(times, evidence, place)


def aqms_never_beat_fair_queueing(evidence: Evidence) -> Judgement:
    """gbw-disc-03."""
    checks, missing = [], []
    for what, of in (*of_rrul(evidence), *of_others(evidence)):
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


def aqm_order_varies(evidence: Evidence) -> Judgement:
    """gbw-con-01; goodput is that on the link's slowest side."""
    improvements = [
        above(
            f"{link}: latency of {FIFO} less that of {aqm}",
            differences(evidence.latency(link, FIFO), evidence.latency(link, aqm)),
            0.0,
            "ms",
        )
        for link, aqm in product(LINKS, AQMS)
    ]
    measures: dict[str, Callable[[str, str], list[float]]] = {
        "latency": evidence.latency,
        "goodput": lambda link, qdisc: evidence.goodput(link, qdisc, sides(link)[-1]),
    }
    changes = []
    for (a, b), (what, of) in product(combinations(AQMS, 2), measures.items()):
        signs = {link: clear_sign(of(link, a), of(link, b)) for link in LINKS}
        if {1, -1} <= set(signs.values()):
            higher = ", ".join(f"{a if sign > 0 else b} at {link}" for link, sign in signs.items() if sign)
            changes.append(f"more {what}: {higher}")
    check = exact("pairs of AQMs whose order changes with the link", len(changes), ">", 0, "pairs")
    return all_of([*improvements, check], note="; ".join(changes) or "no pair's order changes clearly")


def fair_queueing_is_generally_superior(evidence: Evidence) -> Judgement:
    """gbw-con-04."""
    compared = [(what, of, fair, aqm) for what, of in of_rrul(evidence) for fair in FAIR for aqm in AQMS]
    worse = [f"{what} {fair} against {aqm}" for what, of, fair, aqm in compared if clear_sign(of(fair), of(aqm)) > 0]
    share = 1 - len(worse) / len(compared)
    check = exact("share of comparisons in which fair queueing is not clearly worse", share, ">", GENERALLY, "")
    note = f"{len(compared)} comparisons of latency and goodput; worse: {', '.join(worse[:6]) or 'none'}"
    return all_of([check], note=note)


def bandwidth_delay_product(evidence: Evidence) -> Judgement:
    """gbw-fair-11: of the shortest flow's quarter of 1 Mbit/s."""
    run = evidence.of(AXES(RTT_FAIRNESS, "10/1", "fq_codel"))[0]
    rate = known(run.up.rate_mbit, run, "rate of the link")
    product_ = rate * 1e6 / len(run.flows) * min(flow.rtt_ms for flow in run.flows) / 8000
    return all_of([exact("10/1: rate of a flow's share times the shortest RTT", int(product_), "=", 312, "bytes")])


def other_totals_are_identical(evidence: Evidence) -> Judgement:
    """gbw-fair-13."""
    checks = []
    for link in LINKS:
        totals = {
            qdisc: evidence.goodput(link, qdisc, "up", RTT_FAIRNESS)
            for qdisc in DISCIPLINES
            if link != "10/1" or qdisc not in APART
        }
        best = max(totals, key=lambda qdisc: fmean(totals[qdisc]))
        for qdisc, total in totals.items():
            if qdisc != best:
                what = f"{link}: total goodput of {qdisc} as a share of {best}'s"
                checks.append(above(what, ratios(total, totals[best]), IDENTICAL, ""))
    return all_of(checks, note="identical is read as within 2 % of the best; ared and fq_codel at 10/1 are left out")


def slow_links_do_not_notice(evidence: Evidence) -> Judgement:
    """gbw-wifi-01."""
    checks: list[Check] = []
    for link, qdisc in product(SLOW_LINKS, DISCIPLINES):
        for side in ("down", "up"):
            wired, wifi = (evidence.goodput(link, qdisc, side, one) for one in (RRUL, WIFI_RRUL))
            what = f"{link}: goodput {side} with Wi-Fi over that without, {qdisc}"
            checks += within(what, ratios(wifi, wired), 1 - SAME_GOODPUT, 1 + SAME_GOODPUT, "")
        wired, wifi = (evidence.latency(link, qdisc, one) for one in (RRUL, WIFI_RRUL))
        room = max(SAME_MS, round(SAME_LATENCY * fmean(wired), 2))
        what = f"{link}: induced latency with Wi-Fi less that without, {qdisc}"
        checks += within(what, differences(wifi, wired), -room, room, "ms")
    return all_of(
        checks, note="RRUL; a difference is meaningful from 10 % of the goodput, 20 % of the latency or 10 ms on"
    )


def _collisions_left_out(evidence: Evidence) -> str:
    cells = [AXES(RRUL, link, qdisc) for link in ("10/10", "10/1") for qdisc in ("fq_codel", "fq_nocodel")]
    pairs = [pair for cell in cells for pair in paired_with_sfq(evidence, cell)]
    struck = sum(bool(mine.collisions or sfq.collisions) for mine, sfq in pairs)
    return f"{struck} pairs of runs with a hash collision are left out"


def _too_few_drops(evidence: Evidence) -> str:
    left_out = 0
    for link, aqm in product(LINKS, AQMS):
        fifo = {run.seed: unevenness(run) for run in evidence.of(AXES(RTT_FAIRNESS, link, FIFO))}
        mine = {run.seed: unevenness(run) for run in evidence.of(AXES(RTT_FAIRNESS, link, aqm))}
        left_out += sum(None in (fifo[seed], mine[seed]) for seed in fifo if seed in mine)
    return (
        "standard deviation over mean of the times between successive drops: 1 if they are independent, 0 if evenly "
        f"spaced; {left_out} pairs of runs with too few drops are left out"
    )


def _change_by_reno(evidence: Evidence) -> str:
    def index(link: str, qdisc: str, cc: str) -> float:
        return fmean(evidence.numbers(link, qdisc, fairness, RTT_FAIRNESS, cc))

    places_ = product(LINKS, DISCIPLINES)
    change = fmean(abs(index(link, qdisc, "reno") - index(link, qdisc, "cubic")) for link, qdisc in places_)
    return f"mean change {change:.3f}"


def _settling(evidence: Evidence) -> str:
    shown = []
    for link in reversed(LINKS):
        start = StartUp(evidence.of(AXES(RRUL, link, "codel")))
        shown.append(f"{link} {start.settling(np.arange(start.n)):.1f} s")
    return f"{', '.join(shown)}; settled: for 5 s no more than 10% or 5 ms above the mean of 30 to 60 s"


FUNCTIONS: dict[str, Callable[..., Judgement]] = {
    **driven.FUNCTIONS,
    "gbw-cfg-01": goodput_is_payload_of_bulk_flows,
    "gbw-rrul-23": a_collision_makes_the_variance,
    "gbw-voip-04": collisions_weigh_on_delay,
    **{f"gbw-t2-1s-{qdisc}": partial(row_of_table_2, VOIP, qdisc) for qdisc in DISCIPLINES},
    **{f"gbw-t2-rr-{qdisc}": partial(row_of_table_2, VOIP_RRUL, qdisc) for qdisc in DISCIPLINES},
    **{f"gbw-t3-{qdisc}": partial(row_of_table_3, qdisc) for qdisc in DISCIPLINES},
    "gbw-web-02": ared_is_variable_and_sometimes_worse,
    "gbw-web-03": lost_syns_slow_ared,
    "gbw-web-08": many_are_close_to_unloaded,
    "gbw-web-11": web_differs_less_than_latency,
    "gbw-web-12": far_from_unloaded_they_differ_more,
    "gbw-disc-03": aqms_never_beat_fair_queueing,
    "gbw-con-01": aqm_order_varies,
    "gbw-con-04": fair_queueing_is_generally_superior,
    "gbw-fair-11": bandwidth_delay_product,
    "gbw-fair-13": other_totals_are_identical,
    "gbw-wifi-01": slow_links_do_not_notice,
}
NOTES: dict[str, Callable[..., str]] = {
    "gbw-rrul-22": _collisions_left_out,
    "gbw-fair-03": _too_few_drops,
    "gbw-fair-14": _change_by_reno,
    "gbw-tran-07": _settling,
}
JUDGES = Judges(paper="good_bad_wifi", vocabulary=VOCABULARY, by_function=FUNCTIONS, notes=NOTES)
