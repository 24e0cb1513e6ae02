"""What the claims need to know of a run: a few numbers and short arrays, taken from its record once.

A paper is some thousands of runs, whose records do not fit into memory. `observe` reduces a record when it arrives,
and the record need not be kept. What a record does not tell (no probe answered, no voice, too short for the steady
state) is `None` here; `known` turns that into the reason why a claim cannot be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.record import FlowRecord, ProbeSeries, Record, SeriesRecord
from sojourn.schema import required
from sojourn.stats.fetches import unfinished_s
from sojourn.stats.mos import mos_of_stream
from sojourn.store.run import Run
from sojourn.study.cell import Observation
from sojourn.units import bits_per_s, seconds

Array = NDArray[np.float32]
T = TypeVar("T")

#: Steady state begins here (s): the start-up transients of the AQMs are over.
STEADY_FROM_S = 10.0
#: The start-up is what the paper's Fig. 7 shows (s).
START_S = 25.0
#: The curve that is kept of the latency, in bins of this length, and from when it counts as steady (s).
BIN_S, CURVE_S, SETTLED_FROM_S = 0.2, 60.0, 30.0
BINS = round(CURVE_S / BIN_S)
#: A flow's early time, in which it grows its window for the first time (s).
EARLY_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowObservation:
    """A TCP flow."""

    #: As in the scenario.
    name: str
    direction: str
    #: Base round-trip time.
    rtt_ms: float
    #: Mbit/s.
    goodput: float
    #: Mean congestion window (segments): of the whole run, of the first `EARLY_S`, and of the rest; the latter two
    #: are `None` if the run is not longer.
    window: float | None
    early_window: float | None
    late_window: float | None
    #: Mean sojourn time of the flow's data packets in the bottleneck.
    wait_ms: float | None
    #: Retransmission timeouts; `None` if the record does not tell.
    timeouts: int | None
    #: Number of times between successive drops of the flow's data at the bottleneck, and their coefficient of
    #: variation; `None` if the record does not tell, or there are too few.
    gaps: int | None
    gaps_cv: float | None
    #: What is left of the delivered bytes when they are divided by the segment size: 0 if they are payload alone.
    payload_remainder: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionObservation:
    """One direction of the bottleneck."""

    #: Of the link; `None` if the record does not tell.
    rate_mbit: float | None
    #: Pure acknowledgements dropped.
    ack_drops: float
    #: Mean sojourn time of all packets.
    wait_ms: float | None
    #: How often CoDel entered its dropping state; `None` under other disciplines.
    entries: float | None
    #: Standard deviation of the queue (packets) in the steady state, sampled once a bin.
    queue_std: float | None
    #: Variance over mean of the drops in a bin in the steady state: 1 for independent drops, more for bursts.
    burstiness: float | None
    #: Dropped and offered packets of the steady state.
    drops: float | None
    packets: float | None
    #: When the first packet was dropped for congestion, from the window's beginning; `None` if the record does not
    #: tell, infinite if none was.
    first_drop_s: float | None
    #: SYN and SYN-ACK packets; `None` if the record does not tell.
    syn_offered: int | None
    syn_dropped: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoiceObservation:
    """A voice flow."""

    #: As in the scenario.
    name: str
    #: Time between two packets.
    frame_ms: float
    #: Packets sent in the measured window, and those of them that were lost.
    sent: int
    lost: int
    #: Its mean opinion score, if it has one.
    mos: float | None
    #: End of each bin in which packets arrived.
    t_s: Array
    #: Induced one-way delay of the packets sent in that bin, mean and largest: the delay less that of the empty path,
    #: as induced latency is the round-trip time less that of the empty path (seed 000 section 5.1).
    delay_ms: Array
    most_ms: Array

    @property
    def loss_percent(self) -> float:
        """Share of the packets that were lost."""
        return 100 * self.lost / self.sent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageObservation:
    """The fetches of one page."""

    #: Its label.
    page: str
    #: Of each completed fetch.
    time_s: NDArray[np.float64]
    #: How long the fetch that was under way at the end had taken (`sojourn.stats.fetches`).
    unfinished_s: float
    #: How many SYN packets each fetch had to send again, and how many questions to the resolver.
    syns: Array
    look_ups: Array


def known(value: T | None, run: Observation, what: str) -> T:
    """Return a value that the record tells; raises `SojournError` if it does not."""
    if value is None:
        message = f"the run with seed {run.seed} has no {what}"
        raise SojournError(message)
    return value


def observe(run: Run) -> Observation:
    """Reduce a run to what claims need.

    The values of the observation:

    duration_s
        Measured window.
    goodput_up, goodput_down
        Mbit/s.
    latency_ms
        Induced latency; `None` if no probe was answered.
    flows, up, down
        The TCP flows and the bottleneck.
    probe_mbit
        What the probes sent (Mbit/s); `None` if the record does not tell.
    collisions
        The (probe, flow) pairs that share a queue.
    before_ms
        Mean round-trip time before the flows start.
    curve_ms
        Mean round-trip time of all probes in each bin of `BIN_S` of the first `CURVE_S`; not a number where none was
        answered.
    settled_ms
        Mean round-trip time from `SETTLED_FROM_S` to `CURVE_S`; `None` if the run ends before.
    voice
        The voice flow.
    pages
        The page that was fetched.
    """
    record = run.record
    duration_s = float(record.cost.sim_s)
    mss = record.scenario.get("tcp", {}).get("mss")
    series = record.series
    before, curve, settled = _round_trips(series.rtt)
    summary = record.summary
    return Observation(
        seed=int(record.seed),
        duration_s=duration_s,
        goodput_up=float(summary.goodput_up_mbit),
        goodput_down=float(summary.goodput_down_mbit),
        latency_ms=summary.induced_latency_ms,
        flows=tuple(_flow(flow, series, duration_s, mss) for flow in record.flows),
        up=_end(record, "up"),
        down=_end(record, "down"),
        probe_mbit=_probe_mbit(record, duration_s),
        collisions=tuple(_collisions(record)),
        before_ms=before,
        curve_ms=curve,
        settled_ms=settled,
        voice=_voice(record),
        pages=_pages(record),
    )


def _collisions(record: Record) -> list[tuple[str, str]]:
    probes = {probe.name for probe in record.probes}
    return [(other, flow.name) for flow in record.flows for other in flow.queue_shared_with if other in probes]


def _flow(flow: FlowRecord, series: SeriesRecord, duration_s: float, mss: int | None) -> FlowObservation:
    windows = series.cwnd_segments.get(flow.name, [])
    early = [float(window) for time, window in zip(series.t_s, windows, strict=False) if time <= EARLY_S]
    late = [float(window) for time, window in zip(series.t_s, windows, strict=False) if time > EARLY_S]
    gaps, wait = flow.drop_gaps_ms, flow.sojourn_ms
    remainder = None
    if mss is not None:
        segments = float(flow.goodput_mbit) * duration_s * 1e6 / 8 / mss
        remainder = abs(segments - round(segments)) * mss
    return FlowObservation(
        name=flow.name,
        direction=flow.direction,
        rtt_ms=float(flow.base_rtt_ms),
        goodput=float(flow.goodput_mbit),
        window=_number(flow.mean_cwnd_segments),
        early_window=fmean(early) if early and late else None,
        late_window=fmean(late) if early and late else None,
        wait_ms=None if wait is None else wait.mean,
        timeouts=flow.timeouts,
        gaps=None if gaps is None else gaps.count,
        gaps_cv=None if gaps is None else gaps.cv,
        payload_remainder=remainder,
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _end(record: Record, side: str) -> DirectionObservation:
    end = record.bottleneck[side]
    queue = _steady(record, "backlog_packets", side)
    dropped, offered = _steady(record, "drops", side), _steady(record, "packets", side)
    return DirectionObservation(
        rate_mbit=_mbit(record.scenario.get(side)),
        ack_drops=float(end.ack_drops),
        wait_ms=_number(end.sojourn_ms.mean),
        entries=_number(end.extra.get("drop_state_entries")),
        queue_std=pstdev(queue) if queue else None,
        burstiness=_burstiness(dropped) if dropped else None,
        drops=dropped[-1] - dropped[0] if dropped else None,
        packets=offered[-1] - offered[0] if offered else None,
        first_drop_s=float(end.first_drop_s.get("congestion", np.inf)),
        syn_offered=end.syn.offered,
        syn_dropped=end.syn.dropped,
    )


def _steady(record: Record, metric: Literal["backlog_packets", "drops", "packets"], side: str) -> list[float]:
    """Return a bottleneck's time series from `STEADY_FROM_S` on; nothing if the run is not long enough."""
    series = record.series
    times = series.t_s
    values = [
        float(value) for time, value in zip(times, getattr(series, metric)[side], strict=True) if time >= STEADY_FROM_S
    ]
    return values if len(values) > 1 else []


