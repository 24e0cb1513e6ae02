"""Plays random sequences on both sides, and compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sojourn.backends.linux.guest import carry_out, job_text
from sojourn.kernel.find import Kernel
from sojourn.validate.calls import draw, job, kinds, shares
from sojourn.validate.calls.replay import Replayed, replay

#: Boots with other secrets that are tried until no two flows share a queue.
_BOOTS = 8
#: Sequences of one guest.
_BATCH = 100
#: What a guest takes at most: at its start, for a discipline, for a packet; seconds of this machine.
_START_S, _SEQUENCE_S, _PACKET_S = 60.0, 1.0, 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The comparison of a discipline."""

    #: The discipline, as it was asked for.
    text: str
    #: Of its sequences, in order.
    verdicts: tuple[Replayed, ...]

    @property
    def agreed(self) -> int:
        """On how many sequences both sides are the same."""
        return sum(verdict.difference is None for verdict in self.verdicts)

    @property
    def first(self) -> tuple[int, str] | None:
        """The first sequence that differs, and how; `None` if none does."""
        for number, verdict in enumerate(self.verdicts):
            if verdict.difference is not None:
                return number, verdict.difference
        return None

    def to_plain(self) -> dict[str, object]:
        """Return it for JSON."""
        total = {
            name: sum(getattr(verdict, name) for verdict in self.verdicts)
            for name in ("packets", "left", "dropped", "marked")
        }
        first = self.first
        return {
            "qdisc": self.text,
            "sequences": len(self.verdicts),
            "agree": self.agreed,
            **total,
            "apart_ns": max((verdict.apart_ns for verdict in self.verdicts), default=0),
            "counters": sorted({name for verdict in self.verdicts for name in verdict.counters}),
            "first_difference": None if first is None else {"sequence": first[0], "what": first[1]},
        }


def all_texts(kernel: Kernel) -> list[str]:
    """Return all disciplines that are compared with a kernel unless others are asked for."""
    there = [kind for kind in kinds.modelled().values() if kinds.there_in(kind, kernel)]
    return [text for kind in there for text in (*kind.texts, *kind.shares)]


def compare(text: str, sequences: int, seed: int, kernel: Kernel) -> Result:
    """Compare a discipline on so many random sequences.

    Raises `ParamError` if the discipline is not modelled, and `SojournError` if the kernel or the agent fails.
    """
    verdicts = [_judge(sequence, seen) for sequence, seen in _played(text, sequences, seed, kernel)]
    return Result(text=text, verdicts=tuple(verdicts))


def compare_shares(text: str, sequences: int, seed: int, kernel: Kernel) -> shares.Result:
    """Compare a discipline that draws random numbers on so many random sequences.

    Raises `ParamError` if the discipline is not modelled, and `SojournError` if the kernel or the agent fails.
    """
    return shares.judge(text, list(_played(text, sequences, seed, kernel)))


def _played(text: str, sequences: int, seed: int, kernel: Kernel) -> Iterator[tuple[draw.Sequence, job.Seen]]:
    """Yield each sequence, and what the kernel did with it."""
    for numbers in _batches(sequences):
        drawn = [draw.sequence(text, seed, number) for number in numbers]
        packets = sum(len(together) for one in drawn for _, together in one.offers)
        bound_s = _START_S + _SEQUENCE_S * len(drawn) + _PACKET_S * packets
        for boot in range(seed, seed + _BOOTS):
            answer = carry_out(job_text(job.job(drawn, kernel)), kernel, seed=boot, bound_s=bound_s)
            played = list(zip(drawn, job.seen(answer.measured), strict=True))
            if not any(_share(one, seen) for one, seen in played):
                break
        yield from played


def _share(sequence: draw.Sequence, seen: job.Seen) -> bool:
    """Return whether two flows shared a queue, because the secret of this boot gave them hashes of one bucket."""
    counter = kinds.of(sequence.kind).counted
    flows = {packet.flow for _, packets in sequence.offers for packet in packets}
    return counter is not None and seen.counters[counter] < len(flows)


def _judge(sequence: draw.Sequence, seen: job.Seen) -> Replayed:
    """Return the verdict of the first seed with which both sides agree, or else of the first seed."""
    first = replay(sequence, seen)
    for seed in range(2, kinds.of(sequence.kind).seeds + 1):
        if first.difference is None:
            break
        other = replay(sequence, seen, seed)
        if other.difference is None:
            return other
    return first


def _batches(count: int) -> Iterator[Sequence[int]]:
    for first in range(0, count, _BATCH):
        yield range(first, min(count, first + _BATCH))
