"""The number that is read of what a kernel, or the simulator, did with the packets of a play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sojourn.errors import SojournError
from sojourn.regress.bugs.cases import COUNTER, DELAY, Play
from sojourn.regress.bugs.sequences import for_simulator, numbers, sequence
from sojourn.validate.calls.draw import Sequence, enqueue
from sojourn.validate.calls.job import Seen

_SEED = 1
_MS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of the packets of a play."""

    #: When each packet was offered and when it left, by its number; one that was dropped did not leave.
    offered_ns: Mapping[int, int]
    left_ns: Mapping[int, int]
    #: The discipline's, at the end.
    counters: Mapping[str, float]


def of_kernel(asked: Sequence, seen: Seen) -> Done:
    """Return what a kernel did."""
    offered = {
        packet.id: at for at, (_, packets) in zip(seen.offered_ns, asked.offers, strict=True) for packet in packets
    }
    left = {number: at for at, number, _ in seen.left}
    return Done(offered_ns=offered, left_ns=left, counters=seen.counters)


def of_simulator(play: Play, qdisc: str) -> Done:
    """Return what the simulator does with the packets of a play, in a discipline."""
    asked = for_simulator(sequence(play, qdisc))
    model, left, offered, clock = asked.model(_SEED), {}, {}, 0

    def leave(until: int) -> None:
        nonlocal clock
        while (due := model.ready_at(clock)) is not None and (due := max(due, clock)) < until:
            clock = due
            departure = model.dequeue(due)
            if departure is not None:
                left[departure.id] = due
            elif model.ready_at(due) == due:
                clock += 1

    for at, packets in asked.offers:
        leave(at)
        clock = at
        for packet in packets:
            offered[packet.id] = at
            enqueue(model, at, packet)
            while (departure := model.dequeue(at)) is not None:
                left[departure.id] = at
    leave(asked.end_ns)
    stats = model.stats
    return Done(offered_ns=offered, left_ns=left, counters=stats | {"queued": stats["qlen"]})


def value(play: Play, done: Done, scale: float) -> float:
    """Return the reading of a play; raises `SojournError` if there is nothing to read it of."""
    reading = play.reading
    if reading.of == COUNTER:
        if reading.counter not in done.counters:
            message = f"the discipline {play.qdisc!r} told no counter {reading.counter}"
            raise SojournError(message)
        return done.counters[reading.counter] * scale
    wanted = numbers(play, reading.part)
    left = [number for number in wanted if number in done.left_ns]
    if reading.of == DELAY:
        if not left:
            message = f"no packet of part {reading.part} left the discipline {play.qdisc!r}"
            raise SojournError(message)
        return sum(done.left_ns[number] - done.offered_ns[number] for number in left) / len(left) / _MS * scale
    return (len(wanted) - len(left)) * scale
