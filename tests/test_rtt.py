"""`sojourn rtt`: synthetic packet pairs from two captures, against the simulator's own measurement and tshark's."""

from __future__ import annotations

import csv
import json
import shutil
import struct
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from sojourn.errors import ParamError
from sojourn.interop import capture
from sojourn.papers.flusher.evidence import CUBIC, passive
from sojourn.papers.flusher.plan import FlusherBed
from sojourn.record import PathRttRecord, Record
from sojourn.round_trips import measure, numbers
from sojourn.schema import required
from sojourn.store.run import Run
from sojourn.study.paper import Profile
from tests import optional
from tests.conftest import Cli, assert_one_sentence

SHORT = Profile(duration="10s", long_duration="10s", repeat=1, other_repeat=1)


class Captures(NamedTuple):
    """Captures at client and server of one run, and what the simulator itself says of its round trips."""

    client: Path
    server: Path
    record: Record

    @property
    def rtt(self) -> PathRttRecord:
        """The round-trip times of the only flow."""
        return required(required(self.record.flusher, "flusher").flows[0].rtt, "rtt")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    """Captures at client and server of one run, and what the simulator itself says of its round trips."""
    folder = tmp_path_factory.mktemp("captures")
    scenario = FlusherBed(profile=SHORT).scenario(passive(CUBIC, 50, 50))
    for point in ("client", "server"):
        record = capture.run(scenario, folder / f"{point}.pcapng", points=[point])
    return Captures(folder / "client.pcapng", folder / "server.pcapng", Run(text=record).record)


def test_two_captures_tell_what_the_simulator_measured_itself(captures: Captures) -> None:
    """The simulator knows its packets; the command only sees bytes at two places. Both find the same pairs."""
    client, server, record = captures
    known = captures.rtt
    found = measure(client, server)
    assert record.bottleneck["up"].drops["queue_limit"] > 0
    assert found.rtt_ns.size == known.count > 1500
    summary = numbers(found.rtt_ns)
    for name in ("min_ms", "mean_ms", "max_ms"):
        assert summary[name] == pytest.approx(getattr(known, name), abs=1e-6)
    bins = np.bincount((found.rtt_ns // 500_000).astype(int))
    assert bins[known.first_bin :].tolist() == known.bins
    for side in found.report.captures:
        parts = ("matched", "missing", "outside", "ambiguous", "duplicates")
        assert side.packets == sum(getattr(side, part) for part in parts) == side.frames


def test_an_offset_and_another_format_change_nothing(captures: Captures, tmp_path: Path) -> None:
    """The server's clock is set back by a year, and its capture written as pcap of microseconds."""
    client, server, _ = captures
    editcap = optional.program("editcap")
    shifted = tmp_path / "shifted.pcap"
    subprocess.run([editcap, "-F", "pcap", "-t", "-31536000", str(server), str(shifted)], check=True)
    before, after = measure(client, server), measure(client, shifted)
    assert after.rtt_ns.size == before.rtt_ns.size
    # Of the two time stamps at the server each lost less than a microsecond.
    assert np.abs(after.rtt_ns.astype(np.int64) - before.rtt_ns.astype(np.int64)).max() < 1000
    assert (after.at_ns == before.at_ns).all()


def _tshark(path: Path, *fields: str) -> list[list[str]]:
    words = ["tshark", "-r", str(path), "-Y", "tcp.analysis.ack_rtt", "-T", "fields"]
    words += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason=optional.lacking("tshark").reason())
def test_pairs_are_tshark_s_ack_rtt_at_the_client_less_that_at_the_server(
    captures: Captures, cli: Cli, tmp_path: Path
) -> None:
    """Of acknowledgements of the segment that came last `ack_rtt` is the round trip and what the receiver waited.

    What it waited is `ack_rtt` at the receiver, where tshark tells none that is 0.
    """
    client, server, _ = captures
    cli("rtt", str(client), str(server), "--csv", "pairs.csv")
    with (tmp_path / "pairs.csv").open() as file:
        ours = {line["at_s"]: Decimal(line["rtt_ms"]) for line in csv.DictReader(file)}
    waited = {
        (src, ident): Decimal(rtt) for src, ident, rtt in _tshark(server, "ip.src", "ip.id", "tcp.analysis.ack_rtt")
    }
    gaps = []
    for at, src, ident, rtt, sack in _tshark(
        client, "frame.time_epoch", "ip.src", "ip.id", "tcp.analysis.ack_rtt", "tcp.options.sack_le"
    ):
        if not sack and at in ours:
            gaps.append(abs((Decimal(rtt) - waited.get((src, ident), 0)) * 1000 - ours[at]))
    same = sum(gap < Decimal("0.000002") for gap in gaps)
    assert len(gaps) > 1000
    # The others acknowledge at the end of a recovery what came before.
    assert same >= 0.99 * len(gaps)


def test_tables_json_csv_and_figure_have_the_same_numbers(captures: Captures, cli: Cli, tmp_path: Path) -> None:
    client, server, _ = captures
    words = ("rtt", str(client), str(server))
    found = json.loads(cli(*words, "--json", "--csv", "a.csv", "--plot", "a.svg").stdout)
    known = captures.rtt
    assert (found["format"], found["rtt"]["count"]) == ("sojourn-rtt/1", known.count)
    assert found["flows"][0]["rtt"] == found["rtt"]
    table = cli(*words).stdout
    assert f"{known.count:,}" in table
    assert f"{known.mean_ms:.3f}" in table
    assert len((tmp_path / "a.csv").read_text().splitlines()) == known.count + 1
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert_one_sentence(cli(*words, "--csv", "a.csv", status=2), "csv is 'a.csv', which is there")
    cli(*words, "--csv", "a.csv", "--force")


def test_flows_are_selected_by_address_port_and_protocol(captures: Captures) -> None:
    client, server, _ = captures
    whole = measure(client, server)
    near = whole.report.flows[0].near
    host, port = near.rsplit(":", 1)
    for chosen in ({"hosts": [host]}, {"ports": [int(port)]}, {"protocol": "tcp"}):
        assert measure(client, server, **chosen).rtt_ns.size == whole.rtt_ns.size
    for other in ({"hosts": ["192.0.2.9"]}, {"ports": [1]}, {"protocol": "udp"}):
        none = measure(client, server, **other)
        assert none.rtt_ns.size == 0
        assert none.report.captures[0].unselected == none.report.captures[0].frames


def test_bad_input_is_refused_in_one_sentence(captures: Captures, cli: Cli, tmp_path: Path) -> None:
    client, server, _ = captures
    good = (str(client), str(server))
    (tmp_path / "text").write_text("no capture, but quite some text in its place")
    for words, sentence in (
        ((str(client), "nowhere.pcap"), "nowhere.pcap"),
        ((str(client), "text"), "must be a capture, pcap or pcapng"),
        ((str(client), str(client)), "must be another file than a: the capture of a second point of the path"),
        ((*good, "--host", "example"), 'host is "example", but must be an IP address'),
        ((*good, "--port", "70000"), "port is 70000, but must be from 0 to 65535"),
        ((*good, "--protocol", "sctp"), 'protocol is "sctp", but must be tcp, udp or icmp'),
        ((*good, "--horizon", "10"), "horizon is '10', but must be a time"),
        ((*good, "--gap", "0s"), "gap is 0 ns"),
        ((*good, "--plot", "a.pdf"), "must end in .svg or .png"),
    ):
        assert_one_sentence(cli("rtt", *words, status=2), sentence)


def test_captures_of_different_traffic_have_nothing_in_common(captures: Captures, cli: Cli, tmp_path: Path) -> None:
    client, _, _ = captures
    (tmp_path / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 1))
    done = cli("rtt", str(client), "empty.pcap", status=1)
    assert done.stderr.endswith(f"no packet is in both {client} and empty.pcap: empty.pcap has no packets\n")


