"""What the record of a run must look like (`crates/sojourn-sim/src/record.rs`), whoever wrote it.

All that is read of a record anywhere is named here; what a record holds beyond that is passed over. So what was checked
is read without a further look, and what was damaged or made by others is refused in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn import shape
from sojourn.errors import SojournError
from sojourn.shape import (
    Misfit,
    counts,
    flag,
    flag_or_null,
    integer,
    lines,
    list_of,
    name,
    number,
    number_or_null,
    numbers,
    record,
    seed,
    table_of,
    text,
    text_or_null,
    times,
    whole,
    whole_or_null,
    words,
)

_NUMBER = r"\d{1,15}(\.\d{1,15})?"
_time = shape.spelled(f"{_NUMBER}(ns|us|ms|s)", "a time such as 50ms")
_rate = shape.spelled(f"{_NUMBER}(bit|kbit|mbit|gbit)", "a rate such as 10mbit")
_way = shape.one_of("up", "down")
_ways = shape.one_of("up", "down", "both")

_quantiles = record(
    {"count": whole} | dict.fromkeys(("mean", "median", "p5", "p95", "p99", "min", "max"), number_or_null),
)
_sojourn = record(dict.fromkeys(("mean", "p95", "max"), number_or_null))
_of_one = record({"mean": number_or_null})

_scenario = record(
    {
        "experiment": text,
        "up": _rate,
        "down": _rate,
        "rtt": _time,
        "duration": _time,
        "lead": _time,
        "qdisc_up": words,
        "qdisc_down": words,
        "seed": seed,
        "flows": list_of(
            record(
                {"name": name, "direction": _way, "rtt": _time},
                {"client": whole, "server": whole, "dscp": whole},
            )
        ),
        "probes": list_of(record({"name": name, "kind": text, "rtt": _time})),
        "tcp": record({"mss": whole}),
    },
)
_summary = record(
    {
        "goodput_up_mbit": number,
        "goodput_down_mbit": number,
        "induced_latency_ms": number_or_null,
        "probe_loss": number_or_null,
        "jain_up": number_or_null,
        "jain_down": number_or_null,
        "rtt_ms": _quantiles,
        "page_fetch_s": number_or_null,
    },
    {"fct_ms": number_or_null},
)
_flow = record(
    {
        "name": name,
        "kind": text,
        "direction": _way,
        "congestion_control": text,
        "base_rtt_ms": number,
        "goodput_mbit": number,
        "segments_sent": whole,
        "retransmissions": whole,
        "timeouts": whole_or_null,
        "mean_cwnd_segments": number_or_null,
        "acks_dropped": whole,
        "data_dropped": whole,
        "queue_shared_with": list_of(text),
    },
    {
        "sent": whole,
        "lost": whole,
        "loss": number_or_null,
        "loss_probes": whole_or_null,
        "undone": whole_or_null,
        "mean_srtt_ms": number_or_null,
        "syn_retransmissions": whole,
        "drop_gaps_ms": record({"count": whole, "mean": number_or_null, "cv": number_or_null}),
        "sojourn_ms": _of_one,
        "ecn": record(
            {"agreed": flag_or_null, "marked": whole},
            {"delivered_ce": whole_or_null, "echoes": whole_or_null, "reductions": whole_or_null},
        ),
        "writes": record({"count": whole, "delivered": whole, "delay_ms": _quantiles}),
        "error": text_or_null,
    },
)
_echo = record({"rtt_ms": _quantiles})
_voice = record(
    {
        "delay_ms": _quantiles,
        "codec": text,
        "bitrate_kbit": number,
        "frame_ms": number,
        "base_delay_ms": number,
        "jitter_ms": number_or_null,
        "ipdv_ms": number_or_null,
    }
)
_any_probe = record(
    {"name": name, "kind": text, "direction": _ways, "sent": whole, "lost": whole, "queue_shared_with": list_of(text)},
    {"sojourn_ms": _of_one, "rtt_ms": _quantiles, "delay_ms": _quantiles},
)
_OF_KIND = {"voip": _voice, "icmp": _echo, "udp_rr": _echo}


def _probe(value: Any, where: str) -> None:
    _any_probe(value, where)
    _OF_KIND.get(value["kind"], shape.anything)(value, where)


_web = record(
    {
        "name": name,
        "page": text,
        "objects": whole,
        "bytes": whole,
        "completed": whole,
        "time_s": _quantiles,
        "fetches": list_of(
            record(
                {
                    "start_s": number,
                    "dns_s": number_or_null,
                    "connect_s": number,
                    "time_s": number,
                    "syn_retransmitted": whole,
                    "dns_retried": whole,
                }
            )
        ),
    }
)
_download = record(
    {
        "name": name,
        "direction": _way,
        "congestion_control": text,
        "bytes": whole,
        "files": list_of(record({"start_s": number, "fct_ms": number_or_null})),
        "completed": whole,
        "fct_ms": _quantiles,
        "goodput_mbit": number,
        "segments_sent": whole,
        "retransmissions": whole,
        "data_dropped": whole,
    }
)
_backlog = record({"mean": number, "max": whole})
_bottleneck = record(
    {
        "qdisc": text,
        "qdisc_text": text,
        "packets": whole,
        "bytes": whole,
        "drops": table_of(whole),
        "first_drop_s": table_of(number),
        "syn": record({"offered": whole, "dropped": whole}),
        "ack_drops": whole,
        "marks": whole,
        "backlog_packets": _backlog,
        "backlog_bytes": _backlog,
        "sojourn_ms": _sojourn,
        "extra": table_of(number),
    },
    {"acks_spared": whole, "utilisation": number_or_null, "lost": whole_or_null},
)
_station_way = record(
    {
        "packets": whole,
        "bytes": whole,
        "throughput_mbit": number,
        "aggregates": whole,
        "aggregate_frames": number_or_null,
        "retries": whole,
        "drops": table_of(whole),
        "marks": whole,
    },
    {"queue_ms": _sojourn, "hardware_ms": _sojourn, "aggregate_bytes": number_or_null},
)
_station = record(
    {
        "name": name,
        "rate_mbit": number,
        "weight": whole,
        "airtime_share": number_or_null,
        "airtime_tx_ms": number,
        "airtime_rx_ms": number,
        "down": _station_way,
        "up": _station_way,
        "tids": list_of(
            record(
                {"direction": _way}
                | dict.fromkeys(
                    ("tid", "packets", "bytes", "drops", "marks", "overflows", "collisions", "new_flows"), whole
                )
            )
        ),
    },
    {
        "deficit_us": record(dict.fromkeys(("vo", "vi", "be", "bk"), integer)),
        "group": text_or_null,
        "adapted_weight": whole_or_null,
        "voice_in_aggregates": whole_or_null,
        "demoted": whole_or_null,
        "airtime_sent_ms": number_or_null,
        "latency": record(
            dict.fromkeys(("expired", "built", "built_dense"), whole)
            | {"pending_mean_ms": number_or_null, "pending_max_ms": number_or_null}
        ),
    },
)
_wifi = record(
    {
        "scheme": text,
        "busy": number,
        "transmissions": whole,
        "collisions": whole,
        "jain_airtime": number_or_null,
        "stations": list_of(_station),
    }
)
_flusher = record(
    dict.fromkeys(("flushes", "packets", "bytes", "delivered", "dropped", "samples"), whole)
    | {
        "flows": list_of(
            record(
                {"name": name, "seen": flag, "flushes": whole, "packets": whole},
                {
                    "rtt": record(
                        {"count": whole, "first_bin": whole, "bins": counts}
                        | {"bin_ms": number}
                        | dict.fromkeys(("mean_ms", "min_ms", "max_ms"), number_or_null)
                    )
                },
            )
        ),
        "events": list_of(
            record(
                {"t_s": number, "took_ms": number_or_null, "flow": text_or_null, "packets": whole, "refused": flag}
                | dict.fromkeys(("throughput_mbit", "rtt_ms", "base_rtt_ms", "max_rtt_ms"), number_or_null)
            )
        ),
    }
)
_head = record(
    {
        "experiment": text,
        "backend": text,
        "seed": seed,
        "code_version": text,
        "scenario": _scenario,
        "summary": _summary,
        "flows": list_of(_flow),
        "probes": list_of(_probe),
        "web": list_of(_web),
        "bottleneck": record({"up": _bottleneck, "down": _bottleneck}),
        "cost": record(
            {"events": whole, "packets": whole, "wall_s": number, "sim_s": number, "peak_rss_mb": number},
        ),
    },
    {
        "downloads": list_of(_download),
        "links": table_of(_bottleneck),
        "wifi": _wifi,
        "flusher": _flusher,
        "kernel": record({"release": text, "version": text, "virtual_time": flag}, {"wifi": table_of(lines)}),
        "tcp_counters": table_of(table_of(whole)),
    },
)

_binned = record(
    {
        "interval_s": number,
        "t_s": times,
        "goodput_mbit": table_of(numbers),
        "cwnd_segments": table_of(counts),
        "backlog_packets": record({"up": counts, "down": counts}),
        "drops": record({"up": counts, "down": counts}),
        "packets": record({"up": counts, "down": counts}),
        "rtt": table_of(record({"t_s": times, "rtt_ms": numbers})),
        "voip": table_of(
            record({"t_s": times, "delay_ms": numbers, "max_ms": numbers, "sent": counts, "lost": counts}),
        ),
    },
    {
        "airtime_ms": table_of(numbers),
        "flusher": table_of(table_of(numbers)),
        "links": table_of(record({"backlog_packets": counts, "drops": counts, "packets": counts})),
    },
)


def check_head(plain: Mapping[str, Any]) -> None:
    """Raise `Misfit` unless this is a record; its series are not looked at."""
    _head(plain, "")
    scenario = plain["scenario"]
    for part, key in (("flows", "direction"), ("probes", "kind")):
        here, there = (sorted((one["name"], one[key]) for one in whose[part]) for whose in (plain, scenario))
        if here != there or len(dict(here)) < len(here):
            message = f"{part} are not those of scenario.{part}"
            raise Misfit(message)


def check_series(series: Any, plain: Mapping[str, Any], source: str) -> None:
    """Raise `SojournError`, which names `source`, unless these are the series of a record."""
    try:
        _binned(series, "series")
        _check_lengths(series)
        _check_there(series, plain)
    except Misfit as error:
        message = f"{source} is damaged: {error}; move the run away to have it run again"
        raise SojournError(message) from error


def _check_lengths(series: Mapping[str, Any]) -> None:
    """Raise `Misfit` unless there is one value for each time."""
    bins = len(series["t_s"])
    groups = [series[key] for key in ("goodput_mbit", "cwnd_segments", "backlog_packets", "drops", "packets")]
    groups += [series.get("airtime_ms", {}), *series.get("flusher", {}).values(), *series.get("links", {}).values()]
    for group in groups:
        _same_length(group, bins)
    for group in (*series["rtt"].values(), *series["voip"].values()):
        _same_length(group, len(group["t_s"]))


def _same_length(group: Mapping[str, Any], length: int) -> None:
    for key, values in group.items():
        if isinstance(values, list) and len(values) != length:
            message = f"series {key} has {len(values)} values, but must have {length}"
            raise Misfit(message)


def _check_there(series: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
    """Raise `Misfit` unless every flow and every probe has its series."""
    required = [("goodput_mbit", flow["name"]) for flow in plain["flows"]]
    groups = {"voip": "voip", "icmp": "rtt", "udp_rr": "rtt"}
    required += [(groups[probe["kind"]], probe["name"]) for probe in plain["probes"] if probe["kind"] in groups]
    for group, of in required:
        if of not in series[group]:
            message = f"series.{group}.{of} is missing"
            raise Misfit(message)


#: Steps to a series from the top; ours have up to three.
_DEEPEST = 8
_part = record({"path": list_of(name, least=1), "is": shape.one_of("empty", "value", "times", "real", "whole")})
_stored = record(
    {
        "id": text,
        "bytes": whole,
        "crc32": text,
        "series": record({"rows": whole, "parts": list_of(_part)}),
    }
)


def check_stored(stored: Any) -> None:
    """Raise `Misfit` unless this tells how the series of a stored run are put back into its record."""
    _stored(stored, "stored")
    rows = 0
    for place, part in enumerate(stored["series"]["parts"]):
        where = f"stored.series.parts[{place}]"
        if len(part["path"]) > _DEEPEST:
            message = f"{where}.path has {len(part['path'])} steps, but must have at most {_DEEPEST}"
            raise Misfit(message)
        if part["is"] == "value":
            number_or_null(part.get("value"), f"{where}.value")
        elif part["is"] != "empty":
            whole(part.get("rows"), f"{where}.rows")
            rows += part["rows"] if part["is"] != "times" else 0
    if rows != stored["series"]["rows"]:
        message = f"stored.series.rows is {stored['series']['rows']}, but its parts have {rows}"
        raise Misfit(message)
