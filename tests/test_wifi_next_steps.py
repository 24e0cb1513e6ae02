"""The next steps of the Wi-Fi stack: plan, numbers of a made-up record, words and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sojourn import papers
from sojourn.errors import SojournError
from sojourn.papers.wifi_next_steps.evidence import AXES, QUANTITIES, each, observe
from sojourn.papers.wifi_next_steps.exhibits import GALLERY
from sojourn.papers.wifi_next_steps.plan import PARTS, StepsBed, crowd, plan
from sojourn.papers.wifi_next_steps.texts import filled, texts
from sojourn.plots import next_steps as plots
from sojourn.study.cell import Observation
from tests.conftest import Cli
from tests.records import Json, flow, record, run_of
from tests.studies import STUDIES

STUDY = STUDIES["wifi_next_steps"]
BED = StepsBed(profile=papers.paper("wifi-next-steps").profiles["quick"])


def scenario(part: str, option: str, load: str) -> Json:
    found = next(one for cell, one in BED.cells() if cell == AXES(part, option, load))
    plain = json.loads(found.to_json())
    assert isinstance(plain, dict)
    return plain


def test_every_cell_is_a_scenario_that_the_simulator_takes_and_none_is_there_twice() -> None:
    cells = list(BED.cells())
    assert len({cell for cell, _ in cells}) == len(cells) == 136
    for _, one in cells:
        assert json.loads(one.normalized())["duration"] == "10s"
    assert {cell.part for cell, _ in cells} == set(PARTS) == set(papers.paper("wifi-next-steps").parts)


def test_the_plan_has_each_cell_as_often_as_the_profile_says() -> None:
    runs = plan(StepsBed(profile=BED.profile, parts=("policies",), seed=5))
    assert len(runs) == 6 * 3
    assert sorted({one.scenario.seed for one in runs if one.cell.option == "equal"}) == [5, 6, 7]


def test_options_are_where_a_cell_says() -> None:
    assert scenario("hardware", "defer 200 us", "built in 500 us")["wifi"] | {"stations": 0} == {
        "scheme": "airtime",
        "defer": "200us",
        "build_time": "500us",
        "stations": 0,
    }
    assert scenario("hardware", "8, AQL 2 ms", "built in 0 us")["wifi"]["aql_high"] == "2ms"
    losses = scenario("retries", "retry 50 ms", "slow 30 %")["wifi"]
    assert [one["error"] for one in losses["stations"]] == [0.0, 0.0, 0.3]
    assert losses["retry_time"] == "50ms"
    assert "retry_time" not in scenario("retries", "count only", "slow 30 %")["wifi"]
    dense = scenario("dense", "airtime, 1 ms from 8", "16")["wifi"]
    assert (dense["dense_stations"], len(dense["stations"])) == (8, 16)
    guests = scenario("policies", "guests at most 20 %", "down")["wifi"]
    assert [one.get("group") for one in guests["stations"]] == [None, "guest", "guest"]
    assert guests["groups"] == [{"name": "guest", "cap": 0.2}]
    assert scenario("accounts", "credit", "20")["wifi"]["accounting_delay"] == "20ms"
    marked = scenario("demote", "20 ms", "CS5 (VI)")
    assert [(one["name"], one.get("dscp")) for one in marked["flows"]][0] == ("bulk", "CS5")
    assert marked["wifi"]["demote"] == "20ms"
    over = scenario("qos", "fairness", "slow over its share")
    assert over["flows"][-1] | {"name": 0} == {
        "name": 0,
        "direction": "up",
        "protocol": "udp",
        "rate": "6mbit",
        "station": "slow",
    }
    ride = scenario("voice", "hold 3", "8 up and down")
    assert (len(ride["flows"]), ride["wifi"]["vo_in_aggregate_hold"]) == (16, 3)


def test_every_fourth_station_of_a_crowd_is_of_an_older_rate() -> None:
    assert [one.rate.split()[2] for one in crowd(8)] == ["15", "15", "15", "3", "15", "15", "15", "3"]


def of_two_stations() -> Json:
    """Return a made-up record of two stations, 10 s, in which all numbers can be worked out by hand."""

    def station(name: str, airtime: float, **more: Any) -> Json:
        down = {"aggregates": 100, "aggregate_frames": 10.0 if name == "a" else 20.0}
        tx = {"airtime_tx_ms": airtime, "airtime_rx_ms": 500.0, "airtime_share": airtime / 6000}
        return {"name": name, **tx, "down": down, **more}

    def probe(name: str, kind: str, times: str, lost: int, **numbers: float) -> Json:
        more = {"base_delay_ms": 0.5} if kind == "voip" else {}
        return {"name": name, "kind": kind, "sent": 50, "lost": lost, times: {"count": 50 - lost, **numbers}, **more}

    latency = {"expired": 30, "pending_mean_ms": 4.0}
    return record(
        scenario={
            "probes": [{"name": f"{kind}_{name}", "station": name} for kind in ("ping", "voip") for name in "ab"],
            "flows": [{"name": name, "station": "a"} for name in ("tcp_a", "up_a", "bulk")],
        },
        probes=[
            probe("ping_a", "icmp", "rtt_ms", 0, median=10.0, p95=20.0),
            probe("ping_b", "icmp", "rtt_ms", 1, median=30.0, p95=60.0),
            probe("voip_a", "voip", "delay_ms", 5, mean=2.5, p95=4.5),
            probe("voip_b", "voip", "delay_ms", 50),
        ],
        flows=[flow("tcp_a", "down", 7.0), flow("up_a", "up", 2.0), flow("bulk", "down", 50.0)],
        wifi={
            "stations": [
                station("a", 4000.0, latency=latency, group="guest", demoted=1),
                station("b", 2000.0, latency=latency | {"expired": 10}, group="guest", voice_in_aggregates=80),
            ],
            "jain_airtime": 0.9,
            "transmissions": 200,
            "collisions": 3,
        },
        series={"t_s": [5.0, 10.0], "airtime_ms": {"a": [1.0, 1.0], "b": [1.0, 0.0]}},
        cost={"sim_s": 12.0},
    )


def test_quantities_are_those_of_the_record() -> None:
    found = observe(run_of(of_two_stations())).numbers
    assert found["ping_ms"] == 20.0
    assert found["ping_p95_ms"] == 40.0
    assert found["ping_loss"] == 1.0  # one of fifty at one of two
    assert found["voice_ms"] == 2.0  # less the base; of `b` none arrived
    assert "voice_ms.b" not in found
    assert (found["voice_loss.a"], found["voice_loss.b"]) == (10.0, 100.0)
    assert (found["mbit"], found["mbit_up"], found["bulk"]) == (7.0, 2.0, 50.0)
    assert found["time.guest"] == pytest.approx(70.0)  # 4 + 2 + 2 x 0.5 of 10 s
    assert found["frames"] == 15.0
    assert (found["expired"], found["demoted"], found["voice_in"], found["pending_ms"]) == (4.0, 0.1, 8.0, 4.0)
    assert found["jain_window"] == 0.75  # of bins with 1 and 1/2
    assert found["collisions"] == 1.5
    assert {name.partition(".")[0] for name in found} <= set(QUANTITIES)


def observation(numbers: dict[str, float], seed: int = 0) -> Observation:
    return Observation(seed=seed, numbers=numbers)


def test_marks_become_numbers_and_differences() -> None:
    evidence = STUDY.evidence(
        {
            AXES("dense", "a, 1", "8"): (
                observation({"ping_ms": 9.0, "jain": 0.5}, 1),
                observation({"ping_ms": 11.0, "jain": 0.6}, 2),
            ),
            AXES("dense", "b", "8"): (observation({"ping_ms": 40.0}, 1), observation({"ping_ms": 40.0}, 2)),
            AXES("dense", "none", "8"): (observation({"ping_ms": 0.0}),),
        }
    )
    text = "A {ping_ms|a, 1|8}, {ping_ms|a, 1|8|b|8}\nand {jain|a, 1|8}, {ping_ms|c|8}, {ping_ms|b|8|none|8}."
    assert filled(text, "dense", evidence) == "A 10.0 ms, -75 % and 0.5500, (no data), (no data)."
    with pytest.raises(SojournError, match="there are no runs of dense: c, 8"):
        each(evidence, AXES("dense", "c", "8"), "ping_ms")
    with pytest.raises(SojournError, match="dense: b, 8 has the quantity"):
        each(evidence, AXES("dense", "b", "8"), "jain")


def test_every_mark_and_check_names_a_cell_of_the_plan_and_a_quantity() -> None:
    cells = {cell for cell, _ in BED.cells()}
    assert {rule.of.partition(".")[0] for claim in STUDY.claims.values() for rule in claim.checks} <= set(QUANTITIES)
    every = dict.fromkeys((f"{name}{end}" for name in QUANTITIES for end in ("", *ENDS)), 1.0)
    evidence = STUDY.evidence(dict.fromkeys(cells, (observation(every, 1), observation(every, 2))))
    for part in PARTS:
        for text in texts(part):
            assert "no data" not in filled(text, part, evidence)
            assert "{" not in filled(text, part, evidence)


ENDS = (".fast1", ".fast2", ".slow", ".guest")


@pytest.mark.slow
def test_exhibits_are_in_the_order_of_the_plan_and_have_pictures() -> None:
    every = dict.fromkeys((f"{name}{end}" for name in QUANTITIES for end in ("", *ENDS)), 0.5)
    found = GALLERY.exhibits(
        STUDY.evidence({cell: (observation(every, 1), observation(every, 2)) for cell, _ in BED.cells()})
    )
    assert [one.name for one in found] == list(PARTS)
    for one in found:
        assert all(figure.png.startswith(b"\x89PNG") for figure in one.figures)
        assert one.table is not None
        assert len(one.paragraphs) == 2
    assert GALLERY.exhibits(STUDY.evidence({})) == ()


def test_figures_without_numbers_say_so() -> None:
    for figure in (plots.dots({}), plots.lines({}, across="x"), plots.trade({}, across="x", along="y")):
        assert [text.get_text() for axis in figure.axes for text in axis.texts] == ["no data"]


def test_axes_of_wide_ranges_are_logarithmic() -> None:
    panels = {"Ping (ms)": {"1": {"a": [1.0], "b": [100.0]}}, "Loss (%)": {"1": {"a": [0.0], "b": [3.0]}}}
    assert [axis.get_yscale() for axis in plots.dots(panels).axes] == ["log", "linear"]
    (axis, _) = plots.lines(panels, across="Stations").axes
    assert [list(line.get_ydata()) for line in axis.lines] == [[1.0], [100.0]]


def test_a_real_run_has_what_the_part_shows() -> None:
    from sojourn import api

    found = next(one for cell, one in BED.cells() if cell == AXES("policies", "guests at most 20 %", "down"))
    numbers = observe(api.run(found)).numbers
    assert numbers["time.guest"] == pytest.approx(20.0, abs=1.0)


@pytest.mark.slow
def test_reproduce_writes_a_part_and_its_page(cli: Cli, tmp_path: Path) -> None:
    words = ("--only", "qos", "--duration", "2s", "--repeat", "2", "--out", "o", "--document", "docs/page.md")
    done = cli("reproduce", "wifi-next-steps", *words)
    assert [one["id"] for one in json.loads((tmp_path / "o/claims.json").read_text())] == ["wnx-19", "wnx-20"]
    assert {path.stem for path in (tmp_path / "o/figures").glob("*.png")} == {"qos"}
    assert "report: o/report.html" in done.stdout
    page = (tmp_path / "docs/page.md").read_text()
    assert "What it brings: " in page
    assert "what is expected" in page
    assert "What it costs: " in (tmp_path / "o/report.html").read_text()
