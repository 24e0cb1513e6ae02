"""Statistics of a cell's access point as `iw` and debugfs show them: `sojourn run --wifi-stats`."""

from __future__ import annotations

import json
from typing import Literal, get_args

from sojourn import tables
from sojourn.errors import ParamError
from sojourn.record import WifiRecord, WifiStationRecord

_CATEGORIES = ("vo", "vi", "be", "bk")
_Aqm = Literal["packets", "bytes", "drops", "marks", "overflows", "collisions", "new_flows"]
_AQM: tuple[_Aqm, ...] = get_args(_Aqm)
_EXTRAS = (
    ("group", "group"),
    ("adapted_weight", "weight now"),
    ("voice_in_aggregates", "voice in"),
    ("demoted", "demoted"),
)


def check(scenario: str, runs: int) -> None:
    """Raise `ParamError` unless this is one run of a scenario (its text) with a cell."""
    if "wifi" not in json.loads(scenario):
        message = "wifi-stats is given, but the experiment has no cell (key wifi): leave it out"
        raise ParamError(message)
    if runs > 1:
        message = f"wifi-stats is given, but its tables are of one run, and repeat is {runs}"
        raise ParamError(message)


def describe(cell: WifiRecord) -> list[str]:
    """Return the airtime of each station, as debugfs' `airtime`, and the queues of each TID, as its `aqm`."""
    return [_airtime(cell.stations), _aqm(cell.stations)]


def _airtime(stations: list[WifiStationRecord]) -> str:
    """Return times sent to and received from each station, its weight and deficits, and what its policies did."""
    extras = [
        (key, header) for key, header in _EXTRAS if any(getattr(station, key) is not None for station in stations)
    ]
    rows = [
        [
            station.name,
            tables.number(station.airtime_tx_ms, 1),
            tables.number(station.airtime_rx_ms, 1),
            str(station.weight),
            *(str(station.deficit_us[name]) if station.deficit_us is not None else "-" for name in _CATEGORIES),
            *("-" if (value := getattr(station, key)) is None else str(value) for key, _ in extras),
        ]
        for station in stations
    ]
    headers = ["station", "TX (ms)", "RX (ms)", "weight", *(f"deficit {name} (us)" for name in _CATEGORIES)]
    return tables.text([*headers, *(header for _, header in extras)], rows, left=1)


def _aqm(stations: list[WifiStationRecord]) -> str:
    """Return the counters of each traffic identifier that had packets."""
    rows = [
        [station.name, one.direction, str(one.tid), *(str(getattr(one, name)) for name in _AQM)]
        for station in stations
        for one in station.tids
    ]
    return tables.text(["station", "way", "TID", *(name.replace("_", " ") for name in _AQM)], rows, left=2)
