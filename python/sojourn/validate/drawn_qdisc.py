"""Queue disciplines whose parameters a row of random numbers gives.

A limit is 0.5 to 4 BDP, log-uniform; a BDP is rate x (base RTT + 10 ms).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.validate.uniform import between, one_of

QUANTA = (300, 1514, 3028)
FLOW_MODES = ("triple-isolate", "flows", "dual-srchost", "dual-dsthost")
QUEUES = tuple(2**power for power in range(4, 11))

#: A full frame, bytes.
FRAME = 1514
_SLACK_MS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What a row of numbers says of a discipline, whatever its kind; its text depends on the rate of each direction."""

    #: As `tc` calls it.
    kind: str
    #: Of the path.
    rtt_ms: float
    #: The queue's limit, in BDP.
    limit_bdp: float
    #: Numbers from 0 to 1, of which each kind makes its own times.
    target: float
    interval: float
    #: Of fair queueing.
    queues: int
    quantum: int
    #: Of RED.
    probability: float
    adaptive: bool
    #: Whether ECN-capable packets are marked.
    ecn: bool = False

    @classmethod
    def of(cls, kind: str, rtt_ms: float, row: list[float], *, ecn: bool = False) -> Draw:
        """Return what seven numbers say: limit, target, interval, queues, quantum, probability, adaptive."""
        return cls(
            kind=kind,
            rtt_ms=rtt_ms,
            limit_bdp=between(row[0], 0.5, 4),
            target=row[1],
            interval=row[2],
            queues=one_of(row[3], QUEUES),
            quantum=one_of(row[4], QUANTA),
            probability=round(between(row[5], 0.01, 0.2), 3),
            adaptive=row[6] < 0.5,
            ecn=ecn,
        )

    def text(self, kbit: int) -> str:
        """Return the tc text at a rate."""
        return _TEXTS[self.kind](self, kbit)


def _fifo(drawn: Draw, kbit: int) -> str:
    return f"{drawn.kind} limit {_packets(drawn, kbit, least=10)}"


def _bfifo(drawn: Draw, kbit: int) -> str:
    return f"bfifo limit {_packets(drawn, kbit, least=10) * FRAME}"


def _red(drawn: Draw, kbit: int) -> str:
    """Return RED with min at 2 to 30 ms of the rate, max three times and the limit twelve times that; `tc`'s burst."""
    least = max(round(between(drawn.target, 2, 30) * kbit / 8), 2 * FRAME)
    burst = math.ceil(5 * least / 3000)
    words = f"red limit {12 * least} min {least} max {3 * least} avpkt 1000 burst {burst} bandwidth {kbit}kbit"
    return (
        f"{words} probability {drawn.probability}{' adaptive' if drawn.adaptive else ''}{' ecn' if drawn.ecn else ''}"
    )


def _pie(drawn: Draw, kbit: int) -> str:
    """Return PIE with a target of 5 to 50 ms and an update time of 5 to 30 ms."""
    target, update = round(between(drawn.target, 5, 50)), round(between(drawn.interval, 5, 30))
    return f"pie limit {_packets(drawn, kbit, least=50)} target {target}ms tupdate {update}ms {_ecn(drawn)}"


def _codel(drawn: Draw, kbit: int) -> str:
    return f"codel limit {_packets(drawn, kbit, least=50)} {_control_law(drawn, kbit)} {_ecn(drawn)}"


def _fq_codel(drawn: Draw, kbit: int) -> str:
    queues = f"flows {drawn.queues} quantum {drawn.quantum}"
    return f"fq_codel limit {_packets(drawn, kbit, least=50)} {queues} {_control_law(drawn, kbit)} {_ecn(drawn)}"


def _sfq(drawn: Draw, kbit: int) -> str:
    """Return SFQ; its limit cannot be above the packets that its queues hold, 127 each."""
    limit = min(_packets(drawn, kbit, least=20), 127 * drawn.queues)
    return f"sfq limit {limit} depth 127 flows {drawn.queues} divisor 1024 quantum {max(drawn.quantum, FRAME)}"


def _control_law(drawn: Draw, kbit: int) -> str:
    """Return CoDel's interval, 20 to 500 ms, and its target, 5 to 10 % of it but not below the time of a frame."""
    interval = round(between(drawn.interval, 20, 500))
    frame_ms = math.ceil(8 * FRAME / kbit)
    target = max(math.ceil(between(drawn.target, 0.05, 0.1) * interval), frame_ms)
    return f"target {target}ms interval {max(interval, 2 * target)}ms"


