"""Runs on the real kernel in virtual time: they work, repeat to the byte, and show what the kernel is known to do."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import sojourn
from sojourn import _native, api, backends, plan, runner
from sojourn.backends import linux as linux_module
from sojourn.backends.linux import LinuxBackend, guest, network_of
from sojourn.errors import ParamError
from sojourn.kernel.find import VARIABLE, Kernel
from sojourn.scenario import Download, Flow, Probe, Scenario, Tcp
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

pytestmark = pytest.mark.usefixtures("virtual_kernel")


def without_cost(record: Json) -> Json:
    return {name: part for name, part in record.items() if name != "cost"}


def test_run_of_cake_prints_a_table(cli: Cli) -> None:
    done = cli("run", "rrul", "--backend", "linux", "--qdisc", "cake", "--rate", "20mbit", "--duration", "3s")
    assert done.stdout.startswith("rrul: cake; 20mbit down / 20mbit up; RTT 50ms; 3s; seed 1\n")
    assert "tcp_down_4  cubic" in done.stdout
    # A progress bar stands before it if the guest takes longer than two seconds.
    last_line = done.stderr.splitlines()[-1]
    assert last_line.startswith("Linux ")
    assert " in virtual time ran 3 s in " in last_line


# The checkout and Python may lie where no other user can read, so all is loaded by a run as root before.
_AS_NOBODY = """
import os, sys
from sojourn.backends.linux import guest
from sojourn.cli import main
from sojourn.kernel import find
words = ["run", "rrul", "--backend", "linux", "--qdisc", "cake", "--rate", "20mbit", "--duration", "1s", "--json"]
assert main(words) == 0
sys.stdout.flush()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for made in (find._flaw, guest.agent_identity):
    made.cache_clear()
assert os.geteuid() == 65534
raise SystemExit(main(words))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason=optional.ROOT.reason())
def test_a_user_without_root_can_run_it(virtual_kernel: Kernel) -> None:
    assert virtual_kernel.path is not None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        home = place / "home"
        home.mkdir()
        os.chown(home, 65534, 65534)
        for name, source in (("linux", virtual_kernel.path), ("agent", guest.agent())):
            shutil.copy(source, place / name)
            (place / name).chmod(0o755)
        environment = {
            **os.environ,
            VARIABLE: str(place / "linux"),
            "SOJOURN_AGENT": str(place / "agent"),
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry),
        }
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    as_root, as_nobody = (json.loads(line) for line in done.stdout.splitlines())
    assert without_cost(as_root) == without_cost(as_nobody)


@pytest.mark.parametrize(
    "qdisc", ["pie", "fq_codel", "sfq perturb 1", "codel", "red limit 400000 avpkt 1000 min 12500 max 37500"]
)
def test_a_seed_gives_the_same_record_whatever_the_number_of_workers(qdisc: str, virtual_kernel: Kernel) -> None:
    scenario = api.build("rrul", qdisc=qdisc, duration="3s", seed=5)
    backend = LinuxBackend(virtual_kernel)
    alone = runner.run_all([scenario], workers=1, backend=backend)
    # Two at a time, and another seed beside it.
    beside = api.build("rrul", qdisc=qdisc, duration="3s", seed=6)
    paired = runner.run_all([beside, scenario], workers=2, backend=backend)
    first, again, other = (without_cost(json.loads(one.text)) for one in (alone[0], paired[1], paired[0]))
    assert first == again
    assert alone[0].series.equals(paired[1].series)
    assert other["flows"] != first["flows"]


