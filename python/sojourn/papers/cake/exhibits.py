"""The numbers behind the figures and the table of `exhibits.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sojourn.papers.cake import judges
from sojourn.papers.cake.evidence import (
    ACKS,
    DIFFSERV,
    HOSTS,
    ISOLATION,
    MARKED_PROBES,
    MARKS,
    RRUL,
    SCHEMES,
    VOICE,
    Evidence,
)
from sojourn.plots.next_steps import Panels
from sojourn.report.table import Table
from sojourn.study.cell import Cell, Observation
from sojourn.study.exhibits import Column, Gallery, means

Quantity = Callable[[Observation], "float | None"]

#: Of each test, what its figure has by the axis: the quantities of a cell, by the series' name; one without a name is
#: a series for each discipline.
_AXES: Mapping[str, Mapping[str, Mapping[str, Quantity]]] = {
    RRUL: {
        "Ping above 50 ms (ms)": {"": partial(judges.echo, probe="ping")},
        "Goodput up (Mbit/s)": {"": partial(judges.total, way="up")},
        "Goodput down (Mbit/s)": {"": partial(judges.total, way="down")},
    },
    ISOLATION: {
        "Share of the goodput (%)": {
            name.replace("_", " to "): partial(judges.share, way="up", flow=name) for name in HOSTS
        }
    },
    DIFFSERV: {
        "Share up (%)": {mark: partial(judges.share, way="up", flow=name) for name, mark in MARKS.items()},
        "Share down (%)": {mark: partial(judges.share, way="down", flow=name) for name, mark in MARKS.items()},
        "Echo above 50 ms (ms)": {MARKS[name]: partial(judges.echo, probe=f"udp_{name}") for name in MARKED_PROBES},
    },
    VOICE: {
        "Added one-way delay (ms)": {"": lambda run: run.voice_ms},
        "Lost (%)": {"": lambda run: run.voice_loss},
        "Goodput of TCP (Mbit/s)": {"": partial(judges.total, way="up")},
    },
    ACKS: {
        "Goodput down (Mbit/s)": {"": partial(judges.total, way="down")},
        "Goodput up (Mbit/s)": {"": partial(judges.total, way="up")},
        "Ping above 50 ms (ms)": {"": partial(judges.echo, probe="ping")},
    },
}


def panels(evidence: Evidence, test: str) -> Panels:
    """Return for each quantity of a test's figure, group and series its values; nothing if no cell was run."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for axis, quantities in _AXES[test].items():
        for cell, runs in evidence.cells.items():
            for series, quantity in quantities.items() if cell.test == test else ():
                link = f"{cell.down}/{cell.up} Mbit/s"
                scheme = SCHEMES[cell.scheme].removeprefix("CAKE, ")
                group, name = (link, scheme) if series == "" else (f"{scheme}\n{link}", series)
                values = [value for run in runs if (value := quantity(run)) is not None]
                found.setdefault(axis, {}).setdefault(group, {})[name] = values
    return found


#: The columns of the table of all cells: head and quantity.
_COLUMNS: Mapping[str, Quantity] = {
    "up (Mbit/s)": partial(judges.total, way="up"),
    "down (Mbit/s)": partial(judges.total, way="down"),
    "ping above 50 ms (ms)": partial(judges.echo, probe="ping"),
    "95th percentile (ms)": partial(judges.late, probe="ping"),
    "fixed-rate flow, delay (ms)": lambda run: run.voice_ms,
    "lost (%)": lambda run: run.voice_loss,
}


def table(evidence: Evidence) -> Table | None:
    """Return the means of every cell that was run; `None` if none was."""

    def values(quantity: Quantity, cell: Cell) -> list[float]:
        return [value for run in evidence.cells[cell] if (value := quantity(run)) is not None]

    rows: dict[tuple[str, ...], Cell] = {
        (cell.test, SCHEMES[cell.scheme], f"{cell.down}/{cell.up}"): cell
        for cell, runs in evidence.cells.items()
        if runs
    }
    columns = [Column(head=head, of=partial(values, quantity), digits=2) for head, quantity in _COLUMNS.items()]
    heads = ("test", "bottleneck", "down/up (Mbit/s)")
    note = "Means over the runs. Goodput is that of all TCP flows."
    return means("cells", rows, columns, heads=heads, note=note, left=3) if rows else None


GALLERY = Gallery(paper="cake", vocabulary=judges.JUDGES.vocabulary, functions={"panels": panels, "cells": table})
