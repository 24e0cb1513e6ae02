"""The netlink messages of a bed: worked by hand from the kernel's headers, and what `tc` in a guest reads back."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

from sojourn.backends.linux import disciplines, kinds, messages
from sojourn.kernel import boot
from sojourn.kernel.find import Kernel
from tests import optional
from tests.records import Json

RATE = 10_000_000

RED = "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive"


def message_of(text: str, index: int = 12, parent: int = 0x0001_0001) -> bytes:
    kind, options = disciplines.encoded(disciplines.of_text(text, RATE))
    return messages.qdisc(index=index, parent=parent, number=messages.handle(0x10), kind=kind, options=options)


def attributes(data: bytes) -> dict[int, bytes]:
    """Split attributes as linux/netlink.h lays them: length, type, payload, padding to four bytes."""
    found = {}
    while data:
        length, kind = struct.unpack_from("<HH", data)
        assert length >= 4
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def options_of(message: bytes) -> bytes:
    """What is in TCA_OPTIONS (2), after nlmsghdr (16 bytes) and tcmsg (20)."""
    return attributes(message[36:])[2]


def test_a_request_for_codel_is_these_bytes() -> None:
    header = bytes.fromhex(
        "54 00 00 00"  # nlmsg_len: 16 + 20 + 12 + 36
        "24 00"  # RTM_NEWQDISC
        "05 06"  # NLM_F_REQUEST 1, ACK 4, EXCL 0x200, CREATE 0x400
        "01 00 00 00 00 00 00 00"  # sequence, port
        "00 00 00 00 0c 00 00 00"  # tcm_family, ifindex
        "00 00 10 00 01 00 01 00"  # handle 10:, parent 1:1
        "00 00 00 00"  # tcm_info
        "0a 00 01 00 63 6f 64 65 6c 00 00 00"  # TCA_KIND codel
        "24 00 02 80"  # TCA_OPTIONS, nested
    )
    message = message_of("codel limit 1000 target 5ms interval 100ms noecn")
    assert message[:52] == header
    assert len(message) == 84
    # TCA_CODEL_TARGET 1, LIMIT 2, INTERVAL 3 and ECN 4; microseconds.
    assert attributes(message[52:]) == {
        1: (5000).to_bytes(4, "little"),
        2: (1000).to_bytes(4, "little"),
        3: (100_000).to_bytes(4, "little"),
        4: bytes(4),
    }


def test_a_request_for_tbf_is_these_bytes() -> None:
    found = messages.qdisc(
        index=12,
        parent=messages.ROOT,
        number=messages.handle(1),
        kind="tbf",
        options=kinds.tbf(rate_bps=RATE, burst_bytes=1514),
    )
    assert found[36:] == bytes.fromhex(
        "08 00 01 00 74 62 66 00"
        "34 00 02 00"
        "28 00 01 00"  # TCA_TBF_PARMS, struct tc_tbf_qopt
        "00 01 00 00 00 00 00 00 d0 12 13 00"  # rate: link layer Ethernet, 1250000 bytes/s
        "00 00 00 00 00 00 00 00 00 00 00 00"  # peak rate: none
        "00 00 00 40 00 00 00 00 00 00 00 00"  # limit 2^30 bytes: the discipline below has the limit; buffer, mtu
        "08 00 06 00 ea 05 00 00"  # TCA_TBF_BURST: 1514 bytes
    )
    assert struct.unpack_from("<II", found, 24) == (0x0001_0000, 0xFFFF_FFFF)


def test_a_rate_beyond_32_bits_is_sent_in_64() -> None:
    found = messages.qdisc(
        index=12,
        parent=messages.ROOT,
        number=messages.handle(1),
        kind="tbf",
        options=kinds.tbf(rate_bps=40_000_000_000, burst_bytes=65536),
    )
    sent = attributes(options_of(found))
    assert sent[1][8:12] == b"\xff\xff\xff\xff"
    assert sent[4] == (5_000_000_000).to_bytes(8, "little")  # TCA_TBF_RATE64
    assert sent[6] == (65536).to_bytes(4, "little")


def test_a_request_for_netem_is_these_bytes() -> None:
    found = messages.qdisc(
        index=14,
        parent=messages.ROOT,
        number=messages.handle(1),
        kind="netem",
        options=kinds.netem(delay_ns=25_000_000, limit=1_000_000),
    )
    assert options_of(found) == bytes.fromhex(
        "00 00 00 00 40 42 0f 00"  # struct tc_netem_qopt: latency in old ticks, limit,
        "00 00 00 00 00 00 00 00"  # loss, gap,
        "00 00 00 00 00 00 00 00"  # duplicate, jitter
        "0c 00 0a 00 40 78 7d 01 00 00 00 00"  # TCA_NETEM_LATENCY64: 25 ms in ns
    )


def test_netem_that_varies_has_half_of_it_on_both_sides_and_a_rate_that_keeps_the_order() -> None:
    """The numbers are linux/pkt_sched.h's: TCA_NETEM_RATE64, _LATENCY64 and _JITTER64."""
    found = messages.qdisc(
        index=14,
        parent=messages.ROOT,
        number=messages.handle(1),
        kind="netem",
        options=kinds.netem(delay_ns=25_000_000, limit=1000, jitter_ns=10_000_001),
    )
    sent = attributes(options_of(found)[24:])
    assert sent[10] == (30_000_000).to_bytes(8, "little")
    assert sent[11] == (5_000_000).to_bytes(8, "little")
    # The longest frame takes no nanosecond at this rate, and 2^16 bytes times 10^9 ns do not overflow.
    assert 65_535 * 1_000_000_000 // int.from_bytes(sent[8], "little") == 0


