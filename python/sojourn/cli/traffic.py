"""Tables of what a run measured of a cell, of voice, web pages, files, games, thin streams and UDP flows."""

from __future__ import annotations

from typing import Literal

from sojourn import tables
from sojourn.cli import programs
from sojourn.record import (
    DownloadRecord,
    FlowRecord,
    GameRecord,
    ProbeRecord,
    QuantileName,
    Record,
    WebRecord,
    WifiRecord,
    WritesRecord,
)
from sojourn.schema import or_null, required


def describe(record: Record) -> list[str]:
    """Return tables of the cell, the voice streams and other special traffic, as far as the run has them."""
    voices = [probe for probe in record.probes if probe.kind == "voip"]
    parts = []
    if record.wifi is not None:
        parts.append(_wifi(record.wifi))
    if voices:
        parts.append(_voice(voices))
    if record.web:
        parts.append(_web(record.web))
    if record.downloads:
        parts.append(_downloads(record.downloads))
    if record.games:
        parts.append(_games(record.games))
    if record.programs:
        parts += programs.describe(record.programs, record.program_flows or [])
    thin = [(flow, flow.writes) for flow in record.flows if flow.writes is not None]
    if thin:
        parts.append(_thin(thin))
    udp = [flow for flow in record.flows if flow.kind == "udp"]
    if udp:
        parts.append(_udp(udp))
    return parts


def _wifi(cell: WifiRecord) -> str:
    rows = [
        [
            station.name if way == "down" else "",
            way,
            tables.number(station.rate_mbit, 1) if way == "down" else "",
            _percent(station.airtime_share, 1, "") if way == "down" else "",
            tables.number(one.throughput_mbit),
            tables.number(one.aggregate_frames, 1),
            *(tables.number(getattr(getattr(one, key), name, None)) for key, name in _TIMES_OF_WIFI),
            str(one.retries),
            str(sum(one.drops.values())),
        ]
        for station in cell.stations
        for way, one in (("down", station.down), ("up", station.up))
    ]
    headers = [
        *("station", "way", "rate (Mbit/s)", "airtime (%)", "Mbit/s", "frames/aggregate"),
        *("queue mean (ms)", "p95", "hardware mean", "retries", "drops"),
    ]
    jain = tables.number(cell.jain_airtime, 3)
    medium = (
        f"{cell.scheme}: medium busy {100 * cell.busy:.1f} %; {cell.transmissions} transmissions, "
        f"{cell.collisions} of them in collisions; fairness of airtime (Jain) {jain}"
    )
    return tables.text(headers, rows, left=2) + "\n" + medium


def _percent(share: float | None, digits: int = 2, unit: str = " %") -> str:
    return tables.number(None) if share is None else f"{100 * share:.{digits}f}{unit}"


def _udp(flows: list[FlowRecord]) -> str:
    rows = [
        [
            flow.name,
            flow.direction,
            tables.number(flow.goodput_mbit),
            str(flow.sent),
            str(flow.lost),
            _percent(or_null(flow.loss)),
        ]
        for flow in flows
    ]
    return tables.text(["UDP flow", "direction", "Mbit/s", "sent", "lost", "loss"], rows, left=2)


def _voice(streams: list[ProbeRecord]) -> str:
    from sojourn.stats.mos import mos_of_stream

    rows = [
        [
            one.name,
            required(one.codec, "codec"),
            one.direction,
            tables.number(one.base_delay_ms),
            *(tables.number(getattr(one.delay_ms, name)) for name in _DELAYS),
            tables.number(or_null(one.jitter_ms)),
            _percent(one.lost / one.sent if one.sent else None),
            tables.number(mos_of_stream(one)),
        ]
        for one in streams
    ]
    headers = [
        *("voice", "codec", "direction", "base (ms)"),
        *(f"delay {name}" for name in _DELAYS),
        *("jitter", "lost", "MOS (G.107)"),
    ]
    return tables.text(headers, rows, left=3)


def _web(clients: list[WebRecord]) -> str:
    rows = [
        [
            one.name,
            one.page,
            str(one.objects),
            f"{one.bytes / 1e3:.0f}",
            str(one.completed),
            *(tables.number(getattr(one.time_s, name), 3) for name in _TIMES),
            str(sum(fetch.syn_retransmitted for fetch in one.fetches)),
            str(sum(fetch.dns_retried for fetch in one.fetches)),
        ]
        for one in clients
    ]
    headers = [
        *("web", "page", "objects", "kB", "fetched"),
        *(f"time {name} (s)" for name in _TIMES),
        *("SYNs again", "queries again"),
    ]
    return tables.text(headers, rows, left=2)


def _downloads(downloads: list[DownloadRecord]) -> str:
    rows = [
        [
            one.name,
            one.direction,
            f"{one.bytes / 1e3:.0f}",
            str(one.completed),
            *(tables.number(None if (ms := getattr(one.fct_ms, name)) is None else ms / 1e3, 3) for name in _TIMES),
            tables.number(one.goodput_mbit, 3),
            str(one.retransmissions),
            str(one.data_dropped),
        ]
        for one in downloads
    ]
    headers = [
        *("download", "direction", "kB", "files"),
        *(f"time {name} (s)" for name in _TIMES),
        *("goodput (Mbit/s)", "retransmissions", "dropped"),
    ]
    return tables.text(headers, rows, left=2)


def _games(streams: list[GameRecord]) -> str:
    rows = [
        [
            one.name,
            one.direction,
            tables.number(one.base_delay_ms),
            *(tables.number(getattr(one.delay_ms, name)) for name in ("mean", "median", "p99")),
            tables.number(one.delay_p999_ms),
            tables.number(one.delay_ms.max),
            _percent(one.lost / one.sent if one.sent else None),
        ]
        for one in streams
    ]
    return tables.text(
        ["game", "direction", "base (ms)", "delay mean", "median", "p99", "p99.9", "max", "lost"], rows, left=2
    )


def _thin(flows: list[tuple[FlowRecord, WritesRecord]]) -> str:
    rows = [
        [
            flow.name,
            flow.direction,
            str(writes.count),
            str(writes.delivered),
            *(tables.number(getattr(writes.delay_ms, name) if writes.delivered else None) for name in _DELAYS),
        ]
        for flow, writes in flows
    ]
    headers = ["thin stream", "direction", "writes", "delivered", *(f"delay {name} (ms)" for name in _DELAYS)]
    return tables.text(headers, rows, left=2)


_DELAYS: tuple[QuantileName, ...] = ("mean", "median", "p95", "max")
_TIMES = _DELAYS
_TIMES_OF_WIFI: tuple[tuple[Literal["queue_ms", "hardware_ms"], Literal["mean", "p95"]], ...] = (
    ("queue_ms", "mean"),
    ("queue_ms", "p95"),
    ("hardware_ms", "mean"),
)
