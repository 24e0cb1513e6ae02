"""Records of earlier versions: where nothing was measured, they have 0, or 1 of a fairness, and today's have null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from sojourn.record import Quantiles, Record, SojournRecord


def settle(record: Record) -> None:
    """Put null into a record that was read, where its counts say that nothing was measured.

    Latencies need an echo that came back, a loss of probes an echo that was sent, and a fairness something to share.
    """
    summary = record.summary
    if summary.rtt_ms.count == 0:
        _clear(summary, "induced_latency_ms")
        # All were lost, or none was sent.
        if not summary.probe_loss:
            _clear(summary, "probe_loss")
    for direction in ("up", "down"):
        if getattr(summary, f"goodput_{direction}_mbit") == 0:
            _clear(summary, f"jain_{direction}")
    for quantiles in _quantiles(record):
        if quantiles.count == 0:
            _clear(quantiles, *(name for name in Quantiles.__struct_fields__ if name != "count"))
    stations = record.wifi.stations if record.wifi is not None else []
    for way in (way for station in stations for way in (station.down, station.up)):
        if way.aggregates == 0:
            _clear(way, "aggregate_frames")
        if way.packets == 0:
            _clear(way, "queue_ms", "hardware_ms")
    for end in (*record.bottleneck.values(), *(record.links or {}).values()):
        if end.packets == 0:
            _clear(end.sojourn_ms, *SojournRecord.__struct_fields__)


def put_null(plain: Any, value: Any) -> None:
    """Put null into the JSON of a record wherever it has null by now."""
    if isinstance(plain, dict):
        for key, inner in plain.items():
            now = getattr(value, key, inner) if isinstance(value, Struct) else value[key]
            if now is None:
                plain[key] = None
            elif now is not inner:
                put_null(inner, now)
    elif isinstance(plain, list):
        for inner, now in zip(plain, value, strict=True):
            put_null(inner, now)


def _clear(thing: Struct, *names: str) -> None:
    for name in names:
        force_setattr(thing, name, None)


def _quantiles(record: Record) -> Iterator[Quantiles]:
    yield record.summary.rtt_ms
    for probe in record.probes:
        yield from (quantiles for quantiles in (probe.rtt_ms, probe.delay_ms) if quantiles is not None)
    yield from (one.time_s for one in record.web)
    yield from (one.fct_ms for one in record.downloads or ())
    yield from (flow.writes.delay_ms for flow in record.flows if flow.writes is not None)
