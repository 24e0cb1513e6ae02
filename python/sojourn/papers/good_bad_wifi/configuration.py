"""The claims of seed 000 sections 3 and 4: how the disciplines were set up, and how they work."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn import _native
from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import (
    DISCIPLINES,
    FIFO,
    LINKS,
    RRUL,
    RTT_FAIRNESS,
    Evidence,
    differences,
    sides,
)
from sojourn.papers.good_bad_wifi.observation import known
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.orders import agreement, same_order
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, exact, within
from sojourn.stats import jain

#: ARED's target delay, of which the lower threshold is half (ms).
ARED_TARGET_MS = 20.0
#: Claim 06: the mean sojourn time may be so far from the target (ms).
NEAR_TARGET_MS = (10.0, 30.0)
#: Bytes of a full packet on the wire: the paper's MTU.
FULL = by_hand.FULL
#: Claim 09: byte shares are equal if they differ by less than this share.
SAME = 0.05
SHORT_FIFO = "rrul short fifo"
#: Claim 01: bytes that rounding may leave.
ROUNDING = 0.01


def parameters(preset: str, rate_mbit: int) -> dict[str, str]:
    """Return the parameters that a preset stands for at a rate, by name."""
    words = _native.expand_qdisc(preset, rate_mbit * 1_000_000).split()
    return dict(zip(words, words[1:], strict=False))


def goodput_is_payload_of_bulk_flows(evidence: Evidence) -> Judgement:
    """gbw-cfg-01: an arithmetic check on records, in which counting probes or headers would show."""
    checks: list[Check] = []
    for link in LINKS:
        run = evidence.of(link, "fq_codel")[0]
        flows = sum(flow.goodput for flow in run.flows)
        probes = known(run.probe_mbit, run, "count of the probes' packets")
        gap = abs(run.goodput_up + run.goodput_down - flows)
        checks.append(
            exact(
                f"{link}: goodput less the sum over the bulk flows, as a share of what the probes sent",
                gap / max(probes, 1e-12),
                "<",
                0.001,
                "",
            )
        )
        remainder = max(known(flow.payload_remainder, run, "segment size") for flow in run.flows)
        checks.append(
            exact(f"{link}: bytes of a flow that are no whole segment of payload", remainder, "<", ROUNDING, "bytes")
        )
    return all_of(checks, note="one run each under fq_codel; a segment with its headers would leave a remainder")


def new_reno_keeps_the_order(evidence: Evidence) -> Judgement:
    """gbw-cfg-02."""
    found = []
    for link in LINKS:

        def order(quantity: Callable[[str, str], list[float]]) -> tuple[dict[str, list[float]], ...]:
            return tuple({qdisc: quantity(qdisc, cc) for qdisc in DISCIPLINES} for cc in ("cubic", "reno"))

        latency = order(lambda qdisc, cc, link=link: evidence.latency(link, qdisc, RRUL, cc))  # type: ignore[misc]
        found.append(agreement(f"{link} latency", *latency))
        for side in sides(link):
            goodput = order(
                lambda qdisc, cc, link=link, side=side: evidence.goodput(link, qdisc, side, RRUL, cc)  # type: ignore[misc]
            )
            found.append(agreement(f"{link} goodput {side}", *goodput))
        fairness = order(
            lambda qdisc, cc, link=link: evidence.each(  # type: ignore[misc]
                link, qdisc, lambda run: jain(flow.goodput for flow in run.flows), RTT_FAIRNESS, cc
            )
        )
        found.append(agreement(f"{link} fairness", *fairness))
    note = "latency and goodput under RRUL and Jain's index; the paper says so explicitly for fairness alone"
    return same_order(found, "whose order New Reno reverses", note=note)


def short_fifo_starves_a_fast_link(evidence: Evidence) -> Judgement:
    """gbw-cfg-03."""
    short, usual = evidence.goodput("100/100", FIFO, "both", SHORT_FIFO), evidence.goodput("100/100", FIFO, "both")
    check = above(
        "100/100: goodput of FIFO with 1000 packets less that with 127", differences(usual, short), 0.0, "Mbit/s"
    )
    return all_of([check], note=f"{fmean(short):.2f} against {fmean(usual):.2f} Mbit/s")


def ared_thresholds_follow_the_target(evidence: Evidence) -> Judgement:
    """gbw-cfg-04; it needs no runs."""
    del evidence
    checks = []
    for rate in (10, 100):
        found = parameters("gbw:ared", rate)
        low, high = float(found["min"]), float(found["max"])
        half = rate * 1e6 * ARED_TARGET_MS / 2 / 8000
        checks += [
            exact(f"{rate} Mbit/s: lower threshold", low, "=", half, "bytes"),
            exact(f"{rate} Mbit/s: upper threshold as a multiple of the lower", high / low, "=", 3.0, ""),
            exact(
                f"{rate} Mbit/s: time of a queue midway",
                (low + high) / 2 * 8000 / (rate * 1e6),
                "=",
                ARED_TARGET_MS,
                "ms",
            ),
        ]
    return all_of(checks)


def ared_thresholds_at_1_mbit(evidence: Evidence) -> Judgement:
    """gbw-cfg-05; it needs no runs."""
    del evidence
    found = parameters("gbw:ared", 1)
    checks = [
        exact("1 Mbit/s: lower threshold", float(found["min"]), "=", float(FULL), "bytes"),
        exact("1 Mbit/s: upper threshold", float(found["max"]), "=", 2.0 * FULL, "bytes"),
    ]
    return all_of(checks)


def ared_queue_is_near_the_target(evidence: Evidence) -> Judgement:
    """gbw-cfg-06."""
    checks: list[Check] = []
    for link in ("10/10", "100/100"):
        values = evidence.each(
            link, "ared", lambda run: fmean(known(end.wait_ms, run, "sojourn time") for end in run.ends)
        )
        checks += within(f"{link}: mean sojourn time under ared", values, *NEAR_TARGET_MS, "ms")
    note = f"around 20 ms is read as {NEAR_TARGET_MS[0]:g} to {NEAR_TARGET_MS[1]:g} ms"
    return all_of(checks, note=note)


def codel_target_fits_a_packet(evidence: Evidence) -> Judgement:
    """gbw-cfg-07; it needs no runs."""
    del evidence
    target = parameters("gbw:codel", 1)["target"]
    if not target.endswith("ms"):
        message = f"the target of gbw:codel at 1 Mbit/s is {target}, but must be in ms"
        raise SojournError(message)
    found = float(target.removesuffix("ms"))
    packet_ms = FULL * 8 / 1000
    checks = [
        exact("1 Mbit/s: CoDel's target", found, "=", 13.0, "ms"),
        exact("1 Mbit/s: CoDel's target less the time of a full packet", found - packet_ms, ">", 0.0, "ms"),
    ]
    return all_of(checks)


def sparse_flows_stay_new(evidence: Evidence) -> Judgement:
    """gbw-cfg-08; it needs no runs. SFQ, and a flow that does not drain, show that the drive can tell."""
    del evidence
    sparse = by_hand.others_ahead("gbw:fq_codel", gap_ms=20, size=200)
    dense = by_hand.others_ahead("gbw:fq_codel", gap_ms=3, size=FULL)
    sfq = by_hand.others_ahead("gbw:sfq", gap_ms=20, size=200)
    checks = [
        exact("packets of a sparse flow that were served", len(sparse), ">", 0, "packets"),
        exact("packets of old queues served before one of a sparse flow", max(sparse, default=0), "=", 0, "packets"),
        exact("the same for a flow whose queue does not drain", max(dense, default=0), ">", 0, "packets"),
    ]
    note = (
        f"{len(sparse)} packets of 200 bytes, 20 ms apart, beside four bulk flows at 10 Mbit/s, served by hand; "
        f"under sfq up to {max(sfq, default=0)} packets of others go before"
    )
    return all_of(checks, note=note)


def small_packets_share_bytes(evidence: Evidence) -> Judgement:
    """gbw-cfg-09; it needs no runs."""
    del evidence
    large, small = by_hand.shares("gbw:fq_codel", (FULL, 200))
    ratio = small.bytes / max(large.bytes, 1)
    checks = [
        exact(
            "bytes of a flow of small packets as a multiple of those of one of full packets", ratio, ">", 1 - SAME, ""
        ),
        exact(
            "bytes of a flow of small packets as a multiple of those of one of full packets", ratio, "<", 1 + SAME, ""
        ),
        exact("its packets as a multiple of the other's", small.packets / max(large.packets, 1), ">", 1.5, ""),
    ]
    return all_of(checks, note="two flows that always wait, 1514 and 200 bytes a packet, quantum 1514, served by hand")


def overflow_drops_from_the_longest(evidence: Evidence) -> Judgement:
    """gbw-cfg-10; it needs no runs."""
    del evidence
    text = "fq_codel limit 100 flows 1024 quantum 1514 target 100s interval 100s noecn variant linux-3.14"
    queues = {1: (30, FULL), 2: (70, 100)}
    victims = by_hand.overflow_victims(text, queues, arriving=2, packets=5)
    checks = [
        exact("packets dropped on overflow from the queue with the most bytes", victims[1], "=", 5, "packets"),
        exact("packets dropped from the queue with the most packets", victims[2], "=", 0, "packets"),
    ]
    note = "30 packets of 1514 bytes and 70 of 100 bytes fill the 100 places; then five more small ones arrive"
    return all_of(checks, note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    "gbw-cfg-01": goodput_is_payload_of_bulk_flows,
    "gbw-cfg-02": new_reno_keeps_the_order,
    "gbw-cfg-03": short_fifo_starves_a_fast_link,
    "gbw-cfg-04": ared_thresholds_follow_the_target,
    "gbw-cfg-05": ared_thresholds_at_1_mbit,
    "gbw-cfg-06": ared_queue_is_near_the_target,
    "gbw-cfg-07": codel_target_fits_a_packet,
    "gbw-cfg-08": sparse_flows_stay_new,
    "gbw-cfg-09": small_packets_share_bytes,
    "gbw-cfg-10": overflow_drops_from_the_longest,
}