def test_red_is_sent_as_tc_sends_it() -> None:
    """The bytes are those that iproute2 6.1 sends for this text."""
    sent = attributes(options_of(message_of(RED)))
    assert sent[1] == bytes.fromhex("80 1a 06 00 d4 30 00 00 7c 92 00 00 04 15 0e 00")
    assert sent[3] == bytes.fromhex("51 b8 1e 05")
    assert sent[4] == bytes.fromhex("04 00 00 00 0f 00 00 00")
    assert len(sent[2]) == 256
    assert set(sent) == {1, 2, 3, 4}


def test_sfq_is_sent_in_its_newer_structure() -> None:
    sent = options_of(message_of("sfq perturb 10 quantum 3000 flows 64 depth 20 divisor 512 limit 500 headdrop"))
    assert sent == struct.pack("<IiIIIII", 3000, 10, 500, 512, 64, 20, 1) + bytes(44)


def test_the_neighbours_and_routes_of_a_bed_are_these_bytes() -> None:
    neighbour = messages.neighbour(index=10, ip="10.0.1.2", mac="02:00:00:00:00:0b")
    # RTM_NEWNEIGH 28; ndmsg: family 2, ifindex, NUD_PERMANENT; NDA_DST 1, NDA_LLADDR 2.
    assert neighbour[4:8] == bytes.fromhex("1c 00 05 06")
    assert neighbour[16:] == bytes.fromhex(
        "02 00 00 00 0a 00 00 00 80 00 00 00  08 00 01 00 0a 00 01 02  0a 00 02 00 02 00 00 00 00 0b 00 00"
    )
    route = messages.route(to="10.0.4.0", prefix=24, gateway="10.0.3.2", index=14, metrics={"initcwnd": 10})
    # rtmsg: family 2, 24 bits, table main 254, protocol static 4, universe 0, unicast 1; RTA_DST 1, GATEWAY 5, OIF 4,
    # METRICS 8 with RTAX_INITCWND 11.
    assert route[16:28] == bytes.fromhex("02 18 00 00 fe 04 00 01 00 00 00 00")
    assert attributes(route[28:]) == {
        1: bytes([10, 0, 4, 0]),
        5: bytes([10, 0, 3, 2]),
        4: (14).to_bytes(4, "little"),
        8: bytes.fromhex("08 00 0b 00 0a 00 00 00"),
    }


