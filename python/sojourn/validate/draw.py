"""Scenarios drawn by a seed: links, paths, loads and disciplines that nobody chose.

One row of `COLUMNS` numbers, uniform in [0, 1), is drawn for each scenario from numpy's `Generator(PCG64(seed))`, row
by row, whatever the scenario needs of them. So scenario k is a function of the seed and k alone: a larger `--count`
begins with the scenarios of a smaller one. What a number means (u is the number of that column):

| column | what                            | how                                                                       |
|--------|---------------------------------|---------------------------------------------------------------------------|
| 0      | rate down                       | 1 to 200 Mbit/s, log-uniform, in whole kbit/s                             |
| 1      | rate up                         | the same                                                                  |
| 2      | symmetric                       | u < 0.3: up is as fast as down                                            |
| 3      | base RTT                        | 5 to 500 ms, log-uniform, in tenths of a millisecond                      |
| 4, 5   | flows up, flows down            | 1 to 32, log-uniform: the whole part of 33^u                              |
| 6      | congestion control              | u < 0.5: CUBIC, else Reno                                                 |
| 7      | discipline                      | one of `KINDS`, or of those that are named, uniform; for both directions  |
| 8      | limit                           | 0.5 to 4 BDP, log-uniform; a BDP is rate x (base RTT + 10 ms)             |
| 9      | target, of a time               | see `_text`                                                               |
| 10     | interval, or PIE's update time  | see `_text`                                                               |
| 11     | number of queues                | a power of two from 16 to 1024                                            |
| 12     | quantum                         | one of `QUANTA`                                                           |
| 13     | RED's probability               | 0.01 to 0.2, log-uniform                                                  |
| 14     | RED adaptive                    | u < 0.5 (which the current kernel takes and does nothing about)           |

ECN is off. The load is bulk TCP in both directions for the whole run, an ICMP echo each 200 ms and UDP questions and
answers. A run lasts so long that the two bottlenecks carry `MOST_PACKETS` full frames at most, up to 60 s but never
less than 10 s, which is 20 round trips of the longest path. (At 200 Mbit/s both ways that is 330,000.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sojourn.errors import ParamError
from sojourn.experiments import rrul
from sojourn.scenario import Direction, Flow, Scenario
from sojourn.store.cell import link_name
from sojourn.validate.disciplines import Discipline
from sojourn.validate.grid import Cell

Value = TypeVar("Value")

COLUMNS = 15
QUANTA = (300, 1514, 3028)
QUEUES = tuple(2**power for power in range(4, 11))
MOST_PACKETS = 300_000
LONGEST_S, SHORTEST_S = 60, 10
#: More than anyone has the time for; a slip of the finger must not fill the memory.
MOST = 10_000

_FRAME = 1514
_SHARE_SYMMETRIC = 0.3
_SLACK_MS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What a row of numbers says, without the discipline's text, which depends on the rate of each direction."""

    rtt_ms: float
    kind: str
    limit_bdp: float
    target: float
    interval: float
    queues: int
    quantum: int
    probability: float
    adaptive: bool


def draw(count: int, seed: int, disciplines: Sequence[Discipline] | None = None) -> tuple[Cell, ...]:
    """Return so many scenarios, named `random SEED.NUMBER`, numbers from 1.

    With `disciplines` these take the place of the drawn ones, with the words that they have; all else is as without.

    Raises
    ------
    ParamError
        If `count` is out of range.
    """
    rows = uniform(count, seed, most=MOST, columns=COLUMNS)
    return tuple(_cell(row, f"random {seed}.{number}", disciplines) for number, row in enumerate(rows, 1))


def uniform(count: int, seed: int, *, most: int, columns: int) -> list[list[float]]:
    """Return so many rows of so many numbers from 0 to below 1, the same for one seed.

    Raises
    ------
    ParamError
        If `count` is not from 1 to `most`.
    """
    if not 1 <= count <= most:
        message = f"count is {count}, but must be from 1 to {most}"
        raise ParamError(message)
    rows = np.random.Generator(np.random.PCG64(seed)).random((count, columns))
    return [[float(u) for u in row] for row in rows]


