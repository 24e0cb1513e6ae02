"""The claims of seed 000 section 5.1 on why the disciplines behave as they do under the RRUL test."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, stdev, variance

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import LINKS, RRUL, Evidence, induced_latency, ratios, steady
from sojourn.papers.good_bad_wifi.observation import STEADY_FROM_S, Observation, known
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, any_of, below, exact

#: Claim 13: the drop probability stays below this (percent).
LOW_DROP_PERCENT = 0.1
#: Claim 15: CoDel's target, and what "somewhat above" it means (ms).
CODEL_TARGET_MS = 5.0
CODEL_SOMEWHAT_ABOVE_MS = 20.0
#: Claim 16: "oscillates" is read as entering the dropping state at least this often a minute.
MANY_ENTRIES_PER_MINUTE = 10.0
#: Claim 20: what "significantly smaller" means, as a ratio.
SIGNIFICANTLY = 0.7
#: Claim 23: the run with the collision makes the variance at least this many times what it is without.
VARIANCE_FACTOR = 4.0


def pie_queue_is_smoother(evidence: Evidence) -> Judgement:
    """gbw-rrul-11."""

    def spread(run: Observation) -> float:
        return fmean(steady(end.queue_std, run) for end in run.ends)

    def burstiness(run: Observation) -> float:
        """Variance over mean of the drops in a bin: 1 for independent drops, more for bursts."""
        return fmean(steady(end.burstiness, run) for end in run.ends)

    checks = [
        below(
            "10/10: standard deviation of PIE's queue as a share of that of ARED's",
            ratios(evidence.each("10/10", "pie", spread), evidence.each("10/10", "ared", spread)),
            1.0,
            "",
        ),
        below(
            "10/10: burstiness of PIE's drops as a share of that of ARED's",
            ratios(evidence.each("10/10", "pie", burstiness), evidence.each("10/10", "ared", burstiness)),
            1.0,
            "",
        ),
    ]
    note = f"either suffices; samples each 200 ms after the first {STEADY_FROM_S:g} s, mean of both directions"
    return any_of(checks, note=note)


def pie_drops_little_at_100(evidence: Evidence) -> Judgement:
    """gbw-rrul-13."""

    def drop_percent(run: Observation) -> float:
        dropped = sum(steady(end.drops, run) for end in run.ends)
        return 100 * dropped / sum(steady(end.packets, run) for end in run.ends)

    values = evidence.each("100/100", "pie", drop_percent)
    check = below("100/100: share of packets that PIE drops in steady state", values, LOW_DROP_PERCENT, "percent")
    return all_of([check], note=f"after the first {STEADY_FROM_S:g} s")


def codel_settles_above_target(evidence: Evidence) -> Judgement:
    """gbw-rrul-15."""
    checks: list[Check] = []
    for link in ("10/10", "100/100"):
        values = evidence.each(
            link, "codel", lambda run: fmean(known(end.wait_ms, run, "sojourn time") for end in run.ends)
        )
        what = f"{link}: mean sojourn time under codel"
        checks += [
            above(what, values, CODEL_TARGET_MS, "ms"),
            below(what, values, CODEL_SOMEWHAT_ABOVE_MS, "ms"),
        ]
    return all_of(checks, note=f"somewhat above the target of 5 ms is read as below {CODEL_SOMEWHAT_ABOVE_MS:g} ms")


def codel_oscillates(evidence: Evidence) -> Judgement:
    """gbw-rrul-16."""
    checks: list[Check] = []
    for link in ("10/10", "100/100"):

        def entries(run: Observation) -> float:
            found = fmean(known(end.entries, run, "count of CoDel's dropping states") for end in run.ends)
            return found / (run.duration_s / 60)

        what = f"{link}: entries of codel into the dropping state in a minute"
        checks.append(above(what, evidence.each(link, "codel", entries), MANY_ENTRIES_PER_MINUTE, "per minute"))
    return all_of(checks, note=f"oscillating is read as at least {MANY_ENTRIES_PER_MINUTE:g} entries a minute")


def fq_codel_keeps_windows_small(evidence: Evidence) -> Judgement:
    """gbw-rrul-20."""

    def window(run: Observation) -> float:
        return fmean(flow.window for flow in run.flows)

    def wait(run: Observation) -> float:
        return fmean(known(flow.wait_ms, run, "sojourn time of a flow") for flow in run.flows)

    checks = [
        below(
            f"{link}: mean {name} under fq_codel as a share of that under fq_nocodel",
            ratios(evidence.each(link, "fq_codel", quantity), evidence.each(link, "fq_nocodel", quantity)),
            SIGNIFICANTLY,
            "",
        )
        for link in LINKS
        for name, quantity in (("congestion window", window), ("sojourn time of the flows' packets", wait))
    ]
    return all_of(checks, note=f"significantly smaller is read as below {SIGNIFICANTLY:g} of it")


def a_collision_makes_the_variance(evidence: Evidence) -> Judgement:
    """gbw-rrul-23."""
    found = evidence.collisions.get((RRUL, "fq_nocodel"))
    if found is None:
        message = "no seed with a hash collision was found"
        raise SojournError(message)
    clean = [induced_latency(run) for run in evidence.of("10/1", "fq_nocodel") if not run.collisions]
    if len(clean) < 2:
        message = f"{len(clean)} runs at 10/1 under fq_nocodel have no collision, but the claim needs at least 2"
        raise SojournError(message)
    struck = induced_latency(found.seen)
    checks = [
        exact(
            "10/1: latency of the run with the collision less the highest without", struck - max(clean), ">", 0.0, "ms"
        ),
        exact(
            "10/1: variance of the latency with that run as a multiple of that without",
            variance([*clean, struck]) / max(variance(clean), 1e-12),
            ">",
            VARIANCE_FACTOR,
            "",
        ),
    ]
    note = (
        f"seed {found.seen.seed}, number {found.tried} of the seeds tried in order, puts {found.probe} into the queue "
        f"of {found.flow}: {struck:.1f} ms, not {fmean(clean):.1f} ms (deviation {stdev(clean):.1f}) in the "
        f"{len(clean)} runs without a collision; two flows seldom meet in 1024 queues, so the seed was looked for"
    )
    return all_of(checks, note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-rrul-11": pie_queue_is_smoother,
    "gbw-rrul-13": pie_drops_little_at_100,
    "gbw-rrul-15": codel_settles_above_target,
    "gbw-rrul-16": codel_oscillates,
    "gbw-rrul-20": fq_codel_keeps_windows_small,
    "gbw-rrul-23": a_collision_makes_the_variance,
}
