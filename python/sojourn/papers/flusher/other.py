"""The claims about the flusher's own logs, its arithmetic, and what the thesis supposes: chapters 3 to 6."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.flusher.evidence import (
    BASES_MS,
    CODEL,
    CUBIC,
    DESCRIBED,
    FIFO,
    FOREIGN,
    FOUR,
    PAIR,
    PIE,
    RECOMMENDED,
    RENO,
    TCPS,
    TIMED,
    WRITTEN,
    Cell,
    Evidence,
    Seen,
    active,
    mbit,
    mean,
    passive,
)
from sojourn.papers.flusher.grid import Judge, activation, loss, near, percent_apart
from sojourn.papers.kit.verdict import Check, Judgement, above, all_of, below, exact, not_below

#: The slow link, bit/s, a packet as the thesis counts it, bits.
LINK_BPS, PACKET_BITS = 5_000_000, 12_000
#: How far apart "little to no serious impact" may be, per cent.
LITTLE = 15.0


def more_than_four_bdp(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-07."""
    return all_of([exact("110 packets over a BDP of 20", 110 / bdp(50), ">", 4.0, "")])


def ninety_packets_drain_in_216_ms(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-08."""
    return all_of([exact("90 packets at 5 Mbit/s", 90 * PACKET_BITS / LINK_BPS * 1e3, "=", 216.0, "ms")])


def draining_knows_no_delay(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-09."""
    spread = {1e3 * 90 * PACKET_BITS / LINK_BPS for _base in BASES_MS}
    return all_of([exact("different drain times of 90 packets on paths of 10, 50, 100 ms", len(spread), "=", 1, "")])


def forty_packets_are_two_bdp(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-11."""
    return all_of([exact("2 x the BDP at 50 ms", 2 * bdp(50), "=", 40, "packets")])


def the_recommended_threshold(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-47."""
    return all_of([exact("threshold of the preset", _preset("threshold"), "=", RECOMMENDED, "")])


def bdps(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-83."""
    return all_of(
        [
            exact(f"BDP at {base} ms", bdp(base), "=", packets, "packets")
            for base, packets in ((100, 41), (50, 20), (10, 4))
        ]
    )


def fifty_packets_are_60_ms(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-76."""
    return all_of([exact("50 packets at 10 Mbit/s", 50 * PACKET_BITS / 10e6 * 1e3, "=", 60.0, "ms")])


def twice_the_rtt_is_twice_the_burst(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-74."""
    sizes = [LINK_BPS * rtt / PACKET_BITS for rtt in (0.12, 0.24)]
    return all_of(
        [exact("packets at twice the RTT over those at once", sizes[1] / sizes[0], "=", 2.0, "")],
        note="by the formula of section 4.5.3; with that of 4.5.2 the largest RTT is a bound only (flu-x-13)",
    )


def flusher_and_sender_agree(evidence: Evidence, reading: str) -> Judgement:
    """flu-69."""
    checks = []
    for tcp, sends in product(TCPS, (True, False)):
        cell = _log(tcp, 10, 100, reading, active=sends)
        for rank in (0.25, 0.5, 0.75):
            apart = evidence.each(cell, partial(_apart, rank=rank))
            checks += near(
                f"flusher's RTT above the sender's at rank {rank}, {cell.words()}", apart, 0.0, 10.0, "percent"
            )
    return all_of(checks)


def pairs_see_more_long_ones(evidence: Evidence, reading: str) -> Judgement:
    """flu-70."""
    checks = []
    for tcp, sends in product(TCPS, (True, False)):
        cell = _log(tcp, 10, 100, reading, active=sends)
        for name, which in (("flusher", "flusher_rtt"), ("sender", "sender_rtt")):
            gaps = evidence.each(cell, partial(_longer, which=which))
            checks.append(
                not_below(f"share of RTTs in the longest tenth, pairs less {name}, {cell.words()}", gaps, 0.0, "")
            )
    return all_of(checks)


def throughput_spikes(evidence: Evidence, reading: str) -> Judgement:
    """flu-71."""
    checks = []
    for tcp in TCPS:
        cell = _log(tcp, 100, 50, reading, active=False)
        most = evidence.each(cell, lambda seen: float(np.nanmax(seen.course.flusher_mbit)))
        checks.append(above(f"largest throughput sample, {cell.words()}", most, 5.0, "Mbit/s"))
        checks.append(below(f"largest throughput sample, {cell.words()}", most, 6.5, "Mbit/s"))
    return all_of(checks)


def short_paths_spike_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-72."""
    checks = []
    for tcp, (before, after) in product(TCPS, pairwise(BASES_MS)):
        cells = [_log(tcp, base, 50, reading, active=True) for base in (before, after)]
        gaps = evidence.gaps(cells[0], cells[1], lambda seen: seen.spikes)
        checks.append(above(f"throughput spikes a minute, {tcp}, {before} ms less {after} ms", gaps, 0.0, ""))
    return all_of(checks)


def a_spike_then_a_low(evidence: Evidence, reading: str) -> Judgement:
    """flu-73."""
    checks = []
    for tcp in TCPS:
        cell = _log(tcp, 100, 50, reading, active=True)
        rise = evidence.each(cell, lambda seen: _profile(seen, 10, 25, np.max) - _profile(seen, 0, 9, np.mean))
        fall = evidence.each(cell, lambda seen: _profile(seen, 0, 9, np.mean) - _profile(seen, 15, 40, np.min))
        checks.append(above(f"longest RTT within 1.5 s after a flush less before, {cell.words()}", rise, 0.0, "ms"))
        checks.append(above(f"RTT before a flush less the shortest within 3 s, {cell.words()}", fall, 0.0, "ms"))
    return all_of(checks)


def some_samples_are_too_high(evidence: Evidence, reading: str) -> Judgement:
    """flu-75."""
    checks = []
    for tcp in TCPS:
        cell = _log(tcp, 100, 50, reading, active=True)
        gaps = evidence.each(cell, lambda seen: seen.flusher_most - seen.most)
        checks.append(above(f"largest RTT of the flusher less that of all pairs, {cell.words()}", gaps, 0.0, "ms"))
    return all_of(checks)


def ten_packets_react_in_less(evidence: Evidence, reading: str) -> Judgement:
    """flu-33."""
    checks: list[Check] = []
    for tcp in TCPS:
        checks += activation(evidence, active(tcp, 100, reading=reading)._replace(variant="10 packets"), 10.0)
    return all_of(checks, note="from the queue that the threshold stands for to 10 packets more (flu-x-19)")


def ten_packets_flush_cubic_more(evidence: Evidence, reading: str) -> Judgement:
    """flu-34."""
    usual = active(CUBIC, 100, reading=reading)
    short = usual._replace(variant="10 packets")
    return all_of(
        [
            above(
                "flushes in a run, 10 packets less 30, CUBIC, 100 ms", evidence.gaps(short, usual, _flushes), 0.0, ""
            ),
            below("mean RTT, 10 packets less 30, CUBIC, 100 ms", evidence.gaps(short, usual, mean), 0.0, "ms"),
        ]
    )


def short_flows_take_more(evidence: Evidence, _reading: str) -> Judgement:
    """flu-77."""
    return all_of(
        [
            above(
                f"goodput of a flow of 10 ms less one of 100 ms, {tcp}",
                evidence.each(
                    passive(tcp, 10)._replace(scene=PAIR), lambda seen: seen.flow_mbit[0] - seen.flow_mbit[1]
                ),
                0.0,
                "Mbit/s",
            )
            for tcp in TCPS
        ]
    )


def other_drops_part_flows(evidence: Evidence, _reading: str) -> Judgement:
    """flu-78."""
    checks = []
    for tcp, (queue, words) in product(TCPS, ((CODEL, "front drop (CoDel)"), (PIE, "random drop (PIE)"))):
        tail = passive(tcp, 50)._replace(scene=FOUR)
        gaps = evidence.gaps(tail._replace(queue=queue), tail, lambda seen: seen.together)
        checks.append(below(f"correlation of losses between four flows, {words} less tail drop, {tcp}", gaps, 0.0, ""))
    return all_of(checks)


def five_to_ten_percent_suffice(evidence: Evidence, _reading: str) -> Judgement:
    """flu-79."""
    checks = []
    for tcp, queue in product(TCPS, (CODEL, "codel 10 %")):
        cell = passive(tcp, 100, queue=queue)
        share = [100 * ratio for ratio in evidence.ratios(cell, passive(tcp, 100), mbit)]
        checks.append(above(f"throughput over a full FIFO's, {cell.words()}", share, 95.0, "percent"))
    return all_of(checks)


def only_its_own_bottleneck(_evidence: Evidence, _reading: str) -> Judgement:
    """flu-80."""
    message = "the simulated path has one bottleneck for all flows: no node N1 whose own is elsewhere (Fig. 4.6)"
    raise SojournError(message)


def either_end_notices(evidence: Evidence, reading: str) -> Judgement:
    """flu-81."""
    checks = []
    for tcp in TCPS:
        here = active(tcp, 50, reading=reading)._replace(scene=FOREIGN)
        apart = percent_apart(evidence, here._replace(variant="it sees the other flow"), here, _flushes)
        what = f"flushes with the flusher at the one flow above those with it at the other, {tcp}"
        checks += near(what, apart, 0.0, 25.0, "percent")
    return all_of(checks)


def a_flush_each_30_s(evidence: Evidence, reading: str) -> Judgement:
    """flu-82."""
    checks: list[Check] = []
    for tcp in TCPS:
        cell = active(tcp, 50, 1000, reading=reading)._replace(variant="no threshold", threshold=0.0)
        apart = evidence.each(cell, lambda seen: float(np.mean(np.diff(seen.forced))) if len(seen.forced) > 1 else None)
        checks += near(f"time between flushes, {cell.words()}", apart, 30.0, 1.5, "s")
    return all_of(checks)


def extremes_do_not_work(evidence: Evidence, reading: str) -> Judgement:
    """flu-87."""
    checks = []
    for tcp in TCPS:
        usual = active(tcp, 50, reading=reading)
        low, high = (usual._replace(variant=f"threshold {word}", threshold=0.0) for word in ("1.05", "5"))
        more = [a - b for a, b in zip(loss(evidence, low), loss(evidence, usual), strict=False)]
        checks.append(above(f"throughput lost, 1.05 without floor less 1.7, {tcp}, 50 ms", more, 0.0, "percent"))
        checks.append(above(f"throughput lost, 1.05 without floor, {tcp}, 50 ms", loss(evidence, low), 20.0, "percent"))
        gaps = evidence.gaps(high, usual, mean)
        checks.append(above(f"mean RTT with a threshold of 5 less 1.7, {tcp}, 50 ms", gaps, 0.0, "ms"))
    return all_of(checks)


def windows_of_time_differ_little(evidence: Evidence, reading: str) -> Judgement:
    """flu-89."""
    if reading == WRITTEN:
        message = "the listings test at each acknowledgement and have no window that the clock could close"
        raise SojournError(message)
    checks = []
    for tcp in TCPS:
        usual = active(tcp, 50, reading=reading)
        timed = usual._replace(variant=TIMED)
        for what, quantity in (("mean RTT", mean), ("throughput", mbit)):
            apart = percent_apart(evidence, timed, usual, quantity)
            checks += near(f"{what} with {TIMED} above that with packets, {tcp}, 50 ms", apart, 0.0, LITTLE, "percent")
    return all_of(checks)


def one_sample_starves(evidence: Evidence, reading: str) -> Judgement:
    """flu-92."""
    checks = []
    for tcp in TCPS:
        usual = active(tcp, 50, reading=reading)
        one = usual._replace(variant="one sample", threshold=0.0)
        checks.append(
            above(f"flushes in a run, one sample less thirty, {tcp}", evidence.gaps(one, usual, _flushes), 0.0, "")
        )
        checks.append(
            below(f"throughput, one sample less thirty, {tcp}", evidence.gaps(one, usual, mbit), 0.0, "Mbit/s")
        )
    return all_of(checks)


def cubic_suits_several_flows(evidence: Evidence, _reading: str) -> Judgement:
    """flu-95."""
    cells = [passive(tcp, 50)._replace(scene=FOUR) for tcp in (CUBIC, RENO)]
    gaps = percent_apart(evidence, cells[0], cells[1], mbit)
    return all_of([not_below("throughput of four flows of CUBIC above Reno, passive", gaps, 0.0, "percent")])


def bdp(base_ms: int) -> int:
    """Return the bandwidth-delay product in whole packets, as Table 6.1 counts it."""
    return LINK_BPS * base_ms // (1000 * PACKET_BITS)


def _preset(name: str) -> float:
    import json

    from sojourn.scenario import Scenario
    from sojourn.scenario_keys import Flusher

    text = Scenario(experiment="preset", duration="1s", flusher=Flusher(params=DESCRIBED)).normalized()
    return float(json.loads(text)["flusher"]["params"][name])


def _log(tcp: str, base: int, buffer: int, reading: str, *, active: bool) -> Cell:
    return Cell(tcp, base, buffer, FIFO, reading, active, RECOMMENDED if active else 0.0)


def _apart(seen: Seen, rank: float) -> float | None:
    """Return by how much the flusher's RTT at a rank is above the sender's, per cent."""
    if seen.flusher_rtt is None:
        return None
    i = round(rank * (seen.sender_rtt.size - 1))
    return 100 * (float(seen.flusher_rtt[i]) / float(seen.sender_rtt[i]) - 1)


def _long(seen: Seen, ranked: np.typing.NDArray[np.float64] | None) -> float:
    """Return the share of RTTs within a tenth of the longest of all pairs."""
    return 0.0 if ranked is None else float((ranked > 0.9 * seen.most).mean())


def _longer(seen: Seen, which: str) -> float:
    return _long(seen, seen.rtt) - _long(seen, getattr(seen, which))


def _profile(seen: Seen, first: int, last: int, of: object) -> float:
    if seen.after is None:
        return 0.0
    assert callable(of)
    return float(of(seen.after[1][first:last]))


def _flushes(seen: Seen) -> float:
    return float(len(seen.flushes))


JUDGES: dict[str, Judge] = {
    "flu-07": more_than_four_bdp,
    "flu-08": ninety_packets_drain_in_216_ms,
    "flu-09": draining_knows_no_delay,
    "flu-11": forty_packets_are_two_bdp,
    "flu-33": ten_packets_react_in_less,
    "flu-34": ten_packets_flush_cubic_more,
    "flu-47": the_recommended_threshold,
    "flu-69": flusher_and_sender_agree,
    "flu-70": pairs_see_more_long_ones,
    "flu-71": throughput_spikes,
    "flu-72": short_paths_spike_more,
    "flu-73": a_spike_then_a_low,
    "flu-74": twice_the_rtt_is_twice_the_burst,
    "flu-75": some_samples_are_too_high,
    "flu-76": fifty_packets_are_60_ms,
    "flu-77": short_flows_take_more,
    "flu-78": other_drops_part_flows,
    "flu-79": five_to_ten_percent_suffice,
    "flu-80": only_its_own_bottleneck,
    "flu-81": either_end_notices,
    "flu-82": a_flush_each_30_s,
    "flu-83": bdps,
    "flu-87": extremes_do_not_work,
    "flu-89": windows_of_time_differ_little,
    "flu-92": one_sample_starves,
    "flu-95": cubic_suits_several_flows,
}
