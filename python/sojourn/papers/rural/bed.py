"""The claims of the rural study about the emulated bed and the satellite service, and two identities.

In the emulation an echo measures the delay, as in the paper. Whose round-trip time Fig. 8 shows is not said. It is
read as that of the bottleneck's packets, base and mean waiting: an echo has a queue of its own under SFQ, so of an
echo the paper could not say that SFQ's is longer than CoDel's.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import fmean

import numpy as np

from sojourn._native import expand_qdisc
from sojourn.papers.kit.verdict import (
    Check,
    Judgement,
    above,
    all_of,
    any_of,
    below,
    best_of,
    exact,
    not_above,
    not_below,
    within,
)
from sojourn.papers.rural.evidence import (
    CODEL,
    DEFAULT,
    DROPTAIL,
    EMULATION,
    FQ_CODEL,
    NS2,
    RTTS_MS,
    RURAL,
    SCHEMES,
    SFQ,
    Cell,
    Evidence,
    Quantity,
    Seen,
    Setting,
    improvements,
    increases,
)
from sojourn.papers.rural.study import bulk, fct, queueing, utilisation
from sojourn.stats import mean_interval

#: "As high as 300 ms": 25 packets of 12 ms; and the largest delay that a percentile of "below 30 ms" may have.
FULL_MS, COUPLE_MS = (270.0, 300.0), 40.0
#: "A large drop in bulk throughput", and the range of "about 10 % at best", per cent.
LARGE_DROP, MODEST_GAIN = 15.0, (0.0, 20.0)
#: "Momentarily high": a third of what the buffer holds; on paths from 350 ms on.
MOMENTARILY_MS, LARGE_RTT_MS = 100.0, 350
#: Of the two numbers for the satellite path, which contradict each other, only this much is asked for, ms.
REDUCTION_MS = 150.0
#: The bits of a full packet, and of the paper's bottleneck in a millisecond.
PACKET_BITS, BITS_PER_MS = 1500 * 8, 1000


def droptail_fills_its_buffer(evidence: Evidence) -> Judgement:
    """rur-01."""
    checks = []
    for rtt in RTTS_MS:
        most = evidence.each(Cell(EMULATION, DROPTAIL, rtt=rtt), lambda seen: seen.ping_max_ms)
        checks += within(f"longest delay of droptail, RTT {rtt} ms", most, *FULL_MS, "ms")
    return all_of(checks)


def default_delay_is_a_couple_of_packets(evidence: Evidence) -> Judgement:
    """rur-02."""
    return all_of(
        [
            below(
                f"90th percentile of the delay, {scheme}, RTT {rtt} ms",
                evidence.each(Cell(EMULATION, scheme, DEFAULT, rtt=rtt), lambda seen: seen.ping_p90_ms),
                COUPLE_MS,
                "ms",
            )
            for scheme, rtt in product(SCHEMES, RTTS_MS)
        ]
    )


def default_costs_bulk_throughput(evidence: Evidence) -> Judgement:
    """rur-03."""
    checks = [
        best_of(
            [
                above(f"bulk throughput lost, {scheme}, RTT {rtt} ms", lost(evidence, scheme, rtt), LARGE_DROP, "%")
                for rtt in RTTS_MS
            ]
        )
        for scheme in SCHEMES
    ]
    short = ", ".join(f"{scheme} {fmean(lost(evidence, scheme, RTTS_MS[0])):.3g} %" for scheme in SCHEMES)
    return all_of(checks, note=f"lost at {RTTS_MS[0]} ms: {short}")


def gain_in_fct_is_modest(evidence: Evidence) -> Judgement:
    """rur-04."""
    gains = {}
    for scheme, rtt in product(SCHEMES, RTTS_MS):
        pairs = evidence.pairs(Cell(EMULATION, DROPTAIL, rtt=rtt), Cell(EMULATION, scheme, DEFAULT, rtt=rtt), fct)
        gains[scheme, rtt] = [100 * (full - here) / full for full, here in pairs]
    (scheme, rtt), most = max(gains.items(), key=lambda one: fmean(one[1]))
    what = f"best gain in FCT over droptail: {scheme}, RTT {rtt} ms"
    low, high = MODEST_GAIN
    return all_of([not_below(what, most, low, "percent"), not_above(what, most, high, "percent")])


def fair_queueing_is_less_sensitive_to_rtt(evidence: Evidence) -> Judgement:
    """rur-05."""
    slopes = {}
    for scheme in SCHEMES:
        each = zip(*(lost(evidence, scheme, rtt) for rtt in RTTS_MS), strict=True)
        slopes[scheme] = [100 * float(np.polyfit(RTTS_MS, of_seed, 1)[0]) for of_seed in each]
    gaps = [one - other for one, other in zip(slopes[CODEL], slopes[FQ_CODEL], strict=True)]
    return all_of([above("slope of codel less that of fq_codel", gaps, 0.0, "points of bulk throughput per 100 ms")])


def a_packet_takes_longer_than_the_target(evidence: Evidence) -> Judgement:
    """rur-06."""
    del evidence
    takes = PACKET_BITS / BITS_PER_MS
    return all_of(
        [
            exact("transmission of 1500 bytes at 1 Mbit/s", takes, "=", 12.0, "ms"),
            exact(
                "the same less the default target", takes - _parameter("rural:codel_default", "target"), ">", 0, "ms"
            ),
        ]
    )


def the_link_idles(evidence: Evidence) -> Judgement:
    """rur-07."""
    checks = []
    for scheme, rtt in product(SCHEMES, RTTS_MS):
        here = Cell(EMULATION, scheme, DEFAULT, rtt=rtt)
        idle = [100 - value for value in evidence.each(here, utilisation)]
        more = [a - b for a, b in evidence.pairs(Cell(EMULATION, DROPTAIL, rtt=rtt), here, utilisation)]
        checks.append(above(f"idle link, {here.words()}", idle, 0.0, "percent"))
        checks.append(above(f"idle link above droptail's, {here.words()}", more, 0.0, "points"))
    return all_of(checks)


def files_are_faster_at_most_rtts(evidence: Evidence) -> Judgement:
    """rur-24."""
    checks = []
    for scheme in SCHEMES:
        means = [fmean(improvements(evidence, Cell(EMULATION, scheme, rtt=rtt), fct)) for rtt in RTTS_MS]
        faster = sum(mean > 0 for mean in means)
        checks.append(exact(f"paths of {len(means)} with imp of FCT > 0, {scheme}", faster, ">", len(means) / 2, ""))
    return all_of(checks)


def throughput_is_paid_with_delay(evidence: Evidence) -> Judgement:
    """rur-25."""
    checks = []
    for scheme, rtt in product(SCHEMES, RTTS_MS):
        cell = Cell(EMULATION, scheme, rtt=rtt)
        gained = mean_interval(increases(evidence, cell, bulk)).low
        if gained is not None and gained > 0:
            waits = increases(evidence, cell, _ping)
            checks.append(above(f"inc of the echo's delay, {scheme}, RTT {rtt} ms, bulk gains", waits, 0.0, "ms"))
    if not checks:
        checks.append(exact("paths on which bulk throughput clearly gains", 0, ">", 0, ""))
    return all_of(checks)


def simulation_and_emulation_differ(evidence: Evidence) -> Judgement:
    """rur-26."""
    checks = []
    for scheme in SCHEMES:
        for what, unit, change, quantity in (
            ("imp of FCT", "points", improvements, fct),
            ("inc of bulk throughput", "Mbit/s", increases, bulk),
        ):
            both = [
                [change(evidence, Cell(kind, scheme, rtt=rtt), quantity) for rtt in RTTS_MS]
                for kind in (NS2, EMULATION)
            ]
            means = [[fmean(of_seed) for of_seed in zip(*each, strict=False)] for each in both]
            gaps = [one - other for one, other in zip(*means, strict=False)]
            sign = 1 if fmean(gaps) >= 0 else -1
            first, second = ("simulation", "emulation")[::sign]
            words = f"{what} in the {first} less that in the {second}, {scheme}, mean of all paths"
            checks.append(above(words, [sign * gap for gap in gaps], 0.0, unit))
    return any_of(checks)


def default_is_slower_over_the_satellite(evidence: Evidence) -> Judgement:
    """rur-27."""
    return _over_satellite(evidence, DEFAULT, fct, "FCT", "s", above)


def default_waits_less_over_the_satellite(evidence: Evidence) -> Judgement:
    """rur-28."""
    return _over_satellite(evidence, DEFAULT, queueing, "RTT", "ms", below, note=_echoes(evidence))


def rural_waits_less_over_the_satellite(evidence: Evidence) -> Judgement:
    """rur-29."""
    return _over_satellite(evidence, RURAL, queueing, "RTT", "ms", below, note=_echoes(evidence))


def rural_is_no_slower_over_the_satellite(evidence: Evidence) -> Judgement:
    """rur-30."""
    return _over_satellite(evidence, RURAL, fct, "FCT", "s", not_above)


def rural_takes_300_ms_off(evidence: Evidence) -> Judgement:
    """rur-31."""
    checks, shares = [], []
    droptail = evidence.service(DROPTAIL)
    for scheme in SCHEMES:
        pairs = evidence.pairs(droptail, evidence.service(scheme, RURAL), queueing)
        less = [full - here for full, here in pairs]
        checks.append(not_below(f"RTT of droptail less that of rural {scheme}", less, REDUCTION_MS, "ms"))
        shares.append(f"{scheme} {fmean(less) / (evidence.satellite.rtt_ms + fmean(full for full, _ in pairs)):.0%}")
    note = "60 % and 300 ms together would need a loaded RTT of 500 ms, less than the path's own"
    return all_of(checks, note=f"as a share of droptail's RTT: {', '.join(shares)}; {note}")


def rural_delay_exceeds_its_target(evidence: Evidence) -> Judgement:
    """rur-32."""
    return all_of(
        [
            above(
                f"95th percentile of the waiting, codel, RTT {rtt} ms",
                evidence.each(Cell(EMULATION, CODEL, RURAL, rtt=rtt), lambda seen: seen.queueing_p95_ms),
                RURAL.target,
                "ms",
            )
            for rtt in RTTS_MS
        ],
        note="peaks are meant: the mean of the simulations is below 50 ms by rur-12",
    )


def default_does_not_control(evidence: Evidence) -> Judgement:
    """rur-35."""
    checks = []
    for rtt in RTTS_MS:
        here = Cell(EMULATION, CODEL, DEFAULT, rtt=rtt)
        checks.append(
            best_of(
                [
                    above(f"mean waiting, {here.words()}", evidence.each(here, queueing), DEFAULT.target, "ms"),
                    below(f"utilisation, {here.words()}", evidence.each(here, utilisation), 85.0, "percent"),
                ]
            )
        )
    return all_of(checks)


def defaults_are_as_stated(evidence: Evidence) -> Judgement:
    """rur-37."""
    del evidence
    checks = []
    for name in ("rural:codel_default", "rural:fq_codel_default"):
        for word, bound in zip(("target", "interval"), DEFAULT, strict=True):
            checks.append(exact(f"{word} of {name}", _parameter(name, word), "=", bound, "ms"))
    quantum = _parameter("rural:fq_codel_default", "quantum")
    return all_of([*checks, exact("quantum of rural:fq_codel_default", quantum, "=", 1514, "bytes")])


def default_is_late_and_idle(evidence: Evidence) -> Judgement:
    """rur-38."""
    checks = []
    for rtt in (rtt for rtt in RTTS_MS if rtt >= LARGE_RTT_MS):
        here = Cell(EMULATION, CODEL, DEFAULT, rtt=rtt)
        most = evidence.each(here, lambda seen: seen.ping_max_ms)
        checks.append(above(f"longest delay, {here.words()}", most, MOMENTARILY_MS, "ms"))
        checks.append(below(f"utilisation, {here.words()}", evidence.each(here, utilisation), 90.0, "percent"))
    return all_of(checks)


def lost(evidence: Evidence, scheme: str, rtt: int) -> list[float]:
    """Return how much bulk throughput the default parameters cost against droptail for each seed, per cent."""
    pairs = evidence.pairs(Cell(EMULATION, DROPTAIL, rtt=rtt), Cell(EMULATION, scheme, DEFAULT, rtt=rtt), bulk)
    return [100 * (full - here) / full for full, here in pairs]


def _over_satellite(
    evidence: Evidence,
    setting: Setting,
    quantity: Quantity,
    what: str,
    unit: str,
    check: Callable[[str, list[float], float, str], Check],
    *,
    note: str = "",
) -> Judgement:
    checks = []
    for scheme, other in product(SCHEMES, (DROPTAIL, SFQ)):
        pairs = evidence.pairs(evidence.service(scheme, setting), evidence.service(other), quantity)
        words = f"{what} of {scheme} {setting.target}/{setting.interval} ms less that of {other}"
        checks.append(check(words, [mine - theirs for mine, theirs in pairs], 0.0, unit))
    return all_of(checks, note=note)


def _echoes(evidence: Evidence) -> str:
    cells = evidence.services()
    shown = [
        f"{one.scheme} {'/'.join(map(str, one.setting)) + ' ' if one.setting.target else ''}"
        f"{fmean(evidence.each(one, _ping)):.1f}"
        for one in cells
    ]
    return f"an echo waits on average (ms): {', '.join(shown)}"


def _ping(seen: Seen) -> float | None:
    return seen.ping_ms


def _parameter(preset: str, word: str) -> float:
    """Return a parameter of a preset: ms or bytes."""
    words = expand_qdisc(preset, 1_000_000).split()
    return float(words[words.index(word) + 1].removesuffix("ms"))


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "rur-01": droptail_fills_its_buffer,
    "rur-02": default_delay_is_a_couple_of_packets,
    "rur-03": default_costs_bulk_throughput,
    "rur-04": gain_in_fct_is_modest,
    "rur-05": fair_queueing_is_less_sensitive_to_rtt,
    "rur-06": a_packet_takes_longer_than_the_target,
    "rur-07": the_link_idles,
    "rur-24": files_are_faster_at_most_rtts,
    "rur-25": throughput_is_paid_with_delay,
    "rur-26": simulation_and_emulation_differ,
    "rur-27": default_is_slower_over_the_satellite,
    "rur-28": default_waits_less_over_the_satellite,
    "rur-29": rural_waits_less_over_the_satellite,
    "rur-30": rural_is_no_slower_over_the_satellite,
    "rur-31": rural_takes_300_ms_off,
    "rur-32": rural_delay_exceeds_its_target,
    "rur-35": default_does_not_control,
    "rur-37": defaults_are_as_stated,
    "rur-38": default_is_late_and_idle,
}
