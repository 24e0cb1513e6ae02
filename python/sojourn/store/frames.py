"""Frames of one record: fixed schemas, so that what works for one run works for all."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import to_builtins
from msgspec.structs import asdict

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
    "mean_srtt_ms": pl.Float64,
    "acks_dropped": pl.Int64,
    "data_dropped": pl.Int64,
    "sojourn_mean_ms": pl.Float64,
    "queue_shared_with": pl.List(pl.String),
    "client": pl.Int64,
    "server": pl.Int64,
    "dscp": pl.Int64,
    "ecn_agreed": pl.Boolean,
    "ecn_marked": pl.Int64,
    "ecn_delivered_ce": pl.Int64,
    "ecn_echoes": pl.Int64,
    "ecn_reductions": pl.Int64,
}
#: The columns that the scenario says, and what a flow has that says nothing.
_IDENTITY = {"client": 1, "server": 1, "dscp": 0}

#: One row for each reason for which either direction of the bottleneck may drop, and for the data and the bare
#: acknowledgements of each TCP flow; `first_s` is from the beginning of the measured window.
DROP_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "direction": pl.String,
    "by": pl.Enum(["reason", "flow"]),
    "name": pl.String,
    "packet": pl.Enum(["any", "data", "ack"]),
    "packets": pl.Int64,
    "first_s": pl.Float64,
}

#: The time series of a record that all have the times of its bins.
BINNED = ("goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets")


def series(record: Record) -> pl.DataFrame:
    """Return all time series of one record in long form; a lost probe is a null.

    Metrics are `goodput_mbit`, `cwnd_segments`, `backlog_packets`, `drops` and `packets` (both cumulative), at
    the end of each bin, `rtt_ms`, at the time a probe was sent, and of a voice stream `voip_delay_ms` (mean),
    `voip_max_ms`, `voip_sent` and `voip_lost`, of the packets sent in the bin, at its end. With a cell there is
    `airtime_ms` of each station in each bin, and with a topology `links_backlog_packets`, `links_drops` and
    `links_packets` of each link. A UDP flow has no `cwnd_segments`. Beside a flusher each TCP flow has
    `flusher_path_rtt_ms` and what else the record's `series.flusher` holds.
    """
    stored = record.series
    direction = {"up": "up", "down": "down"} | {flow.name: flow.direction for flow in record.flows}
    parts = [
        _part(stored.t_s, metric, name, direction.get(name), values)
        for metric in BINNED
        for name, values in getattr(stored, metric).items()
    ]
    parts += [_part(stored.t_s, "airtime_ms", name, None, values) for name, values in (stored.airtime_ms or {}).items()]
    parts += [
        _part(stored.t_s, f"links_{metric}", name, None, values)
        for name, link in (stored.links or {}).items()
        for metric, values in asdict(link).items()
    ]
    parts += [_part(probe.t_s, "rtt_ms", name, None, probe.rtt_ms) for name, probe in stored.rtt.items()]
    direction |= {probe.name: probe.direction for probe in record.probes if probe.kind == "voip"}
    parts += [
        _part(voice.t_s, f"voip_{key}", name, direction.get(name), getattr(voice, key))
        for name, voice in stored.voip.items()
        for key in ("delay_ms", "max_ms", "sent", "lost")
    ]
    parts += [
        _part(stored.t_s, f"flusher_{key}", name, direction.get(name), values)
        for name, flow in (stored.flusher or {}).items()
        for key, values in asdict(flow).items()
        if values is not None
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=SERIES_SCHEMA)


def flows(record: Record) -> pl.DataFrame:
    """Return one row for each flow of one record.

    `client` and `server` are the numbers of its hosts, and `dscp` is the code point of its packets. The columns of ECN
    are null of a flow that does not want it, and what a kernel does not count is null there.
    """
    flows_by_name = {flow["name"]: flow for flow in record.scenario.get("flows", [])}
    rows = [
        to_builtins(flow)
        | {"sojourn_mean_ms": None if flow.sojourn_ms is None else flow.sojourn_ms.mean}
        | {key: flows_by_name.get(flow.name, {}).get(key, default) for key, default in _IDENTITY.items()}
        | {f"ecn_{name}": value for name, value in to_builtins(flow.ecn or {}).items()}
        for flow in record.flows
    ]
    return pl.DataFrame([{name: row.get(name) for name in FLOW_SCHEMA} for row in rows], schema=FLOW_SCHEMA)


def drops(record: Record) -> pl.DataFrame:
    """Return the packets that the bottleneck dropped in the measured window, by reason and by TCP flow.

    The rows of one direction with `by` = `reason` add up to all that was dropped there. The acknowledgements of a flow
    are dropped in the direction opposite to its own. What is dropped of handshakes, probes, UDP flows, pages and
    downloads has no row of a flow.
    """
    rows = [
        {"direction": way, "by": "reason", "name": reason, "packet": "any", "packets": count}
        | {"first_s": end.first_drop_s.get(reason)}
        for way, end in record.bottleneck.items()
        for reason, count in end.drops.items()
    ]
    for flow in record.flows:
        if flow.kind == "tcp":
            way = flow.direction
            counts = ((way, "data", flow.data_dropped), (_OPPOSITE[way], "ack", flow.acks_dropped))
            rows += [
                {"direction": to, "by": "flow", "name": flow.name, "packet": packet, "packets": count}
                for to, packet, count in counts
            ]
    return pl.DataFrame(rows, schema=DROP_SCHEMA)


_OPPOSITE = {"up": "down", "down": "up"}


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
