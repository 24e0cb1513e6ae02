"""Tables of what a run measured of voice and of web pages."""

from __future__ import annotations

from typing import Any

from sojourn import tables


def describe(record: dict[str, Any]) -> list[str]:
    """Return a table of the voice streams and one of the web clients, as far as the run has them."""
    voices = [probe for probe in record["probes"] if probe["kind"] == "voip"]
    parts = []
    if voices:
        parts.append(_voice(voices))
    if record.get("web"):
        parts.append(_web(record["web"]))
    return parts


def _voice(streams: list[dict[str, Any]]) -> str:
    from sojourn.stats.mos import mos_of_stream

    rows = [
        [
            one["name"],
            one["codec"],
            one["direction"],
            tables.number(one["base_delay_ms"]),
            *(tables.number(one["delay_ms"][name] if one["delay_ms"]["count"] else None) for name in _DELAYS),
            tables.number(one["jitter_ms"]),
            f"{100 * one['lost'] / one['sent']:.2f} %" if one["sent"] else "-",
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


def _web(clients: list[dict[str, Any]]) -> str:
    rows = [
        [
            one["name"],
            one["page"],
            str(one["objects"]),
            f"{one['bytes'] / 1e3:.0f}",
            str(one["completed"]),
            *(tables.number(one["time_s"][name] if one["completed"] else None, 3) for name in _TIMES),
            str(sum(fetch["syn_retransmitted"] for fetch in one["fetches"])),
            str(sum(fetch["dns_retried"] for fetch in one["fetches"])),
        ]
        for one in clients
    ]
    headers = [
        *("web", "page", "objects", "kB", "fetched"),
        *(f"time {name} (s)" for name in _TIMES),
        *("SYNs again", "queries again"),
    ]
    return tables.text(headers, rows, left=2)


_DELAYS = ("mean", "median", "p95", "max")
_TIMES = ("mean", "median", "p95", "max")
