"""Disciplines that draw random numbers against those of the kernel: what becomes of the same packets on average.

No two runs of such a discipline need to decide the same. So the simulator's is offered the packets of each sequence
with several seeds, at the kernel's times, and what it does on average is compared with what the kernel did. The mean of
the differences is held against a bar, as in other comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.stats import Interval, mean_interval
from sojourn.validate.calls.draw import Sequence, enqueue
from sojourn.validate.calls.job import ECN_BITS, Seen

#: Seeds of the simulator for each sequence.
SEEDS = 20
#: Level of the intervals: of a thousand comparisons one would be outside by chance.
LEVEL = 0.999
#: By how much of the kernel's mean the simulator's may differ.
BAR = 0.03
#: The second part of a sequence, of all its packets: a drop probability that has grown acts there.
_SECOND = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A quantity on both sides."""

    #: What it is.
    name: str
    #: Its mean over the sequences.
    kernel: float
    simulator: float
    #: The mean of the kernel's less the simulator's, with its interval.
    difference: Interval

    @property
    def verdict(self) -> str:
        """Whether both sides "agree" or "differ"; "cannot tell" if the interval is too long to say so."""
        bar, low, high = BAR * abs(self.kernel), self.difference.low, self.difference.high
        if abs(self.difference.value) <= bar:
            return "agree"
        outside = low is not None and high is not None and (low > bar or high < -bar)
        return "differ" if outside else "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The comparison of a discipline that draws random numbers."""

    #: The discipline, as it was asked for.
    text: str
    #: How many were played.
    sequences: int
    packets: int
    #: What was compared.
    shares: tuple[Share, ...]

    @property
    def differs(self) -> bool:
        """Whether a quantity differs."""
        return any(share.verdict == "differ" for share in self.shares)

    def to_plain(self) -> dict[str, object]:
        """Return it for JSON."""
        shares = [
            {
                "name": share.name,
                "kernel": share.kernel,
                "simulator": share.simulator,
                "difference": [share.difference.value, share.difference.low, share.difference.high],
                "verdict": share.verdict,
            }
            for share in self.shares
        ]
        return {
            "qdisc": self.text,
            "sequences": self.sequences,
            "packets": self.packets,
            "seeds": SEEDS,
            "level": LEVEL,
            "bar": BAR,
            "shares": shares,
        }


def judge(text: str, played: list[tuple[Sequence, Seen]]) -> Result:
    """Compare both sides on the sequences that a kernel has played."""
    packets = sum(len(together) for sequence, _ in played for _, together in sequence.offers)
    return Result(text=text, sequences=len(played), packets=packets, shares=_shares(played))


def _shares(played: list[tuple[Sequence, Seen]]) -> tuple[Share, ...]:
    theirs = [_of_kernel(sequence, seen) for sequence, seen in played]
    ours = [_of_simulator(sequence, seen) for sequence, seen in played]
    found = []
    for name in theirs[0]:
        if name not in ours[0]:
            continue
        differences = [there[name] - here[name] for there, here in zip(theirs, ours, strict=True)]
        found.append(
            Share(
                name=name,
                kernel=sum(there[name] for there in theirs) / len(theirs),
                simulator=sum(here[name] for here in ours) / len(ours),
                difference=mean_interval(differences, level=LEVEL),
            )
        )
    return tuple(found)


#: What left: when, the number of the packet, and whether it was marked.
_Left = list[tuple[int, int, bool]]


def _of_kernel(sequence: Sequence, seen: Seen) -> dict[str, float]:
    sent = {packet.id: packet.ecn for _, packets in sequence.offers for packet in packets}
    left = [(at, number, tos & 3 == ECN_BITS["ce"] and sent[number] != "ce") for at, number, tos in seen.left]
    return _measures(sequence, seen.offered_ns, left) | _counters(seen.counters)


def _of_simulator(sequence: Sequence, seen: Seen) -> dict[str, float]:
    """Return the means over the seeds."""
    all_seeds = [_play(sequence, seen, seed) for seed in range(1, SEEDS + 1)]
    return {name: sum(one[name] for one in all_seeds) / SEEDS for name in all_seeds[0]}


def _play(sequence: Sequence, seen: Seen, seed: int) -> dict[str, float]:
    model, left, clock = sequence.model(seed), [], seen.offered_ns[0]

    def leave(until: int | None) -> None:
        nonlocal clock
        while (due := model.ready_at(clock)) is not None:
            due = max(due, clock)
            if until is not None and due >= until:
                return
            departure = model.dequeue(due)
            clock = due
            if departure is not None:
                left.append((due, departure.id, departure.marked))
            elif model.ready_at(due) == due:
                clock += 1

    for at, (_, packets) in zip(seen.offered_ns, sequence.offers, strict=True):
        leave(at)
        clock = at
        for packet in packets:
            enqueue(model, at, packet)
            while (departure := model.dequeue(at)) is not None:
                left.append((at, departure.id, departure.marked))
    leave(None)
    return _measures(sequence, seen.offered_ns, left) | _counters(model.stats)


def _measures(sequence: Sequence, offered_ns: tuple[int, ...], left: _Left) -> dict[str, float]:
    """Return what became of the packets."""
    offered = {
        packet.id: at for at, (_, packets) in zip(offered_ns, sequence.offers, strict=True) for packet in packets
    }
    second = len(offered) * _SECOND
    delays = [at - offered[number] for at, number, _ in left]
    return {
        "dropped, first half": second - sum(number < second for _, number, _ in left),
        "dropped, second half": len(offered) - second - sum(number >= second for _, number, _ in left),
        "marked": float(sum(marked for _, _, marked in left)),
        "mean delay, us": sum(delays) / max(len(delays), 1) / 1e3,
    }


def _counters(counters: dict[str, float]) -> dict[str, float]:
    """Return the counters of BLUE: how many flows have a probability at the end."""
    names = [name for name in counters if name.endswith("unresponsive_flows")]
    return {"flows under BLUE": float(sum(counters[name] for name in names))} if names else {}
