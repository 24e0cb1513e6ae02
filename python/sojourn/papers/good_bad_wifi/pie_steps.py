"""How PIE's controller steps at a steady delay: the discipline driven by hand, without TCP.

A link of 10 Mbit/s serves full packets, and the queue is refilled to the same length after each. First that length
keeps the delay just below target, until the drop probability is 0; then it is one packet longer, the delay stays just
above target, and the probability climbs. What each update adds then shows the auto-tuning alone.
"""

from __future__ import annotations

from statistics import fmean

from sojourn import _native
from sojourn.errors import SojournError

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