KINDS = {
    "pfifo": "pfifo limit 50",
    "bfifo": "bfifo limit 50000",
    "pfifo_fast": "pfifo_fast limit 60",
    "red": "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive",
    "pie": "pie target 20ms dq_rate_estimator",
    "codel": "codel noecn",
    "sfq": "sfq perturb 10 headdrop",
    "fq_codel": "fq_codel flows 64",
    "cake": "cake bandwidth 9mbit diffserv4 dual-srchost wash ack-filter rtt 40ms overhead 18 mpu 64 memlimit 2mb",
    "fq": "fq flow_limit 30 quantum 3028",
    "fq_pie": "fq_pie target 10ms flows 128",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_built_and_carries_traffic(kind: str, virtual_kernel: Kernel) -> None:
    record = sojourn.run("bulk", backend="linux", qdisc=KINDS[kind], duration="2s", flows_up=2).record
    assert record.kernel is not None
    assert (record.kernel.release, record.kernel.virtual_time) == (virtual_kernel.release, True)
    for end in record.bottleneck.values():
        # The kind is what the kernel said when it was asked, not what it was told.
        assert end.qdisc == kind
        assert end.qdisc_text.split()[0] == kind
    for flow in record.flows:
        assert flow.goodput_mbit > 0.5


def test_a_flow_that_stops_leaves_the_link_to_the_other_as_in_the_simulator(virtual_kernel: Kernel) -> None:
    flows = (
        Flow(name="leaves", direction="down", stop="4s"),
        Flow(name="stays", direction="down"),
        Flow(name="paced", direction="up", start="1s", stop="3s", rate="2mbit"),
        Flow(name="udp", kind=None, protocol="udp", congestion_control=None, direction="up", rate="1mbit", stop="2s"),
    )
    links = {"up": "10mbit", "down": "10mbit", "rtt": "20ms", "qdisc_up": "fq_codel", "qdisc_down": "fq_codel"}
    scenario = Scenario(experiment="stop", duration="10s", flows=flows, **links)
    (run,) = runner.run_all([scenario], backend=LinuxBackend(virtual_kernel))
    (model,) = runner.run_all([scenario])
    for one in (run, model):
        goodput = {flow.name: flow.goodput_mbit for flow in one.record.flows}
        # Of 9.57 Mbit/s of payload that the link carries: half of it for 4 of 10 s, and what is left.
        assert goodput["leaves"] == pytest.approx(0.5 * 9.57 * 0.4, rel=0.06)
        assert goodput["stays"] == pytest.approx(0.5 * 9.57 * 0.4 + 9.57 * 0.6, rel=0.03)
        assert goodput["paced"] == pytest.approx(2 * 0.2, rel=0.02)
        assert goodput["udp"] == pytest.approx(1 * 0.2, rel=0.02)
        assert not any(flow.error for flow in one.record.flows)


def test_a_fifo_holds_no_more_than_its_limit(virtual_kernel: Kernel) -> None:
    text = api.build("bulk", qdisc="pfifo_fast limit 60", duration="3s", flows_up=4).normalized("linux")
    up = json.loads(LinuxBackend(virtual_kernel).run(text))["bottleneck"]["up"]
    # tbf holds the packet that it cannot send yet.
    assert up["backlog_packets"]["max"] in {60, 61}
    assert up["drops"]["queue_limit"] > 0


@pytest.mark.parametrize(("qdisc", "least", "most"), [("pfifo_fast limit 40", 25, 28), ("pfifo limit 40", 37.5, 40)])
def test_a_full_ring_is_as_long_as_the_simulators(
    virtual_kernel: Kernel, qdisc: str, least: float, most: float
) -> None:
    """A ring that is full takes packets 16 at a time; a list has room as soon as one has left."""
    flood = Flow(name="flood", direction="up", kind=None, protocol="udp", rate="13mbit")
    scenario = Scenario(experiment="ring", duration="5s", lead="2s", rtt="20ms", qdisc_up=qdisc, flows=(flood,), seed=1)
    kernel = Run(text=LinuxBackend(virtual_kernel).run(scenario.normalized("linux"))).record
    simulated = sojourn.run(scenario).record
    mean, simulated_mean = (one.bottleneck["up"].backlog_packets.mean for one in (kernel, simulated))
    assert least < mean < most
    assert simulated_mean == pytest.approx(mean, rel=0.005)


def probes() -> tuple[Probe, ...]:
    return (
        Probe(name="ping", kind="icmp", interval="100ms", size=98),
        Probe(name="udp", kind="udp_rr", timeout="2s", size=60),
        Probe(name="up", kind="isochronous", direction="up", interval="20ms", size=200),
        Probe(name="down", kind="isochronous", direction="down", interval="20ms", size=200),
    )


def test_an_idle_path_has_its_delay_and_the_time_of_sending() -> None:
    """At 1 Gbit/s a frame of 200 bytes takes 1.6 us."""
    scenario = Scenario(
        experiment="idle",
        duration="2s",
        rtt="50ms",
        up="1gbit",
        down="1gbit",
        qdisc_up="fq_codel",
        qdisc_down="fq_codel",
        probes=probes(),
    )
    series = sojourn.run(scenario, backend="linux").series
    for name, expected_ms in (("ping", 50.0), ("udp", 50.0), ("up", 25.0), ("down", 25.0)):
        rows = series.filter((series["name"] == name) & series["metric"].is_in(["rtt_ms", "owd_ms"]))
        values = rows["value"].to_numpy()
        assert values.size >= 18, name
        assert np.abs(values - expected_ms).max() <= 0.002, name


@pytest.mark.parametrize(
    ("qdisc", "cc", "goodput_mbit"), [("codel noecn", "cubic", 9.165), ("fq_codel noecn", "cubic", 9.160)]
)
def test_one_flow_has_the_goodput_of_the_reference(qdisc: str, cc: str, goodput_mbit: float) -> None:
    """Oracle: another bed on the same kernel: one flow up, 10/10 Mbit/s, 50 ms, 30 s, from the fifth second on."""
    run = sojourn.run("bulk", backend="linux", qdisc=qdisc, cc=cc, flows_up=1, flows_down=0, duration="30s")
    series = run.series
    rows = series.filter((series["name"] == "tcp_up_1") & (series["metric"] == "goodput_mbit"))
    steady = rows.filter(rows["t_s"] > 5)["value"].mean()
    assert steady == pytest.approx(goodput_mbit, rel=0.01)


def test_a_time_out_leaves_a_flow_in_its_queue() -> None:
    """A queue of a flow keeps its order, so that one retransmission is enough to tell that a time-out was false.

    With the kernel's default a time-out changes the hash by which CAKE chooses the queue, and what is sent again
    overtakes the rest: 11 to 18 retransmissions of most of these flows.
    """
    scenario = Scenario(
        experiment="hash",
        duration="15s",
        rtt="16ms",
        up="4mbit",
        down="1mbit",
        qdisc_up="cake unlimited",
        qdisc_down="cake unlimited",
        flows=tuple(Flow(name=f"f{i}", direction="down", congestion_control="dctcp") for i in range(12)),
    )
    flows = sojourn.run(scenario, backend="linux").record.flows
    again = [flow.retransmissions for flow in flows]
    assert max(again) == 1, again


def version(kernel: Kernel) -> tuple[int, ...]:
    return tuple(int(part) for part in kernel.release.split("-")[0].split(".")[:2])


def test_what_a_scenario_says_of_tcp_reaches_the_kernel(inside: Cli, tmp_path: Path, virtual_kernel: Kernel) -> None:
    text = """
experiment = "mine"
duration = "3s"
rtt = "100ms"
qdisc_up = "pfifo limit 1000"
[[flows]]
name = "a"
direction = "up"
{more}
"""
    records = {}
    for name, more in {
        "default": "",
        "no hystart": "[tcp]\nhystart = false",
        "window": '[tcp]\nreceive_window = "64kb"',
        "reno": 'congestion_control = "reno"',
        "bbr": 'congestion_control = "bbr"',
        "dctcp": 'congestion_control = "dctcp"',
        "first window": "[tcp]\ninitial_window = 2",
        "no delay of acknowledgements": "[tcp]\ndelayed_ack = false",
    }.items():
        (tmp_path / "mine.toml").write_text(text.format(more=more))
        records[name] = json.loads(inside("run", "mine.toml", "--backend", "linux", "--json").stdout)
    flows = {name: record["flows"][0] for name, record in records.items()}
    assert flows["bbr"]["congestion_control"] == "bbr"
    # HyStart leaves slow start before the queue is full; without it the window grows to a loss or much further.
    assert flows["no hystart"]["segments_sent"] > flows["default"]["segments_sent"]
    # A window of 64 KiB a round trip of 100 ms. Since Linux 6.5 it is not half of the buffer, but the part of its
    # memory that is payload (`tcp_measure_rcv_mss`): of a full segment 1448 of 2048 and 256 bytes at least.
    payload = 1 / 2 if version(virtual_kernel) < (6, 5) else 1448 / (2048 + 256)
    assert flows["window"]["goodput_mbit"] <= 2 * 65536 * payload * 8 / 0.1 / 1e6
    assert flows["first window"]["segments_sent"] < flows["default"]["segments_sent"]
    downs = {name: record["bottleneck"]["down"]["packets"] for name, record in records.items()}
    assert downs["no delay of acknowledgements"] > 1.5 * downs["default"]
    assert len({json.dumps(flow) for flow in flows.values()}) == len(flows)


@pytest.mark.parametrize(
    ("window", "mss"), [("20kb", 1448), ("64kb", 1000), ("256kb", 1448), ("256kb", 700), ("256kb", 536)]
)
def test_a_flow_that_its_receive_buffer_bounds_is_as_fast_as_in_the_simulator(
    window: str, mss: int, virtual_kernel: Kernel
) -> None:
    since = version(virtual_kernel)
    variant = "linux-7.3" if since >= (7, 3) else "linux-6.12" if since >= (6, 6) else None
    tcp = Tcp(receive_window=window, mss=mss)
    link = {"up": "100mbit", "down": "100mbit", "rtt": "100ms", "qdisc_up": "pfifo limit 2000"}
    scenario = Scenario(experiment="window", duration="5s", flows=(Flow(name="a", direction="up"),), tcp=tcp, **link)
    (run,) = runner.run_all([scenario], backend=LinuxBackend(virtual_kernel))
    (model,) = runner.run_all([dataclasses.replace(scenario, tcp=dataclasses.replace(tcp, variant=variant))])
    goodput, modelled = (one.record.flows[0].goodput_mbit for one in (run, model))
    # Seen: within 0.5 % on 6.1, 0.3 % on 6.12 and 0.6 % on 7.3.
    assert modelled == pytest.approx(goodput, rel=0.01)


@pytest.mark.parametrize(("flows", "rtt", "limit", "bar"), [(1, "40ms", 200, 0), (8, "20ms", 15, 0.08)])
def test_vegas_is_that_of_the_kernel(flows: int, rtt: str, limit: int, bar: float, virtual_kernel: Kernel) -> None:
    """Alone on a queue that never fills, and where many flows have windows of two segments and lose often."""
    scenario = Scenario(
        experiment="vegas",
        duration="20s",
        rtt=rtt,
        qdisc_up=f"pfifo limit {limit}",
        qdisc_down="pfifo limit 1000",
        flows=tuple(Flow(name=f"f{n}", direction="up", congestion_control="vegas") for n in range(flows)),
    )
    seeds = [dataclasses.replace(scenario, seed=seed) for seed in range(1, 6)]
    both = runner.run_all(seeds, backend=LinuxBackend(virtual_kernel)), runner.run_all(seeds)
    kernel, model = ([run.record for run in runs] for runs in both)
    packets = [[record.bottleneck["up"].packets for record in records] for records in (kernel, model)]
    assert np.mean(packets[1]) == pytest.approx(np.mean(packets[0]), rel=0.002)
    again = [[sum(flow.retransmissions for flow in record.flows) for record in records] for records in (kernel, model)]
    # Seen with more seeds on 6.1: 1081 and 1085, with two standard errors of 18 and 9.
    assert np.mean(again[1]) == pytest.approx(np.mean(again[0]), rel=bar)


def test_jitter_is_uniform_and_keeps_the_order() -> None:
    """Of n delays uniform in 0 to 40 ms the mean has a standard error of 40 / sqrt(12 n).

    Echoes leave every 20 ms, and none overtakes another: each is delayed by at least what is left of the delay before
    it. So the mean is that of the recursion d' = max(d, d' - 20), 20.9 ms.
    """
    scenario = Scenario(
        experiment="jitter",
        duration="40s",
        rtt="50ms",
        up="100mbit",
        down="100mbit",
        jitter_up="40ms",
        probes=(Probe(name="ping", kind="icmp", interval="20ms", size=98),),
    )
    rtt = sojourn.run(scenario, backend="linux").summary.rtt_ms
    assert rtt.count >= 1900
    drawn = np.random.default_rng(1).uniform(0, 40, 200_000)
    kept = list(itertools.accumulate(drawn, lambda before, own: max(own, before - 20)))
    assert np.mean(kept) == pytest.approx(20.9, abs=0.2)
    assert abs(rtt.mean - 50 - np.mean(kept)) < 4 * 40 / (12 * rtt.count) ** 0.5
    assert 50 <= rtt.min < 50.5
    assert 89.5 < rtt.max < 90.2
    # Were packets to overtake each other, TCP would take many for lost. The queue drops none.
    flow = Flow(name="bulk", direction="up", congestion_control="reno", bytes=3_000_000)
    bulk = dataclasses.replace(scenario, duration="10s", flows=(flow,), qdisc_up="pfifo limit 1000")
    record = sojourn.run(bulk, backend="linux").record
    assert record.flows[0].goodput_mbit == pytest.approx(3e6 * 8 / 10 / 1e6)
    assert record.flows[0].retransmissions == 0


@pytest.mark.parametrize(
    ("rate", "least_packets"),
    [("20mbit", {}), ("100mbit", {"linux-6.1": 8, "linux-6.12": 7})],
    ids=["20mbit", "100mbit"],
)
def test_small_queues_hold_as_much_of_an_upload_in_the_clients_device(
    rate: str, least_packets: dict[str, int], virtual_kernel: Kernel
) -> None:
    # Of the memory that a small queue may have, a segment takes 2216 bytes in Linux 6.1 and 2280 in 6.12.
    variant = "linux-6.12" if version(virtual_kernel) >= (6, 12) else "linux-6.1"
    # The client's own device queues, and nothing else does: an echo waits there only, on both back ends.
    scenario = Scenario(
        experiment="own device",
        duration="6s",
        rtt="50ms",
        up="1gbit",
        down="1gbit",
        edge_rate=rate,
        qdisc_up="pfifo limit 1000",
        qdisc_down="pfifo limit 1000",
        flows=(Flow(name="up", direction="up"),),
        probes=(Probe(name="ping", kind="icmp", interval="7ms", size=98),),
    )
    packet_ms = 1514 * 8 / bits_per_second(rate) * 1e3
    waits, windows = {}, {}
    as_the_kernel = dataclasses.replace(scenario, tcp=Tcp(variant=variant))
    for backend, tested in (("sim", as_the_kernel), ("linux", scenario)):
        record = sojourn.run(tested, backend=backend).record
        assert record.flows[0].retransmissions == 0
        echoes = record.series.rtt["ping"]
        sent = zip(echoes.t_s, echoes.rtt_ms, strict=True)
        late = [value - 50.0 for at, value in sent if at > 3 and value is not None]
        waits[backend] = sum(late) / len(late) / packet_ms
        windows[backend] = record.series.cwnd_segments["up"][-1]
    # At the far edge an echo behind data waits for it once more, as on a wire; the kernel's bucket there lets it pass.
    assert waits["sim"] - 1 == pytest.approx(waits["linux"], abs=0.35)
    assert waits["linux"] > least_packets.get(variant, 1)
    assert windows["sim"] == pytest.approx(windows["linux"], rel=0.02)


def bits_per_second(text: str) -> float:
    return float(text.removesuffix("mbit")) * 1e6


def repeated(*, save: bool) -> Scenario:
    return Scenario(
        experiment="repeated",
        duration="120s",
        lead="0s",
        rtt="300ms",
        up="1mbit",
        down="1mbit",
        qdisc_up="pfifo limit 25",
        qdisc_down="pfifo limit 25",
        tcp=Tcp(initial_window=3, save_metrics=save),
        downloads=(Download(name="file", direction="up", bytes=1_700_000, gap="2s", congestion_control="reno"),),
    )


def test_files_begin_with_the_threshold_that_the_last_one_left() -> None:
    lost = {}
    for backend in ("sim", "linux"):
        for save in (False, True):
            files = sojourn.run(repeated(save=save), backend=backend).record.downloads[0]
            assert files.completed >= 4
            lost[backend, save] = files.data_dropped / files.completed
    for backend in ("sim", "linux"):
        assert lost[backend, True] < 0.6 * lost[backend, False], lost


def mixed(rtts: int) -> Scenario:
    flows = tuple(Flow(name=f"f{n}", direction="up", rtt=f"{10 + n}ms") for n in range(rtts))
    return Scenario(experiment="mixed", duration="1s", rtt="10ms", flows=flows)


def test_paths_of_different_lengths_are_at_most_sixteen() -> None:
    with pytest.raises(ParamError, match="number of different rtt values is 17, but must be at most 16"):
        sojourn.run(mixed(17), backend="linux")
    flows = sojourn.run(mixed(16), backend="linux").record.flows
    assert [flow.base_rtt_ms for flow in flows] == [10.0 + n for n in range(16)]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        (Scenario(experiment="x", duration="1s", spare_acks=True), ["spare_acks", "linux"]),
        (Scenario(experiment="x", duration="1s", delay_tick="1ms"), ["delay_tick", "linux"]),
        (Scenario(experiment="x", duration="1s", tcp=Tcp(variant="linux-3.14")), ["variant", "linux-3.14"]),
    ],
)
def test_what_only_the_simulator_has_is_refused(scenario: Scenario, words: list[str]) -> None:
    with pytest.raises(ParamError) as caught:
        sojourn.run(scenario, backend="linux")
    for word in words:
        assert word in str(caught.value)


