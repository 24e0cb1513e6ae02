"""The judges of the rural study's claims that rules cannot say, and the numbers of notes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from sojourn._native import expand_qdisc
from sojourn.errors import SojournError
from sojourn.papers.rural.evidence import (
    AXES,
    CODEL,
    DEFAULT,
    DROPTAIL,
    EMULATION,
    LAMBDA_MS,
    LOADS,
    NS2,
    RTTS_MS,
    RURAL,
    SCHEMES,
    Evidence,
)
from sojourn.papers.rural.quantities import QUANTITIES, VOCABULARY, imp, inc, lost, of_lambda, queueing, utilisation
from sojourn.stats import mean_interval
from sojourn.store.claims import JudgedClaim
from sojourn.study.claims import Claim, Judges
from sojourn.study.redraw import Drawn, drawn_interval
from sojourn.study.verdict import (
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
)

#: The range of "about 10 % at best", per cent.
MODEST_GAIN = (0.0, 20.0)
#: CoDel's defaults as the paper states them, ms.
STATED_MS = {"target": 5, "interval": 100}
#: The bits of a full packet, and of the paper's bottleneck in a millisecond.
PACKET_BITS, BITS_PER_MS = 1500 * 8, 1000


def gain_in_fct_is_modest(evidence: Evidence, **_: Any) -> Judgement:
    """rur-04."""
    gains = {
        (scheme, rtt): list(lost(evidence, AXES(EMULATION, scheme, DEFAULT, rtt=rtt), "fct").values())
        for scheme, rtt in product(SCHEMES, RTTS_MS)
    }
    (scheme, rtt), most = max(gains.items(), key=lambda one: fmean(one[1]))
    what = f"best gain in FCT over droptail: {scheme}, RTT {rtt} ms"
    low, high = MODEST_GAIN
    return all_of([not_below(what, most, low, "percent"), not_above(what, most, high, "percent")])


def a_packet_takes_longer_than_the_target(_evidence: Evidence, **_: Any) -> Judgement:
    """rur-06."""
    takes = PACKET_BITS / BITS_PER_MS
    more = takes - _parameter("rural:codel_default", "target")
    return all_of(
        [
            exact("transmission of 1500 bytes at 1 Mbit/s", takes, "=", 12.0, "ms"),
            exact("the same less the default target", more, ">", 0, "ms"),
        ]
    )


def files_are_faster_at_most_rtts(evidence: Evidence, **_: Any) -> Judgement:
    """rur-24."""
    checks = []
    for scheme in SCHEMES:
        by_seed = [imp(evidence, AXES(EMULATION, scheme, rtt=rtt), "fct") for rtt in RTTS_MS]
        shared = [seed for seed in by_seed[0] if all(seed in one for one in by_seed)]
        if not shared:
            message = f"no seed has completed files on every path under {scheme}"
            raise SojournError(message)
        each = [[one[seed] for seed in shared] for one in by_seed]

        def faster(drawn: Drawn, each: list[list[float]] = each) -> float:
            return float(sum(np.asarray(values)[drawn].mean() > 0 for values in each))

        what = f"paths of {len(each)} with imp of FCT > 0, {scheme}"
        found = drawn_interval(faster, len(shared))
        checks.append(Check(what=what, interval=found, relation=">", bound=len(each) / 2, unit=""))
    return all_of(checks)


def throughput_is_paid_with_delay(evidence: Evidence, **_: Any) -> Judgement:
    """rur-25."""
    checks = []
    for scheme, rtt in product(SCHEMES, RTTS_MS):
        cell = AXES(EMULATION, scheme, rtt=rtt)
        gained = mean_interval(inc(evidence, cell, "bulk").values()).low
        if gained is not None and gained > 0:
            waits = inc(evidence, cell, "ping").values()
            checks.append(above(f"inc of the echo's delay, {scheme}, RTT {rtt} ms, bulk gains", waits, 0.0, "ms"))
    if not checks:
        checks.append(exact("paths on which bulk throughput clearly gains", 0, ">", 0, ""))
    return all_of(checks)


def simulation_and_emulation_differ(evidence: Evidence, **_: Any) -> Judgement:
    """rur-26."""
    checks = []
    for scheme in SCHEMES:
        for what, unit, change, quantity in (
            ("imp of FCT", "points", imp, "fct"),
            ("inc of bulk throughput", "Mbit/s", inc, "bulk"),
        ):
            both = [
                [change(evidence, AXES(kind, scheme, rtt=rtt), quantity).values() for rtt in RTTS_MS]
                for kind in (NS2, EMULATION)
            ]
            means = [[fmean(of_seed) for of_seed in zip(*each, strict=False)] for each in both]
            gaps = [one - other for one, other in zip(*means, strict=False)]
            sign = 1 if fmean(gaps) >= 0 else -1
            first, second = ("simulation", "emulation")[::sign]
            words = f"{what} in the {first} less that in the {second}, {scheme}, mean of all paths"
            checks.append(above(words, [sign * gap for gap in gaps], 0.0, unit))
    return any_of(checks)


def default_does_not_control(evidence: Evidence, **_: Any) -> Judgement:
    """rur-35."""
    checks = []
    for rtt in RTTS_MS:
        here = AXES(EMULATION, CODEL, DEFAULT, rtt=rtt)
        checks.append(
            best_of(
                [
                    above(f"mean waiting, {here.words()}", evidence.each(here, queueing), DEFAULT.target, "ms"),
                    below(f"utilisation, {here.words()}", evidence.each(here, utilisation), 85.0, "percent"),
                ]
            )
        )
    return all_of(checks)


def defaults_are_as_stated(_evidence: Evidence, **_: Any) -> Judgement:
    """rur-37."""
    checks = [
        exact(f"{word} of {name}", _parameter(name, word), "=", bound, "ms")
        for name in ("rural:codel_default", "rural:fq_codel_default")
        for word, bound in STATED_MS.items()
    ]
    quantum = _parameter("rural:fq_codel_default", "quantum")
    return all_of([*checks, exact("quantum of rural:fq_codel_default", quantum, "=", 1514, "bytes")])


def _parameter(preset: str, word: str) -> float:
    """Return a parameter of a preset: ms or bytes."""
    words = expand_qdisc(preset, 1_000_000).split()
    return float(words[words.index(word) + 1].removesuffix("ms"))


def _full_buffers(evidence: Evidence, **_: Any) -> str:
    shares = []
    for scheme, load in product(SCHEMES, LOADS):
        ends = of_lambda(scheme, load)[:: len(LAMBDA_MS) - 1]
        full = [fmean(evidence.each(cell, lambda run: run.drops - run.aqm_drops)) for cell in ends]
        shares.append(f"{scheme} {load} {full[0]:.0f} to {full[1]:.0f}")
    return f"drops of a full buffer in a run, not counted: {', '.join(shares)}"


def _echoes(evidence: Evidence, **_: Any) -> str:
    shown = [
        f"{one.scheme} {'/'.join(map(str, one.setting)) + ' ' if one.setting.target else ''}"
        f"{fmean(evidence.each(one, QUANTITIES['ping'])):.1f}"
        for one in evidence.services()
    ]
    return f"an echo waits on average (ms): {', '.join(shown)}"


def _shares_of_the_rtt(evidence: Evidence, **_: Any) -> str:
    shares = []
    for scheme in SCHEMES:
        pairs = evidence.pairs(evidence.service(DROPTAIL), evidence.service(scheme, RURAL), queueing)
        less = fmean([full - here for full, here in pairs])
        shares.append(f"{scheme} {less / (evidence.satellite.rtt_ms + fmean(full for full, _ in pairs)):.0%}")
    note = "60 % and 300 ms together would need a loaded RTT of 500 ms, less than the path's own"
    return f"as a share of droptail's RTT: {', '.join(shares)}; {note}"


FUNCTIONS: dict[str, Callable[..., Judgement]] = {
    "rur-04": gain_in_fct_is_modest,
    "rur-06": a_packet_takes_longer_than_the_target,
    "rur-24": files_are_faster_at_most_rtts,
    "rur-25": throughput_is_paid_with_delay,
    "rur-26": simulation_and_emulation_differ,
    "rur-35": default_does_not_control,
    "rur-37": defaults_are_as_stated,
}
NOTES: dict[str, Callable[..., str]] = {
    "rur-11": _full_buffers,
    "rur-28": _echoes,
    "rur-29": _echoes,
    "rur-31": _shares_of_the_rtt,
}
JUDGES = Judges(paper="rural", vocabulary=VOCABULARY, by_function=FUNCTIONS, notes=NOTES)


def judge(claims: list[Claim], evidence: Evidence) -> list[JudgedClaim]:
    """Return what became of each claim."""
    return JUDGES.judge(claims, evidence, {"satellite_rtt": evidence.satellite.rtt_ms})
