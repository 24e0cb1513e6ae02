"""Records of earlier versions: where nothing was measured, they have 0, or 1 of a fairness, and today's have null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def settle(record: dict[str, Any]) -> None:
    """Put null into a record that was read, where its counts say that nothing was measured.

    Latencies need an echo that came back, a loss of probes an echo that was sent, and a fairness something to share.
    """
    summary = record["summary"]
    if summary["rtt_ms"]["count"] == 0:
        summary["induced_latency_ms"] = None
        # All were lost, or none was sent.
        summary["probe_loss"] = summary["probe_loss"] or None
    for direction in ("up", "down"):
        if summary[f"goodput_{direction}_mbit"] == 0:
            summary[f"jain_{direction}"] = None
    for quantiles in _quantiles(record):
        if quantiles["count"] == 0:
            quantiles.update(dict.fromkeys(quantiles.keys() - {"count"}))
    stations = record.get("wifi", {}).get("stations", [])
    for way in (station[direction] for station in stations for direction in ("up", "down")):
        if way["aggregates"] == 0:
            way["aggregate_frames"] = None
        if way["packets"] == 0:
            way.update({key: None for key in ("queue_ms", "hardware_ms") if key in way})
    for end in (*record["bottleneck"].values(), *record.get("links", {}).values()):
        if end["packets"] == 0:
            end["sojourn_ms"] = dict.fromkeys(end["sojourn_ms"])


def _quantiles(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield record["summary"]["rtt_ms"]
    for probe in record["probes"]:
        yield from (probe[key] for key in ("rtt_ms", "delay_ms") if key in probe)
    yield from (one["time_s"] for one in record["web"])
    yield from (one["fct_ms"] for one in record.get("downloads", []))
    yield from (flow["writes"]["delay_ms"] for flow in record["flows"] if "writes" in flow)
