"""The plan of the next steps of the Wi-Fi stack (seed 002 section 4): every option in a cell that shows what it does.

Unless a part says otherwise the cell is the paper's, two fast stations and a slow one with a TCP download each, the
scheme is airtime fairness, and one option differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec import Struct

from sojourn.cells import Planned, repeats
from sojourn.experiments.voip import voice
from sojourn.experiments.wifi import FAST, STATIONS, Options, cell, pings, tcp, with_options
from sojourn.papers.wifi_next_steps.evidence import AXES
from sojourn.scenario import Flow, Probe, Scenario, Tcp
from sojourn.scenario_keys import Group, Station
from sojourn.study.cell import Cell
from sojourn.study.claims import stored
from sojourn.study.plan import Bed
from sojourn.study.rules import Variables

Option = TypeVar("Option")
Load = TypeVar("Load")

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

#: Stations of a dense cell; every fourth is of an older rate.
NUMBERS = (1, 2, 4, 8, 16, 32, 64)
OLDER = "ht mcs 3 20mhz sgi"

#: How late airtime is charged (ms).
DELAYS_MS = (0, 1, 2, 5, 10, 20, 50, 100)

#: What the slow station sends up while it is over its share, and what a fast one is sent as voice.
UPLOAD, VOICE_FLOOD = "6mbit", "60mbit"
ORDERS = ("priority", "fairness")

#: Stations of which each has a voice stream beside its download.
CALLERS = (1, 8, 32)
#: Of a part, the load of a cell as it is called.
DOWN, BOTH = "down", "up and down"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsBed(Bed):
    """What all runs share."""

    parts: tuple[str, ...] = PARTS

    def cells(self) -> Iterator[tuple[Cell, Scenario]]:
        """Yield every cell with the scenario of its first repeat."""
        for part in self.parts:
            for (option, load), scenario in _PARTS[part](self):
                yield AXES(part, option, load), scenario

    def build(
        self,
        stations: Sequence[Station],
        wifi: Variables,
        flows: tuple[Flow, ...] | None = None,
        probes: tuple[Probe, ...] = (),
    ) -> Scenario:
        """Return a cell with downloads, unless told otherwise, pings, more probes and options of the access point."""
        options = Options(seed=self.seed, duration=self.profile.duration)
        all_probes = (*pings(stations), *probes)
        built = cell("wifi_next_steps", options, stations, flows=flows or tcp(stations), probes=all_probes)
        return replace(with_options(built, **wifi), tcp=Tcp(variant=self.tcp))


def plan(bed: StepsBed) -> Sequence[Planned[Cell]]:
    """Return all runs."""
    return repeats((one, scenario, bed.profile.repeat) for one, scenario in bed.cells())


def crowd(number: int) -> tuple[Station, ...]:
    """Return so many stations, every fourth of an older rate."""
    return tuple(Station(name=f"sta{place}", rate=OLDER if place % 4 == 0 else FAST) for place in range(1, number + 1))


def calls(stations: Sequence[Station], dscp: str = "CS6") -> tuple[Probe, ...]:
    """Return a voice stream down to each station."""
    return tuple(
        replace(voice(), name=f"voip_{one.name}", direction="down", station=one.name, dscp=dscp) for one in stations
    )


_Cells = Iterator[tuple[tuple[str, str], Scenario]]


class _Change(Struct, forbid_unknown_fields=True):
    """What is different of a station, or of the guests together."""

    weight: int | None = None
    group: str | None = None
    min_rate: str | None = None
    cap: float | None = None


class _Part(Struct, Generic[Option, Load], forbid_unknown_fields=True):
    """The options of a part by how they are called, and its loads."""

    options: dict[str, Option]
    loads: dict[str, Load] = {}


class _Tables(Struct, forbid_unknown_fields=True):
    hardware: _Part[Variables, Variables]
    retries: _Part[Variables, dict[str, float]]
    dense: _Part[Variables, None]
    policies: _Part[dict[str, _Change], None]
    demote: _Part[Variables, str]
    voice: _Part[Variables, None]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    return stored("wifi_next_steps", "plan", _Tables)


def _hardware(bed: StepsBed) -> _Cells:
    part = _tables().hardware
    for load, build in part.loads.items():
        for option, wifi in part.options.items():
            yield (option, load), bed.build(STATIONS, {**wifi, **build})


def _retries(bed: StepsBed) -> _Cells:
    part = _tables().retries
    for load, errors in part.loads.items():
        stations = tuple(replace(one, error=errors["slow" if one.name == "slow" else "fast"]) for one in STATIONS)
        for option, wifi in part.options.items():
            yield (option, load), bed.build(stations, wifi, probes=calls(stations, "CS0"))


def _dense(bed: StepsBed) -> _Cells:
    for option, wifi in _tables().dense.options.items():
        for number in NUMBERS:
            yield (option, str(number)), bed.build(crowd(number), wifi)


def _policies(bed: StepsBed) -> _Cells:
    none = _Change()
    for option, changes in _tables().policies.options.items():
        each = [(one, changes.get(one.name, none)) for one in STATIONS]
        stations = [replace(one, weight=own.weight, group=own.group, min_rate=own.min_rate) for one, own in each]
        guests = any(one.group for one in stations)
        groups = {"groups": (Group(name="guest", cap=changes.get("guests", none).cap),)} if guests else {}
        yield (option, DOWN), bed.build(stations, groups)


def _accounts(bed: StepsBed) -> _Cells:
    for scheduler in ("deficit", "credit"):
        for delay in DELAYS_MS:
            late = {"accounting_delay": f"{delay}ms"} if delay else {}
            yield (scheduler, str(delay)), bed.build(STATIONS, {"scheduler": scheduler, **late})


def _demote(bed: StepsBed) -> _Cells:
    part = _tables().demote
    for load, dscp in part.loads.items():
        bulk = replace(tcp(STATIONS[:1])[0], name="bulk", dscp=dscp)
        for option, wifi in part.options.items():
            yield (
                (option, load),
                bed.build(STATIONS, wifi, flows=(bulk, *tcp(STATIONS)), probes=calls(STATIONS[1:2])),
            )


def _qos(bed: StepsBed) -> _Cells:
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


def _voice(bed: StepsBed) -> _Cells:
    for direction in (DOWN, BOTH):
        for number in CALLERS:
            stations = tuple(Station(name=f"sta{place}", rate=FAST) for place in range(1, number + 1))
            down = tcp(stations)
            up = tuple(replace(one, name=f"up_{one.station}", direction="up") for one in down)
            flows = down if direction == DOWN else (*down, *up)
            for option, wifi in _tables().voice.options.items():
                yield (
                    (option, f"{number} {direction}"),
                    bed.build(stations, wifi, flows=flows, probes=calls(stations)),
                )


_PARTS: dict[str, Callable[[StepsBed], _Cells]] = {
    HARDWARE: _hardware,
    RETRIES: _retries,
    DENSE: _dense,
    POLICIES: _policies,
    ACCOUNTS: _accounts,
    DEMOTE: _demote,
    QOS: _qos,
    VOICE: _voice,
}
