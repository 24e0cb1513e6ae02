"""The vectors of ``testdata`` through the hand-driven discipline; the format is described in ``testdata/README.md``."""

import struct
import tomllib
from pathlib import Path

import pytest

from sojourn._native import ParamError, Qdisc
from tests.records import Json

TESTDATA = Path(__file__).parent.parent / "testdata"
KINDS = (
    *("codel", "fq_codel", "fq_pie", "dualpi2", "pie", "red", "sfq", "fifo", "tbf", "cake", "fq"),
    *("prio", "drr", "ets", "htb"),
)
#: What `fq` reads of a packet's socket.
SOCKET = ("priority", "pacing_bps", "not_before_ns")
#: What a packet can be told to be by hand here; vectors with more are for the tests of Rust.
IDENTITY = ("dscp", "source", "destination")
TOLD = {"size", "flow", "ecn", "count", "tcp", *SOCKET, *IDENTITY}


def _is_told(path: Path) -> bool:
    steps = tomllib.loads(path.read_text())["step"]
    return all(step.get("enqueue", {}).keys() <= TOLD and "dscp" not in step.get("dequeue", {}) for step in steps)


VECTORS = sorted(path for kind in KINDS for path in (TESTDATA / kind).glob("*.toml") if _is_told(path))


def _segment(tcp: Json) -> bytes:
    """The header of a segment that a vector describes, and a byte if there is payload (RFC 9293 section 3.1)."""
    options = b""
    if (stamps := tcp.get("timestamps")) is not None:
        options += struct.pack("!BBII", 8, 10, *stamps)
    if ranges := [number for one in tcp.get("sack", []) for number in one]:
        options += struct.pack(f"!BB{len(ranges)}I", 5, 2 + 4 * len(ranges), *ranges)
    if tcp.get("other_options", False):
        options += struct.pack("!BBH", 2, 4, 1460)
    options += b"\x01" * (-len(options) % 4)
    flags = (20 + len(options)) // 4 << 12 | tcp.get("flags", 0x10)
    header = struct.pack("!HHIIHHHH", 1, 2, 0, tcp["ack"], flags, 0, 0, 0) + options
    return header + bytes(tcp.get("payload", False))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_vector(path: Path) -> None:
    """Every step of a vector has the outcome that was worked out by hand."""
    vector = tomllib.loads(path.read_text())
    q = Qdisc(vector["qdisc"], seed=vector.get("seed", 1))
    for step in vector["step"]:
        now = step["at_ns"]
        if (offer := step.get("enqueue")) is not None:
            more = {key: offer[key] for key in (*SOCKET, *IDENTITY) if key in offer}
            if "tcp" in offer:
                more["tcp"] = _segment(offer["tcp"])
            for _ in range(offer.get("count", 1)):
                q.enqueue(now, offer["size"], flow=offer.get("flow", 0), ecn=offer.get("ecn", False), **more)
        if (leaves := step.get("dequeue")) is not None:
            departure = q.dequeue(now)
            if leaves == "nothing":
                assert departure is None, step
            else:
                assert departure is not None, step
                assert {key: getattr(departure, key) for key in leaves} == leaves, step
        if (ready := step.get("ready_at_ns")) is not None:
            assert q.ready_at(now) == (None if ready < 0 else ready), step
        assert [[drop.id, drop.reason] for drop in q.take_drops()] == step.get("drops", []), step
        if (backlog := step.get("backlog")) is not None:
            assert q.backlog == tuple(backlog), step
        assert {name: q.stats[name] for name in step.get("stats", {})} == pytest.approx(step.get("stats", {})), step
        for name, expected in step.get("classes", {}).items():
            assert {key: q.classes[name][key] for key in expected} == pytest.approx(expected), step


def test_every_kind_has_vectors() -> None:
    """A folder that was emptied or renamed by mistake would otherwise pass unseen."""
    assert {path.parent.name for path in VECTORS} == set(KINDS)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda q: q.enqueue(0, 100), "now_ns is 0, but must be >= 10, the time of the last call"),
        (lambda q: q.dequeue(9), "now_ns is 9, but must be >= 10, the time of the last call"),
        (lambda q: q.enqueue(10, 0), "size is 0, but must be >= 1"),
        (lambda q: q.enqueue(10, -1), "size is -1, but must be >= 1"),
        (lambda q: q.enqueue(10, 100, flow=-1), "flow is -1, but must be >= 0"),
        (lambda q: q.enqueue(10, 100, flow=2**32), "flow is 4294967296, but must be <= 4294967295"),
        (
            lambda q: q.enqueue(10, 100, tcp=bytes(19)),
            "tcp has 19 bytes, but must be a TCP header with all of its options, and then payload if there is any",
        ),
        (lambda q: q.enqueue(-1, 100), "now_ns is -1, but must be >= 0"),
        (lambda q: q.dequeue(2**80), f"now_ns is {2**80}, but must be <= {2**62}"),
        (lambda q: Qdisc("fq_codel flows 70000"), "fq_codel.flows is 70000, but must be <= 65536"),
        (lambda q: Qdisc("codel", seed=-1), "seed is -1, but must be >= 0"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(call, sentence: str) -> None:
    """The sentence names field, value and rule, and the discipline is as before."""
    q = Qdisc("codel")
    q.enqueue(10, 1000)
    before = q.stats
    with pytest.raises(ParamError) as error:
        call(q)
    assert str(error.value) == sentence
    assert isinstance(error.value, ValueError)
    assert q.stats == before


def test_a_refused_packet_has_an_id_and_is_in_take_drops() -> None:
    """Ids count every offered packet, and drops are handed over once."""
    q = Qdisc("pfifo limit 1")
    assert [q.enqueue(0, 100), q.enqueue(5, 100), q.enqueue(6, 100)] == [0, 1, 2]
    assert [(d.id, d.reason, d.sojourn_ns) for d in q.take_drops()] == [(1, "queue_limit", 0), (2, "queue_limit", 0)]
    assert q.take_drops() == []
    departure = q.dequeue(7)
    assert (departure.id, departure.size, departure.flow, departure.sojourn_ns, departure.marked) == (
        0,
        100,
        0,
        7,
        False,
    )
    assert q.dequeue(7) is None
    assert q.backlog == (0, 0)


def test_flow_numbers_are_queues() -> None:
    """Flow f goes to queue f modulo the number of queues."""
    q = Qdisc("fq_codel flows 16")
    for flow in (3, 19, 4):
        q.enqueue(0, 1514, flow=flow)
    assert [q.dequeue(1).flow for _ in range(3)] == [3, 4, 19]
