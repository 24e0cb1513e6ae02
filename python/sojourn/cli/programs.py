"""Tables of programs of people's own, and of their flows at the bottleneck."""

from __future__ import annotations

import signal

from sojourn import tables
from sojourn.record import ProgramFlowRecord, ProgramRecord


def describe(programs: list[ProgramRecord], flows: list[ProgramFlowRecord]) -> list[str]:
    """Return a table of the programs, and one of their flows if they have any."""
    rows = [
        [one.name, one.host, _end(one), tables.number(one.started_s), tables.number(one.ended_s)] for one in programs
    ]
    parts = [tables.text(["program", "host", "end", "started (s)", "ended (s)"], rows, left=3)]
    table = _flow_table(flows)
    return [*parts, table] if table else parts


def _flow_table(flows: list[ProgramFlowRecord]) -> str | None:
    """Return the table of flows, one row for each direction that has packets; `None` if none has."""
    rows = [
        [
            flow.protocol,
            flow.client,
            flow.server,
            name,
            str(way.packets),
            tables.number(way.rate_mbit),
            str(way.dropped),
            str(way.marked),
            *(tables.number(value) for value in (way.sojourn_ms.median, way.sojourn_ms.p95, way.sojourn_ms.max)),
        ]
        for flow in flows
        for name, way in (("up", flow.up), ("down", flow.down))
        if way.packets or way.dropped
    ]
    headers = [
        *("flow", "client", "server", "way", "packets", "Mbit/s", "dropped", "marked"),
        *("sojourn median (ms)", "p95", "max"),
    ]
    return tables.text(headers, rows, left=4) if rows else None


def _end(one: ProgramRecord) -> str:
    if one.started_s is None:
        return "not started"
    if one.status is not None:
        return f"status {one.status}"
    return "stopped" if one.signal is None else signal.Signals(one.signal).name
