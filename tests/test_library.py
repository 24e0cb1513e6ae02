"""The Python interface."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import polars as pl
import pytest

import sojourn
from sojourn import _native, experiments, files, progress, runner
from sojourn.store import folder as store
from sojourn.store import frames, metrics


def test_all_is_sorted_and_complete() -> None:
    assert sorted(sojourn.__all__) == sojourn.__all__
    assert all(hasattr(sojourn, name) for name in sojourn.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+", sojourn.__version__)


def test_run_returns_summary_flows_and_series() -> None:
    run = sojourn.run("rrul", qdisc="fq_codel", up="1mbit", down="10mbit", rtt="50ms", seed=1, duration="4s")
    assert 0 < run.summary.goodput_up_mbit < 1 < run.summary.goodput_down_mbit < 10
    assert run.record.scenario["up"] == "1mbit"
    assert dict(run.flows.schema) == frames.FLOW_SCHEMA
    assert run.flows["direction"].to_list() == ["up"] * 4 + ["down"] * 4
    assert dict(run.series.schema) == frames.SERIES_SCHEMA
    names = set(run.series["metric"].unique())
    assert names == {"goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets", "rtt_ms"}
    ends = run.series.filter(pl.col("metric") == "goodput_mbit")["t_s"].unique().sort()
    assert ends.to_list() == pytest.approx([0.2 * (k + 1) for k in range(20)])
    assert run.series.filter(pl.col("metric") == "rtt_ms")["t_s"].min() < 0  # type: ignore[operator]


def test_goodput_series_adds_up_to_the_goodput() -> None:
    run = sojourn.run("tcp_1up", qdisc="pfifo limit 100", duration="6s")
    bins = run.series.filter((pl.col("metric") == "goodput_mbit") & (pl.col("name") == "tcp_up_1"))["value"]
    assert bins.mean() == pytest.approx(run.flows["goodput_mbit"][0], rel=1e-6)


def test_drops_by_reason_and_by_flow_are_the_same_packets() -> None:
    scenario = sojourn.Scenario(
        experiment="drops",
        up="2mbit",
        down="2mbit",
        rtt="20ms",
        qdisc_up="codel target 1ms interval 10ms limit 15",
        qdisc_down="pfifo limit 20",
        duration="10s",
        flows=tuple(sojourn.Flow(name=f"{way}{k}", direction=way) for way in ("up", "down") for k in range(3)),
        probes=(),
    )
    run = sojourn.run(scenario)
    assert dict(run.drops.schema) == frames.DROP_SCHEMA
    for way, end in run.record.bottleneck.items():
        of = run.drops.filter(pl.col("direction") == way)
        total = sum(end.drops.values())
        assert total > 0
        assert of.filter(pl.col("by") == "reason")["packets"].sum() == total
        by_packet = dict(of.filter(pl.col("by") == "flow").group_by("packet").agg(pl.col("packets").sum()).iter_rows())
        assert by_packet["data"] == total - end.syn.dropped - end.ack_drops
        # The acknowledgement that ends a handshake goes the way of the data, and has no row.
        assert 0 <= end.ack_drops - by_packet["ack"] <= 3
    reasons = run.drops.filter((pl.col("by") == "reason") & (pl.col("packets") > 0))
    assert set(reasons["name"]) == {"congestion", "queue_limit"}
    assert reasons["first_s"].null_count() == 0


def test_compare_returns_frames_with_intervals() -> None:
    found = sojourn.compare("bulk", qdiscs=["pfifo limit 100", "codel"], repeat=3, duration="5s", flows_down=0)
    assert dict(found.runs.schema) == metrics.RUN_SCHEMA
    assert found.runs["seed"].to_list() == [1, 2, 3] * 2
    row = found.summary.filter((pl.col("qdisc") == "codel") & (pl.col("metric") == "induced_latency_ms")).row(
        0, named=True
    )
    assert row["low"] <= row["mean"] <= row["high"]
    assert found.cells[0].link == "10/10"


def test_bad_values_raise_param_error() -> None:
    for options in (
        {"qdisc": "fq_cuddle"},
        {"rtt": "long"},
        {"rate": "0mbit"},
        {"cc": "warp"},
        {"colour": "red"},
        {"qdisc": "codel", "qdisc_up": "pie"},
    ):
        with pytest.raises(sojourn.ParamError) as caught:
            sojourn.run("rrul", **options)
        assert str(next(iter(options))) in str(caught.value) or next(iter(options.values())) in str(caught.value)
    assert issubclass(sojourn.ParamError, ValueError)
    with pytest.raises(sojourn.ParamError, match="at least one"):
        sojourn.compare("rrul", qdiscs=[])
    with pytest.raises(sojourn.ParamError, match="ns3"):
        sojourn.run("rrul", backend="ns3")


def test_scenario_mirrors_the_canonical_form() -> None:
    """Every key of the compiled part is a field here, and nothing else is."""
    scenario = experiments.find("rrul").make()
    canonical = json.loads(scenario.normalized())
    assert set(canonical) <= {field.name for field in dataclasses.fields(sojourn.Scenario)}
    tcp = {field.name for field in dataclasses.fields(sojourn.Tcp)}
    left_out = {"save_metrics", "receive_buffer", "abe", "ecn_low", "gso", "bbr2_ecn_max_rtt"}
    left_out |= {"prague_fallback", "prague_rtt", "prague_version", "vegas_beta"}
    assert set(canonical["tcp"]) == tcp - left_out
    tcp_of_all = sojourn.Tcp(
        save_metrics=True,
        receive_buffer="locked",
        ecn=True,
        abe=True,
        ecn_low=True,
        gso=True,
        bbr2_ecn_max_rtt="0s",
        prague_fallback=True,
        prague_rtt="additive",
        prague_version="0.7",
        vegas_beta=8,
    )
    unusual = dataclasses.replace(scenario, tcp=tcp_of_all)
    assert set(json.loads(unusual.normalized())["tcp"]) == tcp
    assert set(canonical["flows"][0]) <= {field.name for field in dataclasses.fields(sojourn.Flow)}
    assert all(
        set(probe) <= {field.name for field in dataclasses.fields(sojourn.Probe)} for probe in canonical["probes"]
    )
    everything = sojourn.Scenario(
        experiment="x",
        duration="1s",
        lead="1s",
        up="1mbit",
        down="1mbit",
        edge_rate="1gbit",
        rtt="10ms",
        qdisc_up="codel",
        qdisc_down="pfifo",
        burst_up="3028b",
        burst_down="3028b",
        start_jitter="1ms",
        spare_acks=True,
        sample_interval="100ms",
        tcp=sojourn.Tcp(
            initial_window=3, receive_window="65536b", ecn=True, hystart=False, mss=1400, delayed_ack=False
        ),
        flows=(
            sojourn.Flow(
                name="a", direction="up", congestion_control="reno", rtt="20ms", start="10ms", bytes=9, rate="1mbit"
            ),
        ),
        probes=(
            sojourn.Probe(name="p", kind="icmp", interval="100ms", size=98),
            sojourn.Probe(name="q", kind="udp_rr", timeout="1s", size=60),
            sojourn.Probe(name="r", kind="isochronous", direction="down", interval="20ms", size=214),
        ),
        seed=7,
    )
    canonical = json.loads(everything.normalized())
    assert canonical["tcp"]["mss"] == 1400
    assert canonical["flows"][0]["bytes"] == 9
    assert canonical["spare_acks"] is True


def test_canonical_scenario_reads_back_as_itself() -> None:
    for name in experiments.BUILT_IN:
        canonical = experiments.find(name).make(up="1mbit", qdisc_up="gbw:codel", seed=5).normalized()
        assert sojourn.Scenario.from_json(canonical).normalized() == canonical
        assert list(json.loads(canonical)) == sorted(json.loads(canonical))


def test_scenario_can_be_run_again_from_its_record() -> None:
    first = sojourn.run("tcp_1down", qdisc="gbw:pie", duration="2s", seed=4)
    again = sojourn.run(sojourn.Scenario.from_json(json.dumps(first.record.scenario)))
    assert again.record.flows == first.record.flows
    assert again.record.summary == first.record.summary
    reno = sojourn.run(sojourn.Scenario.from_json(json.dumps(first.record.scenario)), cc="reno")
    assert reno.flows["congestion_control"].to_list() == ["reno"]


def test_built_in_experiments_have_their_flows_and_probes() -> None:
    def shape(name: str, **options: int) -> tuple[int, int, list[str]]:
        scenario = experiments.find(name).make(**options)
        ways = [flow.direction for flow in scenario.flows]
        return ways.count("up"), ways.count("down"), [probe.kind for probe in scenario.probes]

    assert shape("rrul") == (4, 4, ["icmp", "udp_rr"])
    assert shape("bulk") == (1, 1, ["icmp"])
    assert shape("bulk", flows_up=3, flows_down=0) == (3, 0, ["icmp"])
    assert shape("tcp_1up") == (1, 0, ["icmp"])
    assert shape("tcp_1down") == (0, 1, ["icmp"])


def test_progress_bar_is_quiet_for_what_is_quick(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.progress_bar(2, "quick") as tick:
        tick()
        tick()
    assert capfd.readouterr().err == ""


def test_progress_bar_appears_after_two_seconds(capfd: pytest.CaptureFixture[str]) -> None:
    import time

    with progress.progress_bar(2, "slow") as tick:
        time.sleep(progress.QUIET_S + 0.2)
        tick()
        tick()
    captured = capfd.readouterr()
    assert "slow" in captured.err
    assert "2/2" in captured.err
    assert captured.out == ""


def test_pool_hands_over_each_record_in_its_place() -> None:
    plan = [sojourn.Scenario(experiment=f"n{k}", duration="100ms", seed=k) for k in range(12)]
    runs_by_place: dict[int, sojourn.Run] = {}
    runs = runner.run_all(plan, workers=3, done=runs_by_place.__setitem__)
    assert [run.seed for run in runs] == list(range(12))
    assert [runs_by_place[k] for k in range(12)] == runs


def test_worker_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = [sojourn.Scenario(experiment="x", duration="100ms", seed=k) for k in range(2)]
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(sojourn.SojournError, match="worker process died"):
        runner.run_all(plan, workers=2)
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(sojourn.SojournError, match="cannot be started"):
        runner.run_all(plan, workers=2)


def test_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a/b.txt"
    store.write_file(target, "one")

    def stop(path: Path, data: bytes) -> None:
        path.write_bytes(data[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_new", stop)
    with pytest.raises(KeyboardInterrupt):
        store.write_file(target, "two")
    assert target.read_text() == "one"
    assert [path.name for path in target.parent.iterdir()] == ["b.txt"]


def test_expansion_of_a_preset_depends_on_the_rate() -> None:
    assert "13ms" in _native.expand_qdisc("gbw:codel", 1_000_000)
    assert "5ms" in _native.expand_qdisc("gbw:codel", 10_000_000)
    assert _native.expand_qdisc("gbw:codel", 10_000_000).startswith("codel ")
