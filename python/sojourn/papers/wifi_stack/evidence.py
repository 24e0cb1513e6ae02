"""What the claims about the Wi-Fi stack are judged by: of each run the few numbers that its figures are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.papers.kit import evidence as kit
from sojourn.record import ProbeRecord, Record, WifiStationRecord
from sojourn.stats.mos import mos_of_stream
from sojourn.store.run import Run

#: The schemes of seed 002 section 3.2, in the order of its figures.
FIFO, FQ_CODEL, FQ_MAC, AIRTIME = SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
#: Stations of the paper's cell, and what they are together.
FAST = ("fast1", "fast2")
SLOW = ("slow",)
STATIONS = (*FAST, *SLOW)
CLASSES: dict[str, tuple[str, ...]] = {"fast": FAST, "slow": SLOW}

#: The paper's experiments, and small ones that show a property of the code.
TCP, UDP = "wifi_tcp", "wifi_udp"
EQUAL, SHAPED = "equal rates", "shaped"
VOICE_BE, VOICE_VO = "voice CS0", "voice CS6"
OVERLOAD, LEVELS, LEVEL_BE, LEVEL_VO = "overload", "four levels", "level BE", "level VO"
DEPTHS = {1: "hardware queue 1", 2: "hardware queue 2", 4: "hardware queue 4"}
LOSSLESS, LOSSY = "no frame lost", "frames lost"
ONE_TID, TWO_TIDS, ORDER = "one TID", "two TIDs", "four flows"
#: Voice streams of the aggregates that are counted; one leaves alone, the rest in one aggregate for each identifier.
STREAMS = 16

Array = NDArray[np.float64]


class Cell(NamedTuple):
    """What is repeated: an experiment under a scheme of the access point."""

    experiment: str
    scheme: str

    def words(self) -> str:
        """Return the cell in words."""
        return f"{self.experiment} under {self.scheme}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StationObservation:
    """A station in a run.

    Attributes
    ----------
    airtime_share
        Of the airtime of all stations, both directions.
    down_airtime_ms
        Of what was sent to it.
    mbit
        Delivered to it, with headers.
    aggregates, aggregate_frames, aggregate_bytes
        Number of aggregates sent to it, and their mean length.
    transmissions, retries
        Of frames to it, and those of them that were sent again.
    queue_ms, hardware_ms
        Mean time until a packet is built into an aggregate, and from there to delivery; `None` without packets.
    drops
        By reason, of packets to it.
    tids
        Packets to it by traffic identifier.
    """

    airtime_share: float
    down_airtime_ms: float
    mbit: float
    aggregates: int
    aggregate_frames: float
    aggregate_bytes: float
    transmissions: int
    retries: int
    queue_ms: float | None
    hardware_ms: float | None
    drops: Mapping[str, int]
    tids: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceObservation:
    """A voice stream: induced one-way delay, lost packets of those sent, and its mean opinion score, if it has one."""

    delay_ms: float
    lost: int
    sent: int
    mos: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observation:
    """What is kept of a run.

    Attributes
    ----------
    seed, duration_s
        Of the run.
    stations
        By name.
    goodput
        By flow, Mbit/s of payload.
    loss
        By UDP flow that had datagrams in the window, the share of them that was lost.
    ping_ms
        By station, every round-trip time of its ping.
    voices
        By name.
    collisions, transmissions
        Of the medium.
    """

    seed: int
    duration_s: float
    stations: Mapping[str, StationObservation]
    goodput: Mapping[str, float]
    loss: Mapping[str, float]
    ping_ms: Mapping[str, Array]
    voices: Mapping[str, VoiceObservation]
    collisions: int
    transmissions: int


Quantity = Callable[[Observation], float]


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence[Cell, Observation]):
    """What was run.

    Attributes
    ----------
    cpu_ns
        By scheme, processor time for each packet of runs of the same traffic, in the order in which they alternated.
    """

    cpu_ns: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def pooled_ping(evidence: Evidence, experiment: str, scheme: str, stations: tuple[str, ...]) -> Array:
    """Return the round-trip times of all repeats (ms)."""
    runs = evidence.of(Cell(experiment, scheme))
    return np.concatenate([run.ping_ms[name] for run in runs for name in stations if name in run.ping_ms])


def observe(run: Run) -> Observation:
    """Return what is kept of a run in a cell."""
    record = run.record
    wifi = record["wifi"]
    where = {one["name"]: one.get("station") for one in record["scenario"]["probes"]}
    rtt = record["series"]["rtt"]
    first = wifi["stations"][0]["name"]
    return Observation(
        seed=run.seed,
        duration_s=float(record["cost"]["sim_s"]),
        stations={one["name"]: _station(one) for one in wifi["stations"]},
        goodput={one["name"]: float(one["goodput_mbit"]) for one in record["flows"]},
        loss={flow["name"]: lost for flow in record["flows"] if (lost := flow.get("loss")) is not None},
        ping_ms={where.get(name) or first: _answered(found) for name, found in rtt.items()},
        voices={one["name"]: _voice(one, record) for one in record["probes"] if one["kind"] == "voip"},
        collisions=int(wifi["collisions"]),
        transmissions=int(wifi["transmissions"]),
    )


def median_ping(run: Observation, stations: tuple[str, ...]) -> float:
    """Return the mean over stations of the median round-trip time (ms).

    Raises
    ------
    SojournError
        If a station's ping was not answered.
    """
    medians = []
    for name in stations:
        times = run.ping_ms.get(name, np.zeros(0))
        if not times.size:
            message = f"the run with seed {run.seed} has no answered ping of {name}"
            raise SojournError(message)
        medians.append(float(np.median(times)))
    return fmean(medians)


def mean_of(run: Observation, stations: tuple[str, ...], quantity: Callable[[StationObservation], float]) -> float:
    """Return the mean over stations of a quantity."""
    return fmean(quantity(run.stations[name]) for name in stations)


def _station(plain: WifiStationRecord) -> StationObservation:
    down = plain["down"]
    return StationObservation(
        airtime_share=kit.needed(plain["airtime_share"], "airtime"),
        down_airtime_ms=float(plain["airtime_tx_ms"]),
        mbit=float(down["throughput_mbit"]),
        aggregates=int(down["aggregates"]),
        aggregate_frames=float(down["aggregate_frames"] or 0.0),
        aggregate_bytes=float(down.get("aggregate_bytes") or 0.0),
        transmissions=int(down["transmissions"]),
        retries=int(down["retries"]),
        queue_ms=_number(down.get("queue_ms", {}).get("mean")),
        hardware_ms=_number(down.get("hardware_ms", {}).get("mean")),
        drops={reason: int(number) for reason, number in down["drops"].items()},
        tids={int(one["tid"]): int(one["packets"]) for one in plain["tids"] if one["direction"] == "down"},
    )


def _voice(probe: ProbeRecord, record: Record) -> VoiceObservation:
    delay = np.asarray(record["series"]["voip"][probe["name"]]["delay_ms"], dtype=float)
    delay = delay[~np.isnan(delay)]
    return VoiceObservation(
        delay_ms=float(delay.mean()) - float(probe["base_delay_ms"]) if delay.size else float("inf"),
        lost=int(probe["lost"]),
        sent=int(probe["sent"]),
        mos=mos_of_stream(probe),
    )


def _answered(series: Mapping[str, Any]) -> Array:
    times: Array = np.asarray(series["t_s"], dtype=np.float64)
    trips: Array = np.asarray(series["rtt_ms"], dtype=np.float64)
    found: Array = trips[(times >= 0) & ~np.isnan(trips)]
    return found


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
