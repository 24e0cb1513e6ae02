"""The plan of the next steps of the Wi-Fi stack (seed 002 section 4): every option in a cell that shows what it does.

Unless a part says otherwise the cell is the paper's, two fast stations and a slow one with a TCP download each, the
scheme is airtime fairness, and one option differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sojourn.experiments.voip import voice
from sojourn.experiments.wifi import FAST, STATIONS, Options, cell, pings, tcp
from sojourn.papers.kit import execute
from sojourn.papers.kit.execute import Means
from sojourn.papers.kit.paper import Profile
from sojourn.papers.wifi_next_steps.evidence import Cell, Evidence, observe
from sojourn.scenario import Flow, Probe, Scenario, Tcp
from sojourn.scenario_keys import Group, Station

#: Parts of the page, in the order of section 4.
HARDWARE, RETRIES, DENSE, POLICIES, ACCOUNTS, DEMOTE, QOS, VOICE = PARTS = (
    "hardware",
    "retries",
    "dense",
    "policies",
    "accounts",
    "demote",
    "qos",
    "voice",
)

#: What waits below the queues, and how long building an aggregate takes. 8 aggregates are a firmware's FIFO.
BELOW: dict[str, dict[str, Any]] = {
    "1 aggregate": {"hardware_queue": 1},
    "2 aggregates": {"hardware_queue": 2},
    "8 aggregates": {"hardware_queue": 8},
    "8, AQL 5 ms": {"hardware_queue": 8, "aql": "5ms"},
    "8, AQL 2 ms": {"hardware_queue": 8, "aql": "2ms", "aql_high": "2ms"},
    "defer 200 us": {"defer": "200us"},
    "defer 1 ms": {"defer": "1ms"},
}
BUILD_TIMES = {"built in 0 us": None, "built in 500 us": "500us"}

#: When a frame is given up, beside the ten transmissions; and whose frames are lost, and how many.
GIVE_UP: dict[str, dict[str, Any]] = {
    "count only": {},
    "retry 10 ms": {"retry_time": "10ms"},
    "retry 20 ms": {"retry_time": "20ms"},
    "retry 50 ms": {"retry_time": "50ms"},
    "sojourn 50 ms": {"retry_sojourn": "50ms"},
    "sojourn 100 ms": {"retry_sojourn": "100ms"},
}
ERRORS = {
    "all 10 %": (0.1, 0.1),
    "all 30 %": (0.3, 0.3),
    "slow 10 %": (0.0, 0.1),
    "slow 30 %": (0.0, 0.3),
}

#: Stations of a dense cell; every fourth is of an older rate.
NUMBERS = (1, 2, 4, 8, 16, 32, 64)
OLDER = "ht mcs 3 20mhz sgi"
CROWDS: dict[str, dict[str, Any]] = {
    "fifo": {"scheme": "fifo"},
    "fq_codel": {"scheme": "fq_codel"},
    "fq_mac": {"scheme": "fq_mac"},
    "airtime": {},
    "airtime, 1 ms from 8": {"dense_stations": 8, "dense_aggregate_time": "1ms"},
    "airtime, 1 ms": {"aggregate_time": "1ms"},
}

#: How late airtime is charged (ms).
DELAYS_MS = (0, 1, 2, 5, 10, 20, 50, 100)

#: From which wait on a flow is demoted, and what the bulk flow is marked.
DEMOTIONS: dict[str, dict[str, Any]] = {"off": {}} | {f"{ms} ms": {"demote": f"{ms}ms"} for ms in (5, 10, 20, 50)}
MARKS = {"CS5 (VI)": "CS5", "CS6 (VO)": "CS6"}

#: What the slow station sends up while it is over its share, and what a fast one is sent as voice.
UPLOAD, VOICE_FLOOD = "6mbit", "60mbit"
ORDERS = ("priority", "fairness")

#: Stations of which each has a voice stream beside its download.
CALLERS = (1, 8, 32)
RIDES: dict[str, dict[str, Any]] = {
    "off": {},
    "hold 0": {"vo_in_aggregate": True},
    "hold 3": {"vo_in_aggregate": True, "vo_in_aggregate_hold": 3},
}
#: Of a part, the load of a cell as it is called.
DOWN, BOTH = "down", "up and down"

Planned = execute.Planned[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """What all runs share.

    Attributes
    ----------
    profile
        How much is run: `repeat` of each cell, all with the same window.
    parts
        Of the page.
    seed
        Of the first repeat.
    tcp
        Whose loss recovery the flows have.
    """

    profile: Profile
    parts: tuple[str, ...] = PARTS
    seed: int = 1
    tcp: str = "linux-6.1"

    def cells(self) -> Iterator[tuple[Cell, Scenario]]:
        """Yield every cell with the scenario of its first repeat."""
        for part in self.parts:
            for (option, load), scenario in _PARTS[part](self):
                yield Cell(part, option, load), scenario

    def build(
        self,
        stations: Sequence[Station],
        wifi: dict[str, Any],
        flows: tuple[Flow, ...] | None = None,
        probes: tuple[Probe, ...] = (),
    ) -> Scenario:
        """Return a cell with downloads, unless told otherwise, pings, more probes and options of the access point."""
        options = Options(seed=self.seed, duration=self.profile.duration)
        all_probes = (*pings(stations), *probes)
        built = cell("wifi_next_steps", options, stations, flows=flows or tcp(stations), probes=all_probes)
        assert built.wifi is not None
        return replace(built, wifi=replace(built.wifi, **wifi), tcp=Tcp(variant=self.tcp))


Outcome = execute.Outcome[Evidence]


def plan(bed: Bed) -> Sequence[Planned]:
    """Return all runs."""
    return execute.repeats((one, scenario, bed.profile.repeat) for one, scenario in bed.cells())


def reproduce(bed: Bed, means: Means) -> Outcome:
    """Run the plan; see `sojourn.papers.kit.execute.observed`."""
    found, runs = execute.observed(plan(bed), lambda _cell, run: observe(run), means)
    return Outcome(evidence=Evidence(cells=found), runs=runs)


def crowd(number: int) -> tuple[Station, ...]:
    """Return so many stations, every fourth of an older rate."""
    return tuple(Station(name=f"sta{place}", rate=OLDER if place % 4 == 0 else FAST) for place in range(1, number + 1))


def calls(stations: Sequence[Station], dscp: str = "CS6") -> tuple[Probe, ...]:
    """Return a voice stream down to each station."""
    return tuple(
        replace(voice(), name=f"voip_{one.name}", direction="down", station=one.name, dscp=dscp) for one in stations
    )


_Cells = Iterator[tuple[tuple[str, str], Scenario]]


def _hardware(bed: Bed) -> _Cells:
    for load, build in BUILD_TIMES.items():
        for option, wifi in BELOW.items():
            yield (option, load), bed.build(STATIONS, wifi | ({} if build is None else {"build_time": build}))


def _retries(bed: Bed) -> _Cells:
    for load, (fast, slow) in ERRORS.items():
        stations = tuple(replace(one, error=slow if one.name == "slow" else fast) for one in STATIONS)
        for option, wifi in GIVE_UP.items():
            yield (option, load), bed.build(stations, wifi, probes=calls(stations, "CS0"))


def _dense(bed: Bed) -> _Cells:
    for option, wifi in CROWDS.items():
        for number in NUMBERS:
            yield (option, str(number)), bed.build(crowd(number), wifi)


def _policies(bed: Bed) -> _Cells:
    def of(**changes: dict[str, Any]) -> tuple[Station, ...]:
        return tuple(replace(one, **changes.get(one.name, {})) for one in STATIONS)

    guests = of(fast2={"group": "guest"}, slow={"group": "guest"})
    cells: dict[str, tuple[tuple[Station, ...], dict[str, Any]]] = {
        "equal": (STATIONS, {}),
        "weights 4:2:1": (of(fast1={"weight": 1024}, fast2={"weight": 512}, slow={"weight": 256}), {}),
        "guests together": (guests, {"groups": (Group(name="guest"),)}),
        "guests at most 20 %": (guests, {"groups": (Group(name="guest", cap=0.2),)}),
        "slow 2 Mbit/s": (of(slow={"min_rate": "2mbit"}), {}),
        "slow 3 Mbit/s": (of(slow={"min_rate": "3mbit"}), {}),
    }
    for option, (stations, wifi) in cells.items():
        yield (option, DOWN), bed.build(stations, wifi)


def _accounts(bed: Bed) -> _Cells:
    for scheduler in ("deficit", "credit"):
        for delay in DELAYS_MS:
            wifi: dict[str, Any] = {"scheduler": scheduler}
            if delay:
                wifi["accounting_delay"] = f"{delay}ms"
            yield (scheduler, str(delay)), bed.build(STATIONS, wifi)


def _demote(bed: Bed) -> _Cells:
    for load, dscp in MARKS.items():
        bulk = replace(tcp(STATIONS[:1])[0], name="bulk", dscp=dscp)
        for option, wifi in DEMOTIONS.items():
            yield (
                (option, load),
                bed.build(STATIONS, wifi, flows=(bulk, *tcp(STATIONS)), probes=calls(STATIONS[1:2])),
            )


def _qos(bed: Bed) -> _Cells:
    upload = Flow(name="upload", direction="up", kind=None, protocol="udp", rate=UPLOAD, station="slow")
    flood = Flow(
        name="bulk", direction="down", kind=None, protocol="udp", rate=VOICE_FLOOD, station="fast1", dscp="CS6"
    )
    loads: dict[str, tuple[Flow, ...]] = {
        "downloads": (),
        "slow over its share": (upload,),
        "fast1 floods voice": (flood,),
    }
    for load, more in loads.items():
        for order in ORDERS:
            probes = calls(tuple(one for one in STATIONS if one.name != "fast1"))
            yield (order, load), bed.build(STATIONS, {"qos": order}, flows=(*tcp(STATIONS), *more), probes=probes)


def _voice(bed: Bed) -> _Cells:
    for direction in (DOWN, BOTH):
        for number in CALLERS:
            stations = tuple(Station(name=f"sta{place}", rate=FAST) for place in range(1, number + 1))
            down = tcp(stations)
            up = tuple(replace(one, name=f"up_{one.station}", direction="up") for one in down)
            flows = down if direction == DOWN else (*down, *up)
            for option, wifi in RIDES.items():
                yield (option, f"{number} {direction}"), bed.build(stations, wifi, flows=flows, probes=calls(stations))


_PARTS: dict[str, Callable[[Bed], _Cells]] = {
    HARDWARE: _hardware,
    RETRIES: _retries,
    DENSE: _dense,
    POLICIES: _policies,
    ACCOUNTS: _accounts,
    DEMOTE: _demote,
    QOS: _qos,
    VOICE: _voice,
}
