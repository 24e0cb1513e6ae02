"""The same calls of `sojourn.Qdisc` as the kernel's discipline got, and the first difference between their answers.

The discipline of the simulator is offered each packet at the time at which the kernel's was. It says itself when it
will let the next one go. That must be within a microsecond of the time at which the kernel did, and it is then called
at the kernel's time: so a timer that went off late by less than that is not carried on into what follows.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from sojourn import _native
from sojourn.validate.calls.draw import Sequence, enqueue
from sojourn.validate.calls.job import ECN_BITS, Seen

#: How far the times of departures may be apart, ns.
BAR_NS = 1_000
#: Departures before a difference that are shown.
_CONTEXT = 4

#: The kernel's name of each counter and the simulator's, where they are not the same.
_NAMES = {"queued": "qlen"}
#: What is a time, what depends on when it was looked at or on a hash, what is counted otherwise (see the `Deviation` of
#: tbf), and the most memory, because packets take another amount of it on newer kernels.
_NOT_COMPARED = re.compile(
    r"ldelay|drop_next|delay|overlimits|avg_dq_rate|prob|qavg|latency|max_memory_used"
    r"|tin\d+_(way_\w+|\w+_delay)|(tin\d+_)?\w*rate\w*"
)


@dataclass(slots=True, kw_only=True)
class Replayed:
    """How the two sides compare on a sequence."""

    #: The first difference, with what was before it; `None` if there is none.
    difference: str | None = None
    #: How many were offered, left the kernel, were dropped by it, and were marked by it.
    packets: int = 0
    left: int = 0
    dropped: int = 0
    marked: int = 0
    #: How far the times of a departure were apart at most.
    apart_ns: int = 0
    #: The counters that were compared.
    counters: tuple[str, ...] = ()


class _Different(Exception):
    """The first difference."""


@dataclass(slots=True, kw_only=True)
class _Replay:
    sequence: Sequence
    model: _native.Qdisc
    kernel: deque[tuple[int, int, int]]
    sent: dict[int, str]
    begin_ns: int
    clock: int = 0
    apart_ns: int = 0
    shown: deque[str] = field(default_factory=lambda: deque(maxlen=_CONTEXT))

    def offer(self, at: int, packets: tuple[object, ...]) -> None:
        self.clock = at
        for packet in packets:
            enqueue(self.model, at, packet)  # type: ignore[arg-type]
            self.take_all()

    def take_all(self) -> None:
        """Take what leaves now."""
        while (departure := self.model.dequeue(self.clock)) is not None:
            self.compare(departure, self.clock)

    def until(self, end: int | None) -> None:
        """Let both sides go on to the next packets that are offered."""
        while (due := self.model.ready_at(self.clock)) is not None:
            due = max(due, self.clock)
            there = self.kernel[0][0] if self.kernel else None
            if there is None or abs(there - due) > BAR_NS:
                if end is not None and due >= end:
                    return
                # No departure if all that is there is dropped.
                self.clock = due
                departure = self.model.dequeue(due)
                if departure is not None:
                    self.compare(departure, due)
                elif self.model.ready_at(due) == due:
                    message = f"the simulator is about to let a packet go at {self.time(due)} and does not"
                    raise _Different(message)
                continue
            call = max(due, there)
            if end is not None and call >= end:
                return
            self.clock = call
            departure = self.model.dequeue(call)
            if departure is not None:
                self.compare(departure, due)
                self.take_all()

    def compare(self, departure: _native.Departure, at: int) -> None:
        """Compare a departure of the simulator with the next one of the kernel."""
        ours = f"{self.time(at)} packet {departure.id}{' marked' if departure.marked else ''}"
        if not self.kernel:
            message = f"the simulator lets go {ours}, and the kernel nothing more"
            raise _Different(message)
        there, number, tos = self.kernel.popleft()
        marked = tos & 3 == ECN_BITS["ce"] and self.sent.get(number) != "ce"
        theirs = f"{self.time(there)} packet {number}{' marked' if marked else ''}"
        apart = abs(there - at)
        if (departure.id, departure.marked) != (number, marked) or apart > BAR_NS:
            message = f"the kernel lets go {theirs}, and the simulator {ours}"
            raise _Different(message)
        self.apart_ns = max(self.apart_ns, apart)
        self.shown.append(theirs)

    def time(self, at: int) -> str:
        """Return a time from the first offer, in microseconds."""
        return f"at {(at - self.begin_ns) / 1e3:.3f} us"


def replay(sequence: Sequence, seen: Seen, seed: int = 1) -> Replayed:
    """Compare the two sides on a sequence, the simulator with a seed."""
    packets = [packet for _, together in sequence.offers for packet in together]
    sent = {packet.id: packet.ecn for packet in packets}
    marked = sum(tos & 3 == ECN_BITS["ce"] and sent.get(number) != "ce" for _, number, tos in seen.left)
    verdict = Replayed(packets=len(packets), left=len(seen.left), dropped=len(packets) - len(seen.left), marked=marked)
    one = _Replay(
        sequence=sequence,
        model=sequence.model(seed),
        kernel=deque(seen.left),
        sent=sent,
        begin_ns=seen.offered_ns[0],
    )
    try:
        for at, (_, together) in zip(seen.offered_ns, sequence.offers, strict=True):
            one.until(at)
            one.offer(at, together)
        one.until(None)
        if one.kernel:
            there, number, _ = one.kernel[0]
            message = f"the kernel lets go {one.time(there)} packet {number}, and the simulator nothing more"
            raise _Different(message)
        verdict.counters = _compare_counters(one.model.stats, seen.counters)
    except _Different as difference:
        before = f"; before it: {', '.join(one.shown)}" if one.shown else ""
        verdict.difference = f"{difference}{before}"
    verdict.apart_ns = one.apart_ns
    return verdict


def _compare_counters(ours: dict[str, object], theirs: dict[str, float]) -> tuple[str, ...]:
    """Compare the counters that both sides have; return their names."""
    compared = []
    for name, value in theirs.items():
        mine = ours.get(_NAMES.get(name, name))
        if mine is None or _NOT_COMPARED.fullmatch(name):
            continue
        compared.append(name)
        if float(mine) != value:  # type: ignore[arg-type]
            message = f"at the end the kernel's counter {name} is {value:g}, and the simulator's {float(mine):g}"  # type: ignore[arg-type]
            raise _Different(message)
    return tuple(compared)
