"""All runs as one table. Heads are read once: a run is written whole and never changed."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from sojourn import _native
from sojourn.store.cell import link_name
from sojourn.view.source import Labels, Source

#: The columns, with the kind of their values: texts, whole numbers as texts where they pass 2^53, or numbers.
COLUMNS = {
    "folder": "text",
    "experiment": "text",
    "link": "text",
    "qdisc": "text",
    "seed": "text",
    "rtt": "text",
    "duration": "text",
    "flows": "number",
    "goodput_up_mbit": "number",
    "goodput_down_mbit": "number",
    "induced_latency_ms": "number",
    "rtt_mean_ms": "number",
    "rtt_median_ms": "number",
    "rtt_p5_ms": "number",
    "rtt_p95_ms": "number",
    "rtt_p99_ms": "number",
    "probe_loss": "number",
    "jain_up": "number",
    "jain_down": "number",
    "page_fetch_s": "number",
    "fct_ms": "number",
    "voip_delay_ms": "number",
    "voip_loss": "number",
    "backend": "text",
    "up": "text",
    "down": "text",
    "qdisc_up": "text",
    "qdisc_down": "text",
    "code_version": "text",
    "id": "text",
}
#: Significant digits of a number in the table; the record has them all.
_DIGITS = 7

Row = dict[str, Any]


class Table:
    """The runs of all sources.

    Parameters
    ----------
    sources
        In the order of `/api/about`.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self._lock = threading.Lock()
        self._heads: list[dict[str, Row]] = [{} for _ in sources]
        self._answer: tuple[object, bytes] | None = None

    def tag(self) -> tuple[Any, ...]:
        """Return what differs once a run came."""
        return tuple(source.tag() for source in self.sources)

    def rows(self) -> list[Row]:
        """Return the rows of the table, those that cannot be read among them (key `error`)."""
        with self._lock:
            return self._rows()

    def json(self) -> bytes:
        """Return the answer to `/api/runs`."""
        with self._lock:
            tag = self.tag()
            if self._answer is None or self._answer[0] != tag:
                self._answer = (tag, self._make())
            return self._answer[1]

    def _rows(self) -> list[Row]:
        return [row for number, source in enumerate(self.sources) for row in self._of(number, source)]

    def _of(self, number: int, source: Source) -> list[Row]:
        known, labels, ids = self._heads[number], source.labels, source.ids()
        # What could not be read may have been mended.
        new = [name for name in ids if name not in known or "error" in known[name]]
        if new:
            for row in json.loads(_native.read_heads(source.store, new)):
                known[row["id"]] = row
        return [_finish(known[name], number, source, labels) for name in ids]

    def _make(self) -> bytes:
        rows = self._rows()
        whole = [row for row in rows if "error" not in row]
        broken = [{"folder": row["source"], "id": row["id"], "why": row["error"]} for row in rows if "error" in row]
        broken += [
            {"folder": number, "id": "index.json", "why": source.error}
            for number, source in enumerate(self.sources)
            if source.error is not None
        ]
        columns = [{"name": "source", "kind": "whole", "values": [row["source"] for row in whole]}]
        columns += [
            {"name": name, "kind": kind_of, **_values([row.get(name) for row in whole], kind_of)}
            for name, kind_of in COLUMNS.items()
        ]
        return json.dumps({"rows": len(whole), "columns": columns, "broken": broken}, separators=(",", ":")).encode()


def _values(values: list[Any], kind_of: str) -> dict[str, list[Any]]:
    """Return a column: numbers as they are, texts as places in the list of those that differ."""
    if kind_of == "number":
        return {"values": [None if value is None else float(f"{value:.{_DIGITS}g}") for value in values]}
    places: dict[str, int] = {}
    return {"values": [places.setdefault(value, len(places)) for value in values], "words": list(places)}


def _finish(row: Row, number: int, source: Source, labels: Labels) -> Row:
    if "error" in row:
        return {**row, "source": number}
    link, qdisc = labels.of_run.get(row["id"], ("", ""))
    return {
        **row,
        "source": number,
        "folder": source.path.name,
        "link": link or link_name(row["down"], row["up"]),
        "qdisc": qdisc or label(row["qdisc_up"], row["qdisc_down"]),
        "seed": str(row["seed"]),
    }


def label(up: str, down: str) -> str:
    """Return what the disciplines of a run are called in short: the kind, or those of both directions."""
    names = [text.split(maxsplit=1)[0] if text.strip() else text for text in (up, down)]
    return names[0] if up == down else f"{names[0]} (up), {names[1]} (down)"
