"""The live back end: real packets of this machine through our disciplines, and the record of it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict

from sojourn import api, backends, runner
from sojourn.backends import live
from sojourn.backends.live import LiveBackend
from sojourn.errors import ParamError, SojournError
from sojourn.scenario import Flow, Probe, Scenario, Tcp
from tests.conftest import Cli, assert_one_sentence


@pytest.fixture
def backend(sojournd: Path) -> LiveBackend:
    assert sojournd.exists()
    return LiveBackend.here()


@pytest.mark.slow
def test_rrul_gives_the_usual_record(backend: LiveBackend) -> None:
    scenario = api.build("rrul", backend="live", qdisc="fq_codel", rate="20mbit", rtt="40ms", duration="5s")
    run = runner.run_all([scenario], backend=backend)[0]
    record, simulated = run.record, runner.run_all([scenario])[0].record
    assert record.backend == "live"
    assert record.kernel.virtual_time is False
    assert record.scenario == simulated.scenario
    assert msgspec.to_builtins(record).keys() >= msgspec.to_builtins(simulated).keys()
    assert asdict(record.bottleneck["up"]).keys() == asdict(simulated.bottleneck["up"]).keys()
    for way in ("up", "down"):
        end = record.bottleneck[way]
        # Whatever else this machine does, the bottleneck lets no more through than its rate and its bucket.
        assert end.bytes * 8 <= 20e6 * 5 + 8 * 16 * 1514
        assert end.bytes * 8 >= 0.6 * 20e6 * 5
        assert abs(end.extra["drops_unmatched"]) <= 16 + sum(end.drops.values()) / 50
        assert 0 < end.extra["late_p50_us"] <= end.extra["late_p99_us"] <= end.extra["late_max_us"]
        assert getattr(record.summary, f"goodput_{way}_mbit") <= 20 * 1448 / 1514
    assert record.summary.rtt_ms.min >= 40.0
    assert len(run.series) > 0


@pytest.mark.slow
def test_loss_and_two_paths_are_the_bottlenecks_own(backend: LiveBackend) -> None:
    scenario = Scenario(
        experiment="paths",
        duration="4s",
        lead="1s",
        up="10mbit",
        down="10mbit",
        rtt="20ms",
        loss_up=0.02,
        probes=(
            Probe(name="near", kind="icmp", interval="20ms"),
            Probe(name="far", kind="icmp", interval="20ms", rtt="80ms"),
        ),
    )
    record = runner.run_all([scenario], backend=backend)[0].record
    least = {probe.name: probe.rtt_ms.min for probe in record.probes}
    assert 20.0 <= least["near"] < 40.0
    assert 80.0 <= least["far"] < 100.0
    # 400 packets, of which 8 are expected to be lost; the standard deviation is 2.8.
    assert 0 < sum(probe.lost for probe in record.probes) < 20


@pytest.mark.slow
def test_further_hosts_have_the_delays_of_their_paths(backend: LiveBackend) -> None:
    scenario = Scenario(
        experiment="hosts",
        duration="3s",
        lead="0s",
        up="10mbit",
        down="10mbit",
        rtt="20ms",
        flows=(Flow(name="up", direction="up", rate="1mbit", client=3, dscp="CS1"),),
        probes=(
            Probe(name="near", kind="icmp", client=2, server=2, dscp="EF"),
            Probe(name="far", kind="udp_rr", rtt="80ms", client=3, server=3),
        ),
    )
    record = runner.run_all([scenario], backend=backend)[0].record
    least = {probe.name: probe.rtt_ms.min for probe in record.probes}
    assert 20.0 <= least["near"] < 40.0
    assert 80.0 <= least["far"] < 100.0
    assert record.flows[0].goodput_mbit == pytest.approx(1, rel=0.1)


def test_a_discipline_with_a_variant_runs_live(backend: LiveBackend) -> None:
    scenario = Scenario(
        experiment="variant",
        duration="2s",
        lead="0s",
        up="5mbit",
        down="5mbit",
        rtt="20ms",
        qdisc_up="gbw:pie",
        qdisc_down="fq_codel variant ns2 limit 100",
        flows=(Flow(name="a", direction="up"), Flow(name="b", direction="down", congestion_control="reno")),
        tcp=Tcp(ecn=True),
    )
    record = runner.run_all([scenario], backend=backend)[0].record
    assert "variant linux-3.14" in record.bottleneck["up"].qdisc_text
    assert "variant ns2" in record.bottleneck["down"].qdisc_text
    assert all(flow.goodput_mbit > 1 for flow in record.flows)


@pytest.mark.slow
def test_validate_compares_live_with_sim(backend: LiveBackend, inside: Cli) -> None:
    done = inside(
        *("validate", "rrul", "--backend", "live", "--links", "10/10", "--qdisc", "fq_codel", "--duration", "4s"),
        *("--repeat", "1", "--sim-repeat", "2", "--workers", "1", "--json"),
        status=None,
    )
    assert done.returncode in (0, 1), done.stderr
    entries = json.loads(done.stdout)
    judged = [entry for entry in entries if entry["bar"] is not None]
    assert {entry["metric"] for entry in judged} >= {"goodput_up_mbit", "goodput_down_mbit", "induced_latency_ms"}
    for entry in entries:
        assert entry["pair"] == ["sim", "live"]
        assert entry["linux"] is None
    assert all(entry["live"] > 0 and entry["sim"] > 0 for entry in judged)
    assert "1 live runs, one after the other in real time" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--qdisc", "cake nat"), "qdisc_up: cake.nat needs a kernel's connection tracking: use the linux back end"),
    ],
)
def test_what_it_has_not_is_refused(backend: LiveBackend, cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    done = cli("run", "rrul", "--backend", "live", "--duration", "1s", *words, status=2)
    assert_one_sentence(done, sentence)


def test_captures_are_the_simulators(backend: LiveBackend, cli: Cli) -> None:
    done = cli("run", "rrul", "--backend", "live", "--duration", "1s", "--pcap", "x.pcapng", status=2)
    assert_one_sentence(done, "only the sim back end writes captures")


@pytest.mark.parametrize("value", ["x", "-1", "10001"])
def test_the_busy_poll_time_is_checked(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(live, "TUN", Path("/dev/null"))
    monkeypatch.setenv(live.BUSY_POLL, value)
    with pytest.raises(ParamError, match="must be a whole number from 0 to 10000"):
        backends.reach(backends.named("live"))


def test_without_tun_it_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "TUN", Path("/nowhere/tun"))
    with pytest.raises(SojournError, match="/nowhere/tun is not there: load the kernel module tun"):
        backends.reach(backends.named("live"))


def test_its_runs_are_made_one_at_a_time() -> None:
    assert LiveBackend().shares_a_clock
    assert not backends.SIMULATOR.shares_a_clock


def test_backends_of_a_validation_are_real_ones(cli: Cli) -> None:
    for words in (("sim",), ("live", "live"), ("ns3",)):
        options = [word for name in words for word in ("--backend", name)]
        done = cli("validate", "rrul", *options, status=2)
        assert_one_sentence(done, f"backend is {', '.join(words)}, but must be linux, live, or each of them once")
