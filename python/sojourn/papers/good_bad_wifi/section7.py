"""The claims of seed 000 section 7: the same qdiscs where a Wi-Fi link is part of the path.

Source: seed 000 section 7 and Table 3. A laptop and an access point, a driver with queues of its own below the
discipline at both ends, and the bottleneck of the wired experiments behind it. The claims are judged with the pair of
devices that `sojourn.papers.good_bad_wifi.devices.UNEVEN` is; `of_pair` puts another pair's runs in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import (
    DISCIPLINES,
    FAIR,
    FIFO,
    PAGES,
    RRUL,
    WEB_RRUL,
    Evidence,
    differences,
    ratios,
)
from sojourn.papers.good_bad_wifi.observation import START_S, Observation, known
from sojourn.papers.good_bad_wifi.voip import median_delay
from sojourn.papers.kit.orders import agreement, same_order
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below, within
from sojourn.stats.fetches import mean_fetch_s

#: The experiments over the Wi-Fi link; those with pages with the page, such as `"wifi_web:google"`.
WIFI_RRUL, WIFI_VOIP, WIFI_VOIP_RRUL = "wifi_rrul", "wifi_voip", "wifi_voip_rrul"
WIFI_WEB, WIFI_WEB_RRUL, WIFI_WEB_IDLE = "wifi_web", "wifi_web_rrul", "wifi_web_idle"
#: An ablation: hardly any room in the drivers.
SHALLOW = "wifi_rrul shallow"


def in_pair(pair: str, experiment: str) -> str:
    """Return the name of an experiment with another pair of devices."""
    return f"{pair} {experiment}"


#: RRUL with two other pairs of devices.
STRONG_POINT, STRONG_LAPTOP = in_pair("strong point", WIFI_RRUL), in_pair("strong laptop", WIFI_RRUL)
FAST_LINK, SLOW_LINKS = "100/100", ("10/10", "10/1")

#: Claim 01: no meaningful difference: a share of the goodput, and of the latency or so many ms.
SAME_GOODPUT, SAME_LATENCY, SAME_MS = 0.1, 0.2, 10.0
#: Claim 02: a small spike (ms).
SMALL_MS = 100.0
#: Claim 03: no peak is higher than the steady level by more than this factor.
STANDS_OUT = 1.5
#: Claim 05: around 100 ms. Claim 07: almost nothing, as a share of the other direction.
FLOOR_MS, ALMOST_NOTHING = (60.0, 160.0), 0.1
#: Claim 06: the part of the latency that goes when the drivers have hardly any room.
MOST = 0.5
#: Claims 09 and 13: nearly the same: so far from the mean of all.
NEARLY = 0.25
#: Claim 11 and Table 3: a loss is met within this factor.
FACTOR = 2.0
#: Table 3, percent: one stream and RRUL.
TABLE_3: dict[str, tuple[float, float]] = {
    "pfifo_fast": (0.34, 16.66),
    "ared": (0.13, 5.30),
    "pie": (0.18, 27.52),
    "codel": (0.19, 18.56),
    "sfq": (0.47, 1.71),
    "fq_nocodel": (0.17, 1.59),
    "fq_codel": (0.22, 2.64),
}
#: Its smallest and largest loss beside one stream.
ONE_STREAM = (0.13, 0.47)


def of_pair(evidence: Evidence, pair: str) -> Evidence:
    """Return the evidence with the runs of another pair of devices in the place of those with the paper's."""
    own = {cell: runs for cell, runs in evidence.cells.items() if not cell.experiment.startswith("wifi_")}
    prefix = in_pair(pair, "")
    other = {
        cell._replace(experiment=cell.experiment.removeprefix(prefix)): runs
        for cell, runs in own.items()
        if cell.experiment.startswith(prefix)
    }
    return replace(evidence, cells=own | other)


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


def small_spikes_show_under_fair_queueing(evidence: Evidence) -> Judgement:
    """gbw-wifi-02."""
    checks: list[Check] = []
    for link in SLOW_LINKS:
        for qdisc in FAIR:
            wired, wifi = (evidence.each(link, qdisc, _spike, one) for one in (RRUL, WIFI_RRUL))
            what = f"{link}: highest above the usual latency with Wi-Fi, {qdisc}"
            checks.append(above(f"{what}, less that without", differences(wifi, wired), 0.0, "ms"))
            checks.append(below(what, wifi, SMALL_MS, "ms"))
        fair = evidence.each(link, "fq_codel", _spike, WIFI_RRUL)
        for qdisc in ("pie", "codel"):
            own = evidence.each(link, qdisc, _spike, RRUL)
            what = f"{link}: what {qdisc}'s own latency varies by without Wi-Fi, less the spikes of fq_codel with it"
            checks.append(above(what, differences(own, fair), 0.0, "ms"))
    return all_of(checks, note="means of 200 ms after the start-up: the largest less the median")


