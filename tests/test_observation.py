"""What is kept of a run for the claims."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import sojourn
from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.observation import BINS, known, observe
from sojourn.study.cell import Observation
from tests.records import Json, run_of
from tests.studies import STUDIES
from tests.synthetic import DEFAULTS, record

STUDY = STUDIES["good_bad_wifi"]
RTTS = (10.0, 50.0, 200.0, 500.0)


def observation(values: Json) -> Observation:
    return observe(record(3, {**DEFAULTS, **values}))


def of_cell(*fields: str) -> Observation:
    return STUDY.make(STUDY.cell(*fields), 3, STUDY.values(STUDY.cell(*fields)))


def test_observation_agrees_with_the_record_of_a_run() -> None:
    run = sojourn.run("rrul", qdisc="gbw:codel", up="1mbit", down="10mbit", rtt="50ms", seed=5, duration="40s")
    found = observe(run)
    assert (found.seed, found.duration_s) == (5, 40.0)
    assert found.goodput_up == run.summary.goodput_up_mbit
    assert found.latency_ms == run.summary.induced_latency_ms
    assert [flow.name for flow in found.flows] == run.flows["name"].to_list()
    assert all(flow.payload_remainder is not None and flow.payload_remainder < 0.01 for flow in found.flows)
    assert (found.down.rate_mbit, found.up.rate_mbit) == (10.0, 1.0)
    assert found.before_ms == pytest.approx(50.0, abs=2.0)
    # The start-up, and what comes after it, together are all samples of the run.
    probes = run.record.series.rtt.values()
    samples = [rtt for one in probes for t, rtt in zip(one.t_s, one.rtt_ms, strict=True) if t >= 30 and rtt]
    assert found.settled_ms == pytest.approx(np.mean(samples))
    first = [
        rtt for one in probes for t, rtt in zip(one.t_s, one.rtt_ms, strict=True) if 0 <= t < 0.2 and rtt is not None
    ]
    assert found.curve_ms[0] == pytest.approx(np.mean(first))
    assert found.curve_ms.shape == (BINS,)
    assert found.probe_mbit is not None
    assert 0 < found.probe_mbit < 0.1
    # A record may hold what later versions write; what this one does not is not there.
    assert (found.voice, found.pages) == (None, None)


def test_observation_is_small() -> None:
    run = sojourn.run("rrul", qdisc="gbw:codel", duration="40s")
    assert len(pickle.dumps(observe(run))) < len(run.text) / 10


def test_voice_delay_is_induced_and_bins_without_packets_are_left_out() -> None:
    found = of_cell("voip_rrul", "10/1", "codel").voice
    assert found is not None
    assert found.loss_percent == pytest.approx(10.6)
    assert found.delay_ms.size == found.t_s.size == 250
    assert float(np.median(found.delay_ms)) == pytest.approx(20.0, rel=0.01)
    assert float(found.delay_ms[0]) == pytest.approx(100.0, rel=0.01)


def test_fetches_keep_their_times_and_lost_syns() -> None:
    found = of_cell("web:google", "10/1", "ared").pages
    assert found is not None
    assert found.time_s.size == found.syns.size == 20
    assert found.syns.sum() == 10


def test_fairness_flows_keep_their_drop_gaps_and_windows() -> None:
    flows = of_cell("rtt_fairness", "10/1", "pfifo_fast").flows
    assert tuple(flow.rtt_ms for flow in flows) == RTTS
    assert flows[0].early_window is not None
    assert flows[0].late_window is not None
    assert flows[0].early_window > flows[0].late_window
    assert flows[0].gaps_cv == pytest.approx(3.0, rel=0.01)


def test_what_the_record_does_not_tell_is_none() -> None:
    found = observation({})
    assert (found.voice, found.pages) == (None, None)
    assert found.flows[0].gaps_cv is None
    with pytest.raises(SojournError, match="the run with seed 3 has no voice flow"):
        known(found.voice, found, "voice flow")


def test_no_congestion_drop_comes_later_than_any_time() -> None:
    assert observation({"first_drop": {}}).up.first_drop_s == np.inf
    assert observation({"first_drop": {"congestion": 0.0}}).up.first_drop_s == 0.0


def test_unanswered_probes_leave_holes() -> None:
    body = json.loads(record(1, DEFAULTS).text)
    rtt = body["series"]["rtt"]["ping"]
    rtt["rtt_ms"] = [None if 0 <= time < 1 else trip for time, trip in zip(rtt["t_s"], rtt["rtt_ms"], strict=True)]
    curve = observe(run_of(body)).curve_ms
    assert np.isnan(curve[:5]).all()
    assert not np.isnan(curve[5:]).any()
    body["summary"]["induced_latency_ms"] = None
    assert observe(run_of(body)).latency_ms is None