def test_capture_is_refused(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "rrul", "--backend", "linux", "--pcap", "x.pcapng", status=2)
    assert_one_sentence(done, "pcap", "x.pcapng", "only the sim back end")
    assert list(tmp_path.iterdir()) == []


PLAN = ("--repeat", "2", "--duration", "2s", "--backend", "linux")


def no_guest(*_: object, **__: object) -> None:
    message = "a guest was booted"
    raise AssertionError(message)


def test_comparison_is_stored_and_resumed_without_a_guest(
    inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("compare", "bulk", "--qdisc", "codel", "--qdisc", "cake", *PLAN, "--store", "s", "--json")
    first = inside(*words)
    assert len(RunStore(tmp_path / "s").ids()) == 4
    monkeypatch.setattr("sojourn.backends.linux.carry_out", no_guest)
    assert inside(*words).stdout == first.stdout
    # A fifth run is not there.
    with pytest.raises(AssertionError, match="a guest was booted"):
        inside(*words, "--seed", "7", "--workers", "1")


def test_sweep_is_stored_and_resumed_without_a_guest(
    inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'experiment = "bulk"\nduration = "2s"\nrepeat = 2\n[vary]\nqdisc = ["fq_codel", "fq"]\n'
    (tmp_path / "s.toml").write_text(text)
    words = ("sweep", "s.toml", "--out", "o", "--backend", "linux")
    inside(*words)
    table = (tmp_path / "o/table.csv").read_bytes()
    assert len(RunStore(tmp_path / "o/runs").ids()) == 4
    monkeypatch.setattr("sojourn.backends.linux.carry_out", no_guest)
    inside(*words, "--force")
    assert (tmp_path / "o/table.csv").read_bytes() == table


def test_runs_of_two_back_ends_have_different_names(virtual_kernel: Kernel) -> None:
    scenario = api.build("rrul", duration="2s")
    linux = LinuxBackend(virtual_kernel)
    ids = [plan.jobs([scenario], backend=backend)[0].id for backend in (backends.SIMULATOR, linux)]
    assert len(set(ids)) == 2
    assert virtual_kernel.identity in linux.identity
    assert guest.agent_identity() in linux.identity


@functools.cache
def load_of(duration: str) -> str:
    return _native.load_plan(api.build("bulk", duration=duration).normalized("linux"))


def test_the_bound_of_a_guest_grows_with_what_it_must_carry(virtual_kernel: Kernel) -> None:
    linux = LinuxBackend(virtual_kernel)
    bounds = []
    for duration in ("1s", "600s"):
        load = json.loads(load_of(duration))
        bounds.append(linux_module._bound_s(network_of(load), linux.kernel))
    assert 60 < bounds[0] < 70
    # 2 x 10 Mbit/s are 1651 frames a second.
    assert bounds[1] > 600


def test_the_stock_kernel_runs_in_real_time(stock_kernel: Kernel) -> None:
    scenario = api.build("bulk", qdisc="pfifo limit 100", duration="2s")
    record = json.loads(LinuxBackend(stock_kernel).run(scenario.normalized("linux")))
    assert record["kernel"]["virtual_time"] is False
    assert record["bottleneck"]["up"]["qdisc"] == "pfifo"
    assert record["flows"][0]["goodput_mbit"] > 1


def test_tune_finds_parameters_of_cake_on_the_kernel(cli: Cli) -> None:
    link = ("--rate", "2mbit", "--rtt", "50ms", "--load", "bulk", "--duration", "3s")
    done = cli(
        "tune", "cake", "--backend", "linux", *link, "--trials", "2", "--seeds", "1", "--minimise", "delay", "--json"
    )
    found = json.loads(done.stdout)
    assert found["backend"] == "linux"
    assert found["tc"].startswith("tc qdisc replace dev DEV root cake rtt ")
    assert found["fresh_seeds"]["utilisation"][0] > 0.5
