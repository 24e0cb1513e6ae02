"""Disciplines against those of the kernel, call by call: the sequences, the comparison, and the kernel itself."""

from __future__ import annotations

import dataclasses
import json

import pytest

from sojourn import _native
from sojourn.kernel.find import Kernel
from sojourn.validate.calls import compare, draw, job, kinds
from sojourn.validate.calls.job import ECN_BITS, FIRST_ID, Seen
from sojourn.validate.calls.replay import BAR_NS, replay
from tests.conftest import Cli, assert_one_sentence

#: Random sequences for each kind, shared by its disciplines.
SEQUENCES = 200
#: Kinds whose queues have room for all packets of a sequence.
HOLD_ALL = {"prio", "drr", "ets", "htb"}
PLAIN = "codel target 1ms interval 10ms limit 20 ecn"


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds.modelled())
def test_the_kernel_and_the_simulator_do_the_same(kind: str, virtual_kernel: Kernel) -> None:
    texts = kinds.KINDS[kind].texts
    results = [compare.compare(text, -(-SEQUENCES // len(texts)), 1, virtual_kernel) for text in texts]
    assert [(one.text, one.first) for one in results] == [(text, None) for text in texts]
    # What is compared happens.
    assert sum(verdict.left for one in results for verdict in one.verdicts) > SEQUENCES
    if kind not in HOLD_ALL:
        assert sum(verdict.dropped for one in results for verdict in one.verdicts) > 0


def own(sequence: draw.Sequence) -> Seen:
    """What the kernel would be seen to do if it were the simulator, with a clock that begins at a second."""
    model, begin, clock, left = sequence.model(), 1_000_000_000, 0, []

    def take() -> None:
        while (departure := model.dequeue(clock)) is not None:
            ecn = "ce" if departure.marked else ecns[departure.id]
            left.append((begin + clock, departure.id, ECN_BITS[ecn]))

    ecns = {packet.id: packet.ecn for _, packets in sequence.offers for packet in packets}
    for at, packets in (*sequence.offers, (sequence.end_ns, ())):
        while (due := model.ready_at(clock)) is not None and due < at:
            clock = due
            take()
        clock = at
        for packet in packets:
            draw.enqueue(model, at, packet)
            take()
    counters = {"packets": model.stats["packets"], "queued": 0, "drops": model.stats["drops"]}
    return Seen(offered_ns=tuple(begin + at for at, _ in sequence.offers), left=tuple(left), counters=dict(counters))


@pytest.fixture(scope="module")
def sequence() -> draw.Sequence:
    """A sequence with drops and marks."""
    for number in range(100):
        found = draw.sequence(PLAIN, 1, number)
        seen = own(found)
        marks = {tos for _, _, tos in seen.left} >= {ECN_BITS["ce"], ECN_BITS["ect0"]}
        if marks and seen.counters["drops"] > 0:
            return found
    pytest.fail("no sequence drops and marks")


def test_a_sequence_is_a_function_of_its_seed_number_and_discipline() -> None:
    one = draw.sequence(PLAIN, 1, 7)
    assert one == draw.sequence(PLAIN, 1, 7)
    assert one.offers != draw.sequence(PLAIN, 2, 7).offers
    assert one.offers != draw.sequence(PLAIN, 1, 8).offers


@pytest.mark.parametrize("text", [kind.texts[-1] for kind in kinds.modelled().values()])
def test_no_packet_is_offered_near_to_a_departure(text: str) -> None:
    for number in range(5):
        drawn = draw.sequence(text, 3, number)
        offered = [at for at, _ in drawn.offers]
        assert offered == sorted(offered)
        left = [(at - 1_000_000_000, number) for at, number, _ in own(drawn).left]
        for at, packets in drawn.offers:
            new = {packet.id for packet in packets}
            near = [number for one, number in left if 0 < abs(at - one) < draw.GUARD_NS]
            # One that came to an empty queue may be let go soon after.
            assert set(near) <= new
        assert drawn.end_ns > max(left)[0]


def test_the_same_answers_are_no_difference(sequence: draw.Sequence) -> None:
    verdict = replay(sequence, own(sequence))
    assert verdict.difference is None
    assert (verdict.apart_ns, verdict.counters) == (0, ("packets", "queued", "drops"))
    assert verdict.left + verdict.dropped == verdict.packets
    assert verdict.marked > 0


def test_a_timer_that_is_late_by_less_than_the_bar_is_no_difference(sequence: draw.Sequence) -> None:
    seen = own(sequence)
    offered = set(seen.offered_ns)
    late = tuple((at if at in offered else at + 300, number, tos) for at, number, tos in seen.left)
    verdict = replay(sequence, dataclasses.replace(seen, left=late))
    assert verdict.difference is None
    assert 0 < verdict.apart_ns <= BAR_NS


def test_each_sort_of_difference_is_told(sequence: draw.Sequence) -> None:
    seen = own(sequence)
    *most, (at, number, tos) = seen.left
    swapped = list(seen.left)
    here = next(i for i in range(3, len(swapped) - 1) if swapped[i][0] != swapped[i + 1][0])
    (a, one, x), (b, other, y) = swapped[here : here + 2]
    swapped[here : here + 2] = [(a, other, y), (b, one, x)]
    spoilt = {
        f"packet {number} marked, and the simulator ": (*most, (at, number, ECN_BITS["ce"])),
        "the simulator lets go ": tuple(most),
        f"packet {number}, and the simulator nothing more": (*seen.left, (at + 10**8, number, tos)),
        "the kernel lets go ": (*most, (at + 2 * BAR_NS, number, tos)),
        f"packet {other}": tuple(swapped),
    }
    for words, left in spoilt.items():
        difference = replay(sequence, dataclasses.replace(seen, left=left)).difference
        assert difference is not None
        assert words in difference
        assert "; before it: at " in difference
    counters = seen.counters | {"drops": seen.counters["drops"] + 1}
    difference = replay(sequence, dataclasses.replace(seen, counters=counters)).difference
    assert difference is not None
    assert difference.startswith("at the end the kernel's counter drops is ")


def test_a_job_names_queues_by_priority_and_packets_by_identification() -> None:
    drawn = draw.sequence("fq_codel flows 4", 1, 0)
    kernel = Kernel(kind="virtual", path=None, release="6.1", modules=(), virtual_time=True, identity="")
    made = job.job([drawn], kernel)
    offers = made["sequences"][0]["offers"]
    packets = [packet for _, together in drawn.offers for packet in together]
    crafted = [one for offer in offers for one in offer["packets"]]
    assert [offer["at_ns"] for offer in offers] == [at for at, _ in drawn.offers]
    for packet, (priority, length, head) in zip(packets, crafted, strict=True):
        header = bytes.fromhex(head)
        assert priority == 0x10 << 16 | packet.flow % 4 + 1
        assert length == int.from_bytes(header[2:4], "big") == packet.size - 14
        assert int.from_bytes(header[4:6], "big") == packet.id + FIRST_ID
        assert header[1] & 3 == ECN_BITS[packet.ecn]
    assert [step["says"] for step in made["sequences"][0]["setup"]] == ["add tbf to d0", "add fq_codel to d0"]
    json.dumps(made)


def test_a_shaper_above_a_discipline_holds_its_packets() -> None:
    q = _native.Qdisc("pfifo limit 10", shaped_bps=8_000_000, burst_bytes=1514)
    for at in (0, 0):
        q.enqueue(at, 1514)
    first = q.dequeue(0)
    assert first is not None
    assert (first.id, q.dequeue(0), q.ready_at(0), q.backlog) == (0, None, 1_514_000, (1, 1514))
    assert q.dequeue(1_514_000) is not None
    with pytest.raises(_native.ParamError, match="burst_bytes is absent, but must be given with shaped_bps"):
        _native.Qdisc("pfifo", shaped_bps=1)
    with pytest.raises(_native.ParamError, match="shaped_bps is absent, but must be given with burst_bytes"):
        _native.Qdisc("pfifo", burst_bytes=1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("calls", "--sequences", "0"), "sequences is 0, but must be at least 1"),
        (("calls", "--rtt", "5ms"), "rtt is 5ms, but calls are sequences of packets"),
        (("calls", "--qdisc", "codel target 0ms"), "codel.target is 0ns, but must be > 0"),
        (("rrul", "--sequences", "5"), "sequences is 5, but rrul has no sequences: leave it out"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(inside: Cli, words: tuple[str, ...], sentence: str) -> None:
    assert_one_sentence(inside("validate", *words, status=2), sentence)


def test_the_command_prints_a_table_and_its_json(inside: Cli, virtual_kernel: Kernel) -> None:
    words = ("validate", "calls", "--qdisc", "pfifo limit 5", "--qdisc", "codel", "--sequences", "3", "--seed", "4")
    table = inside(*words).stdout.splitlines()
    assert table[0].split() == [
        *("discipline", "sequences", "agree", "packets", "dropped", "marked", "largest", "difference,", "ns")
    ]
    assert [line.split("  ")[0] for line in table[2:]] == ["pfifo limit 5", "codel"]
    entries = json.loads(inside(*words, "--json").stdout)
    assert [(one["qdisc"], one["sequences"], one["agree"]) for one in entries] == [
        ("pfifo limit 5", 3, 3),
        ("codel", 3, 3),
    ]
    assert all(one["packets"] == one["left"] + one["dropped"] for one in entries)
