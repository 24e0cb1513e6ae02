"""How PIE's controller steps at a steady delay: the discipline driven by hand, without TCP.

A link of 10 Mbit/s serves full packets, and the queue is refilled to the same length after each. First that length
keeps the delay just below target, until the drop probability is 0; then it is one packet longer, the delay stays just
above target, and the probability climbs. What each update adds then shows the auto-tuning alone.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn import _native
from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.evidence import Evidence
from sojourn.papers.kit.verdict import Judgement, all_of, exact

#: Bytes of a packet, and how long the link takes for one (10 Mbit/s).
SIZE = 1500
PACKET_NS = 1_200_000
TARGET_US = 20_000
UPDATE_NS = 30_000_000
PARAMETERS = "limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn"
#: Packets in the queue at first: enough for 3.14 to estimate the departure rate (16 KiB), too few to reach the target.
FIRST_LENGTH = 12
#: Updates until the estimate of the delay has settled after a change of the length.
SETTLED = 40
#: Where the climb ends.
CEILING = 0.03
MOST_UPDATES = 30_000

#: Bounds of the probability: below 0.1 %, from there to the lowest entry of the table of Linux 3.14, and above that.
LOW, MIDDLE, HIGH = (0.0002, 0.001), (0.001, 0.01), (0.011, 0.025)

#: Two steps are the same if they differ by less than this share.
SAME = 0.05


class _Link:
    """The link and its queue."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.qdisc = _native.Qdisc(f"pie {PARAMETERS} variant {variant}", seed=1)
        self.now = 0
        self.updates = 0

    def until_next_update(self, length: int) -> tuple[float, float]:
        """Serve packets at this queue length for one update interval; return delay (us) and probability."""
        self.updates += 1
        if self.updates > MOST_UPDATES:
            message = f"PIE ({self.variant}) never reached a drop probability of {CEILING:.0%} under a steady delay"
            raise SojournError(message)
        while self.now < self.updates * UPDATE_NS:
            while self.qdisc.backlog[0] < length:
                self.qdisc.enqueue(now_ns=self.now, size=SIZE, flow=0, ecn=False)
            self.now += PACKET_NS
            self.qdisc.dequeue(now_ns=self.now)
        stats = self.qdisc.stats
        return float(stats["delay"]), float(stats["prob"])


def steps(variant: str) -> list[tuple[float, float]]:
    """Return (probability before, what the update added) of each update until `CEILING` is passed."""
    link, length = _Link(variant), FIRST_LENGTH
    while True:
        delay, probability = 0.0, 1.0
        for _ in range(SETTLED):
            delay, probability = link.until_next_update(length)
        if delay > TARGET_US:
            break
        while probability > 0:
            delay, probability = link.until_next_update(length)
        length += 1
    found = []
    while probability <= CEILING:
        before = probability
        _, probability = link.until_next_update(length)
        found.append((before, probability - before))
    return found


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
        f"at a steady delay just above target an update adds {low:.5f} percentage points below 0.1 %, "
        f"{middle:.5f} from 0.1 to 1 %, {high:.5f} above; the lowest entry of the 3.14 code is 1 %, not 0.1 %"
    )
    return all_of(checks, note=note)


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {"gbw-rrul-14": autotuning_is_too_coarse}
