"""What the compiled part tells a bed of real network stacks, and the record it makes of what the bed saw."""

from __future__ import annotations

import json
import struct
from typing import Any

import polars as pl
import pytest

from sojourn import _native
from sojourn.cli.describe import describe
from sojourn.errors import ParamError
from sojourn.scenario import Flow, Probe, Scenario
from sojourn.store import frames
from sojourn.store.run import Run
from tests.records import Json

SCENARIO = Scenario(
    experiment="bed",
    duration="1s",
    lead="0s",
    start_jitter="0s",
    qdisc_up="pfifo limit 10",
    qdisc_down="cake nat",
    flows=(Flow(name="a", direction="up"),),
    probes=(Probe(name="ping", kind="icmp"),),
)


def measured(**changes: Any) -> str:
    """Return a measurement in which one segment waited 20 ms and another was dropped."""
    sample = {"packets": 0, "bytes": 0, "drops": 0, "overlimits": 0, "queued": 0, "backlog": 0}
    samples = [{"at_ns": 200_000_000 * k, **sample} for k in range(6)]
    counters = {"extra_begin": {}, "extra_end": {}}
    flow = {
        "connected_ns": 0,
        "delivered": [0, 0, 0, 0, 250_000],
        "cwnd": [10] * 5,
        "srtt_us": [50_000] * 5,
        "ssthresh": [100] * 5,
        "delivered_total": 250_000,
        "segments_sent": 200,
        "retransmissions": 1,
        "timeouts": None,
        "syn_retransmissions": 0,
        "completed_ns": None,
        "error": None,
    }
    return json.dumps(
        {
            "format": "sojourn-measured/1",
            "kernel": {"release": "6.1.0", "version": "#1", "virtual_time": True},
            "flows": [flow],
            "probes": [{"samples": [{"sent_ns": 0, "delay_ns": 60_000_000}]}],
            "web": [],
            "up": {"kind": "pfifo", "samples": [*samples[:5], {**samples[5], "drops": 1}], **counters},
            "down": {"kind": "cake", "samples": samples, **counters},
            "counters": {"client": {"TcpExtTCPTimeouts": 2}},
            **changes,
        }
    )


def frame(at_ms: int, key: int, *, left: bool) -> bytes:
    """Return a record of a full data segment of the first flow, going up."""
    return struct.pack("<qQHHBBH", at_ms * 1_000_000, key, 1514, 0, 0, (2 if left else 0) | 4, 0)


PACKETS = frame(100, 1, left=False) + frame(110, 2, left=False) + frame(120, 1, left=True)


def record() -> Json:
    text = _native.record_measured(SCENARIO.to_json(), measured(), PACKETS, 1.5, 20.0)
    found: Json = json.loads(text)
    return found


def test_a_measured_record_has_the_fields_of_the_contract_and_says_where_it_is_from() -> None:
    found = record()
    assert (found["format"], found["backend"]) == ("sojourn-run/1", "linux")
    assert found["kernel"] == {"release": "6.1.0", "version": "#1", "virtual_time": True}
    assert found["tcp_counters"] == {"client": {"TcpExtTCPTimeouts": 2}}
    assert found["scenario"] == json.loads(SCENARIO.normalized("linux"))
    assert (found["cost"]["wall_s"], found["cost"]["peak_rss_mb"], found["cost"]["events"]) == (1.5, 20.0, 0)
    up = found["bottleneck"]["up"]
    assert (up["packets"], up["drops"]["queue_limit"], up["first_drop_s"]) == (1, 1, {"queue_limit": 0.11})
    assert up["sojourn_ms"] == {"mean": 20.0, "p95": 20.0, "max": 20.0}
    assert found["bottleneck"]["down"]["qdisc_text"] == "cake nat"
    # By hand: 250,000 bytes in a second; 60 ms on a path of 50 ms.
    assert found["summary"]["goodput_up_mbit"] == pytest.approx(2.0)
    assert found["summary"]["induced_latency_ms"] == pytest.approx(10.0)
    (flow,) = found["flows"]
    assert [flow[name] for name in ("timeouts", "loss_probes", "undone")] == [None, None, None]