def _burstiness(total: list[float]) -> float:
    bins = [after - before for before, after in pairwise(total)]
    return pstdev(bins) ** 2 / fmean(bins) if sum(bins) else 0.0


def _mbit(rate: str | None) -> float | None:
    return None if rate is None else bits_per_s(rate) / 1e6


def _probe_mbit(record: Record, duration_s: float) -> float | None:
    sizes = {probe["name"]: probe.get("size") for probe in record.scenario.get("probes", [])}
    if any(sizes.get(probe.name) is None for probe in record.probes):
        return None
    return float(sum(sizes[probe.name] * probe.sent for probe in record.probes)) * 8 / duration_s / 1e6


def _round_trips(probes: Mapping[str, ProbeSeries]) -> tuple[float | None, Array, float | None]:
    """Return the mean before the flows start, the curve, and the mean once it is steady."""
    times = [np.asarray(probe.t_s, dtype=float) for probe in probes.values()]
    trips = [np.asarray(probe.rtt_ms, dtype=float) for probe in probes.values()]
    if not times:
        return None, np.full(BINS, np.nan, dtype=np.float32), None
    time, trip = np.concatenate(times), np.concatenate(trips)
    answered = ~np.isnan(trip)
    time, trip = time[answered], trip[answered]
    within = (time >= 0) & (time < CURVE_S)
    place = np.minimum((time[within] / BIN_S).astype(int), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    total = np.bincount(place, weights=trip[within], minlength=BINS)
    curve = np.full(BINS, np.nan)
    np.divide(total, count, out=curve, where=count > 0)
    return _mean(trip[time < 0]), curve.astype(np.float32), _mean(trip[within & (time >= SETTLED_FROM_S)])


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if values.size else None


def _voice(record: Record) -> VoiceObservation | None:
    found = next((probe for probe in record.probes if probe.kind == "voip"), None)
    if found is None or not found.sent:
        return None
    series = record.series.voip[found.name]
    time, delay, most = (np.asarray(each, dtype=float) for each in (series.t_s, series.delay_ms, series.max_ms))
    arrived = ~np.isnan(delay)
    base = required(found.base_delay_ms, "base_delay_ms")
    return VoiceObservation(
        name=found.name,
        frame_ms=required(found.frame_ms, "frame_ms"),
        sent=int(found.sent),
        lost=int(found.lost),
        mos=mos_of_stream(found),
        t_s=time[arrived].astype(np.float32),
        delay_ms=(delay[arrived] - base).astype(np.float32),
        most_ms=(most[arrived] - base).astype(np.float32),
    )


def _pages(record: Record) -> PageObservation | None:
    if not record.web:
        return None
    client = record.web[0]
    (settings,) = (one for one in record.scenario["web"] if one["name"] == client.name)
    fetches = client.fetches
    starts, times = [fetch.start_s for fetch in fetches], [fetch.time_s for fetch in fetches]
    interval, end = seconds(settings["interval"]), record.cost.sim_s
    return PageObservation(
        page=client.page,
        unfinished_s=unfinished_s(starts, times, interval=interval, end=end),
        time_s=np.asarray(times, dtype=np.float64),
        syns=np.asarray([int(fetch.syn_retransmitted) for fetch in fetches], dtype=np.float32),
        look_ups=np.asarray([int(fetch.dns_retried) for fetch in fetches], dtype=np.float32),
    )
