"""Captures: what `sojourn run --pcap` writes, and what tshark and tcptrace read in it.

tshark, editcap and tcptrace are judges and outside programs; a test that needs one says so when it is not there.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sojourn import api
from sojourn.errors import ParamError, SojournError
from sojourn.interop import capture
from sojourn.scenario import Flow, Probe, Scenario
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

Fields = Callable[..., list[list[str]]]


def scenario(**parts: Any) -> Scenario:
    """Return a scenario with losses of each kind: a short queue, a fair one with CoDel, and two RTTs."""
    flows = (
        Flow(name="a", direction="up"),
        Flow(name="b", direction="up", rtt="20ms", congestion_control="reno"),
        Flow(name="c", direction="down"),
    )
    probes = (
        Probe(name="ping", kind="icmp"),
        Probe(name="rr", kind="udp_rr"),
        Probe(name="voice", kind="isochronous", interval="20ms"),
    )
    whole = {
        "experiment": "losses",
        "duration": "10s",
        "up": "5mbit",
        "down": "10mbit",
        "rtt": "40ms",
        "qdisc_up": "pfifo limit 30",
        "qdisc_down": "fq_codel",
        "flows": flows,
        "probes": probes,
    }
    return Scenario(**{**whole, **parts})


def make(path: Path, one: Scenario | None = None, **options: Any) -> Json:
    """Write a capture and return the record of its run."""
    record: Json = json.loads(capture.run(one or scenario(), path, **options))
    return record


@pytest.fixture
def fields(tmp_path: Path) -> Fields:
    """Return what tshark says of the packets that a filter lets through, with all checksums verified."""
    optional.program("tshark")

    def call(path: Path, filter_text: str, *names: str) -> list[list[str]]:
        checks = [word for what in ("ip", "tcp", "udp") for word in ("-o", f"{what}.check_checksum:TRUE")]
        shown = [word for name in names for word in ("-e", name)]
        done = subprocess.run(
            ["tshark", "-n", "-r", path, *checks, "-Y", filter_text, "-T", "fields", *shown],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "appears" not in done.stderr, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    return call


def sender(record: Json, number: int) -> str:
    """Return the address of the sender of a flow, as the documentation gives it."""
    return f"10.{int(record['flows'][number]['direction'] == 'down')}.0.{number + 1}"


def test_command_writes_a_capture_and_the_same_record(cli: Cli, tmp_path: Path) -> None:
    plain = json.loads(cli("run", "tcp_1up", "--duration", "2s", "--json").stdout)
    tapped = json.loads(cli("run", "tcp_1up", "--duration", "2s", "--json", "--pcap", "x.pcapng").stdout)
    for record in (plain, tapped):
        record["cost"].pop("wall_s")
        record["cost"].pop("peak_rss_mb")
    # A bottleneck that nobody looks at has no events of its own.
    assert plain["cost"].pop("events") < tapped["cost"].pop("events")
    assert plain == tapped
    first = (tmp_path / "x.pcapng").read_bytes()
    assert first[:4] == b"\x0a\x0d\x0d\x0a"
    cli("run", "tcp_1up", "--duration", "2s", "--pcap", "y.pcapng")
    assert (tmp_path / "y.pcapng").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.pcapng", "y.pcapng"]


REFUSED = {
    "repeats": (["run", "rrul", "--pcap", "x", "--repeat", "2"], ["pcap", "x", "one run", "2"]),
    "a comparison": (["compare", "rrul", "--qdisc", "pie", "--pcap", "x"], ["pcap", "x", "one run"]),
    "a point that is not": (["run", "rrul", "--pcap", "x", "--pcap-at", "moon"], ["pcap-at", "moon", "up-bottleneck"]),
    "a point twice": (["run", "rrul", "--pcap", "x", "--pcap-at", "client,client"], ["pcap-at", "client", "once"]),
    "no point": (["run", "rrul", "--pcap", "x", "--pcap-at", ""], ["pcap-at"]),
    "a short snaplen": (["run", "rrul", "--pcap", "x", "--pcap-snaplen", "95"], ["pcap-snaplen", "95", "96"]),
    "a long snaplen": (["run", "rrul", "--pcap", "x", "--pcap-snaplen", "262145"], ["pcap-snaplen", "262144"]),
    "a snaplen in words": (["run", "rrul", "--pcap", "x", "--pcap-snaplen", "all"], ["--pcap-snaplen", "all"]),
    "points without a file": (["run", "rrul", "--pcap-at", "client"], ["pcap-at", "client", "--pcap"]),
    "a folder": (["run", "rrul", "--pcap", "."], ["pcap", "folder"]),
    "a bad discipline": (["run", "rrul", "--pcap", "x", "--qdisc", "codel target 2h"], ["target"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_and_leaves_nothing(name: str, cli: Cli, tmp_path: Path) -> None:
    words, expected = REFUSED[name]
    assert_one_sentence(cli(*words, status=2), *expected)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_kept(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    assert_one_sentence(cli("run", "rrul", "--pcap", "x", status=2), "pcap", "x", "--force")
    assert (tmp_path / "x").read_text() == "mine"
    cli("run", "tcp_1up", "--duration", "1s", "--pcap", "x", "--force")
    assert (tmp_path / "x").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SojournError, match="file/x cannot be written: "):
        make(tmp_path / "file" / "x")
    with pytest.raises(ParamError, match="folder"):
        make(tmp_path)


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    # Stands for one: no file may grow beyond 100 kB.
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "run", "rrul", "--pcap", "x"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        timeout=60,
        check=False,
    )
    assert_one_sentence(done, "x cannot be written: File too large")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- tshark and tcptrace


def test_tshark_reads_the_hosts_and_the_code_points(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    flows = (
        Flow(name="a", direction="up", dscp="CS1"),
        Flow(name="b", direction="down", client=2, server=3, dscp="EF"),
        Flow(name="c", direction="up", rtt="90ms"),
    )
    probes = (Probe(name="ping", kind="icmp", client=2, dscp="AF41"), Probe(name="rr", kind="udp_rr", server=2))
    make(path, scenario(flows=flows, probes=probes, duration="2s"), points=("client",))
    seen = {tuple(line) for line in fields(path, "ip", "ip.src", "ip.dst", "ip.dsfield.dscp")}
    # Both directions of a conversation have its code point. The server of the longer path has an address of its own.
    ends = [
        ("10.0.0.1", "10.1.0.1", "8"),
        ("10.0.0.2", "10.1.0.3", "46"),
        ("10.0.0.1", "10.1.0.4", "0"),
        ("10.0.0.2", "10.1.0.1", "34"),
        ("10.0.0.1", "10.1.0.2", "0"),
    ]
    assert seen == {way for one, other, dscp in ends for way in ((one, other, dscp), (other, one, dscp))}


def test_tshark_finds_nothing_wrong(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "whole.pcapng"
    make(path, snaplen=65_535, points=["client", "up-bottleneck", "down-bottleneck", "server"])
    assert fields(path, "_ws.malformed || _ws.short || _ws.expert.severity >= 8388608", "frame.number") == []
    bad = "ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0"
    assert fields(path, bad, "frame.number") == []
    for protocol in ("tcp", "udp", "icmp"):
        good = len(fields(path, f"{protocol}.checksum.status == 1 && ip.checksum.status == 1", "frame.number"))
        assert good == len(fields(path, protocol, "frame.number")) > 100
    names = fields(path, "frame.number > 0", "frame.interface_name")
    assert {name for (name,) in names} == {"client", "up-bottleneck", "down-bottleneck", "server"}


def test_a_short_snaplen_keeps_the_headers_and_the_length(fields: Fields, tmp_path: Path) -> None:
    short, whole = tmp_path / "short.pcapng", tmp_path / "whole.pcapng"
    make(short, snaplen=96, points=["client"])
    make(whole, snaplen=65_535, points=["client"])
    shown = ("frame.time_epoch", "frame.len", "ip.len", "ip.id", "tcp.seq_raw", "tcp.ack_raw", "tcp.checksum")
    shown = (*shown, "tcp.options.sack_le", "tcp.options.sack_re", "udp.checksum", "icmp.checksum")
    rows = fields(short, "frame.number > 0", *shown)
    assert rows == fields(whole, "frame.number > 0", *shown)
    assert max(int(row[1]) for row in rows) == 1514
    assert max(int(size) for (size,) in fields(short, "frame.number > 0", "frame.cap_len")) == 96


def test_options_are_those_of_linux(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    record = make(path, points=["client"])
    shown = ("tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm", "tcp.options.timestamp.tsval")
    for mss, shift, sack, stamp in fields(path, "tcp.flags.syn == 1", *shown):
        assert (mss, shift) == ("1460", "8")
        assert sack
        assert stamp
    assert fields(path, "tcp && !tcp.options.timestamp.tsval", "frame.number") == []
    # Each echoed timestamp is one that the other end has sent.
    for number in range(3):
        own = sender(record, number)
        sent = {row[0] for row in fields(path, f"tcp && ip.src == {own}", "tcp.options.timestamp.tsval")}
        echoed = {row[0] for row in fields(path, f"tcp && ip.dst == {own}", "tcp.options.timestamp.tsecr")}
        assert echoed - {"0"} <= sent
    blocks = fields(path, "tcp.options.sack_le", "tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re")
    assert len(blocks) > 50
    for ack, left, right in blocks:
        edges = [*zip(map(int, left.split(",")), map(int, right.split(",")), strict=True)]
        assert all(0 < low < high for low, high in edges)
        # The first may report a duplicate; the others lie above what is acknowledged.
        assert all(int(ack) < low for low, _ in edges[1:])


def test_ecn_is_agreed_on_and_marks_are_those_of_the_queue(fields: Fields, tmp_path: Path) -> None:
    from sojourn.scenario import Tcp

    path = tmp_path / "x.pcapng"
    record = make(path, scenario(tcp=Tcp(ecn=True), qdisc_up="fq_codel"), points=["up-bottleneck"])
    marks = record["bottleneck"]["up"]["marks"]
    assert marks > 0
    outgoing = "frame.packet_flags_direction == 2"
    assert len(fields(path, f"ip.dsfield.ecn == 3 && {outgoing}", "frame.number")) == marks
    syn = fields(path, "tcp.flags.syn == 1", "tcp.flags.ack", "tcp.flags.cwr", "tcp.flags.ece")
    assert {tuple(map(int, row)) for row in syn} == {(0, 1, 1), (1, 0, 1)}
    assert len(fields(path, "tcp.flags.cwr == 1 && tcp.len > 0", "frame.number")) > 0
    # RFC 3168 section 6.1: data is ECT(0) or marked unless it is sent again; SYNs and bare acknowledgements are not.
    assert fields(path, "tcp.len > 0 && ip.dsfield.ecn == 1", "frame.number") == []
    assert fields(path, "tcp.len == 0 && ip.dsfield.ecn != 0", "frame.number") == []
    unable = fields(path, "tcp.len > 0 && ip.dsfield.ecn == 0 && frame.packet_flags_direction == 1", "frame.number")
    assert len(unable) <= sum(flow["retransmissions"] for flow in record["flows"])
    assert len(fields(path, "tcp.flags.ece == 1 && tcp.flags.syn == 0", "frame.number")) > 0


def test_accecn_is_what_tshark_reads(fields: Fields, tmp_path: Path) -> None:
    """RFC 9768: three bits of SYN and SYN-ACK, and counters of the bytes that came with a mark."""
    from sojourn.scenario import Tcp

    path = tmp_path / "x.pcapng"
    make(path, scenario(tcp=Tcp(ecn="accecn"), qdisc_up="fq_codel"), points=["server"])
    bits = fields(path, "tcp.flags.syn == 1", "tcp.flags.ack", "tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece")
    assert {tuple(map(int, row)) for row in bits} == {(0, 1, 1, 1), (1, 0, 1, 0)}
    assert fields(path, "_ws.malformed", "frame.number") == []
    came: Counter[str] = Counter()
    for stream, length in fields(path, "ip.dsfield.ecn == 3 && tcp.len > 0", "tcp.stream", "tcp.len"):
        came[stream] += int(length)
    assert len(came) == 2
    told: dict[str, int] = {}
    for stream, count in fields(path, "tcp.options.acc_ecn.eceb", "tcp.stream", "tcp.options.acc_ecn.eceb"):
        told[stream] = max(told.get(stream, 0), int(count))
    for stream, length in came.items():
        # The last may have no acknowledgement yet.
        assert 0 <= length - told[stream] <= 2 * 1436


def test_all_of_prague_is_ect1_or_marked(fields: Fields, tmp_path: Path) -> None:
    """RFC 9331 section 4.1, with ECN on all packets (generalised ECN); CUBIC beside it keeps ECT(0)."""
    path = tmp_path / "x.pcapng"
    flows = (
        Flow(name="l4s", direction="up", congestion_control="prague"),
        Flow(name="classic", direction="up", congestion_control="cubic", ecn=True),
    )
    record = make(path, scenario(flows=flows, qdisc_up="dualpi2"), points=["up-bottleneck"])
    ((accurate,),) = fields(path, "tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.flags.ae == 1", "tcp.stream")
    points: dict[tuple[bool, bool], Counter[str]] = {}
    for stream, ecn, way in fields(path, "tcp", "tcp.stream", "ip.dsfield.ecn", "frame.packet_flags_direction"):
        leaves = int(way, 0) == 2
        points.setdefault((stream == accurate, leaves), Counter())[ecn] += 1
    # What leaves may have been marked; what comes in at this end are acknowledgements.
    assert set(points[True, True]) == {"1", "3"}
    assert set(points[True, False]) == {"1"}
    assert set(points[False, True]) == {"0", "2", "3"}
    assert set(points[False, False]) == {"0"}
    assert points[True, True]["3"] + points[False, True]["3"] == record["bottleneck"]["up"]["marks"]


def test_the_queue_sends_what_the_record_counts(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    record = make(path)
    for name, end in (("up-bottleneck", "up"), ("down-bottleneck", "down")):
        where = f'frame.interface_name == "{name}" && frame.packet_flags_direction == 2'
        rows = fields(path, where, "frame.time_epoch", "frame.len")
        inside = [int(size) for at, size in rows if float(at) >= WINDOW]
        counted = record["bottleneck"][end]
        assert (len(inside), sum(inside)) == (counted["packets"], counted["bytes"])


def judged(fields: Fields, path: Path) -> Counter[str]:
    """Return how many segments of each sender tshark calls sent again, in either of its words.

    Within one RTT of the newest data, tshark cannot tell a retransmission from reordering and says out of order.
    Nothing is reordered here.
    """
    either = "(tcp.analysis.retransmission || tcp.analysis.out_of_order) && tcp.len > 0"
    return Counter(address for (address,) in fields(path, either, "ip.src"))


def test_at_the_sender_tshark_counts_our_retransmissions(fields: Fields, tmp_path: Path) -> None:
    for point, way in (("client", "up"), ("server", "down")):
        path = tmp_path / f"{point}.pcapng"
        record = make(path, points=[point])
        again = judged(fields, path)
        data = Counter(address for (address,) in fields(path, "tcp.len > 0", "ip.src"))
        for number, flow in enumerate(record["flows"]):
            if flow["direction"] == way:
                assert again[sender(record, number)] == flow["retransmissions"] > 0
                assert data[sender(record, number)] == flow["segments_sent"]


def test_beyond_the_queue_those_are_missing_that_it_dropped(fields: Fields, tmp_path: Path) -> None:
    path, one = tmp_path / "x.pcapng", tmp_path / "one.pcapng"
    record = make(path, points=["client", "up-bottleneck"])
    # tshark must see one interface only, or every packet is there twice.
    command = ["tshark", "-n", "-r", path, "-Y", 'frame.interface_name == "up-bottleneck"', "-w", one]
    subprocess.run(command, check=True, capture_output=True)
    again = judged(fields, one)
    rows = fields(path, "tcp.len > 0", "frame.interface_name", "ip.src", "tcp.seq_raw", "tcp.len", "ip.id")
    for number, flow in enumerate(record["flows"]):
        if flow["direction"] == "down":
            continue
        own = [(row[0], int(row[2]), int(row[3]), row[4]) for row in rows if row[1] == sender(record, number)]
        first = own[0][1]
        sent = [((seq - first) % 2**32, size, name) for where, seq, size, name in own if where == "client"]
        left = [((seq - first) % 2**32, size, name) for where, seq, size, name in own if where != "client"]
        assert len(set(sent)) == len(sent), "the identification tells a segment from its retransmission"
        assert set(left) < set(sent)
        # What does not come out was dropped, or is still in the queue of 30 packets.
        missing = len(sent) - len(left)
        assert flow["data_dropped"] <= missing <= flow["data_dropped"] + 30
        originals = {seq: (seq, size, name) for seq, size, name in reversed(sent)}
        retransmitted = {segment for segment in sent if originals[segment[0]] != segment}
        assert len(retransmitted) == flow["retransmissions"]
        came_out = [segment for segment in left if segment in retransmitted]
        # The queue drops retransmissions too; and one that comes out as the next in sequence looks like new data there,
        # because all that was sent after its original was dropped as well.
        end, as_new = 0, 0
        for segment in left:
            as_new += segment in retransmitted and segment[0] == end
            end = max(end, segment[0] + segment[1])
        assert again[sender(record, number)] == len(came_out) - as_new
        assert len(came_out) < flow["retransmissions"]


def test_tcptrace_counts_our_retransmissions(tmp_path: Path) -> None:
    for name in ("tcptrace", "editcap"):
        optional.program(name)
    path, old = tmp_path / "x.pcapng", tmp_path / "x.pcap"
    record = make(path, points=["client"])
    subprocess.run(["editcap", "-F", "pcap", path, old], check=True, capture_output=True)
    output = subprocess.run(["tcptrace", "-l", "-n", old], check=True, capture_output=True, text=True).stdout
    counts = {}
    for part in output.split("TCP connection ")[1:]:
        if "host" not in part:
            continue
        # The first host opens the connection and is the first column.
        lines = [line for line in part.splitlines() if ": " in line]
        host = next(line.split()[-1].rsplit(":", 1)[0] for line in lines if line.strip().startswith("host"))
        again = next(line.split()[3] for line in lines if line.strip().startswith("rexmt data pkts"))
        counts[host] = int(again)
    for number, flow in enumerate(record["flows"]):
        if flow["direction"] == "up":
            assert counts[sender(record, number)] == flow["retransmissions"] > 0


# ---------------------------------------------------------------- voice and pages

#: The measured window of seed 1 begins 5 s after midnight of 2000-01-02.
WINDOW = 946_771_205


def sound(fields: Fields, path: Path) -> None:
    """Assert that tshark finds no packet malformed, no bad checksum and no error."""
    assert fields(path, "_ws.malformed || _ws.short || _ws.expert.severity >= 8388608", "frame.number") == []
    assert fields(path, "ip.checksum.status != 1", "frame.number") == []
    assert fields(path, "tcp.checksum.status != 1 || udp.checksum.status != 1", "frame.number") == []


def test_each_connection_of_a_page_has_a_port_and_closes_with_fin(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    record = make(path, api.build("web", duration="10s", qdisc="pfifo limit 40"), points=["client"], snaplen=65_535)
    sound(fields, path)
    client = record["web"][0]
    # Only http-getter's workers talk to port 80.
    connections = fields(path, "tcp.flags.syn == 1 && tcp.dstport == 80", "tcp.srcport", "tcp.seq_raw")
    ports = {port for port, _ in connections}
    repeated = sum(fetch["syn_retransmitted"] for fetch in client["fetches"])
    assert len(connections) - len(ports) == repeated
    assert len(ports) >= 2 * client["completed"] > 20
    assert fields(path, "tcp.flags.reset == 1", "frame.number") == []
    for who in ("10.0.0.2", "10.1.0.2"):
        closed = {port for (port,) in fields(path, f"tcp.flags.fin == 1 && ip.src == {who}", "tcp.port")}
        assert len(closed) >= 2 * client["completed"] - 2
    for side in ("initiates", "undergoes"):
        word = f'_ws.expert.message == "This frame {side} the connection closing"'
        assert len(fields(path, word, "frame.number")) >= 2 * client["completed"] - 2


def test_pages_take_as_long_as_the_record_says(fields: Fields, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    record = make(path, api.build("web", duration="10s"), points=["client"])
    requests = {
        float(at) - WINDOW: port
        for at, port in fields(path, "dns.flags.response == 0", "frame.time_epoch", "udp.srcport")
    }
    answered = {port: float(took) for port, took in fields(path, "dns.flags.response == 1", "udp.dstport", "dns.time")}
    assert {name for (name,) in fields(path, "dns", "dns.qry.name")} == {"w3.example.com"}
    data = [float(at) - WINDOW for (at,) in fields(path, "tcp.srcport == 80 && tcp.len > 0", "frame.time_epoch")]
    fetches = record["web"][0]["fetches"]
    assert len(fetches) > 20
    for fetch in fetches:
        at, port = min(requests.items(), key=lambda item: abs(item[0] - fetch["start_s"]))
        assert at == pytest.approx(fetch["start_s"], abs=1e-6)
        assert answered[port] == pytest.approx(fetch["dns_s"], abs=1e-6)
        # The last byte of a page is in a frame.
        end = fetch["start_s"] + fetch["time_s"]
        assert min(abs(at - end) for at in data) < 1e-6


def test_tshark_reads_voice_as_rtp_and_misses_the_same_packets(fields: Fields, tmp_path: Path) -> None:
    path, one = tmp_path / "x.pcapng", tmp_path / "one.pcapng"
    built = replace(api.build("voip_rrul", duration="20s", qdisc="pfifo limit 20"), lead="0s")
    record = make(path, built, points=["client", "server"], snaplen=65_535)
    sound(fields, path)
    (probe,) = (probe for probe in record["probes"] if probe["kind"] == "voip")
    assert probe["lost"] > 10
    rows = fields(path, "udp.dstport == 5004", "frame.interface_name", "ip.id", "frame.time_epoch", "frame.len")
    assert {size for *_, size in rows} == {"214"}
    sent = {int(name, 16): float(at) - WINDOW for where, name, at, _ in rows if where == "client"}
    came = {int(name, 16): float(at) - WINDOW for where, name, at, _ in rows if where == "server"}
    assert list(sent) == list(range(probe["sent"]))
    # Some of the last may be under way when the capture ends: no queue is longer than 25 ms, and the path has 25 ms.
    missing = sent.keys() - came.keys()
    under_way = {name for name, at in sent.items() if at > 20 - 0.06}
    assert len(missing - under_way) <= probe["lost"] <= len(missing)
    delays = [1000 * (at - sent[name]) for name, at in came.items()]
    assert sum(delays) / len(delays) == pytest.approx(probe["delay_ms"]["mean"], rel=2e-3)
    assert min(delays) == pytest.approx(probe["delay_ms"]["min"], abs=1e-3)
    command = ["tshark", "-n", "-r", path, "-Y", 'frame.interface_name == "server"', "-w", one]
    subprocess.run(command, check=True, capture_output=True)
    command = ["tshark", "-n", "-r", one, "-d", "udp.port==5004,rtp", "-q", "-z", "rtp,streams"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (line,) = (line.split() for line in output.splitlines() if "g711U" in line)
    word = line.index("g711U")
    assert int(line[word + 1]) == len(came)
    assert int(line[word + 2]) == len([name for name in missing if min(came) < name < max(came)])
    mean_jitter, jitter = float(line[-3]), 0.0
    # RFC 3550 section 6.4.1, from the times of the frames; tshark's mean is over all packets.
    steps = []
    order = list(came)
    for before, after in zip(order, order[1:], strict=False):
        change = (came[after] - came[before]) - (sent[after] - sent[before])
        jitter += (abs(1000 * change) - jitter) / 16
        steps.append(jitter)
    assert mean_jitter == pytest.approx(sum(steps) / len(order), rel=0.01, abs=0.002)


def test_a_store_or_a_cluster_makes_no_capture(cli: Cli, tmp_path: Path) -> None:
    for option in ("--store", "--dask"):
        words = cli("run", "web", "--pcap", "x", option, "there", status=2)
        assert_one_sentence(words, "pcap", "x", option.removeprefix("--"))
    assert list(tmp_path.iterdir()) == []
