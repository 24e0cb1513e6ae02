"""Frames of records: fixed schemas, so that what works for one run works for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from sojourn.results import Cell, Run

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

RUN_SCHEMA = {
    "link": pl.String,
    "qdisc": pl.String,
    "seed": pl.UInt64,
    "goodput_up_mbit": pl.Float64,
    "goodput_down_mbit": pl.Float64,
    "induced_latency_ms": pl.Float64,
    "rtt_mean_ms": pl.Float64,
    "rtt_median_ms": pl.Float64,
    "rtt_p5_ms": pl.Float64,
    "rtt_p95_ms": pl.Float64,
    "rtt_p99_ms": pl.Float64,
    "probe_loss": pl.Float64,
    "jain_up": pl.Float64,
    "jain_down": pl.Float64,
    "page_fetch_s": pl.Float64,
    "fct_ms": pl.Float64,
    "voip_delay_ms": pl.Float64,
    "voip_loss": pl.Float64,
}

#: The time series of a record that all have the times of its bins.
BINNED = ("goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets")


def series(record: dict[str, Any]) -> pl.DataFrame:
    """Return all time series of one record in long form; a lost probe is a null.

    Metrics are `goodput_mbit`, `cwnd_segments`, `backlog_packets`, `drops` and `packets` (both cumulative), at
    the end of each bin, `rtt_ms`, at the time a probe was sent, and of a voice stream `voip_delay_ms` (mean),
    `voip_max_ms`, `voip_sent` and `voip_lost`, of the packets sent in the bin, at its end. With a cell there is
    `airtime_ms` of each station in each bin; a UDP flow has no `cwnd_segments`. Beside a flusher each TCP flow has
    `flusher_path_rtt_ms` and what else the record's `series.flusher` holds.
    """
    stored = record["series"]
    direction = {"up": "up", "down": "down"} | {flow["name"]: flow["direction"] for flow in record["flows"]}
    parts = [
        _part(stored["t_s"], metric, name, direction.get(name), values)
        for metric in BINNED
        for name, values in stored[metric].items()
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
        for key, values in flow.items()
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=SERIES_SCHEMA)


def flows(record: dict[str, Any]) -> pl.DataFrame:
    """Return one row for each flow of one record."""
    rows = [{**flow, "sojourn_mean_ms": flow.get("sojourn_ms", {}).get("mean")} for flow in record["flows"]]
    return pl.DataFrame([{name: row.get(name) for name in FLOW_SCHEMA} for row in rows], schema=FLOW_SCHEMA)


def runs(cells: Iterable[Cell]) -> pl.DataFrame:
    """Return one row for each run: where it belongs, its seed and its summary."""
    rows = []
    for cell in cells:
        for run in cell.runs:
            rows.append({**metrics_of(run), "link": cell.link, "qdisc": cell.qdisc, "seed": run.seed})
    return pl.DataFrame([{name: row.get(name) for name in RUN_SCHEMA} for row in rows], schema=RUN_SCHEMA)


def metrics_of(run: Run) -> dict[str, Any]:
    """Return the summary of a run, flat: quantiles of the round-trip time as `rtt_median_ms` and so on."""
    summary = run.summary
    rtt = {f"rtt_{name}_ms": value for name, value in summary["rtt_ms"].items()}
    return {**summary, **rtt, **_voice(run.voices)}


def metric_of(run: Run, metric: str) -> float | None:
    """Return one metric of a run, by its name in `RUN_SCHEMA`; `None` if the run has none."""
    value = metrics_of(run).get(metric)
    return None if value is None else float(value)


def metric_names() -> list[str]:
    """Return the metrics of a run, in the order of `RUN_SCHEMA`."""
    return [name for name, kind in RUN_SCHEMA.items() if kind == pl.Float64]


def _voice(streams: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return mean delay and loss of all voice streams of a run, if there are any."""
    arrived = sum(stream["delay_ms"]["count"] for stream in streams)
    sent = sum(stream["sent"] for stream in streams)
    found = {}
    if arrived > 0:
        found["voip_delay_ms"] = sum(one["delay_ms"]["mean"] * one["delay_ms"]["count"] for one in streams) / arrived
    if sent > 0:
        found["voip_loss"] = 1 - arrived / sent
    return found


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