def _cell(row: list[float], name: str, disciplines: Sequence[Discipline] | None) -> Cell:
    down = round(between(row[0], 1_000, 200_000))
    up = down if row[2] < _SHARE_SYMMETRIC else round(between(row[1], 1_000, 200_000))
    drawn = _Drawn(
        rtt_ms=round(between(row[3], 5, 500), 1),
        kind=one_of(row[7], KINDS),
        limit_bdp=between(row[8], 0.5, 4),
        target=row[9],
        interval=row[10],
        queues=one_of(row[11], QUEUES),
        quantum=one_of(row[12], QUANTA),
        probability=round(between(row[13], 0.01, 0.2), 3),
        adaptive=row[14] < 0.5,
    )
    named = None if disciplines is None else one_of(row[7], disciplines)
    counts: dict[Direction, int] = {"up": int(33 ** row[4]), "down": int(33 ** row[5])}
    cc = "cubic" if row[6] < 0.5 else "reno"
    scenario = Scenario(
        experiment=name.replace(" ", "-"),
        duration=f"{duration_s(up + down)}s",
        up=f"{up}kbit",
        down=f"{down}kbit",
        rtt=f"{drawn.rtt_ms}ms",
        qdisc_up=_text(drawn, up) if named is None else named.at(1000 * up),
        qdisc_down=_text(drawn, down) if named is None else named.at(1000 * down),
        flows=tuple(
            Flow(name=f"tcp_{way}_{number}", direction=way, congestion_control=cc)
            for way, count in counts.items()
            for number in range(1, count + 1)
        ),
        probes=rrul.probes(),
        seed=1,
    )
    scenario.normalized()
    link = link_name(f"{down / 1000:g}mbit", f"{up / 1000:g}mbit")
    return Cell(name=name, link=link, qdisc=drawn.kind if named is None else named.name, scenario=scenario)


def duration_s(kbit_per_s: int) -> int:
    """Return how long a scenario runs whose bottlenecks have this rate together."""
    packets_per_s = kbit_per_s * 1000 / 8 / _FRAME
    return min(max(int(MOST_PACKETS / packets_per_s), SHORTEST_S), LONGEST_S)


def _text(drawn: _Drawn, kbit: int) -> str:
    """Return the tc text at a rate."""
    return _TEXTS[drawn.kind](drawn, kbit)


def _fifo(drawn: _Drawn, kbit: int) -> str:
    return f"{drawn.kind} limit {_packets(drawn, kbit, least=10)}"


def _bfifo(drawn: _Drawn, kbit: int) -> str:
    return f"bfifo limit {_packets(drawn, kbit, least=10) * _FRAME}"


def _red(drawn: _Drawn, kbit: int) -> str:
    """Return RED with min at 2 to 30 ms of the rate, max three times and the limit twelve times that; `tc`'s burst."""
    least = max(round(between(drawn.target, 2, 30) * kbit / 8), 2 * _FRAME)
    burst = math.ceil(5 * least / 3000)
    words = f"red limit {12 * least} min {least} max {3 * least} avpkt 1000 burst {burst} bandwidth {kbit}kbit"
    return f"{words} probability {drawn.probability}{' adaptive' if drawn.adaptive else ''}"


def _pie(drawn: _Drawn, kbit: int) -> str:
    """Return PIE with a target of 5 to 50 ms and an update time of 5 to 30 ms."""
    target, update = round(between(drawn.target, 5, 50)), round(between(drawn.interval, 5, 30))
    return f"pie limit {_packets(drawn, kbit, least=50)} target {target}ms tupdate {update}ms noecn"


def _codel(drawn: _Drawn, kbit: int) -> str:
    return f"codel limit {_packets(drawn, kbit, least=50)} {_control_law(drawn, kbit)}"


def _fq_codel(drawn: _Drawn, kbit: int) -> str:
    queues = f"flows {drawn.queues} quantum {drawn.quantum}"
    return f"fq_codel limit {_packets(drawn, kbit, least=50)} {queues} {_control_law(drawn, kbit)}"


def _sfq(drawn: _Drawn, kbit: int) -> str:
    """Return SFQ; its limit cannot be above the packets that its queues hold, 127 each."""
    limit = min(_packets(drawn, kbit, least=20), 127 * drawn.queues)
    return f"sfq limit {limit} depth 127 flows {drawn.queues} divisor 1024 quantum {max(drawn.quantum, _FRAME)}"


def _control_law(drawn: _Drawn, kbit: int) -> str:
    """Return CoDel's interval, 20 to 500 ms, and its target, 5 to 10 % of it but not below the time of a frame."""
    interval = round(between(drawn.interval, 20, 500))
    frame_ms = math.ceil(8 * _FRAME / kbit)
    target = max(math.ceil(between(drawn.target, 0.05, 0.1) * interval), frame_ms)
    return f"target {target}ms interval {max(interval, 2 * target)}ms noecn"


def _packets(drawn: _Drawn, kbit: int, *, least: int) -> int:
    """Return the limit in full frames."""
    bdp = kbit * (drawn.rtt_ms + _SLACK_MS) / 8 / _FRAME
    return max(round(drawn.limit_bdp * bdp), least)


def between(u: float, low: float, high: float) -> float:
    """Return the number between two on a logarithmic scale."""
    return float(low * (high / low) ** u)


def one_of(u: float, values: Sequence[Value]) -> Value:
    """Return one of the values, each with the same chance."""
    return values[int(u * len(values))]


_TEXTS: dict[str, Callable[[_Drawn, int], str]] = {
    "pfifo": _fifo,
    "bfifo": _bfifo,
    "pfifo_fast": _fifo,
    "red": _red,
    "pie": _pie,
    "codel": _codel,
    "sfq": _sfq,
    "fq_codel": _fq_codel,
}
#: What is drawn from. A kind more makes other scenarios of the same seed.
KINDS = tuple(_TEXTS)
