"""The Wi-Fi stack: its plan, its mechanisms by hand, and its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sojourn import papers
from sojourn.backends import SIMULATOR
from sojourn.papers.wifi_stack import by_hand, exhibits
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    AXES,
    DEPTHS,
    EQUAL,
    FIFO,
    FQ_MAC,
    LEVEL_VO,
    LEVELS,
    LOSSLESS,
    LOSSY,
    ONE_TID,
    OVERLOAD,
    SCHEMES,
    SHAPED,
    TCP,
    TWO_TIDS,
    UDP,
    VOICE_VO,
    observe,
)
from sojourn.papers.wifi_stack.plan import StackBed, cells, processor_time
from sojourn.plots import wifi as plots
from tests.conftest import Cli
from tests.records import Json
from tests.studies import STUDIES, load

STUDY = STUDIES["wifi_stack"]
BED = StackBed(profile=papers.paper("wifi-stack").profiles["quick"])


def test_processor_time_is_measured_five_times_for_each_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.papers.wifi_stack.plan.CPU_DURATION", "1s")
    found = processor_time(BED, SIMULATOR)
    assert {scheme: len(values) for scheme, values in found.items()} == {FIFO: 5, FQ_MAC: 5}
    assert all(value > 0 for values in found.values() for value in values)


def test_fairness_before_priority_is_shown_by_hand() -> None:
    assert by_hand.lower_before_higher(fairness_first=True) == 200  # `b` has two turns for each of `a`
    assert by_hand.lower_before_higher(fairness_first=False) == 0


def test_a_lost_frame_behind_the_queue_stalls_the_window() -> None:
    """64 frames after the lost one the sender has none that it may send, and the lost one waits behind 500 others."""
    first, last = (by_hand.resend(first=where) for where in (True, False))
    assert first.stalled == 0
    assert first.delivered > 5000
    assert last.stalled == 198
    assert last.delivered < 64


def test_numbers_given_before_flow_queueing_make_packets_late() -> None:
    assert by_hand.discarded(numbered_before=True) > 100
    assert by_hand.discarded(numbered_before=False) == 0


def test_every_cell_of_the_plan_is_a_scenario_that_the_simulator_takes() -> None:
    for one in cells():
        found = json.loads(BED.scenario(one).normalized())
        assert found["wifi"]["scheme"] == one.scheme
        assert found["tcp"]["variant"] == "linux-3.14"
        assert found["duration"] == ("120s" if one.experiment == TCP else "30s")


def test_cells_are_of_the_kind_that_their_claims_need() -> None:
    def of(experiment: str, scheme: str = FQ_MAC) -> Json:
        found = json.loads(BED.scenario(AXES(experiment, scheme)).to_json())
        assert isinstance(found, dict)
        return found

    assert of(SHAPED)["down"] == "80mbit"
    assert [one["rate"] for one in of(EQUAL)["wifi"]["stations"]] == ["ht mcs 15 20mhz sgi"] * 3
    assert of(OVERLOAD)["wifi"]["limit"] == 100
    assert of(OVERLOAD, FIFO)["wifi"]["qdisc"] == "pfifo_fast limit 100 variant linux-3.14"
    assert [one["dscp"] for one in of(LEVELS)["flows"]] == ["CS6", "CS5", "CS0", "CS1"]
    assert of(LEVEL_VO)["flows"][0]["dscp"] == "CS6"
    assert {of(name)["wifi"]["hardware_queue"] for name in DEPTHS.values()} == {1, 2, 4}
    assert (of(LOSSY)["wifi"]["stations"][0]["error"], of(LOSSLESS)["wifi"]["stations"][0]["error"]) == (0.2, 0.0)
    assert len({one["dscp"] for one in of(ONE_TID)["flows"]}) == 1
    assert len({one["dscp"] for one in of(TWO_TIDS)["flows"]}) == 2
    assert of(VOICE_VO)["probes"][-1]["dscp"] == "CS6"


def test_a_real_run_is_observed_as_its_record_says() -> None:
    from sojourn import api

    run = api.run("wifi_udp", scheme="fq_mac", duration="2s")
    found = observe(run)
    wifi = run.record.wifi
    assert found.stations["slow"].airtime_share == wifi.stations[2].airtime_share
    assert sum(one.airtime_share for one in found.stations.values()) == pytest.approx(1.0)
    assert found.goodput["udp_fast1"] == run.record.flows[0].goodput_mbit
    assert found.loss["udp_slow"] > 0.5
    assert set(found.ping_ms) == {"fast1", "fast2", "slow"}
    assert found.stations["fast1"].aggregate_frames > 20


def test_the_model_is_fed_with_the_measured_aggregates() -> None:
    """28 frames of 1500 bytes and 2: the slow station's share without fairness, by hand, and thirds with it."""
    fair = exhibits.predicted(STUDY.world(), AIRTIME)
    assert [one.share for one in fair] == [pytest.approx(1 / 3)] * 3
    exact = {name: {"aggregate_frames": 28} for name in ("fast1", "fast2")}
    plain = exhibits.predicted(STUDY.world({"at": [UDP, FQ_MAC], "set": {"stations": exact}}), FQ_MAC)
    fast, slow = 40 + 28 * 1544 * 8 / 144.44, 36 + 2 * 1544 * 8 / 7.22
    assert plain[2].share == pytest.approx(slow / (slow + 2 * fast), rel=1e-6)