def _blocks(order: str, *blocks: tuple[int, bytes]) -> bytes:
    """Return a section of pcapng in a byte order, with an interface of Ethernet."""
    section = (0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    every = (section, (1, struct.pack(order + "HHI", 1, 0, 0)), *blocks)
    return b"".join(
        struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))
        for kind, body in every
    )


@pytest.mark.parametrize("order", "<>")
def test_packets_that_cannot_be_compared_are_the_reason(
    order: str, captures: Captures, cli: Cli, tmp_path: Path
) -> None:
    client, server, _ = captures
    simple = (3, struct.pack(order + "I", 4) + b"abcd")
    foreign = (6, struct.pack(order + "IIIII", 7, 0, 0, 4, 4) + b"abcd")
    custom = (0xBAD, struct.pack(order + "I", 32473) + b"abcd")
    for name in ("a.pcapng", "b.pcapng"):
        (tmp_path / name).write_bytes(_blocks(order, simple, simple, foreign, custom))
    why = (
        "a.pcapng has 4 packets, of which 2 have no time stamp and 1 are of an interface that is not described "
        "and 1 are in a custom block"
    )
    for other, more in ((str(client), ""), ("b.pcapng", f"; {why.replace('a.pcapng', 'b.pcapng')}")):
        done = cli("rtt", "a.pcapng", other, status=1)
        assert done.stderr == f"sojourn: no packet is in both a.pcapng and {other}: {why}{more}\n"
    assert "skipped: no time" in done.stdout
    # Of flows that were not asked for, and where the reason is not known.
    done = cli("rtt", str(client), str(server), "--port", "1", status=1)
    assert f"{server} has " in done.stderr
    assert "of which" in done.stderr
    assert "are of flows that were not asked for" in done.stderr


def test_a_cut_capture_is_used_up_to_there(captures: Captures, cli: Cli, tmp_path: Path) -> None:
    client, server, _ = captures
    data = server.read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(data[: len(data) // 2 + 3])
    done = cli("rtt", str(client), "cut.pcapng", "--json", status=1)
    assert "cut.pcapng: the capture" in done.stderr
    found = json.loads(done.stdout)["rtt"]["count"]
    assert 0.4 * captures.rtt.count < found < 0.6 * captures.rtt.count


def test_numbers_by_hand() -> None:
    found = numbers(np.array([1, 2, 3, 4, 90], dtype=np.uint64) * 1_000_000)
    assert (found["count"], found["min_ms"], found["median_ms"], found["mean_ms"], found["max_ms"]) == (5, 1, 3, 20, 90)
    assert numbers(np.array([], dtype=np.uint64))["median_ms"] is None
    with pytest.raises(ParamError, match="^capture is"):
        measure(Path("/dev/null"), Path("/dev/null"))
