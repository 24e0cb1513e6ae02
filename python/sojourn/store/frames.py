"""Frames of one record: fixed schemas, so that what works for one run works for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sojourn.frame_library import pl
from sojourn.record import Record

#: One row for each value of each time series: `name` is a flow, a probe, a station or a direction of the bottleneck.
SERIES_SCHEMA = {
    "t_s": pl.Float64,
    "metric": pl.String,
    "name": pl.String,
    "direction": pl.String,
    "value": pl.Float64,
}

FLOW_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "name": pl.String,
    "kind": pl.String,
    "direction": pl.String,
    "congestion_control": pl.String,
    "base_rtt_ms": pl.Float64,
    "goodput_mbit": pl.Float64,
    "segments_sent": pl.Int64,
    "retransmissions": pl.Int64,
    "timeouts": pl.Int64,
    "mean_cwnd_segments": pl.Float64,
    "acks_dropped": pl.Int64,
    "data_dropped": pl.Int64,
    "sojourn_mean_ms": pl.Float64,
    "queue_shared_with": pl.List(pl.String),
}

#: The time series of a record that all have the times of its bins.
BINNED = ("goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets")


def series(record: Record) -> pl.DataFrame:
    """Return all time series of one record in long form; a lost probe is a null.

    Metrics are `goodput_mbit`, `cwnd_segments`, `backlog_packets`, `drops` and `packets` (both cumulative), at
    the end of each bin, `rtt_ms`, at the time a probe was sent, and of a voice stream `voip_delay_ms` (mean),
    `voip_max_ms`, `voip_sent` and `voip_lost`, of the packets sent in the bin, at its end. With a cell there is
    `airtime_ms` of each station in each bin; a UDP flow has no `cwnd_segments`. Beside a flusher each TCP flow has
    `flusher_path_rtt_ms` and what else the record's `series.flusher` holds.
    """
    stored = record["series"]
    by_name = cast("Mapping[str, Any]", stored)
    direction = {"up": "up", "down": "down"} | {flow["name"]: flow["direction"] for flow in record["flows"]}
    parts = [
        _part(stored["t_s"], metric, name, direction.get(name), values)
        for metric in BINNED
        for name, values in by_name[metric].items()
    ]
    parts += [
        _part(stored["t_s"], "airtime_ms", name, None, values) for name, values in stored.get("airtime_ms", {}).items()
    ]
    parts += [_part(probe["t_s"], "rtt_ms", name, None, probe["rtt_ms"]) for name, probe in stored["rtt"].items()]
    direction |= {
        probe["name"]: probe["direction"] for probe in record.get("probes", []) if probe.get("kind") == "voip"
    }
    parts += [
        _part(voice["t_s"], f"voip_{key}", name, direction.get(name), voice[key])
        for name, voice in stored.get("voip", {}).items()
        for key in ("delay_ms", "max_ms", "sent", "lost")
    ]
    parts += [
        _part(stored["t_s"], f"flusher_{key}", name, direction.get(name), values)
        for name, flow in stored.get("flusher", {}).items()
        for key, values in cast("Mapping[str, Any]", flow).items()
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=SERIES_SCHEMA)


def flows(record: Record) -> pl.DataFrame:
    """Return one row for each flow of one record."""
    rows = [{**flow, "sojourn_mean_ms": flow.get("sojourn_ms", {}).get("mean")} for flow in record["flows"]]
    return pl.DataFrame([{name: row.get(name) for name in FLOW_SCHEMA} for row in rows], schema=FLOW_SCHEMA)


def _part(
    times: list[float], metric: str, name: str, direction: str | None, values: Sequence[float | None]
) -> pl.DataFrame:
    columns: dict[str, pl.Series] = {
        "t_s": pl.Series(times, dtype=pl.Float64, strict=False),
        "metric": pl.repeat(metric, len(times), dtype=pl.String, eager=True),
        "name": pl.repeat(name, len(times), dtype=pl.String, eager=True),
        "direction": pl.repeat(direction, len(times), dtype=pl.String, eager=True),
        "value": pl.Series(values, dtype=pl.Float64, strict=False),
    }
    return pl.DataFrame(columns)
