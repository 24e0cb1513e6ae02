"""The tables that `sojourn run --wifi-stats` prints."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.cli import wifi_stats
from sojourn.errors import ParamError
from sojourn.record import WifiRecord
from tests.records import Json, struct_of

_COUNTERS = {"packets": 11, "bytes": 12, "drops": 13, "marks": 14, "overflows": 15, "collisions": 16, "new_flows": 17}


def _station(name: str, **more: Any) -> Json:
    tids = [{"tid": 6, "direction": "down", **_COUNTERS}]
    return {"name": name, "airtime_tx_ms": 1.5, "airtime_rx_ms": 0.25, "weight": 256, "tids": tids, **more}


def test_the_table_of_airtime_has_deficits_by_category() -> None:
    deficits = {"vo": 300, "vi": 301, "be": -42, "bk": 302}
    airtime, _ = wifi_stats.describe(struct_of(WifiRecord, {"stations": [_station("a", deficit_us=deficits)]}))
    assert airtime.splitlines()[-1].split() == ["a", "1.5", "0.2", "256", "300", "301", "-42", "302"]


def test_policies_have_columns_only_where_they_are() -> None:
    plain, _ = wifi_stats.describe(struct_of(WifiRecord, {"stations": [_station("a")]}))
    assert "group" not in plain
    airtime, _ = wifi_stats.describe(struct_of(WifiRecord, {"stations": [_station("a", group="guest"), _station("b")]}))
    assert "group" in airtime
    assert [line.split()[-1] for line in airtime.splitlines()[-2:]] == ["guest", "-"]


def test_the_table_of_queues_has_a_row_for_each_tid() -> None:
    _, aqm = wifi_stats.describe(struct_of(WifiRecord, {"stations": [_station("a"), _station("b")]}))
    last = aqm.splitlines()[-1].split()
    assert last == ["b", "down", "6", "11", "12", "13", "14", "15", "16", "17"]


def test_the_tables_are_of_one_run_with_a_cell() -> None:
    wifi_stats.check('{"wifi": {}}', 1)
    with pytest.raises(ParamError, match="no cell"):
        wifi_stats.check("{}", 1)
    with pytest.raises(ParamError, match="repeat is 3"):
        wifi_stats.check('{"wifi": {}}', 3)
