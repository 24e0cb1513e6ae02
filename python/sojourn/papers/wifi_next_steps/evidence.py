"""What the next steps of the Wi-Fi stack are told by: of each run a number for each quantity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from sojourn.record import FlowRecord, ProbeRecord
from sojourn.schema import required
from sojourn.stats.jain import jain
from sojourn.store.run import Run
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Cell, Observation

#: Quantities by name, of all stations unless `NAME.STATION` says of which: what they are, unit, decimals.
QUANTITIES: dict[str, tuple[str, str, int]] = {
    "ping_ms": ("ping, median", "ms", 1),
    "ping_p95_ms": ("ping, 95th percentile", "ms", 1),
    "ping_loss": ("pings lost", "%", 2),
    "mbit": ("goodput down", "Mbit/s", 1),
    "mbit_up": ("goodput up", "Mbit/s", 1),
    "share": ("airtime", "%", 1),
    "time": ("time on the air", "%", 1),
    "jain": ("Jain's index", "", 4),
    "jain_window": ("Jain's index, 200 ms", "", 3),
    "voice_ms": ("voice delay, mean", "ms", 1),
    "voice_p95_ms": ("voice delay, 95th percentile", "ms", 1),
    "voice_loss": ("voice lost", "%", 2),
    "frames": ("frames in an aggregate", "", 1),
    "collisions": ("transmissions that collided", "%", 1),
    "pending_ms": ("airtime pending below", "ms", 1),
    "expired": ("frames given up by age", "per s", 1),
    "voice_in": ("voice frames in other aggregates", "per s", 1),
    "demoted": ("demotions", "per s", 2),
    "bulk": ("goodput, marked flow", "Mbit/s", 1),
}


#: A part of the page, an option of the access point, and its load.
AXES = Axes("part", "option", "load", words=lambda cell: f"{cell.part}: {cell.option}, {cell.load}")


#: What was run.
Evidence = kit.Evidence


def each(evidence: Evidence, cell: Cell, quantity: str) -> list[float]:
    """Return a quantity of each repeat that has it; raises as `sojourn.study.evidence.Evidence.each`."""
    return evidence.each(cell, lambda run: run.numbers.get(quantity))


def of_part(evidence: Evidence, part: str) -> list[Cell]:
    """Return the cells of a part in the order of the plan."""
    return [cell for cell in evidence.cells if cell.part == part]


def unit_of(quantity: str) -> tuple[str, str, int]:
    """Return what a quantity is, with its station if it is of one, its unit, and its decimals."""
    name, _, station = quantity.partition(".")
    words, unit, digits = QUANTITIES[name]
    return (f"{words}, {station}" if station else words), unit, digits


def observe(run: Run) -> Observation:
    """Return every quantity that a run has a number for; shares and losses in per cent."""
    record = run.record
    wifi, scenario = required(record.wifi, "wifi"), record.scenario
    seconds = float(record.cost.sim_s) if not record.series.t_s else float(record.series.t_s[-1])
    where = {one["name"]: one.get("station", "") for kind in ("probes", "flows") for one in scenario[kind]}
    found: dict[str, float] = {}
    _probes(found, record.probes, where)
    _flows(found, record.flows, where)
    stations = wifi.stations
    for one in stations:
        found |= _known(f"share.{one.name}", one.airtime_share, 100)
        group = one.group or one.name
        used = (float(one.airtime_tx_ms) + float(one.airtime_rx_ms)) / (10 * seconds)
        found[f"time.{group}"] = found.get(f"time.{group}", 0.0) + used
    pending = [ms for one in stations if one.latency is not None and (ms := one.latency.pending_mean_ms) is not None]
    if pending:
        found["pending_ms"] = fmean(pending)
    if wifi.transmissions:
        found["collisions"] = 100 * int(wifi.collisions) / int(wifi.transmissions)
    found |= _known("jain", wifi.jain_airtime)
    bins = [each for each in zip(*(record.series.airtime_ms or {}).values(), strict=True) if any(each)]
    if bins:
        found["jain_window"] = fmean(jain(each) for each in bins)
    down = [one.down for one in stations]
    built = sum(int(one.aggregates) for one in down)
    if built:
        found["frames"] = sum(int(one.aggregates) * float(one.aggregate_frames or 0) for one in down) / built
    found["expired"] = sum(one.latency.expired for one in stations if one.latency is not None) / seconds
    found["voice_in"] = sum(one.voice_in_aggregates or 0 for one in stations) / seconds
    found["demoted"] = sum(one.demoted or 0 for one in stations) / seconds
    return Observation(seed=run.seed, numbers=found)


def _known(name: str, value: float | None, times: float = 1.0) -> dict[str, float]:
    return {} if value is None else {name: times * value}


def _probes(found: dict[str, float], probes: Iterable[ProbeRecord], where: Mapping[str, str]) -> None:
    """Add round-trip times of pings and delays of voice: of each station, and the means over the stations."""
    pooled: dict[str, list[float]] = {}

    def add(name: str, station: str, value: float) -> None:
        found[f"{name}.{station}"] = value
        pooled.setdefault(name, []).append(value)

    for one in probes:
        called = one.kind == "voip"
        kind, key = ("voice", "delay_ms") if called else ("ping", "rtt_ms")
        base = required(one.base_delay_ms, "base_delay_ms") if called else 0.0
        station = where[one.name]
        if one.sent:
            add(f"{kind}_loss", station, 100 * int(one.lost) / int(one.sent))
        times = required(one.delay_ms if called else one.rtt_ms, key)
        if times.count:
            add(f"{kind}_ms", station, required(times.mean if called else times.median, key) - base)
            add(f"{kind}_p95_ms", station, required(times.p95, key) - base)
    found.update({name: fmean(values) for name, values in pooled.items()})


def _flows(found: dict[str, float], flows: Iterable[FlowRecord], where: Mapping[str, str]) -> None:
    """Add goodput of each station, of all, and of the flow that is called `bulk`."""
    found["mbit"] = 0.0
    for one in flows:
        goodput = float(one.goodput_mbit)
        if one.name == "bulk":
            found["bulk"] = goodput
            continue
        total = "mbit" if one.direction == "down" else "mbit_up"
        found[total] = found.get(total, 0.0) + goodput
        each = f"{total}.{where[one.name]}"
        found[each] = found.get(each, 0.0) + goodput