def test_a_simulated_record_is_without_the_fields_of_a_kernel() -> None:
    found = json.loads(_native.run(Scenario(experiment="sim", duration="1s", flows=SCENARIO.flows).to_json()))
    assert not {"kernel", "tcp_counters"} & found.keys()
    assert "error" not in found["flows"][0]
    assert isinstance(found["flows"][0]["timeouts"], int)


def test_a_measured_run_is_stored_as_a_simulated_one_is() -> None:
    head, series, summary = _native.store_measured(SCENARIO.to_json(), measured(), PACKETS, 1.5, 20.0, "a" * 32)
    whole = record()
    stored = json.loads(head)
    assert stored.pop("stored")["id"] == "a" * 32
    assert stored == {key: value for key, value in whole.items() if key != "series"}
    assert json.loads(summary) == whole["summary"]
    assert pl.read_parquet(series).equals(frames.series(Run(text=json.dumps(whole)).record), null_equal=True)


def test_what_a_kernel_does_not_tell_is_a_dash_in_the_table_and_a_null_in_the_frame() -> None:
    run = Run(text=_native.record_measured(SCENARIO.to_json(), measured(), PACKETS, 1.5, 20.0))
    (row,) = [line for line in describe(run).splitlines() if line.startswith("a ")]
    assert row.split() == ["a", "cubic", "2.00", "1", "-"]
    assert run.flows["timeouts"].to_list() == [None]


def test_a_plan_has_the_traffic_and_what_tcp_is_to_be() -> None:
    plan = json.loads(_native.load_plan(SCENARIO.to_json()))
    assert (plan["format"], plan["duration_ns"], plan["paths"]) == ("sojourn-load/2", 1_000_000_000, [50_000_000])
    assert [flow["spec"]["name"] for flow in plan["flows"]] == ["a"]
    assert plan["probes"][0]["spec"]["kind"] == "icmp"
    assert plan["tcp"]["min_rto"] == "200ms"


@pytest.mark.parametrize(
    ("text", "kind", "options"),
    [
        ("pfifo limit 127", "pfifo", {"limit": 127}),
        ("cake lan", "cake", {"rtt_us": 1000, "target_us": 50}),
        ("netem delay 15ms limit 110", "netem", {"limit": 110, "delay_ns": 15_000_000}),
        (
            "gbw:codel",
            "codel",
            {"limit": 1000, "target_us": 13_000, "interval_us": 100_000, "ecn": False},
        ),
    ],
)
def test_a_kernel_is_told_names_with_units(text: str, kind: str, options: Json) -> None:
    # At 1 Mbit/s the paper's CoDel has a target of 13 ms.
    assert json.loads(_native.kernel_qdisc(text, 1_000_000)) == {"kind": kind, "options": options}


def test_scenarios_are_normalized_for_a_back_end() -> None:
    assert json.loads(SCENARIO.normalized("linux"))["qdisc_down"] == "cake nat"
    assert Scenario.from_json(SCENARIO.normalized("linux"), "linux").qdisc_down == "cake nat"
    with pytest.raises(ParamError, match="qdisc_down: cake.nat needs a kernel's connection tracking"):
        SCENARIO.normalized()
    with pytest.raises(ParamError, match='backend is "ns3", but must be "sim", "linux" or "live"'):
        SCENARIO.normalized("ns3")


@pytest.mark.parametrize(
    ("found", "packets", "wall_s", "sentence"),
    [
        ("{", PACKETS, 1.0, "the measurement cannot be read: "),
        (measured(format="x"), PACKETS, 1.0, 'format of the measurement is "x", but must be "sojourn-measured/1"'),
        (measured(), PACKETS[:-1], 1.0, "length of the watched frames is 71, but must be a multiple of 24"),
        (measured(), PACKETS, -1.0, "wall_s is -1, but must be a number >= 0"),
        (measured(), PACKETS, float("nan"), "wall_s is NaN, but must be a number >= 0"),
        (measured(web=[{"fetches": []}]), PACKETS, 1.0, "number of measured web clients is 1, but must be 0"),
    ],
)
def test_a_measurement_that_cannot_be_is_one_sentence(found: str, packets: bytes, wall_s: float, sentence: str) -> None:
    with pytest.raises(ParamError) as caught:
        _native.record_measured(SCENARIO.to_json(), found, packets, wall_s, 0.0)
    assert str(caught.value).startswith(sentence)
