"""Downloads, thin streams, loss and queues at the edges, from Python: scenario, record, frames and stores."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from msgspec import to_builtins

import sojourn
from sojourn import _native
from sojourn.backends.linux import LinuxBackend, network_of
from sojourn.backends.linux.topology import bed
from sojourn.cli.traffic import describe
from sojourn.kernel.find import Kernel
from sojourn.record import Record
from sojourn.store import metrics
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from tests.conftest import Cli

FILE = sojourn.Download(name="file_1", direction="up", bytes=1_448 * 9, gap="1s", congestion_control="reno")
THIN = sojourn.Flow(name="thin_1", direction="up", write="150b", write_interval="300ms")
#: Nothing waits and nothing is lost: 100 ms there and back, and a bucket that is never empty.
IDLE = sojourn.Scenario(
    experiment="idle",
    duration="9.9s",
    lead="0s",
    up="100mbit",
    down="100mbit",
    burst_up="1mb",
    burst_down="1mb",
    rtt="100ms",
    qdisc_up="pfifo limit 1000",
    qdisc_down="pfifo limit 1000",
    start_jitter="0s",
    tcp=sojourn.Tcp(initial_window=3, delayed_ack=False),
    flows=(THIN,),
    downloads=(FILE,),
    probes=(sojourn.Probe(name="ping", kind="icmp"),),
)


def record_of(scenario: sojourn.Scenario) -> Record:
    return Run(text=_native.run(scenario.to_json())).record


def test_every_key_goes_to_the_compiled_part_and_back() -> None:
    full = dataclasses.replace(
        IDLE, edge_rate="1gbit", edge_limit=300, loss_up=0.001, loss_down=0.25, jitter_up="1ms", jitter_down="20ms"
    )
    canonical = full.normalized()
    again = sojourn.Scenario.from_json(canonical)
    assert (again.edge_limit, again.loss_up, again.loss_down) == (300, 0.001, 0.25)
    assert (again.jitter_up, again.jitter_down) == ("1ms", "20ms")
    assert again.downloads == (dataclasses.replace(FILE, rtt="100ms", start="0s"),)
    assert (again.flows[0].write, again.flows[0].write_interval) == ("150b", "300ms")
    assert again.normalized() == canonical


def test_what_is_not_asked_for_is_not_in_the_canonical_text() -> None:
    plain = sojourn.Scenario(experiment="x", duration="5s", edge_rate="1gbit")
    spelled = dataclasses.replace(plain, edge_limit=1000, loss_up=0.0, loss_down=0.0, jitter_up="0s", jitter_down="0s")
    assert spelled.normalized() == plain.normalized()
    assert not {"downloads", "edge_limit", "loss_up", "jitter_up"} & json.loads(plain.normalized()).keys()


def test_a_file_of_nine_segments_takes_a_handshake_and_two_rounds() -> None:
    """RFC 5681 section 3.1: 3 and 6 segments; then half a round trip for the last byte."""
    record = record_of(IDLE)
    (download,) = record.downloads or ()
    times = [file.fct_ms for file in download.files if file.fct_ms]
    assert times == pytest.approx([250] * download.completed, abs=0.01)
    assert record.summary.fct_ms == pytest.approx(250, abs=0.01)
    writes = record.flows[0].writes
    assert writes is not None
    assert (writes.count, writes.delivered) == (34, 33)
    assert writes.delay_ms.median == pytest.approx(50, abs=0.01)


def test_the_tables_of_a_run_have_downloads_and_thin_streams() -> None:
    files, thin = describe(record_of(IDLE))
    assert "file_1" in files
    assert "0.250" in files
    assert "thin_1" in thin
    assert "50.00" in thin


def test_a_stored_run_has_its_downloads_again(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "idle.toml").write_text(
        """duration = "5s"
