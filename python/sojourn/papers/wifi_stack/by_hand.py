"""Mechanisms of the Wi-Fi stack driven by hand: what would happen if its designers had chosen otherwise.

A cell has no option for a design that does not work, so the counterfactuals of seed 002 are shown here, each in its
plainest form.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count

from sojourn.papers.by_hand import BULK_FLOWS, FULL, Link

#: The Block Ack window, and the frames of an aggregate.
WINDOW, AGGREGATE = 64, 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Resent:
    """What became of a sender that has to send frames again: turns, those in which it could send nothing, frames."""

    turns: int
    stalled: int
    delivered: int


def resend(*, first: bool, turns: int = 200, waiting: int = 500, every: int = 10) -> Resent:
    """Send aggregates of which each `every`th frame is lost once, with a queue that always has frames waiting.

    - `first`: whether a lost frame goes before the queue; else it goes behind.
    - `turns`: aggregates that may be sent.
    - `waiting`: frames in the queue at every time; a new frame gets its sequence number when it is sent.
    - `every`: which frames are lost.
    """
    queue: deque[int | None] = deque([None] * waiting)
    numbers = count()
    delivered: set[int] = set()
    lost: set[int] = set()
    begin, following, stalled = 0, 0, 0
    for _ in range(turns):
        aggregate: list[int] = []
        while queue and len(aggregate) < AGGREGATE:
            number = following if queue[0] is None else queue[0]
            if number >= begin + WINDOW:
                break
            if queue.popleft() is None:
                following = next(numbers) + 1
            aggregate.append(number)
        stalled += not aggregate
        again = [number for number in aggregate if number % every == 0 and number not in lost]
        lost.update(again)
        delivered.update(set(aggregate) - set(again))
        queue.extend([None] * (waiting - len(queue) - len(again)))
        if first:
            queue.extendleft(reversed(again))
        else:
            queue.extend(again)
        while begin in delivered:
            begin += 1
    return Resent(turns=turns, stalled=stalled, delivered=len(delivered))


def discarded(*, numbered_before: bool, packets: int = 400) -> int:
    """Return how many packets a receiver discards that takes none with a lower number than it has seen.

    Packets of four flows, one of which is sparse, go through `fq_codel` to one station; no packet is dropped.

    - `numbered_before`: whether packets get their number before the flow queues; else when they leave them.
    - `packets`: that arrive.
    """
    link = Link("fq_codel limit 10240 target 100s interval 100s noecn", 100)
    numbers: dict[int, deque[int]] = {flow: deque() for flow in BULK_FLOWS}
    highest, late = -1, 0
    for place in range(packets):
        # Bursts of ten of the first three flows, and a packet of the last now and then.
        flow = BULK_FLOWS[-1] if place % 25 == 24 else BULK_FLOWS[place // 10 % (len(BULK_FLOWS) - 1)]
        numbers[flow].append(place)
        link.offer(flow, FULL)
    for sent in range(packets):
        departure = link.serve()
        if departure is None:
            break
        number = numbers[departure.flow].popleft() if numbered_before else sent
        late += number < highest
        highest = max(highest, number)
    return late


def lower_before_higher(*, fairness_first: bool, turns: int = 300) -> int:
    """Return how often best effort of a station is sent while another, which had too much, has voice waiting.

    Two stations always have packets: `a` voice, whose frames take twice as long, and `b` best effort. Either the
    station with credit is chosen and then its highest level, or the highest level and then the station with credit.

    - `fairness_first`: the order of the two choices.
    - `turns`: how many frames are sent.
    """
    quantum = 300
    cost = {"a": 600, "b": 300}
    credit = {"a": quantum, "b": quantum}
    found = 0
    for _ in range(turns):
        waiting = list(credit) if fairness_first else ["a"]
        while all(credit[name] <= 0 for name in waiting):
            for name in waiting:
                credit[name] += quantum
        chosen = max(waiting, key=lambda name: credit[name])
        found += chosen == "b"
        credit[chosen] -= cost[chosen]
    return found
