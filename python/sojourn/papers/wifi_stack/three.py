"""The claims of seed 002 about its three stations: latency (Fig. 2), airtime (Fig. 3) and throughput (Fig. 4).

Latency is the median round-trip time of the pings at a station in a run; of the fast stations, the mean of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from sojourn.papers.good_bad_wifi.evidence import differences, ratios
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, exact, not_below, within
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    CLASSES,
    EQUAL,
    FAST,
    FIFO,
    FQ_CODEL,
    FQ_MAC,
    SCHEMES,
    SLOW,
    STATIONS,
    TCP,
    UDP,
    Evidence,
    Seen,
    StationSeen,
    mean_of,
    median_ping,
)

#: "An order of magnitude": at least so many times; "several hundred ms"; "around 35 ms"; "45 %".
MAGNITUDE, HUNDREDS_MS, AROUND_35_MS, ANOTHER_45 = 5.0, (200.0, 1000.0), (25.0, 50.0), (30.0, 60.0)
#: "More than 200 ms".
STILL_MS = 200.0
#: Two latencies or throughputs are the same within this share.
SAME = 0.2
#: "Perfect fairness": so far from a third.
PERFECT = 0.02
#: "A little": largest distance of two distributions, at least what chance explains, at most this.
LITTLE = 0.5
#: The slow station has most of the airtime from this share on; throughputs are about equal within this factor.
MOST, ABOUT_EQUAL = 0.6, 2.0
#: A change by less than this share of the value is none, as in the orders of docs/claims.md.
NO_CHANGE = 0.01
#: "Nothing" is up to this share of the throughput, "significantly" is more.
NOTHING = 0.05


def latency(evidence: Evidence, scheme: str, stations: tuple[str, ...], experiment: str = TCP) -> list[float]:
    """Return the latency of each repeat (ms)."""
    return evidence.each(experiment, scheme, lambda seen: median_ping(seen, stations))


def throughput(evidence: Evidence, scheme: str, stations: tuple[str, ...], experiment: str = TCP) -> list[float]:
    """Return the goodput of a station, the mean of several, in each repeat (Mbit/s)."""
    prefix = "udp" if experiment == UDP else "tcp"
    return evidence.each(experiment, scheme, lambda seen: fmean(seen.goodput[f"{prefix}_{name}"] for name in stations))


def total(evidence: Evidence, scheme: str, experiment: str = TCP) -> list[float]:
    """Return the goodput of all stations in each repeat (Mbit/s)."""
    return evidence.each(experiment, scheme, lambda seen: sum(seen.goodput.values()))


def share(evidence: Evidence, scheme: str, name: str, experiment: str = UDP) -> list[float]:
    """Return the airtime share of a station in each repeat."""
    return evidence.each(experiment, scheme, lambda seen: seen.stations[name].airtime_share)


def aggregate(evidence: Evidence, scheme: str, stations: tuple[str, ...], experiment: str) -> list[float]:
    """Return the mean number of frames in an aggregate in each repeat."""
    return evidence.each(experiment, scheme, lambda seen: mean_of(seen, stations, _frames))


def order_of_magnitude(evidence: Evidence) -> Judgement:
    """wst-01."""
    return all_of(
        [
            above(
                f"latency under {FIFO} as a multiple of that under {FQ_MAC}, {name}",
                ratios(latency(evidence, FIFO, stations), latency(evidence, FQ_MAC, stations)),
                MAGNITUDE,
                "",
            )
            for name, stations in CLASSES.items()
        ],
        note=f"an order of magnitude is read as {MAGNITUDE:g} times at least",
    )


def fifo_waits_hundreds_of_ms(evidence: Evidence) -> Judgement:
    """wst-02."""
    checks: list[Check] = []
    for name, stations in CLASSES.items():
        checks += within(f"latency under {FIFO}, {name}", latency(evidence, FIFO, stations), *HUNDREDS_MS, "ms")
    return all_of(checks)


def fq_codel_alleviates(evidence: Evidence) -> Judgement:
    """wst-03."""
    return all_of([_less(evidence, (FIFO, stations), (FQ_CODEL, stations)) for stations in CLASSES.values()])


def slow_station_still_waits(evidence: Evidence) -> Judgement:
    """wst-04."""
    return all_of([above(f"latency under {FQ_CODEL}, slow", latency(evidence, FQ_CODEL, SLOW), STILL_MS, "ms")])


def fast_stations_wait_35_ms(evidence: Evidence) -> Judgement:
    """wst-05."""
    return all_of(within(f"latency under {FQ_CODEL}, fast", latency(evidence, FQ_CODEL, FAST), *AROUND_35_MS, "ms"))


def another_45_percent(evidence: Evidence) -> Judgement:
    """wst-07."""
    parts = ratios(latency(evidence, FQ_MAC, FAST), latency(evidence, FQ_CODEL, FAST))
    what = f"latency that {FQ_MAC} takes off that under {FQ_CODEL}, fast"
    ms = f"{fmean(latency(evidence, FQ_MAC, FAST)):.1f} ms under {FQ_MAC}"
    return all_of(within(what, [100 * (1 - part) for part in parts], *ANOTHER_45, "%"), note=ms)


def airtime_keeps_the_median(evidence: Evidence) -> Judgement:
    """wst-08."""
    return all_of([check for name in CLASSES for check in _same_median(evidence, name)])


def airtime_changes_the_shape(evidence: Evidence) -> Judgement:
    """wst-09."""
    before, after = (np.sort(evidence.pooled_ping(TCP, scheme, SLOW)) for scheme in (FQ_MAC, AIRTIME))
    places = np.concatenate([before, after])
    distance = float(
        np.abs(
            np.searchsorted(before, places, side="right") / len(before)
            - np.searchsorted(after, places, side="right") / len(after)
        ).max()
    )
    # Kolmogorov and Smirnov's bound for two samples at 5 %.
    chance = 1.358 * float(np.sqrt(1 / len(before) + 1 / len(after)))
    what = f"largest distance of the slow station's distributions under {FQ_MAC} and {AIRTIME}"
    return all_of(
        [
            exact(what, distance, ">", round(chance, 4), ""),
            exact(what, distance, "<", LITTLE, ""),
            *_same_median(evidence, "slow"),
        ]
    )


def airtime_is_fair(evidence: Evidence) -> Judgement:
    """wst-10."""
    checks: list[Check] = []
    for name in STATIONS:
        values = share(evidence, AIRTIME, name)
        checks += within(
            f"airtime share of {name}, UDP", values, round(1 / 3 - PERFECT, 4), round(1 / 3 + PERFECT, 4), ""
        )
    return all_of(checks)


def fast_gain_what_slow_loses(evidence: Evidence) -> Judgement:
    """wst-11."""
    checks = _steps(evidence, FAST, 1, "rise") + _steps(evidence, SLOW, -1, "fall")
    shares = ", ".join(f"{scheme} {fmean(share(evidence, scheme, 'slow', TCP)):.2f}" for scheme in SCHEMES)
    return all_of(checks, note=f"airtime share of the slow station with TCP: {shares}")


def airtime_raises_the_total(evidence: Evidence) -> Judgement:
    """wst-12."""
    return all_of([_gain(evidence, AIRTIME, other) for other in (FQ_MAC, FIFO)])


def queues_raise_the_total(evidence: Evidence) -> Judgement:
    """wst-13."""
    return all_of([_gain(evidence, scheme, FIFO) for scheme in (FQ_CODEL, FQ_MAC)])


def aggregates_grow_with_tcp(evidence: Evidence) -> Judgement:
    """wst-14."""
    return all_of([_larger(evidence, scheme, TCP) for scheme in (FQ_CODEL, FQ_MAC)])


def aggregates_grow_with_udp(evidence: Evidence) -> Judgement:
    """wst-15."""
    return all_of([_larger(evidence, FQ_MAC, UDP)])


def lock_out_is_weaker_with_tcp(evidence: Evidence) -> Judgement:
    """wst-17."""
    tcp, udp = (aggregate(evidence, FQ_CODEL, FAST, experiment) for experiment in (TCP, UDP))
    what = f"frames in an aggregate of the fast stations under {FQ_CODEL}, TCP less UDP"
    slow = [fmean(share(evidence, FQ_CODEL, "slow", experiment)) for experiment in (TCP, UDP)]
    note = f"airtime share of the slow station {slow[0]:.2f} with TCP, {slow[1]:.2f} with UDP"
    return all_of([above(what, differences(tcp, udp), 0.0, "frames")], note=note)


def throughput_is_equal_and_airtime_is_not(evidence: Evidence) -> Judgement:
    """wst-18."""
    fast, slow = (throughput(evidence, FIFO, stations, UDP) for stations in (FAST, SLOW))
    what = f"throughput of a fast station as a multiple of the slow one's under {FIFO}, UDP"
    return all_of(
        [
            above(f"airtime share of the slow station under {FIFO}, UDP", share(evidence, FIFO, "slow"), MOST, ""),
            *within(what, ratios(fast, slow), 1 / ABOUT_EQUAL, ABOUT_EQUAL, ""),
        ]
    )


def waiting_is_in_the_managed_queues(evidence: Evidence) -> Judgement:
    """wst-19."""
    checks = []
    for name, stations in CLASSES.items():
        before, after = latency(evidence, FIFO, stations), latency(evidence, AIRTIME, stations)
        checks.append(above(f"latency under {FIFO} over {AIRTIME}, {name}", ratios(before, after), MAGNITUDE, ""))
    for name in STATIONS:

        def gap(seen: Seen, name: str = name) -> float:
            one = seen.stations[name]
            return (one.queue_ms or 0.0) - (one.hardware_ms or 0.0)

        waits = evidence.each(TCP, AIRTIME, gap)
        checks.append(above(f"waiting in the flow queues less that below them, {name}", waits, 0.0, "ms"))
    return all_of(checks, note="waiting below: from the building of an aggregate to its delivery")


def slow_stations_are_where_it_helps(evidence: Evidence) -> Judgement:
    """wst-29."""
    gain = [100 * (one - 1) for one in ratios(total(evidence, AIRTIME), total(evidence, FQ_MAC))]
    equal = ratios(total(evidence, AIRTIME, EQUAL), total(evidence, FQ_MAC, EQUAL))
    waits = ratios(_equal_latency(evidence, AIRTIME), _equal_latency(evidence, FQ_MAC))
    return all_of(
        [
            above(f"total throughput that {AIRTIME} adds to {FQ_MAC} with a slow station", gain, 100 * NOTHING, "%"),
            *within("total throughput over that of fq_mac, equal rates", equal, 1 - NOTHING, 1 + NOTHING, ""),
            *within("latency over that of fq_mac, equal rates", waits, 1 - SAME, 1 + SAME, ""),
        ]
    )


def latencies_are_in_order(evidence: Evidence) -> Judgement:
    """wst-31."""
    order = [(FIFO, FAST), (FQ_CODEL, SLOW), (FQ_CODEL, FAST), (FQ_MAC, SLOW), (FQ_MAC, FAST)]
    checks = []
    for (first, here), (second, there) in pairwise(order):
        gaps = differences(latency(evidence, first, here), latency(evidence, second, there))
        what = f"latency under {first}, {_class(here)}, less that under {second}, {_class(there)}"
        # The paper finds fq_codel's fast stations and fq_mac's slow one alike.
        alike = (second, there) == (FQ_MAC, SLOW)
        room = -round(SAME * fmean(latency(evidence, first, here)), 3)
        checks.append(not_below(what, gaps, room, "ms") if alike else above(what, gaps, 0.0, "ms"))
    note = "the slow station's latency under FIFO is no less than the fast ones'; the third and the fourth may be alike"
    return all_of(checks, note=note)


def _equal_latency(evidence: Evidence, scheme: str) -> list[float]:
    return evidence.each(EQUAL, scheme, lambda seen: median_ping(seen, tuple(seen.stations)))


def _same_median(evidence: Evidence, name: str) -> list[Check]:
    stations = CLASSES[name]
    found = ratios(latency(evidence, AIRTIME, stations), latency(evidence, FQ_MAC, stations))
    return within(f"latency under {AIRTIME} over that under {FQ_MAC}, {name}", found, 1 - SAME, 1 + SAME, "")


def _less(evidence: Evidence, more: tuple[str, tuple[str, ...]], less: tuple[str, tuple[str, ...]]) -> Check:
    gaps = differences(latency(evidence, *more), latency(evidence, *less))
    return above(f"latency under {more[0]} less that under {less[0]}, {_class(more[1])}", gaps, 0.0, "ms")


def _steps(evidence: Evidence, stations: tuple[str, ...], sign: int, word: str) -> list[Check]:
    def moved(one: str, other: str) -> list[float]:
        gaps = differences(throughput(evidence, other, stations), throughput(evidence, one, stations))
        return [sign * gap for gap in gaps]

    name = _class(stations)
    checks = [above(f"{word} of {name} throughput, {FIFO} to {AIRTIME}", moved(FIFO, AIRTIME), 0.0, "Mbit/s")]
    for one, other in pairwise(SCHEMES):
        room = round(-NO_CHANGE * fmean(throughput(evidence, one, stations)), 4)
        checks.append(not_below(f"{word} of {name} throughput, {one} to {other}", moved(one, other), room, "Mbit/s"))
    return checks


def _gain(evidence: Evidence, scheme: str, other: str) -> Check:
    gaps = differences(total(evidence, scheme), total(evidence, other))
    return above(f"total throughput under {scheme} less that under {other}", gaps, 0.0, "Mbit/s")


def _larger(evidence: Evidence, scheme: str, experiment: str) -> Check:
    mine, theirs = (aggregate(evidence, one, FAST, experiment) for one in (scheme, FIFO))
    what = (
        f"frames in an aggregate of the fast stations under {scheme} less those under {FIFO}, {experiment[5:].upper()}"
    )
    return above(what, differences(mine, theirs), 0.0, "frames")


def _frames(one: StationSeen) -> float:
    return one.aggregate_frames


def _class(stations: Sequence[str]) -> str:
    return next(name for name, found in CLASSES.items() if found == tuple(stations))


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "wst-01": order_of_magnitude,
    "wst-02": fifo_waits_hundreds_of_ms,
    "wst-03": fq_codel_alleviates,
    "wst-04": slow_station_still_waits,
    "wst-05": fast_stations_wait_35_ms,
    "wst-07": another_45_percent,
    "wst-08": airtime_keeps_the_median,
    "wst-09": airtime_changes_the_shape,
    "wst-10": airtime_is_fair,
    "wst-11": fast_gain_what_slow_loses,
    "wst-12": airtime_raises_the_total,
    "wst-13": queues_raise_the_total,
    "wst-14": aggregates_grow_with_tcp,
    "wst-15": aggregates_grow_with_udp,
    "wst-17": lock_out_is_weaker_with_tcp,
    "wst-18": throughput_is_equal_and_airtime_is_not,
    "wst-19": waiting_is_in_the_managed_queues,
    "wst-29": slow_stations_are_where_it_helps,
    "wst-31": latencies_are_in_order,
}
