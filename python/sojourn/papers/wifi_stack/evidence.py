"""What the claims about the Wi-Fi stack are judged by: of each run the few numbers that its figures are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.record import ProbeRecord, ProbeSeries, Record, WifiStationRecord
from sojourn.schema import or_null, required
from sojourn.stats.mos import mos_of_stream
from sojourn.store.run import Run
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Observation

#: The schemes of seed 002 section 3.2, in the order of its figures.
FIFO, FQ_CODEL, FQ_MAC, AIRTIME = SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
#: Stations of the paper's cell, and what they are together.
FAST = ("fast1", "fast2")
SLOW = ("slow",)
STATIONS = (*FAST, *SLOW)
CLASSES: dict[str, tuple[str, ...]] = {"fast": FAST, "slow": SLOW}

#: Table 1 of "Ending the Anomaly": aggregate (bytes), share (percent), R(i) and what was measured of each station.
PAPER: dict[str, dict[str, tuple[int, int, float, float]]] = {
    FIFO: {"fast1": (6892, 10, 9.7, 7.1), "fast2": (7833, 11, 11.4, 6.3), "slow": (2914, 79, 5.1, 5.3)},
    AIRTIME: {"fast1": (28434, 33, 42.2, 38.8), "fast2": (28557, 33, 42.3, 35.6), "slow": (2914, 33, 2.2, 2.0)},
}

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


#: An experiment, and the scheme of the access point.
AXES = Axes("experiment", "scheme", words=lambda cell: f"{cell.experiment} under {cell.scheme}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StationObservation:
    """A station in a run."""

    #: Of the airtime of all stations, both directions.
    airtime_share: float
    #: Delivered to it, with headers.
    mbit: float
    #: Number of aggregates sent to it, and their mean length.
    aggregates: int
    aggregate_frames: float
    aggregate_bytes: float
    #: Of frames to it, and those of them that were sent again.
    transmissions: int
    retries: int
    #: Mean time until a packet is built into an aggregate, and from there to delivery; `None` without packets.
    queue_ms: float | None
    hardware_ms: float | None
    #: By reason, of packets to it.
    drops: Mapping[str, int]
    #: Packets to it by traffic identifier.
    tids: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceObservation:
    """A voice stream: induced one-way delay, lost packets of those sent, and its mean opinion score, if it has one."""

    delay_ms: float
    lost: int
    sent: int
    mos: float | None


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence):
    """What was run."""

    #: By scheme, processor time for each packet of runs of the same traffic, in the order in which they alternated.
    cpu_ns: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def pooled_ping(evidence: Evidence, experiment: str, scheme: str, stations: tuple[str, ...]) -> Array:
    """Return the round-trip times of all repeats (ms)."""
    runs = evidence.of(AXES(experiment, scheme))
    return np.concatenate([run.ping_ms[name] for run in runs for name in stations if name in run.ping_ms])


def observe(run: Run) -> Observation:
    """Return what is kept of a run in a cell.

    The values of the observation:

    duration_s
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
    record = run.record
    wifi = required(record.wifi, "wifi")
    where = {one["name"]: one.get("station") for one in record.scenario["probes"]}
    rtt = record.series.rtt
    first = wifi.stations[0].name
    return Observation(
        seed=run.seed,
        duration_s=float(record.cost.sim_s),
        stations={one.name: _station(one) for one in wifi.stations},
        goodput={one.name: float(one.goodput_mbit) for one in record.flows},
        loss={flow.name: lost for flow in record.flows if (lost := or_null(flow.loss)) is not None},
        ping_ms={where.get(name) or first: _answered(found) for name, found in rtt.items()},
        voices={one.name: _voice(one, record) for one in record.probes if one.kind == "voip"},
        collisions=int(wifi.collisions),
        transmissions=int(wifi.transmissions),
    )


def median_ping(run: Observation, stations: tuple[str, ...]) -> float:
    """Return the mean over stations of the median round-trip time (ms).

    Raises `SojournError` if a station's ping was not answered.
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
    down = plain.down
    return StationObservation(
        airtime_share=kit.needed(plain.airtime_share, "airtime"),
        mbit=float(down.throughput_mbit),
        aggregates=int(down.aggregates),
        aggregate_frames=float(down.aggregate_frames or 0.0),
        aggregate_bytes=or_null(down.aggregate_bytes) or 0.0,
        transmissions=required(down.transmissions, "transmissions"),
        retries=int(down.retries),
        queue_ms=None if down.queue_ms is None else down.queue_ms.mean,
        hardware_ms=None if down.hardware_ms is None else down.hardware_ms.mean,
        drops={reason: int(number) for reason, number in down.drops.items()},
        tids={int(one.tid): int(one.packets) for one in plain.tids if one.direction == "down"},
    )


def _voice(probe: ProbeRecord, record: Record) -> VoiceObservation:
    delay = np.asarray(record.series.voip[probe.name].delay_ms, dtype=float)
    delay = delay[~np.isnan(delay)]
    return VoiceObservation(
        delay_ms=float(delay.mean()) - required(probe.base_delay_ms, "base_delay_ms") if delay.size else float("inf"),
        lost=int(probe.lost),
        sent=int(probe.sent),
        mos=mos_of_stream(probe),
    )


def _answered(series: ProbeSeries) -> Array:
    times: Array = np.asarray(series.t_s, dtype=np.float64)
    trips: Array = np.asarray(series.rtt_ms, dtype=np.float64)
    found: Array = trips[(times >= 0) & ~np.isnan(trips)]
    return found