def no_start_up_spike(evidence: Evidence) -> Judgement:
    """gbw-wifi-03."""
    checks = []
    for qdisc in DISCIPLINES:
        values = evidence.each(FAST_LINK, qdisc, _peak, WIFI_RRUL)
        checks.append(below(f"peak of the start-up over the steady latency, {qdisc}", values, STANDS_OUT, ""))
    wired = evidence.each(FAST_LINK, "codel", _peak, RRUL)
    return all_of(
        checks, note=f"means of 1 s; without Wi-Fi codel's peak is {fmean(wired):.2f} times its steady latency"
    )


def latencies_keep_their_order(evidence: Evidence) -> Judgement:
    """gbw-wifi-04."""
    return all_of(_in_order({qdisc: evidence.latency(FAST_LINK, qdisc, WIFI_RRUL) for qdisc in DISCIPLINES}, "latency"))


def the_floor_is_100_ms(evidence: Evidence) -> Judgement:
    """gbw-wifi-05."""
    found = {qdisc: evidence.latency(FAST_LINK, qdisc, WIFI_RRUL) for qdisc in DISCIPLINES}
    least = min(found, key=lambda qdisc: fmean(found[qdisc]))
    return all_of(within(f"least induced latency, that of {least},", found[least], *FLOOR_MS, "ms"))


def the_wait_is_below_the_discipline(evidence: Evidence) -> Judgement:
    """gbw-wifi-06."""
    checks = []
    for qdisc in FAIR:
        full, shallow = (evidence.latency(FAST_LINK, qdisc, one) for one in (WIFI_RRUL, SHALLOW))
        gone = [1 - part for part in ratios(shallow, full)]
        what = f"share of the latency under {qdisc} that goes when the drivers hold one aggregate"
        checks.append(above(what, gone, MOST, ""))
    return all_of(
        checks, note="32 frames in either driver instead of 123 and 256; the hardware still holds two aggregates"
    )


def upstream_starves(evidence: Evidence) -> Judgement:
    """gbw-wifi-07."""
    checks = []
    for qdisc in DISCIPLINES:
        part = evidence.each(FAST_LINK, qdisc, _up_over_down, WIFI_RRUL)
        checks.append(below(f"goodput up over goodput down, {qdisc}", part, ALMOST_NOTHING, ""))
    return all_of(checks)


def devices_decide_who_starves(evidence: Evidence) -> Judgement:
    """gbw-wifi-08."""
    point, laptop = (evidence.each(FAST_LINK, FIFO, _up_over_down, one) for one in (STRONG_POINT, STRONG_LAPTOP))
    return all_of(
        [
            below("goodput up over goodput down, strong access point", point, 0.5, ""),
            above("the same with a strong laptop", laptop, 2.0, ""),
        ],
        note="the strong side sends at 57.8 Mbit/s and takes the medium after 25 us and at most 3 slots, the other at "
        "14.4 Mbit/s, with a third of its frames lost",
    )


def one_stream_makes_all_alike(evidence: Evidence) -> Judgement:
    """gbw-wifi-09."""
    return all_of(
        _alike({qdisc: _delays(evidence, qdisc, WIFI_VOIP) for qdisc in DISCIPLINES}, "median delay of voice")
    )


def voice_keeps_the_order_of_rrul(evidence: Evidence) -> Judgement:
    """gbw-wifi-10."""
    return all_of(
        _in_order({qdisc: _delays(evidence, qdisc, WIFI_VOIP_RRUL) for qdisc in DISCIPLINES}, "median delay of voice")
    )


def one_stream_loses_little(evidence: Evidence) -> Judgement:
    """gbw-wifi-11."""
    low, high = ONE_STREAM
    checks: list[Check] = []
    for qdisc in DISCIPLINES:
        values = evidence.each(FAST_LINK, qdisc, _loss, WIFI_VOIP)
        checks += within(f"voice lost under {qdisc}", values, low / FACTOR, high * FACTOR, "percent")
    return all_of(checks, note="the band of Table 3, and a factor of 2")


def row_is_met(qdisc: str, evidence: Evidence) -> Judgement:
    """Judge a row of Table 3."""
    checks: list[Check] = []
    for experiment, stated in zip((WIFI_VOIP, WIFI_VOIP_RRUL), TABLE_3[qdisc], strict=True):
        values = evidence.each(FAST_LINK, qdisc, _loss, experiment)
        what = f"voice lost under {qdisc}, {'one stream' if experiment == WIFI_VOIP else 'RRUL'}, {stated:g} % there,"
        checks += within(what, values, stated / FACTOR, stated * FACTOR, "percent")
    return all_of(checks, note="factor 2")


def one_stream_makes_pages_alike(evidence: Evidence) -> Judgement:
    """gbw-wifi-13."""
    checks: list[Check] = []
    for page in PAGES:
        found = {qdisc: _fetches(evidence, qdisc, f"{WIFI_WEB}:{page}") for qdisc in DISCIPLINES}
        checks += _alike(found, f"fetch time of {page}")
    return all_of(checks)


