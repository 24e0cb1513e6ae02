"""How PIE's controller steps at a steady delay: the discipline driven by hand, without TCP.

A link of 10 Mbit/s serves full packets, and the queue is refilled to the same length after each, so the delay stays
a little above target and the drop probability climbs. What each update adds then shows the auto-tuning alone.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn import _native
from sojourn.claims.evidence import Evidence
from sojourn.claims.verdict import Judgement, all_of, exact
from sojourn.errors import SojournError

#: Bytes of a packet, and how long the link takes for one (10 Mbit/s).
SIZE = 1500
PACKET_NS = 1_200_000
#: Packets in the queue: 21.6 ms, just above the target, so that an update adds little and many fit below 0.1 %.
QUEUED = 18
UPDATE_NS = 30_000_000
PARAMETERS = "limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn"
#: The first seconds, in which the estimate of the departure rate settles.
SETTLING_NS = 700_000_000
#: Where the climb ends.
CEILING = 0.03
MOST_UPDATES = 20_000

#: Bounds of the probability: below 0.1 %, from there to the lowest entry of the table of Linux 3.14, and above that.
LOW, MIDDLE, HIGH = (0.0002, 0.001), (0.001, 0.01), (0.011, 0.025)

#: Two steps are the same if they differ by less than this share.
SAME = 0.05


def steps(variant: str) -> list[tuple[float, float]]:
    """Return (probability before, what the update added) of each update until `CEILING` is passed."""
    qdisc = _native.Qdisc(f"pie {PARAMETERS} variant {variant}", seed=1)
    now, before, found = 0, 0.0, []
    next_update = UPDATE_NS
    for _ in range(MOST_UPDATES):
        while now < next_update:
            while qdisc.backlog[0] < QUEUED:
                qdisc.enqueue(now_ns=now, size=SIZE, flow=0, ecn=False)
            now += PACKET_NS
            qdisc.dequeue(now_ns=now)
        next_update += UPDATE_NS
        probability = float(qdisc.stats["prob"])
        if now > SETTLING_NS and probability != before:
            found.append((before, probability - before))
        before = probability
        if probability > CEILING:
            return found
    message = f"PIE ({variant}) never reached a drop probability of {CEILING:.0%} under a steady delay"
    raise SojournError(message)


def mean_step(found: list[tuple[float, float]], bounds: tuple[float, float]) -> float:
    """Return the mean step (percentage points) of the updates that began within the bounds."""
    within = [step for before, step in found if bounds[0] <= before < bounds[1]]
    if not within:
        message = f"no update of PIE began with a drop probability from {bounds[0]:.2%} to {bounds[1]:.2%}"
        raise SojournError(message)
    return 100 * fmean(within)


def autotuning_is_too_coarse(evidence: Evidence) -> Judgement:
    """gbw-rrul-14; it needs no runs."""
    del evidence
    old, finer = steps("linux-3.14"), steps("rfc8033")
    low, middle, high = (mean_step(old, bounds) for bounds in (LOW, MIDDLE, HIGH))
    same = middle / low
    checks = [
        exact(
            "Linux 3.14: step of an update from 0.1 to 1 % as a multiple of that below 0.1 %", same, ">", 1 - SAME, ""
        ),
        exact(
            "Linux 3.14: step of an update from 0.1 to 1 % as a multiple of that below 0.1 %", same, "<", 1 + SAME, ""
        ),
        exact("Linux 3.14: step above 1 % as a multiple of that below", high / middle, ">", 1.5, ""),
        exact(
            "RFC 8033, whose table goes on below 0.1 %: the same multiple",
            mean_step(finer, MIDDLE) / mean_step(finer, LOW),
            ">",
            1.5,
            "",
        ),
    ]
    note = (
        f"at a steady delay of {QUEUED * PACKET_NS / 1e6:g} ms an update adds {low:.5f} percentage points below 0.1 %, "
        f"{middle:.5f} from 0.1 to 1 %, {high:.5f} above; the lowest entry of the 3.14 code is 1 %, not 0.1 %"
    )
    return all_of(checks, note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {"gbw-rrul-14": autotuning_is_too_coarse}