def _fq_pie(drawn: Draw, kbit: int) -> str:
    """Return FQ-PIE with PIE's times, which has no ECN unless the word is there."""
    target, update = round(between(drawn.target, 5, 50)), round(between(drawn.interval, 5, 30))
    words = f"fq_pie limit {_packets(drawn, kbit, least=50)} flows {drawn.queues} quantum {drawn.quantum}"
    return f"{words} target {target}ms tupdate {update}ms{' ecn' if drawn.ecn else ''}"


def _tbf(drawn: Draw, kbit: int) -> str:
    """Return a token bucket of 70 to 100 % of the rate, five frames deep, over its own FIFO."""
    return f"tbf rate {_shaped(drawn, kbit)}kbit burst {5 * FRAME} limit {_packets(drawn, kbit, least=10) * FRAME}"


def _fq(drawn: Draw, kbit: int) -> str:
    """Return `fq` with an eighth of the limit for each flow."""
    limit = _packets(drawn, kbit, least=80)
    return f"fq limit {limit} flow_limit {limit // 8} quantum {max(drawn.quantum, FRAME)}"


def _cake(drawn: Draw, kbit: int) -> str:
    """Return CAKE for a path of 20 to 500 ms, with one of its flow modes; half shape to 70 to 100 % of the rate."""
    shaped = f"bandwidth {_shaped(drawn, kbit)}kbit" if drawn.adaptive else "unlimited"
    mode = FLOW_MODES[QUEUES.index(drawn.queues) % len(FLOW_MODES)]
    return f"cake {shaped} {mode} rtt {round(between(drawn.interval, 20, 500))}ms"


def _prio(drawn: Draw, kbit: int) -> str:
    """Return three bands; best effort is the second, under CoDel."""
    return f"prio ; qdisc parent 1:2 {_codel(drawn, kbit)}"


def _ets(drawn: Draw, kbit: int) -> str:
    """Return a strict band above two with quanta; best effort is the last, under CoDel."""
    return f"ets strict 1 quanta 3000 {max(drawn.quantum, FRAME)} ; qdisc parent 1:3 {_codel(drawn, kbit)}"


def _drr(drawn: Draw, kbit: int) -> str:
    """Return one class for all, under CoDel."""
    made = f"class parent 1: classid 1:1 drr quantum {max(drawn.quantum, FRAME)}"
    return f"drr ; {made} ; qdisc parent 1:1 {_codel(drawn, kbit)} ; filter parent 1: matchall flowid 1:1"


def _htb(drawn: Draw, kbit: int) -> str:
    """Return a class that borrows from its parent of 70 to 100 % of the rate, over FQ-CoDel."""
    rate = _shaped(drawn, kbit)
    root = f"class parent 1: classid 1:1 htb rate {rate}kbit ceil {rate}kbit"
    leaf = f"class parent 1:1 classid 1:10 htb rate {max(rate // 2, 8)}kbit ceil {rate}kbit"
    return f"htb default 10 ; {root} ; {leaf} ; qdisc parent 1:10 {_fq_codel(drawn, kbit)}"


def _shaped(drawn: Draw, kbit: int) -> int:
    """Return 70 to 100 % of the rate, in kbit/s."""
    return round(kbit * (0.7 + 0.3 * drawn.target))


def _ecn(drawn: Draw) -> str:
    return "ecn" if drawn.ecn else "noecn"


def _packets(drawn: Draw, kbit: int, *, least: int) -> int:
    """Return the limit in full frames."""
    bdp = kbit * (drawn.rtt_ms + _SLACK_MS) / 8 / FRAME
    return max(round(drawn.limit_bdp * bdp), least)


_TEXTS: dict[str, Callable[[Draw, int], str]] = {
    "pfifo": _fifo,
    "bfifo": _bfifo,
    "pfifo_fast": _fifo,
    "red": _red,
    "pie": _pie,
    "codel": _codel,
    "sfq": _sfq,
    "fq_codel": _fq_codel,
    "fq_pie": _fq_pie,
    "tbf": _tbf,
    "fq": _fq,
    "cake": _cake,
    "prio": _prio,
    "ets": _ets,
    "drr": _drr,
    "htb": _htb,
}
#: Every kind that can be drawn.
KINDS = tuple(_TEXTS)
