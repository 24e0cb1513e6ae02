"""A run in a Wi-Fi cell, and a UDP flow, as `sojourn run` prints them and as frames."""

import json

import polars as pl
import pytest

from sojourn import _native
from sojourn.cli.describe import describe
from sojourn.store import frames
from sojourn.store.run import Run

SCENARIO = {
    "duration": "2s",
    "up": "1gbit",
    "down": "1gbit",
    "rtt": "1ms",
    "wifi": {
        "stations": [{"name": "fast", "rate": "ht mcs 15 20mhz sgi"}, {"name": "slow", "rate": "ht mcs 0 20mhz sgi"}]
    },
    "flows": [
        {"name": "bulk", "direction": "down", "station": "fast"},
        {"name": "flood", "direction": "up", "station": "slow", "protocol": "udp", "rate": "1mbit"},
    ],
}


@pytest.fixture(scope="module")
def run() -> Run:
    return Run(text=_native.run(json.dumps(SCENARIO)))


def test_each_station_has_a_row_for_each_way(run: Run) -> None:
    table = next(part for part in describe(run).split("\n\n") if part.startswith("station"))
    rows = [line.split() for line in table.splitlines()[2:6]]
    assert [row[0] for row in rows] == ["fast", "up", "slow", "up"]
    share = 100 * run.record.wifi.stations[0].airtime_share
    assert rows[0][1:4] == ["down", "144.4", f"{share:.1f}"]
    assert table.splitlines()[6].startswith("airtime: medium busy ")


def test_a_udp_flow_has_a_table_of_its_own(run: Run) -> None:
    parts = describe(run).split("\n\n")
    udp = next(part for part in parts if part.startswith("UDP flow")).splitlines()
    flow = run.record.flows[1]
    assert udp[2].split() == ["flood", "up", f"{flow.goodput_mbit:.2f}", str(flow.sent), "0", "0.00", "%"]
    tcp = next(part for part in parts if part.startswith("flow"))
    assert "bulk" in tcp
    assert "flood" not in tcp


def test_airtimes_are_a_series_and_a_udp_flow_has_no_window(run: Run) -> None:
    series = frames.series(run.record)
    airtime = series.filter(pl.col("metric") == "airtime_ms")
    assert set(airtime["name"]) == {"fast", "slow"}
    assert airtime.height == 2 * 10
    assert set(series.filter(pl.col("metric") == "cwnd_segments")["name"]) == {"bulk"}
    assert set(series.filter(pl.col("metric") == "goodput_mbit")["name"]) == {"bulk", "flood"}
