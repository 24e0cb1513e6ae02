"""The claims of seed 000 section 5.3 on page fetch times, beside one TCP flow up (`web`) and beside RRUL (`web_rrul`).

The fetch time of a run is the mean over its fetches, as in Figs 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.curves import Drawn, interval
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    PAGES,
    WEB,
    WEB_IDLE,
    WEB_RRUL,
    Evidence,
    differences,
    ratios,
)
from sojourn.papers.good_bad_wifi.observation import Array, EndSeen, Observation, PagesSeen, known
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, best_of, exact

TRAFFICS = (WEB, WEB_RRUL)
#: Claim 03: SYN losses explain the variance if they make up more than this share of it.
EXPLAINS = 0.5
#: Claim 08: very close to the unloaded time, and in many cells.
CLOSE, MANY = 1.25, 0.5
#: Claim 10: the packets of a small object's burst, and the standing queue of an AQM at 10 Mbit/s (packets).
BURST, STANDING = 10, 16
#: An ablation: as many bytes as the Huffpost page, in a few large objects.
LARGE_OBJECTS = f"{WEB_RRUL}:huffpost large objects"


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


def places(links: tuple[str, ...] = LINKS, traffics: tuple[str, ...] = TRAFFICS) -> Iterator[Place]:
    """Return all places on these links."""
    for traffic in traffics:
        for page in PAGES:
            for link in links:
                yield Place(traffic, page, link)


def pages(run: Observation) -> PagesSeen:
    """Return the fetches of a run."""
    found = known(run.pages, run, "page fetches")
    if not found.time_s.size:
        message = f"the run with seed {run.seed} has no completed fetch"
        raise SojournError(message)
    return found


def fetch_time(run: Observation) -> float:
    """Return the mean fetch time (s)."""
    return float(pages(run).time_s.mean())


def times(evidence: Evidence, place: Place, qdisc: str) -> list[float]:
    """Return the fetch time of each repeat (s)."""
    return evidence.each(place.link, qdisc, fetch_time, place.experiment)


def mean_time(evidence: Evidence, place: Place, qdisc: str) -> float:
    """Return the mean fetch time over repeats (s)."""
    return fmean(times(evidence, place, qdisc))


def faster(evidence: Evidence, place: Place, fast: str, slow: str) -> Check:
    """Return the check that a discipline's fetch time is below another's."""
    gap = differences(times(evidence, place, slow), times(evidence, place, fast))
    return above(f"{place.words()}: fetch time of {slow} less that of {fast}", gap, 0.0, "s")


def managing_delay_helps(evidence: Evidence) -> Judgement:
    """gbw-web-01."""
    better = ("pie", "codel", *FAIR)
    return all_of([faster(evidence, place, qdisc, FIFO) for place in places() for qdisc in better])


def ared_is_variable_and_sometimes_worse(evidence: Evidence) -> Judgement:
    """gbw-web-02."""

    def variability(values: list[float]) -> Callable[[Drawn], float]:
        sample = np.asarray(values)
        return lambda drawn: float(sample[drawn].std() / sample[drawn].mean())

    checks = []
    for place in places(links=("10/1",)):
        ared = times(evidence, place, "ared")
        for other in ("pie", "codel"):
            mine, theirs = variability(ared), variability(times(evidence, place, other))
            found = interval(
                lambda drawn, mine=mine, theirs=theirs: mine(drawn) - theirs(drawn),  # type: ignore[misc]
                len(ared),
            )
            what = f"{place.words()}: variation of ared's fetch time over repeats less that of {other}"
            checks.append(Check(what=what, interval=found, relation=">", bound=0.0, unit=""))
    worse = [faster(evidence, place, FIFO, "ared") for place in places(links=("10/1", "10/10"))]
    note = "variation: standard deviation over mean; sometimes worse than FIFO: in some place at 10/1 or 10/10"
    return all_of([*checks, best_of(worse)], note=note)


def lost_syns_slow_ared(evidence: Evidence) -> Judgement:
    """gbw-web-03."""

    def explained(found: PagesSeen, counts: Array) -> float:
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
        runs = evidence.of(place.link, "ared", place.experiment)
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


def ared_hurts_the_small_page_more(evidence: Evidence) -> Judgement:
    """gbw-web-04."""
    checks = []
    for traffic in TRAFFICS:
        google, huffpost = (
            ratios(times(evidence, place, "ared"), times(evidence, place, FIFO))
            for place in (Place(traffic, page, "10/1") for page in PAGES)
        )
        what = f"10/1 {traffic}: fetch time of ared over that of {FIFO}, google less huffpost"
        checks.append(above(what, differences(google, huffpost), 0.0, ""))
    return all_of(checks)


def fifo_is_worse_beside_one_flow(evidence: Evidence) -> Judgement:
    """gbw-web-05."""
    checks, others = [], []
    for page in PAGES:
        for link in LINKS:
            one, rrul = (times(evidence, Place(traffic, page, link), FIFO) for traffic in TRAFFICS)
            if link == "10/1":
                what = f"10/1 {page}: fetch time of {FIFO} beside one flow less that beside RRUL"
                checks.append(above(what, differences(one, rrul), 0.0, "s"))
            else:
                others.append(f"{link} {page} {fmean(one):.2f} and {fmean(rrul):.2f} s")
    note = "read at 10/1, where the slow queue is the one that SYN packets meet; elsewhere: " + ", ".join(others)
    return all_of(checks, note=note)


def syns_find_room_among_acks(evidence: Evidence) -> Judgement:
    """gbw-web-06."""

    def dropped(run: Observation) -> float:
        end: EndSeen = run.up
        offered = known(end.syn_offered, run, "count of SYN packets at the bottleneck")
        if not offered:
            message = f"the run with seed {run.seed} sent no SYN packet up"
            raise SojournError(message)
        return 100 * known(end.syn_dropped, run, "count of dropped SYN packets") / offered

    checks = []
    for page in PAGES:
        one, rrul = (evidence.each("10/1", FIFO, dropped, f"{traffic}:{page}") for traffic in TRAFFICS)
        what = f"10/1 {page}: share of SYN packets that {FIFO} drops beside one flow less that beside RRUL"
        checks.append(above(what, differences(one, rrul), 0.0, "percentage points"))
    return all_of(checks)


def any_management_helps(evidence: Evidence) -> Judgement:
    """gbw-web-07."""
    checks = [
        faster(evidence, place, qdisc, FIFO)
        for place in places()
        for qdisc in DISCIPLINES
        if qdisc != FIFO and (qdisc != "ared" or place.link == "100/100")
    ]
    return all_of(checks, note="ared at 10/10 and 10/1 is left out: the paper itself says otherwise there (gbw-x-03)")


def unloaded(evidence: Evidence, place: Place) -> float:
    """Return the mean fetch time without other traffic (s)."""
    return mean_time(evidence, Place(WEB_IDLE, place.page, place.link), FIFO)


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


def fair_queueing_is_slower_for_many_objects(evidence: Evidence) -> Judgement:
    """gbw-web-09."""
    place = Place(WEB_RRUL, "huffpost", "10/10")
    return all_of([faster(evidence, place, aqm, fair) for aqm in ("codel", "pie") for fair in FAIR])


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
                evidence.each("10/10", fair, fetch_time, experiment),
                evidence.each("10/10", "codel", fetch_time, experiment),
            )
            for experiment in (f"{WEB_RRUL}:huffpost", LARGE_OBJECTS)
        )
        what = f"10/10: fetch time of {fair} over that of codel, many small objects less a few large ones"
        checks.append(above(what, differences(small, large), 0.0, ""))
    note = f"by hand: {BURST} packets into a queue in which four flows have {STANDING}, at 10 Mbit/s"
    return all_of(checks, note=note)


def _aqm_over_fair(evidence: Evidence, place: Place) -> float:
    aqm, fair = (fmean(mean_time(evidence, place, qdisc) for qdisc in group) for group in (AQMS, FAIR))
    return max(aqm / fair, fair / aqm)


def web_differs_less_than_latency(evidence: Evidence) -> Judgement:
    """gbw-web-11."""
    less = []
    for place in places():
        aqm, fair = (fmean(fmean(evidence.latency(place.link, qdisc)) for qdisc in group) for group in (AQMS, FAIR))
        less.append(_aqm_over_fair(evidence, place) < max(aqm, 1e-9) / max(fair, 1e-9))
    what = "share of the places where AQMs and fair queueing differ by a smaller factor than in latency under RRUL"
    check = exact(what, sum(less) / len(less), ">", MANY, "")
    return all_of(
        [check], note=f"{sum(less)} of {len(less)}; means over the AQMs and over the fair queueing disciplines"
    )


def far_from_unloaded_they_differ_more(evidence: Evidence) -> Judgement:
    """gbw-web-12."""
    near: list[float] = []
    far: list[float] = []
    for place in places():
        found = [mean_time(evidence, place, qdisc) for qdisc in (*AQMS, *FAIR)]
        group = near if fmean(found) < CLOSE * unloaded(evidence, place) else far
        group.append((max(found) - min(found)) / fmean(found))
    if not near or not far:
        message = f"{len(near)} places are close to the unloaded time and {len(far)} far: there is nothing to compare"
        raise SojournError(message)
    what = "spread over disciplines as a share of the mean, far from the unloaded time less close to it"
    check = exact(what, fmean(far) - fmean(near), ">", 0.0, "")
    note = (
        f"{len(far)} places are far, {len(near)} close (mean over disciplines within {CLOSE - 1:.0%} of the unloaded)"
    )
    return all_of([check], note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-web-01": managing_delay_helps,
    "gbw-web-02": ared_is_variable_and_sometimes_worse,
    "gbw-web-03": lost_syns_slow_ared,
    "gbw-web-04": ared_hurts_the_small_page_more,
    "gbw-web-05": fifo_is_worse_beside_one_flow,
    "gbw-web-06": syns_find_room_among_acks,
    "gbw-web-07": any_management_helps,
    "gbw-web-08": many_are_close_to_unloaded,
    "gbw-web-09": fair_queueing_is_slower_for_many_objects,
    "gbw-web-10": bursts_are_split_up,
    "gbw-web-11": web_differs_less_than_latency,
    "gbw-web-12": far_from_unloaded_they_differ_more,
}
