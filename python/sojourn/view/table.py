"""All runs as one table. Heads are read once: a run is written whole and never changed."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sojourn import _native
from sojourn.errors import SojournError
from sojourn.store.cell import label_of, link_name
from sojourn.view import settings
from sojourn.view.source import Labels, Source

#: The columns, with the kind of their values: texts, whole numbers as texts where they pass 2^53, or numbers.
COLUMNS = {
    "folder": "text",
    "experiment": "text",
    "link": "text",
    "qdisc": "text",
    "setting": "text",
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
    "claims": "text",
    "id": "text",
}
#: Significant digits of a number in the table; the record has them all.
_DIGITS = 7

Row = dict[str, Any]


class Table:
    """The runs of all sources.

    - `sources`: in the order of `/api/about`.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self._lock = threading.Lock()
        self._heads: dict[int, dict[str, Row]] = {}
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
        known, labels, ids = self._heads.setdefault(number, {}), source.labels, source.ids()
        # What could not be read may have been mended.
        new = [name for name in ids if name not in known or "error" in known[name]]
        if new:
            heads = json.loads(_native.read_heads(source.store, new))
            for row in heads["rows"]:
                known[row["id"]] = row if "error" in row else {**row, "cell": heads["settings"][row["setting"]]}
        return _named([known[name] for name in ids], number, source, labels)

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


def _named(heads: list[Row], number: int, source: Source, labels: Labels) -> list[Row]:
    """Return the rows of a folder, with the names that tell them apart."""
    whole = [row for row in heads if "error" not in row]
    short = settings.short_names(dict.fromkeys(row[way] for row in whole for way in ("qdisc_up", "qdisc_down")))
    named: dict[str, dict[str, tuple[str, str]]] = {}
    for row in whole:
        link, qdisc = labels.of_run.get(row["id"], [("", "")])[0]
        row["link"] = link or link_name(row["down"], row["up"])
        row["qdisc"] = qdisc or label_of(short[row["qdisc_up"]], short[row["qdisc_down"]])
        named.setdefault(row["experiment"], {})[row["cell"]] = (row["link"], row["qdisc"])
    try:
        claims = source.claims()[1]
    except SojournError:  # the claims' view says why
        claims = {}
    words = {experiment: _differences(frozenset(group.items())) for experiment, group in named.items()}
    for row in whole:
        row |= {"setting": words[row["experiment"]][row["cell"]], "seed": str(row["seed"])}
        row["claims"] = claims.get(row["id"], "")
    return [{**row, "source": number, "folder": source.path.name} for row in heads]


@lru_cache(maxsize=64)
def _differences(named: frozenset[tuple[str, tuple[str, str]]]) -> dict[str, str]:
    """Keep what was found at hand: a page asks every other second."""
    return settings.differences(dict(named))