def test_exhibits_are_in_the_order_of_the_paper_and_have_pictures() -> None:
    found = exhibits.GALLERY.exhibits(STUDY.world())
    assert [one.name for one in found] == ["fig2", "fig3", "model", "fig4", "cells"]
    for one in found:
        for figure in one.figures:
            assert figure.png.startswith(b"\x89PNG")
    model = next(one.table for one in found if one.name == "model")
    assert model is not None
    assert [row[0] for row in model.rows if row[1] == "total"] == ["FIFO", "FQ-CoDel", "FQ-MAC", "Airtime fair FQ"]
    assert exhibits.GALLERY.exhibits(STUDY.evidence({})) == ()


def test_figures_without_numbers_say_so() -> None:
    for draw in (plots.ping_cdf, plots.airtime_shares, plots.throughput_bars):
        words = [text.get_text() for axis in draw({}).axes for text in axis.texts]
        assert words == ["no data"]


def test_stacked_shares_reach_the_top_and_bars_have_the_means() -> None:
    shares = {"airtime": {"fast1": [0.3, 0.34], "fast2": [0.33], "slow": [0.35]}}
    (axis,) = plots.airtime_shares(shares).axes
    assert [round(bar.get_height(), 3) for bar in axis.patches] == [0.32, 0.33, 0.35]
    rates = {scheme: {"fast1": [3.0, 5.0], "fast2": [6.0, 6.0], "slow": [1.0, 1.0]} for scheme in SCHEMES}
    (axis,) = plots.throughput_bars(rates).axes
    assert [round(bar.get_height(), 3) for bar in axis.patches][:4] == [4.0, 6.0, 1.0, 3.667]


@pytest.mark.slow
def test_reproduce_writes_claims_figures_and_the_page(cli: Cli, tmp_path: Path) -> None:
    words = ("--duration", "2s", "--repeat", "2", "--out", "o", "--document", "docs/page.md")
    done = cli("reproduce", "wifi-stack", *words)
    found = json.loads((tmp_path / "o/claims.json").read_text())
    assert [one["id"] for one in found] == [claim.id for claim in load("wifi_stack")]
    assert {path.stem for path in (tmp_path / "o/figures").glob("*.png")} == {"fig2", "fig3", "fig4"}
    assert "report: o/report.html" in done.stdout
    page = (tmp_path / "docs/page.md").read_text()
    assert all(one["id"] in page for one in found)
    verdicts = {one["id"]: one["verdict"] for one in found}
    # What two runs of 2 s suffice for.
    assert [verdicts[name] for name in ("wst-24", "wst-26", "wst-27", "wst-28", "wst-32")] == ["holds"] * 5


def test_parts_have_their_own_cells() -> None:
    assert {one.experiment for one in cells(("airtime",))} == {UDP}
    assert {claim.id for claim in load("wifi_stack", parts=("airtime",))} == {"wst-10", "wst-15", "wst-18"}
