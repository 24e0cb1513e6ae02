"""The judges of the claims about the queue flusher, and what each claim comes to in each reading of the thesis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from sojourn.papers.by_hand import Link
from sojourn.papers.flusher.evidence import (
    BASES_MS,
    DESCRIBED,
    FLOOR_MS,
    NETEM,
    READINGS,
    RECOMMENDED,
    RENO,
    TCPS,
    THRESHOLDS,
    Evidence,
    active,
    passive,
)
from sojourn.papers.flusher.plan import qdisc
from sojourn.papers.flusher.quantities import VOCABULARY
from sojourn.scenario import Scenario
from sojourn.scenario_keys import Flusher
from sojourn.store.claims import JudgedClaim
from sojourn.study.claims import Claim, Judges
from sojourn.study.verdict import Judgement, above, all_of, exact

#: The slow link, bit/s, a packet as the thesis counts it, bits.
LINK_BPS, PACKET_BITS = 5_000_000, 12_000


def more_than_four_bdp(_evidence: Evidence, **_: str) -> Judgement:
    """flu-07."""
    return all_of([exact("110 packets over a BDP of 20", 110 / bdp(50), ">", 4.0, "")])


def ninety_packets_drain_in_216_ms(_evidence: Evidence, **_: str) -> Judgement:
    """flu-08."""
    return all_of([exact("90 packets at 5 Mbit/s", 90 * PACKET_BITS / LINK_BPS * 1e3, "=", 216.0, "ms")])


def draining_knows_no_delay(_evidence: Evidence, **_: str) -> Judgement:
    """flu-09."""
    times = [drained_ms(base) for base in BASES_MS]
    what = "longest less shortest time in which 90 packets leave netems with the delays of 10, 50 and 100 ms"
    return all_of([exact(what, max(times) - min(times), "=", 0.0, "ms")])


def forty_packets_are_two_bdp(_evidence: Evidence, **_: str) -> Judgement:
    """flu-11."""
    return all_of([exact("2 x the BDP at 50 ms", 2 * bdp(50), "=", 40, "packets")])


def the_recommended_threshold(_evidence: Evidence, **_: str) -> Judgement:
    """flu-47."""
    text = Scenario(experiment="preset", duration="1s", flusher=Flusher(params=DESCRIBED)).normalized()
    threshold = float(json.loads(text)["flusher"]["params"]["threshold"])
    return all_of([exact("threshold of the preset", threshold, "=", RECOMMENDED, "")])


def the_floor_is_below_the_threshold(evidence: Evidence, *, reading: str) -> Judgement:
    """flu-68."""
    lowest, long = min(THRESHOLDS), [base for base in BASES_MS if base >= FLOOR_MS]
    checks = [exact("1.5 x 50 ms", lowest * min(long), ">", FLOOR_MS, "ms")]
    for tcp in TCPS:
        for base in long:
            cell = active(tcp, base, threshold=lowest, reading=reading)
            least = evidence.each(cell, lambda run: lowest * run.least)
            checks.append(above(f"1.5 x shortest RTT, {cell.words()}", least, FLOOR_MS, "ms"))
    return all_of(checks)


def twice_the_rtt_is_twice_the_burst(_evidence: Evidence, **_: str) -> Judgement:
    """flu-74."""
    once, twice = (burst_packets(rtt) for rtt in (0.12, 0.24))
    return all_of(
        [exact("packets at twice the RTT over those at once", twice / once, "=", 2.0, "")],
        note="by the formula of section 4.5.3; with that of 4.5.2 the largest RTT is a bound only (flu-x-13)",
    )


def fifty_packets_are_60_ms(_evidence: Evidence, **_: str) -> Judgement:
    """flu-76."""
    return all_of([exact("50 packets at 10 Mbit/s", 50 * PACKET_BITS / 10e6 * 1e3, "=", 60.0, "ms")])


def bdps(_evidence: Evidence, **_: str) -> Judgement:
    """flu-83."""
    stated = {100: 41, 50: 20, 10: 4}
    return all_of([exact(f"BDP at {base} ms", bdp(base), "=", packets, "packets") for base, packets in stated.items()])


def bdp(base_ms: int) -> int:
    """Return the bandwidth-delay product in whole packets, as Table 6.1 counts it."""
    return LINK_BPS * base_ms // (1000 * PACKET_BITS)


def burst_packets(largest_rtt_s: float) -> float:
    """Return the packets of a flush by the formula of section 4.5.3, on a link that is full."""
    return LINK_BPS * largest_rtt_s / PACKET_BITS


def drained_ms(base_ms: int) -> float:
    """Return how long 90 packets leave the slow link's netem for, of a path with this base RTT."""
    link = Link(qdisc(passive(RENO, base_ms), NETEM), LINK_BPS // 1_000_000)
    link.refill(1, 90)
    while link.serve() is None:
        pass
    first = link.now
    while link.waiting[1]:
        link.serve()
    return (link.now - first) / 1e6


FUNCTIONS: dict[str, Callable[..., Judgement]] = {
    "flu-07": more_than_four_bdp,
    "flu-08": ninety_packets_drain_in_216_ms,
    "flu-09": draining_knows_no_delay,
    "flu-11": forty_packets_are_two_bdp,
    "flu-47": the_recommended_threshold,
    "flu-68": the_floor_is_below_the_threshold,
    "flu-74": twice_the_rtt_is_twice_the_burst,
    "flu-76": fifty_packets_are_60_ms,
    "flu-83": bdps,
}
JUDGES = Judges(paper="flusher", vocabulary=VOCABULARY, by_function=FUNCTIONS)


def judge(
    claims: list[Claim], evidence: Mapping[str, Evidence], readings: Sequence[str] = READINGS
) -> list[JudgedClaim]:
    """Return what became of each claim about the queue flusher.

    Verdict, numbers and reason are of the first reading on the first emulator. `evidence` is that on each emulator.
    `readings` has the verdict in each reading on each emulator; with the name of the emulator on all but the first.
    """
    worlds = {
        reading if place == 0 else f"{reading} ({emulator})": (reading, emulator)
        for place, emulator in enumerate(evidence)
        for reading in readings
    }
    found = []
    for claim in claims:
        each = {
            name: JUDGES.judged(claim, evidence[emulator], {"reading": reading})
            for name, (reading, emulator) in worlds.items()
        }
        judged = next(iter(each.values()))
        judged.readings = {name: one.verdict for name, one in each.items()}
        found.append(judged)
    return found


def others(judged: Sequence[JudgedClaim]) -> dict[str, dict[str, str]]:
    """Return what `sojourn.study.worlds.beside` takes of each world of `readings` but the first."""
    names = list(judged[0].readings)[1:] if judged else []
    return {name: {claim.id: claim.readings[name] for claim in judged} for name in names}
