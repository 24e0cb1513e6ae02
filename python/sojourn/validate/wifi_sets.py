"""The validations of cells: one drawn by a seed, and grids of a load and a scheme.

| name         | rows                                                       | columns                              |
|--------------|------------------------------------------------------------|--------------------------------------|
| wifi-airtime | drawn (`sojourn.validate.wifi_draw`)                       |                                      |
| wifi-latency | one fast station; the paper's three by TCP, UDP, both ways | fifo, fq_codel, fq_mac, airtime      |
| wifi-dense   | 1 to 30 stations of drawn rates, TCP down                  | fq_mac, airtime                      |
| wifi-aql     | the paper's three, TCP and UDP down                        | limits of pending airtime, by scheme |
| wifi-sparse  | the three, and a fourth with pings alone                   | fq_mac, airtime                      |
| wifi-anomaly | Table 1 of "Ending the Anomaly": UDP to the three          | fifo, airtime                        |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sojourn.experiments import wifi as cells
from sojourn.experiments.options import ping
from sojourn.scenario import Flow, Scenario
from sojourn.scenario_keys import Station, Wifi
from sojourn.validate.grid import PlannedCell
from sojourn.validate.wifi_draw import LIMITS, PING, TCP, VARIANT, Limits, draw, driver_frames, unlike

DRAWN = "wifi-airtime"
DEFAULT_COUNT = 20
DURATION, LEAD = "15s", "1s"
_UDP_KBIT = 50_000
_FAST = cells.STATIONS[:1]
_SPARSE = Station(name="sparse", rate=cells.FAST)
_NUMBERS = (1, 3, 10, 30)


def cells_of(name: str, *, count: int | None, seed: int, duration: str | None) -> tuple[PlannedCell, ...]:
    """Return the cells of a validation; all are checked."""
    if name == DRAWN:
        drawn = draw(DEFAULT_COUNT if count is None else count, seed)
        return drawn if duration is None else tuple(_lasting(cell, duration) for cell in drawn)
    return _GRIDS[name](seed, DURATION if duration is None else duration)


def _lasting(cell: PlannedCell, duration: str) -> PlannedCell:
    return replace(cell, scenario=replace(cell.scenario, duration=duration))


def _cell(
    name: str,
    row: str,
    column: str,
    stations: tuple[Station, ...],
    flows: tuple[Flow, ...],
    *,
    scheme: str,
    seed: int,
    duration: str,
    **wifi: Any,
) -> PlannedCell:
    frames = driver_frames(scheme)
    own = scheme if scheme in {"fifo", "fq_codel"} else "fq_mac"
    stations = tuple(replace(one, scheme=own, driver_frames=frames) for one in stations)
    scenario = Scenario(
        experiment=name,
        duration=duration,
        lead=LEAD,
        up=cells.WIRE,
        down=cells.WIRE,
        rtt="20ms",
        qdisc_up=cells.WIRE_QUEUE,
        qdisc_down=cells.WIRE_QUEUE,
        tcp=TCP,
        flows=flows,
        probes=tuple(replace(ping(), name=f"ping_{one.name}", station=one.name, interval=PING) for one in stations),
        wifi=Wifi(stations=stations, scheme=scheme, variant=VARIANT, driver_frames=frames, **wifi),
        seed=seed,
    )
    scenario.normalized()
    return PlannedCell(name=f"{name} {row}, {column}", link=row, qdisc=column, scenario=scenario)


def _tcp(stations: tuple[Station, ...], *ways: str) -> tuple[Flow, ...]:
    return tuple(
        Flow(
            name=f"tcp_{way}_{one.name}",
            direction=way,  # type: ignore[arg-type]
            congestion_control="cubic",
            station=one.name,
        )
        for one in stations
        for way in ways
    )


def _udp(stations: tuple[Station, ...]) -> tuple[Flow, ...]:
    floods = cells.udp(stations)
    return tuple(replace(flood, rate=f"{unlike(_UDP_KBIT, place)}kbit") for place, flood in enumerate(floods))


def _latency(seed: int, duration: str) -> tuple[PlannedCell, ...]:
    three = cells.STATIONS
    loads: tuple[tuple[str, tuple[Station, ...], tuple[Flow, ...]], ...] = (
        ("one fast, TCP", _FAST, _tcp(_FAST, "down")),
        ("three, TCP", three, _tcp(three, "down")),
        ("three, TCP both ways", three, _tcp(three, "down", "up")),
        ("three, UDP", three, _udp(three)),
    )
    return tuple(
        _cell("wifi-latency", row, scheme, stations, flows, scheme=scheme, seed=seed, duration=duration)
        for row, stations, flows in loads
        for scheme in cells.SCHEMES
    )


def _dense(seed: int, duration: str) -> tuple[PlannedCell, ...]:
    found = []
    for number in _NUMBERS:
        stations = cells.draw(number, 1)
        for scheme in ("fq_mac", "airtime"):
            row = f"{number} sta, TCP"
            flows = _tcp(stations, "down")
            found.append(_cell("wifi-dense", row, scheme, stations, flows, scheme=scheme, seed=seed, duration=duration))
    return tuple(found)


def _aql(seed: int, duration: str) -> tuple[PlannedCell, ...]:
    three = cells.STATIONS
    limits = (*LIMITS, Limits("2ms", "2ms", "0s"))
    found = []
    for row, flows in (("TCP", _tcp(three, "down")), ("UDP", _udp(three))):
        for scheme in ("fq_mac", "airtime"):
            for limit in limits:
                words = "no aql" if limit.aql is None else f"{limit.aql}-{limit.aql_high}"
                column = f"{scheme} {words}"
                found.append(
                    _cell(
                        "wifi-aql",
                        row,
                        column,
                        three,
                        flows,
                        scheme=scheme,
                        seed=seed,
                        duration=duration,
                        **limit._asdict(),
                    )
                )
    return tuple(found)


def _sparse(seed: int, duration: str) -> tuple[PlannedCell, ...]:
    four = (*cells.STATIONS, _SPARSE)
    loads = (("TCP", _tcp(cells.STATIONS, "down")), ("UDP", _udp(cells.STATIONS)))
    return tuple(
        _cell("wifi-sparse", row, scheme, four, flows, scheme=scheme, seed=seed, duration=duration)
        for row, flows in loads
        for scheme in ("fq_mac", "airtime")
    )


def _anomaly(seed: int, duration: str) -> tuple[PlannedCell, ...]:
    three = cells.STATIONS
    return tuple(
        _cell("wifi-anomaly", "UDP", scheme, three, _udp(three), scheme=scheme, seed=seed, duration=duration)
        for scheme in ("fifo", "airtime")
    )


_GRIDS: dict[str, Callable[[int, str], tuple[PlannedCell, ...]]] = {
    "wifi-latency": _latency,
    "wifi-dense": _dense,
    "wifi-aql": _aql,
    "wifi-sparse": _sparse,
    "wifi-anomaly": _anomaly,
}

#: All of them.
SETS = (DRAWN, *_GRIDS)