def pages_keep_their_order(evidence: Evidence) -> Judgement:
    """gbw-wifi-14."""
    found = []
    for page in PAGES:
        wired, wifi = (
            {qdisc: _fetches(evidence, qdisc, f"{traffic}:{page}") for qdisc in DISCIPLINES}
            for traffic in (WEB_RRUL, WIFI_WEB_RRUL)
        )
        found.append(agreement(page, wired, wifi))
    return same_order(found, "whose order by fetch time is not that without Wi-Fi")


def pie_and_codel_lose_more(evidence: Evidence) -> Judgement:
    """gbw-wifi-15."""
    checks = []
    for page, aqm in product(PAGES, ("pie", "codel")):
        penalties = []
        for traffic in (WIFI_WEB_RRUL, WEB_RRUL):
            fair = [
                fmean(each)
                for each in zip(*(_fetches(evidence, one, f"{traffic}:{page}") for one in FAIR), strict=False)
            ]
            penalties.append(ratios(_fetches(evidence, aqm, f"{traffic}:{page}"), fair))
        what = f"{page}: fetch time of {aqm} over that of fair queueing, with Wi-Fi less without"
        checks.append(above(what, differences(*penalties), 0.0, ""))
    return all_of(checks)


def _in_order(found: dict[str, list[float]], what: str) -> list[Check]:
    """Return the checks that FIFO is above PIE and CoDel, and these above ARED and fair queueing."""
    pairs = [(FIFO, middle) for middle in ("pie", "codel")]
    pairs += [(middle, low) for middle in ("pie", "codel") for low in ("ared", *FAIR)]
    return [
        above(f"{what} of {high} less that of {low}", differences(found[high], found[low]), 0.0, "ms")
        for high, low in pairs
    ]


def _alike(found: dict[str, list[float]], what: str) -> list[Check]:
    mean = fmean(fmean(values) for values in found.values())
    checks: list[Check] = []
    for qdisc, values in found.items():
        parts = [value / mean for value in values]
        checks += within(f"{what} over the mean of all, {qdisc}", parts, 1 - NEARLY, 1 + NEARLY, "")
    return checks


def _delays(evidence: Evidence, qdisc: str, experiment: str) -> list[float]:
    return evidence.each(FAST_LINK, qdisc, median_delay, experiment)


def _fetches(evidence: Evidence, qdisc: str, experiment: str) -> list[float]:
    return evidence.each(FAST_LINK, qdisc, _fetch_time, experiment)


def _fetch_time(run: Observation) -> float:
    """Return the mean fetch time (s), with the fetch that the end of the run cut off (`sojourn.stats.fetches`)."""
    found = known(run.pages, run, "web client")
    return mean_fetch_s([float(time) for time in found.time_s], found.unfinished_s)


def _loss(run: Observation) -> float:
    return known(run.voice, run, "voice flow").loss_percent


def _up_over_down(run: Observation) -> float:
    if run.goodput_down == 0:
        message = f"the run with seed {run.seed} has no goodput down"
        raise SojournError(message)
    return run.goodput_up / run.goodput_down


def _spike(run: Observation) -> float:
    """Return the highest mean of 200 ms after the start-up, less the median (ms)."""
    late = run.curve_ms[round(START_S / 0.2) :]
    late = late[~np.isnan(late)]
    if not late.size:
        message = f"the run with seed {run.seed} has no echo after the start-up: it is too short"
        raise SojournError(message)
    return float(late.max() - np.median(late))


def _peak(run: Observation) -> float:
    """Return the highest mean of 1 s of the start-up over the steady level, both as induced latency."""
    idle = known(run.before_ms, run, "round-trip time before the flows")
    steady = known(run.settled_ms, run, "steady latency: it is too short")
    seconds = np.nanmean(run.curve_ms[: round(START_S / 0.2)].reshape(-1, 5), axis=1)
    return (float(np.nanmax(seconds)) - idle) / max(steady - idle, 1e-6)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-wifi-01": slow_links_do_not_notice,
    "gbw-wifi-02": small_spikes_show_under_fair_queueing,
    "gbw-wifi-03": no_start_up_spike,
    "gbw-wifi-04": latencies_keep_their_order,
    "gbw-wifi-05": the_floor_is_100_ms,
    "gbw-wifi-06": the_wait_is_below_the_discipline,
    "gbw-wifi-07": upstream_starves,
    "gbw-wifi-08": devices_decide_who_starves,
    "gbw-wifi-09": one_stream_makes_all_alike,
    "gbw-wifi-10": voice_keeps_the_order_of_rrul,
    "gbw-wifi-11": one_stream_loses_little,
    "gbw-wifi-13": one_stream_makes_pages_alike,
    "gbw-wifi-14": pages_keep_their_order,
    "gbw-wifi-15": pie_and_codel_lose_more,
    **{f"gbw-t3-{qdisc}": partial(row_is_met, qdisc) for qdisc in TABLE_3},
}
