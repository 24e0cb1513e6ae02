"""Disciplines against those of the kernel, call by call: the sequences, the comparison, and the kernel itself."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import pytest

from sojourn import _native
from sojourn.kernel.find import Kernel
from sojourn.stats import Interval
from sojourn.validate.calls import compare, draw, job, kinds, shares, words
from sojourn.validate.calls.job import ECN_BITS, FIRST_ID, Seen
from sojourn.validate.calls.replay import BAR_NS, replay
from tests import optional
from tests.conftest import Cli, assert_one_sentence, kernel_or_skip
from tests.miniature import virtual

#: Random sequences for each kind, shared by its disciplines.
SEQUENCES = 200
#: Kinds whose queues have room for all packets of a sequence.
HOLD_ALL = {"prio", "drr", "ets", "htb"}
#: Kinds some of whose disciplines make the same decisions as the kernel's.
EXACT = [name for name, kind in kinds.modelled().items() if kind.texts]
#: Disciplines with an ACK filter, and those that draw random numbers.
FILTERS = [text for text in kinds.KINDS["cake"].texts if kinds.reads_acks(text)]
SHARES = [text for kind in kinds.modelled().values() for text in kind.shares]
PLAIN = "codel target 1ms interval 10ms limit 20 ecn"


#: A kernel that has all kinds that are compared.
NEWEST = "7.3"


def kernel_with(kind: kinds.Kind, usual: Kernel) -> Kernel:
    """Return the usual kernel if it has a kind, and else the newest, without which the test is skipped."""
    return usual if kinds.there_in(kind, usual) else kernel_or_skip(NEWEST, optional.KERNEL)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXACT)
def test_the_kernel_and_the_simulator_do_the_same(kind: str, virtual_kernel: Kernel) -> None:
    texts = kinds.KINDS[kind].texts
    kernel = kernel_with(kinds.KINDS[kind], virtual_kernel)
    results = [compare.compare(text, -(-SEQUENCES // len(texts)), 1, kernel) for text in texts]
    assert [(one.text, one.first) for one in results] == [(text, None) for text in texts]
    # What is compared happens.
    assert sum(verdict.left for one in results for verdict in one.verdicts) > SEQUENCES
    if kind not in HOLD_ALL:
        assert sum(verdict.dropped for one in results for verdict in one.verdicts) > 0


@pytest.mark.slow
@pytest.mark.parametrize("text", FILTERS)
def test_the_kernel_and_the_simulator_drop_the_same_acknowledgements(text: str, virtual_kernel: Kernel) -> None:
    result = compare.compare(text, SEQUENCES, 1, virtual_kernel)
    assert result.first is None
    # What is compared happens, several times in a sequence.
    assert sum(verdict.dropped for verdict in result.verdicts) > 5 * SEQUENCES
    assert "ack_drops" in result.verdicts[0].counters


@pytest.mark.slow
@pytest.mark.parametrize("text", SHARES)
def test_the_kernel_and_the_simulator_do_the_same_on_average(text: str, virtual_kernel: Kernel) -> None:
    kernel = kernel_with(kinds.of(text.partition(" ")[0]), virtual_kernel)
    result = compare.compare_shares(text, SEQUENCES, 1, kernel)
    assert [share for share in result.shares if share.verdict == "differ"] == []
    means = {share.name: share.kernel for share in result.shares}
    assert means["dropped, first half"] > 1
    # The intervals are short, so that a difference would be seen.
    for share in result.shares:
        assert share.difference.low is not None
        assert share.difference.high is not None
        assert share.difference.high - share.difference.low < 0.2 * share.kernel + 1.5, share


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


def test_a_kind_is_compared_with_kernels_that_have_it() -> None:
    def texts(release: str) -> set[str]:
        return set(compare.all_texts(virtual(release)))

    newer = texts("7.3.4-sojourn2") - texts("6.12.117-sojourn2")
    assert newer == {*kinds.KINDS["dualpi2"].texts, *kinds.KINDS["dualpi2"].shares}
    assert texts("6.17") == texts("7.3.4-sojourn2") > texts("6.1.192")


def test_a_sequence_is_a_function_of_its_seed_number_and_discipline() -> None:
    one = draw.sequence(PLAIN, 1, 7)
    assert one == draw.sequence(PLAIN, 1, 7)
    assert one.offers != draw.sequence(PLAIN, 2, 7).offers
    assert one.offers != draw.sequence(PLAIN, 1, 8).offers


@pytest.mark.parametrize("text", [kinds.KINDS[name].texts[-1] for name in EXACT])
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
    for told, left in spoilt.items():
        difference = replay(sequence, dataclasses.replace(seen, left=left)).difference
        assert difference is not None
        assert told in difference
        assert "; before it: at " in difference
    counters = seen.counters | {"drops": seen.counters["drops"] + 1}
    difference = replay(sequence, dataclasses.replace(seen, counters=counters)).difference
    assert difference is not None
    assert difference.startswith("at the end the kernel's counter drops is ")


def test_a_job_names_queues_by_priority_and_packets_by_identification() -> None:
    drawn = draw.sequence("fq_codel flows 4", 1, 0)
    made = job.job([drawn], virtual())
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


def test_sequences_for_an_ack_filter_are_segments_of_all_sorts() -> None:
    sorts: Counter[str] = Counter()
    for number in range(20):
        drawn = draw.sequence("cake bandwidth 2mbit besteffort ack-filter", 1, number)
        for packet in (packet for _, together in drawn.offers for packet in together):
            assert draw.SMALLEST - 6 <= packet.size <= draw.LARGEST
            if packet.segment is None:
                sorts["datagram"] += 1
                continue
            header = packet.segment.header
            flags, length = int.from_bytes(header[8:10], "big") & 0xFFF, header[8] >> 4
            assert len(header) + 4 == 4 * length
            assert packet.size == 34 + 4 * length + packet.segment.payload
            assert packet.tcp is not None
            assert len(packet.tcp) == 4 * length + (packet.segment.payload > 0)
            sorts["payload"] += packet.segment.payload > 0
            sorts["pure"] += flags & ~0xC0 == 0x10 and packet.segment.payload == 0
            sorts["ecn"] += flags & 0xC0 > 0
            sorts["options"] += length > 5
    assert min(sorts[sort] for sort in ("datagram", "payload", "ecn")) > 50
    assert min(sorts["pure"], sorts["options"]) > sum(sorts[sort] for sort in ("datagram", "payload"))


def test_a_job_has_the_headers_of_segments() -> None:
    drawn = draw.sequence("cake bandwidth 2mbit besteffort ack-filter", 1, 0)
    offers = job.job([drawn], virtual())["sequences"][0]["offers"]
    packets = [packet for _, together in drawn.offers for packet in together]
    crafted = [one for offer in offers for one in offer["packets"]]
    for packet, (_, length, head) in zip(packets, crafted, strict=True):
        header = bytes.fromhex(head)
        assert header[9] == (17 if packet.segment is None else 6)
        assert length == packet.size - 14
        if packet.segment is not None:
            assert header[24:] == packet.segment.header
            assert length - len(header) == packet.segment.payload


def test_averages_of_the_same_discipline_agree_and_those_of_another_do_not() -> None:
    text = "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 probability {} bandwidth 10mbit"
    drawn = [draw.sequence(text.format(0.05), 1, number) for number in range(40)]
    same = shares.judge("same", [(sequence, own(sequence)) for sequence in drawn])
    assert not same.differs
    other = [own(dataclasses.replace(sequence, text=text.format(0.5))) for sequence in drawn]
    result = shares.judge("other", list(zip(drawn, other, strict=True)))
    dropped = next(share for share in result.shares if share.name == "dropped, first half")
    assert dropped.verdict == "differ"
    assert result.differs
    assert dropped.kernel > dropped.simulator
    assert dropped.difference.value == pytest.approx(dropped.kernel - dropped.simulator)
    lines = words.terminal([], [same, result]).splitlines()
    assert not any(line.endswith("differ") for line in lines[2:6])
    assert any(line.endswith("differ") for line in lines[6:])


@pytest.mark.parametrize(
    ("difference", "low", "high", "verdict"),
    [
        (0.2, 0.1, 0.3, "agree"),
        (-0.3, -0.9, 0.3, "agree"),
        (0.5, 0.31, 0.7, "differ"),
        (-0.5, -0.7, -0.31, "differ"),
        (0.5, 0.2, 0.8, "cannot tell"),
        (0.5, None, None, "cannot tell"),
    ],
)
def test_a_mean_is_judged_by_a_bar_of_three_percent(
    difference: float, low: float | None, high: float | None, verdict: str
) -> None:
    interval = Interval(value=difference, low=low, high=high, n=200)
    share = shares.Share(name="dropped", kernel=10.0, simulator=10.0 - difference, difference=interval)
    assert share.verdict == verdict


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
    ("arguments", "sentence"),
    [
        (("calls", "--sequences", "0"), "sequences is 0, but must be at least 1"),
        (("calls", "--rtt", "5ms"), "rtt is 5ms, but calls are sequences of packets"),
        (("calls", "--qdisc", "fq_codel flows 70000"), "fq_codel.flows is 70000, but must be <= 65536"),
        (("rrul", "--sequences", "5"), "sequences is 5, but rrul has no sequences: leave it out"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(inside: Cli, arguments: tuple[str, ...], sentence: str) -> None:
    assert_one_sentence(inside("validate", *arguments, status=2), sentence)


def test_the_command_prints_a_table_and_its_json(inside: Cli, virtual_kernel: Kernel) -> None:
    arguments = ("validate", "calls", "--qdisc", "pfifo limit 5", "--qdisc", "codel", "--sequences", "3", "--seed", "4")
    table = inside(*arguments).stdout.splitlines()
    assert table[0].split() == [
        *("discipline", "sequences", "agree", "packets", "dropped", "marked", "largest", "difference,", "ns")
    ]
    assert [line.split("  ")[0] for line in table[2:]] == ["pfifo limit 5", "codel"]
    entries = json.loads(inside(*arguments, "--json").stdout)
    assert [(one["qdisc"], one["sequences"], one["agree"]) for one in entries] == [
        ("pfifo limit 5", 3, 3),
        ("codel", 3, 3),
    ]
    assert all(one["packets"] == one["left"] + one["dropped"] for one in entries)