rtt = "100ms"
[[downloads]]
name = "file_1"
direction = "down"
bytes = 20000
gap = "300ms"
[[flows]]
name = "thin_1"
direction = "up"
write = "150b"
write_interval = "300ms"
"""
    )
    ran = cli("run", str(tmp_path / "idle.toml"), "--store", str(tmp_path / "runs"), "--json")
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    (folder,) = [path.parent for path in (tmp_path / "runs").glob("*/run.json")]
    stored = RunStore(tmp_path / "runs").get(folder.name)
    assert to_builtins(stored.record.downloads) == printed["downloads"]
    assert len(printed["downloads"][0]["files"]) > 3
    assert to_builtins(stored.record.flows[0].writes) == printed["flows"][0]["writes"]
    assert metrics.metric_of(stored, "fct_ms") == printed["summary"]["fct_ms"] > 150


def test_the_bed_has_the_loss_and_the_queues_at_the_edges() -> None:
    scenario = dataclasses.replace(IDLE, edge_rate="100mbit", edge_limit=300, loss_up=0.25)
    load = json.loads(_native.load_plan(scenario.normalized("linux")))
    network = network_of(load)
    assert (network.edge_limit, network.up.loss, network.down.loss) == (300, 1 << 30, 0)
    steps = to_builtins(bed(network).steps)
    # struct tc_netem_qopt: latency, limit, loss.
    loss = {
        step["says"]: int.from_bytes(bytes.fromhex(step["netlink"])[60:64], "little")
        for step in steps
        if step["says"].startswith("add netem")
    }
    assert loss == {"add netem to mr2": 1 << 30, "add netem to mr1": 0}
    edges = [step["netlink"] for step in steps if step["says"] in ("add pfifo to c0", "add pfifo to s0")]
    assert len(edges) == 2
    assert all(bytes.fromhex(edge)[-4:] == (300).to_bytes(4, "little") for edge in edges)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("loss_up", 1.0, "loss_up is 1, but must be a probability, at least 0 and less than 1"),
        ("edge_limit", 3, "edge_limit is 3, but must be absent without edge_rate"),
        ("downloads", (dataclasses.replace(FILE, gap="0s"),), "downloads[0].gap is 0s, but must be 1ms to 86400s"),
    ],
)
def test_a_wrong_value_is_told_in_one_sentence(field: str, value: object, sentence: str) -> None:
    with pytest.raises(sojourn.ParamError) as caught:
        dataclasses.replace(IDLE, **{field: value}).normalized()
    assert sentence in str(caught.value)


def test_the_kernel_takes_as_long_for_a_file_as_the_rounds_say(virtual_kernel: Kernel) -> None:
    """As in the simulator; the kernel's handshake, serialisation and applications take a millisecond at most."""
    scenario = dataclasses.replace(IDLE, edge_rate=None)
    record = Run(text=LinuxBackend(virtual_kernel).run(scenario.normalized("linux"))).record
    simulated = record_of(scenario)
    (ours,), (theirs,) = simulated.downloads or (), record.downloads or ()
    assert theirs.completed == ours.completed > 3
    times = [file.fct_ms for file in theirs.files if file.fct_ms]
    assert times == pytest.approx([250] * theirs.completed, abs=2.0)
    # One seed, one list of idle times: so the files begin together, but for what they took longer.
    for mine, yours in zip(ours.files, theirs.files, strict=True):
        assert yours.start_s == pytest.approx(mine.start_s, abs=0.02)
    writes = record.flows[0].writes
    assert writes is not None
    assert (writes.count, writes.delivered) == (34, 33)
    assert writes.delay_ms.median == pytest.approx(50, abs=0.5)
    assert record.bottleneck["up"].utilisation is not None
    assert to_builtins(record.probes[0].sojourn_ms).keys() == {"mean", "max"}


def test_the_kernel_loses_as_many_packets_as_asked_for(virtual_kernel: Kernel) -> None:
    """Binomial, within four standard deviations."""
    probe = sojourn.Probe(name="stream", kind="isochronous", direction="up", interval="5ms")
    scenario = sojourn.Scenario(
        experiment="loss", duration="20s", lead="0s", rtt="20ms", qdisc_up="pfifo", loss_up=0.1, probes=(probe,)
    )
    record = json.loads(LinuxBackend(virtual_kernel).run(scenario.normalized("linux")))
    (stream,) = record["probes"]
    assert stream["sent"] == 4000
    assert abs(stream["lost"] - 400) < 4 * (4000 * 0.1 * 0.9) ** 0.5
    assert sum(record["bottleneck"]["up"]["drops"].values()) == 0