#: Discipline, and what `tc -j` must say of its options (microseconds, bytes, bytes a second).
READ_BACK: dict[str, Json] = {
    "pfifo limit 77": {"limit": 77},
    "bfifo limit 30000": {"limit": 30000},
    "netem limit 110 delay 15ms": {"limit": 110, "delay": {"delay": 0.015, "jitter": 0, "correlation": 0}},
    RED: {"limit": 400_000, "min": 12_500, "max": 37_500, "ecn": False, "adaptive": True},
    "sfq perturb 10 quantum 3000 flows 64 depth 20 divisor 512 limit 500": {
        "limit": 500,
        "quantum": 3000,
        "depth": 20,
        "flows": 64,
        "divisor": 512,
        "perturb": 10,
    },
    "codel limit 900 target 7ms interval 70ms ecn": {
        "limit": 900,
        "target": 6999,
        "interval": 69_999,
        "ecn": True,
    },
    "fq_codel limit 900 flows 512 quantum 300 target 7ms interval 70ms noecn memory_limit 1mb drop_batch 32": {
        "limit": 900,
        "flows": 512,
        "quantum": 300,
        "target": 6999,
        "interval": 69_999,
        "memory_limit": 1_048_576,
        "drop_batch": 32,
    },
    "pie limit 900 target 20ms tupdate 30ms alpha 3 beta 15 ecn bytemode dq_rate_estimator": {
        "limit": 900,
        "target": 20_000,
        "tupdate": 30_000,
        "alpha": 3,
        "beta": 15,
        "ecn": True,
        "bytemode": True,
        "dq_rate_estimator": True,
    },
    "fq_pie limit 5000 flows 512 target 10ms tupdate 20ms alpha 4 beta 30 quantum 1000 ecn ecn_prob 20 bytemode": {
        "limit": 5000,
        "flows": 512,
        "target": 10_000,
        "tupdate": 20_000,
        "alpha": 4,
        "beta": 30,
        "quantum": 1000,
        "ecn": True,
        "ecn_prob": 20,
        "bytemode": True,
    },
    "fq limit 5000 flow_limit 50 quantum 3028 initial_quantum 6000 maxrate 5mbit buckets 512 ce_threshold 4ms": {
        "limit": 5000,
        "flow_limit": 50,
        "quantum": 3028,
        "initial_quantum": 6000,
        "maxrate": 625_000,
        "buckets": 512,
        "ce_threshold": 4000,
    },
    "cake bandwidth 5mbit diffserv4 dual-dsthost wash ack-filter rtt 20ms overhead 18 mpu 64 ingress memlimit 1mb "
    "no-split-gso": {
        "bandwidth": 625_000,
        "diffserv": "diffserv4",
        "flowmode": "dual-dsthost",
        "wash": True,
        "ingress": True,
        "ack-filter": "enabled",
        "split_gso": False,
        "rtt": 20_000,
        "raw": False,
        "overhead": 18,
        "mpu": 64,
        "memlimit": 1_048_576,
    },
    "cake besteffort triple-isolate raw ptm ack-filter-aggressive": {
        "bandwidth": "unlimited",
        "diffserv": "besteffort",
        "flowmode": "triple-isolate",
        "atm": "ptm",
        "ack-filter": "aggressive",
    },
}

_SEND = """\
import socket, struct, sys
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
for line in open("messages"):
    netlink.send(bytes.fromhex(line))
    _, kind, _, _, _, error = struct.unpack_from("<IHHIIi", netlink.recv(65536))
    assert (kind, error) == (2, 0), (kind, error)
"""


def test_tc_in_a_guest_reads_back_what_was_asked_for(virtual_kernel: Kernel, tmp_path: Path) -> None:
    """Oracle: iproute2's reading of what the kernel says its disciplines are."""
    tc, _ = (optional.program(name, path="/usr/sbin:/sbin:/usr/bin:/bin") for name in ("tc", "ip"))
    first, names = 40, [f"d{place}" for place in range(len(READ_BACK))]
    sent = [message_of(text, first + place, messages.ROOT) for place, text in enumerate(READ_BACK)]
    (tmp_path / "messages").write_text("\n".join(message.hex() for message in sent))
    (tmp_path / "send.py").write_text(_SEND)
    links = "\n".join(
        f"ip link add {name} index {first + place} type veth peer name p{place}" for place, name in enumerate(names)
    )
    script = f"""
mount -t proc proc /proc
cd '{tmp_path}' || exit
{links}
{sys.executable} -S send.py 2>&1
{tc} -j -d qdisc show | tr -d '\\n'; echo
"""
    assert virtual_kernel.path is not None
    lines = boot.boot(virtual_kernel.path, script, tmp_path / "boot", boot.arguments(1))
    reported = {one["dev"]: one for one in json.loads(lines[-1]) if one.get("handle") == "10:"}
    assert sorted(reported) == sorted(names), lines[:-1]
    for name, (text, expected) in zip(names, READ_BACK.items(), strict=True):
        found = reported[name]
        assert found["kind"] == text.split()[0]
        assert {key: found["options"].get(key) for key in expected} == expected, (text, found["options"])
