"""Queue disciplines driven by hand, without TCP: what a mechanism does when nothing else is in play.

Each drive is a link that takes one packet after the other from the discipline, and a rule by which packets arrive.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from sojourn import _native

NS = 1_000_000_000
FULL = 1514
BULK_FLOWS = (1, 2, 3, 4)
#: The flow under observation.
SUBJECT = 9


class Link:
    """A link, and how many packets of each flow wait for it.

    - `text`: the discipline.
    """

    def __init__(self, text: str, rate_mbit: int) -> None:
        self.rate_bps = rate_mbit * 1_000_000
        self.qdisc = _native.Qdisc(text, seed=1, rate_bps=self.rate_bps)
        self.now = 0
        self.waiting: Counter[int] = Counter()
        self.dropped: Counter[str] = Counter()

    def offer(self, flow: int, size: int = FULL) -> None:
        """Let a packet arrive."""
        self.waiting[flow] += 1
        self.qdisc.enqueue(now_ns=self.now, size=size, flow=flow, ecn=False)
        self._count_drops()

    def refill(self, flow: int, packets: int, size: int = FULL) -> None:
        """Let packets of a flow arrive until so many wait; one that is dropped at arrival is not tried again."""
        for _ in range(packets - self.waiting[flow]):
            self.offer(flow, size)

    def serve(self) -> _native.Departure | None:
        """Send one packet; the time moves on by as long as that takes."""
        departure = self.qdisc.dequeue(now_ns=self.now)
        self._count_drops()
        size = FULL if departure is None else departure.size
        self.now += size * 8 * NS // self.rate_bps
        if departure is not None:
            self.waiting[departure.flow] -= 1
        return departure

    def idle(self) -> None:
        """Let 2 s go by with a small packet each 100 ms, so that periodic updates are under way."""
        for _ in range(20):
            self.offer(0, 100)
            self.serve()
            self.now += NS // 10

    def _count_drops(self) -> None:
        for drop in self.qdisc.take_drops():
            self.waiting[drop.flow] -= 1
            self.dropped[drop.reason] += 1


def others_ahead(text: str, *, gap_ms: int, size: int, packets: int = 100) -> list[int]:
    """Return how many packets of four bulk flows leave while each packet of a fifth flow waits (10 Mbit/s).

    - `text`: the discipline.
    - `gap_ms`: time between two packets of the fifth flow.
    - `size`: of these packets.
    """
    link = Link(text, 10)
    arrival, sent = gap_ms * 1_000_000, 0
    ahead: deque[int] = deque()
    found: list[int] = []
    while len(found) < packets and sent < 4 * packets:
        for flow in BULK_FLOWS:
            link.refill(flow, 5)
        if link.now >= arrival:
            link.offer(SUBJECT, size)
            ahead.append(0)
            sent += 1
            arrival += gap_ms * 1_000_000
        departure = link.serve()
        if departure is not None and departure.flow == SUBJECT:
            found.append(ahead.popleft())
        else:
            ahead = deque(number + 1 for number in ahead)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a flow got of the link."""

    packets: int
    bytes: int


def shares(text: str, sizes: tuple[int, int], departures: int = 5000) -> tuple[Share, Share]:
    """Return what two flows get that always have packets of these sizes waiting (10 Mbit/s)."""
    link = Link(text, 10)
    packets: Counter[int] = Counter()
    for _ in range(departures):
        for flow, size in enumerate(sizes):
            link.refill(flow, 30, size)
        departure = link.serve()
        if departure is not None:
            packets[departure.flow] += 1
    first, second = (Share(packets=packets[flow], bytes=packets[flow] * size) for flow, size in enumerate(sizes))
    return first, second


def overflow_victims(text: str, queues: dict[int, tuple[int, int]], *, arriving: int, packets: int) -> Counter[int]:
    """Return from which flows packets are dropped when more arrive than there is room for.

    - `text`: the discipline.
    - `queues`: for each flow the number and the size of the packets that wait.
    - `arriving`, `packets`: the flow whose packets then arrive, and how many.
    """
    qdisc = _native.Qdisc(text, seed=1, rate_bps=10_000_000)
    for flow, (number, size) in queues.items():
        for _ in range(number):
            qdisc.enqueue(now_ns=0, size=size, flow=flow, ecn=False)
    for _ in range(packets):
        qdisc.enqueue(now_ns=0, size=queues[arriving][1], flow=arriving, ecn=False)
    return Counter(drop.flow for drop in qdisc.take_drops())


def first_drop_ms(text: str, rate_mbit: int, *, longest_ms: int = 10_000) -> float | None:
    """Return how long after four flows start a packet is first dropped for congestion; `None` if none is.

    A small packet each 100 ms for 2 s; then four initial windows of ten packets, and two packets arrive for each that
    leaves, as in slow start.
    """
    link = Link(text, rate_mbit)
    link.idle()
    link.dropped.clear()
    began = link.now
    for flow in BULK_FLOWS:
        link.refill(flow, 10)
    while link.now - began < longest_ms * 1_000_000:
        if link.dropped["congestion"]:
            return (link.now - began) / 1e6
        departure = link.serve()
        if departure is not None:
            link.offer(departure.flow)
            link.offer(departure.flow)
    return None


def codel_drops(text: str, rate_mbit: int, *, delay_ms: int, until_s: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return (dropped, sent) of CoDel at each time since its first drop, the queue refilled to a steady delay."""
    link = Link(text, rate_mbit)
    length = delay_ms * rate_mbit * 1000 // (8 * FULL)
    began, sent = None, 0
    found: list[tuple[int, int]] = []
    for second in until_s:
        while began is None or link.now < began + second * NS:
            link.refill(0, length)
            link.serve()
            if began is None and link.dropped["congestion"]:
                began, sent = link.now, 0
            sent += 1
        found.append((link.dropped["congestion"], sent))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An update of PIE: the delay it saw (ms), and the drop probability before and after it."""

    delay_ms: float
    before: float
    after: float


def pie_steps_in_overload(text: str, *, per_departure: int, until_ms: float = 300.0) -> list[Step]:
    """Return PIE's updates while so many packets arrive for each that leaves (10 Mbit/s), until the delay is long."""
    link = Link(text, 10)
    link.idle()
    for flow in BULK_FLOWS:
        link.refill(flow, 10)
    found: list[Step] = []
    last = 0.0
    for _ in range(100_000):
        link.serve()
        for _ in range(per_departure):
            link.offer(BULK_FLOWS[0])
        stats = link.qdisc.stats
        delay_ms, probability = float(stats["delay"]) / 1000, float(stats["prob"])
        if probability != last:
            found.append(Step(delay_ms=delay_ms, before=last, after=probability))
            last = probability
        if delay_ms > until_ms:
            break
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """How a burst got through: others' packets between its first and its last, and how long it took (ms)."""

    between: int
    took_ms: float


def burst(text: str, *, packets: int, standing: int) -> Burst:
    """Send a burst into a queue in which four bulk flows together have so many packets (10 Mbit/s)."""
    link = Link(text, 10)
    for _ in range(200):
        for flow in BULK_FLOWS:
            link.refill(flow, standing // len(BULK_FLOWS))
        link.serve()
    began, left, between = link.now, packets, 0
    for _ in range(packets):
        link.offer(SUBJECT)
    while left and link.waiting[SUBJECT]:
        for flow in BULK_FLOWS:
            link.refill(flow, standing // len(BULK_FLOWS))
        departure = link.serve()
        if departure is not None and departure.flow == SUBJECT:
            left -= 1
        elif left < packets:
            between += 1
    return Burst(between=between, took_ms=(link.now - began) / 1e6)
