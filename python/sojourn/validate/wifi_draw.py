"""Cells drawn by a seed: stations, rates, errors, loads and switches that nobody chose.

One row of `COLUMNS` numbers, uniform in [0, 1), is drawn for each scenario from numpy's `Generator(PCG64(seed))`, as in
`sojourn.validate.draw`: scenario k is a function of the seed and k alone. What a number means:

| column  | what                   | how                                                               |
|---------|------------------------|-------------------------------------------------------------------|
| 0       | stations               | 1 to 30, log-uniform: the whole part of 31^u                      |
| 1       | scheme                 | one of `SCHEMES`, uniform                                         |
| 2       | AQL                    | one of `LIMITS`, uniform; a scheme with a discipline has none     |
| 3       | load                   | one of `LOADS`, uniform                                           |
| 4       | errors                 | u < 0.5: none; else each MPDU is lost with 1 to 20 %, log-uniform |
| 5       | sparse                 | u < 0.3: the last station has pings alone, if there are two       |
| 6       | frames of an aggregate | 16, 32, 32 or 64                                                  |
| 7       | base RTT               | 1 to 40 ms, log-uniform, in tenths of a millisecond               |
| 8       | weights                | u < 0.2: the first station has 512, the others 256                |
| 9       | congestion control     | u < 0.7: CUBIC, else Reno                                         |
| 10 - 39 | rate of each station   | one of `sojourn.experiments.wifi.RATES`, uniform                  |

The simulator's side has the variant `linux-6.12`, because the kernel is that. Stations queue as the access point
does. A UDP flood has the rate of the physical layer in the station's part of the time, which is more than it carries,
so that what is lost is lost for want of airtime; no two of a cell have one rate (`unlike`). A ping goes to each station
ten times a second. Receive buffers are locked, as the kernel's are in a cell.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sojourn.experiments import wifi as cells
from sojourn.experiments.options import ping
from sojourn.scenario import Flow, Scenario, Tcp
from sojourn.scenario_keys import Station, Wifi
from sojourn.validate import uniform
from sojourn.validate.grid import PlannedCell
from sojourn.validate.uniform import between, one_of

MOST_STATIONS = 30
COLUMNS = 10 + MOST_STATIONS
SCHEMES = ("airtime", "airtime", "fq_mac", "fifo")
LOADS = ("tcp down", "tcp down", "tcp up", "tcp both", "udp down", "udp up")


class Limits(NamedTuple):
    """The limits of AQL, as a cell has them; `None` for no limit."""

    aql: str | None = None
    aql_high: str | None = None
    aql_total: str | None = None


#: None, Linux's, and without the room that a quiet cell has.
LIMITS = (Limits(), Limits("5ms", "12ms", "24ms"), Limits("5ms", "5ms", "0s"))
AGGREGATES = (16, 32, 32, 64)
#: Whose scheduler, limits and receivers the simulator has: those of the kernel that it is compared with.
VARIANT = "linux-6.12"
#: Of TCP, whose flows take turns in being ahead of each other for many seconds; a flood is the same from its beginning,
#: and costs many packets.
DURATION, FLOOD, LEAD = "30s", "6s", "1s"
PING = "100ms"
#: The kernel's hosts in a cell have locked receive buffers, so that windows are whole; so have the simulator's.
TCP = Tcp(receive_buffer="locked")
#: What the physical layer says of `sojourn.experiments.wifi.RATES`.
NOMINAL_MBIT = (
    *(7.2, 21.7, 43.3, 72.2, 28.9, 57.8, 115.6, 144.4),
    *(32.5, 97.5, 195.0, 325.0),
    *(130.0, 260.0, 520.0, 650.0, 866.7),
    24.0,
)
#: Each flood of a cell has so much more than the one before it, in parts of its rate.
_STEP = 0.003


def draw(count: int, seed: int) -> tuple[PlannedCell, ...]:
    """Return so many scenarios, named `cell SEED.NUMBER`, numbers from 1.

    Raises `ParamError` if `count` is out of range.
    """
    rows = enumerate(uniform.rows(count, seed, columns=COLUMNS), 1)
    return tuple(_cell(row, f"cell {seed}.{number}") for number, row in rows)


def _cell(row: list[float], name: str) -> PlannedCell:
    number = int((MOST_STATIONS + 1) ** row[0])
    scheme = one_of(row[1], SCHEMES)
    error = None if row[4] < 0.5 else round(between((row[4] - 0.5) * 2, 0.01, 0.2), 3)
    stations = tuple(
        Station(
            name=f"sta{place}",
            rate=one_of(row[9 + place], cells.RATES),
            error=error,
            weight=512 if place == 1 and row[8] < 0.2 and scheme == "airtime" else None,
            scheme=scheme if scheme == "fifo" else "fq_mac",
            driver_frames=driver_frames(scheme),
        )
        for place in range(1, number + 1)
    )
    load = one_of(row[3], LOADS)
    limits = Limits() if scheme == "fifo" else one_of(row[2], LIMITS)
    loaded = stations[:-1] if row[5] < 0.3 and number > 1 else stations
    scenario = Scenario(
        experiment=name.replace(" ", "-"),
        duration=FLOOD if load.startswith("udp") else DURATION,
        lead=LEAD,
        up=cells.WIRE,
        down=cells.WIRE,
        rtt=f"{between(row[7], 1, 40):.1f}ms",
        qdisc_up=cells.WIRE_QUEUE,
        qdisc_down=cells.WIRE_QUEUE,
        tcp=TCP,
        flows=tuple(
            flow
            for place, one in enumerate(loaded)
            for flow in _flows(one, load, "cubic" if row[9] < 0.7 else "reno", place, len(loaded))
        ),
        probes=tuple(replace(ping(), name=f"ping_{one.name}", station=one.name, interval=PING) for one in stations),
        wifi=Wifi(
            stations=stations,
            scheme=scheme,
            variant=VARIANT,
            aggregate_frames=one_of(row[6], AGGREGATES),
            driver_frames=driver_frames(scheme),
            **limits._asdict(),
        ),
        seed=1,
    )
    scenario.normalized()
    return PlannedCell(name=name, link=f"{number} sta, {load}", qdisc=_scheme(scenario.wifi), scenario=scenario)


def driver_frames(scheme: str) -> int | None:
    """Return how many frames a driver holds below a discipline: as many at the stations as at the access point."""
    return 123 if scheme in {"fifo", "fq_codel"} else None


def unlike(kbit: float, place: int) -> int:
    """Return the rate of the flood at this place among those of its cell, kbit/s: a little above the one before.

    Floods of one rate and one packet size stay in step for ever, and which of them finds the room that a departure
    makes in a full queue depends on their phase to a microsecond. So the one that is ahead would say more of the phase
    than of the queue.
    """
    return round(kbit * (1 + _STEP * place))


def _flows(station: Station, load: str, cc: str, place: int, of: int) -> tuple[Flow, ...]:
    protocol, way = load.split()
    if protocol == "udp":
        rate = unlike(max(1000 * NOMINAL_MBIT[cells.RATES.index(station.rate)] / of, 100), place)
        direction = "up" if way == "up" else "down"
        return (
            Flow(
                name=f"udp_{station.name}",
                direction=direction,  # type: ignore[arg-type]
                kind=None,
                protocol="udp",
                rate=f"{rate}kbit",
                station=station.name,
            ),
        )
    ways = ("down", "up") if way == "both" else (way,)
    return tuple(
        Flow(
            name=f"tcp_{one}_{station.name}",
            direction=one,  # type: ignore[arg-type]
            congestion_control=cc,
            station=station.name,
        )
        for one in ways
    )


def _scheme(wifi: Wifi | None) -> str:
    assert wifi is not None, "a cell is drawn"
    if wifi.aql is None:
        return str(wifi.scheme)
    return f"{wifi.scheme}, aql {wifi.aql}" + ("" if wifi.aql_high == wifi.aql else f" to {wifi.aql_high}")
