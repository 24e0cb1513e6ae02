"""Validations of cells: what is drawn, what is compared, and what the tables say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sojourn import backends
from sojourn.errors import ParamError
from sojourn.papers.wifi_stack.evidence import PAPER
from sojourn.validate import suite, wifi_draw, wifi_sets, wifi_words
from sojourn.validate.execute import Both, Repeats
from sojourn.validate.grid import PlannedCell
from sojourn.validate.judge import judge
from sojourn.validate.part import Part, grid_entries
from tests.records import Json, run_of


def record_of(cell: PlannedCell) -> Json:
    scenario = replace(cell.scenario, duration="2s", flows=cell.scenario.flows[:2])
    record: Json = json.loads(backends.SIMULATOR.run(scenario.normalized()))
    return record


def part_of(cell: PlannedCell, sim: Json, kernel: Json, name: str = "wifi-latency") -> Part:
    sides = [tuple(run_of(one) for _ in range(2)) for one in (sim, kernel)]
    rows = judge(Both(cell=cell, sim=sides[0], kernel=sides[1]))
    return Part(name=name, command="", facts={}, entries=grid_entries(rows), scenarios={})


def test_scenario_k_depends_on_the_seed_and_k_alone() -> None:
    few, many = wifi_draw.draw(3, 7), wifi_draw.draw(9, 7)
    assert few == many[:3]
    assert few != wifi_draw.draw(3, 8)


def test_drawn_cells_cover_what_they_should_and_run_on_both_back_ends() -> None:
    cells = wifi_draw.draw(60, 1)
    found = [cell.scenario.wifi for cell in cells]
    assert {wifi.scheme for wifi in found if wifi is not None} == {"airtime", "fq_mac", "fifo"}
    numbers = [len(wifi.stations) for wifi in found if wifi is not None]
    assert min(numbers) == 1
    assert max(numbers) >= 20
    loads = {cell.link.split(", ")[1] for cell in cells}
    assert loads == set(wifi_draw.LOADS)
    assert any(one.error for wifi in found if wifi is not None for one in wifi.stations)
    assert any(len(cell.scenario.flows) < len(cell.scenario.probes) for cell in cells)
    for cell in cells:
        cell.scenario.normalized("linux")


@pytest.mark.parametrize("name", wifi_sets.SETS)
def test_each_set_has_cells_that_both_back_ends_take(name: str) -> None:
    cells = suite.cells_of(suite.Request(experiment=name))
    assert len({cell.name for cell in cells}) == len(cells) >= 2
    for cell in cells:
        cell.scenario.normalized("linux")


def test_options_of_grids_are_refused_for_cells() -> None:
    for request in (
        suite.Request(experiment="wifi-dense", count=3),
        suite.Request(experiment="wifi-airtime", links="10/10"),
        suite.Request(experiment="wifi-airtime", options=suite.GridOptions(rtt="5ms")),
    ):
        with pytest.raises(ParamError, match="has cells of its own"):
            suite.cells_of(request)


def test_all_sets_are_asked_for_by_one_word() -> None:
    parts = suite.whole(suite.Request(experiment=suite.WIFI, count=4, repeats=Repeats(sim=1, kernel=1)))
    assert [one.experiment for one in parts] == list(wifi_sets.SETS)
    assert [one.count for one in parts] == [4, None, None, None, None, None]


def test_a_cell_beside_itself_agrees_in_every_value() -> None:
    cell = wifi_sets.cells_of("wifi-latency", count=None, seed=1, duration=None)[3]
    record = record_of(cell)
    part = part_of(cell, record, record)
    kinds = part.counts()
    assert set(kinds) == {"airtime shares", "goodput of flows", "median pings", "95th percentiles of pings"}
    assert all(one.agrees == one.cells == 1 for one in kinds.values())


def test_a_value_outside_its_bar_is_told_with_its_station() -> None:
    cell = wifi_sets.cells_of("wifi-latency", count=None, seed=1, duration=None)[7]
    sim = record_of(cell)
    kernel = json.loads(json.dumps(sim))
    stations = kernel["wifi"]["stations"]
    # Of the whole airtime and what is added the station has 0.011 more, as the two others have half of that less each.
    whole = sum(one["airtime_tx_ms"] + one["airtime_sent_ms"] for one in stations)
    for one, more in zip(stations, (-0.0055, -0.0055, 0.011), strict=True):
        one["airtime_tx_ms"] += more * whole
    kernel["probes"][0]["rtt_ms"]["median"] = 1.12 * sim["probes"][0]["rtt_ms"]["median"] + 2.3
    part = part_of(cell, sim, kernel)
    table = wifi_words.table(part)
    assert "2 of 3 | slow: " in table
    assert "2 of 3 | fast1: " in table
    assert "3 of 3" in table
    assert wifi_words.is_cells(part)


def test_what_stations_sent_counts_with_its_collisions_on_both_sides() -> None:
    cell = wifi_draw.draw(14, 1)[13]
    sim = record_of(cell)
    stations = sim["wifi"]["stations"]
    assert all(one["airtime_sent_ms"] > one["airtime_rx_ms"] > 0 for one in stations), "a cell by TCP up has collisions"
    # A kernel's driver tells of all that a station sent as received.
    kernel = json.loads(json.dumps(sim))
    for one in kernel["wifi"]["stations"]:
        one["airtime_rx_ms"] = one.pop("airtime_sent_ms")
    shares = [row for row in part_of(cell, sim, kernel).entries if row.metric.startswith("airtime_")]
    assert len(shares) == len(stations)
    assert all(row.difference == 0 and row.verdict == "agrees" for row in shares)
    assert sum(row.number("sim") or 0.0 for row in shares) == pytest.approx(1.0)


def test_both_sides_have_locked_receive_buffers() -> None:
    for name in wifi_sets.SETS:
        for cell in suite.cells_of(suite.Request(experiment=name)):
            for backend in ("sim", "linux"):
                plain = json.loads(cell.scenario.normalized(backend))
                assert plain["tcp"]["receive_buffer"] == "locked", cell.name


def test_the_table_of_the_paper_stands_beside_both() -> None:
    cell = wifi_sets.cells_of("wifi-anomaly", count=None, seed=1, duration=None)[1]
    record = record_of(cell)
    text = "\n".join(wifi_words.body(part_of(cell, record, record, "wifi-anomaly"), 2))
    assert "Ending the Anomaly" in text
    # The sums of the model and of the measurement, as printed in the paper.
    assert {name: round(sum(row[2] for row in each.values()), 1) for name, each in PAPER.items()} == {
        "fifo": 26.2,
        "airtime": 86.7,
    }
    assert "| airtime fairness | fast1 | 19.0 |" in text
