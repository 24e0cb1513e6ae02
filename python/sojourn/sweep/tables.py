"""What a sweep comes to: tables that are a function of its file and its records alone.

What a run cost, which differs from one machine to the next, is in none of them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from sojourn import _native, tables
from sojourn.rounds import Grown, Precision
from sojourn.store.run import Run
from sojourn.store.stored_run import StoredRun
from sojourn.sweep.file import Sweep

if TYPE_CHECKING:
    from sojourn.frame_library import pl

SWEEP_FORMAT = "sojourn-sweep/1"

#: What is shown of each cell, and how it is called.
SHOWN = {
    "goodput_up_mbit": "goodput up (Mbit/s)",
    "goodput_down_mbit": "goodput down (Mbit/s)",
    "induced_latency_ms": "induced latency (ms)",
}


def json_object(
    sweep: Sweep, grown: Sequence[Grown], until: Precision | None, summaries: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the object of format `sojourn-sweep/1`: for each cell its values, its runs, and each metric's interval."""
    return {
        "format": SWEEP_FORMAT,
        "sweep": sweep.name,
        "code_version": _native.__version__,
        "build": _native.__build__,
        "vary": sweep.vary,
        "repeat": sweep.repeat,
        "until": None if until is None else asdict(until),
        "cells": [
            {
                "values": dict(zip(sweep.keys, cell.values, strict=True)),
                "n": len(one.runs),
                "reached": one.reached,
                "summary": summary,
                "runs": [run.id for run in one.runs if isinstance(run, StoredRun)],
            }
            for cell, one, summary in zip(sweep.cells, grown, summaries, strict=True)
        ],
    }


def csv_table(sweep: dict[str, Any]) -> str:
    """Return one row for each metric of each cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = list(sweep["vary"])
    writer.writerow([*keys, "metric", "n", "mean", "median", "low", "high"])
    for cell in sweep["cells"]:
        for metric, row in cell["summary"].items():
            writer.writerow([*(cell["values"][key] for key in keys), metric, *row.values()])
    return out.getvalue()


def markdown_table(sweep: dict[str, Any]) -> str:
    """Return the table of the cells, in Markdown."""
    return tables.markdown(*_table(sweep), left=len(sweep["vary"])) + "\n"


def text_table(sweep: dict[str, Any]) -> str:
    """Return the table of the cells, for a terminal."""
    return tables.text(*_table(sweep), left=len(sweep["vary"]))


def runs_frame(sweep: Sweep, grown: Sequence[Grown]) -> pl.DataFrame:
    """Return one row for each run: what varies, the seed, the run's name, and its metrics."""
    from sojourn.frame_library import pl
    from sojourn.store.metrics import metric_names, metrics_of

    metrics = metric_names()
    rows = []
    for cell, one in zip(sweep.cells, grown, strict=True):
        for run in one.runs:
            found = metrics_of(run)
            name = run.id if isinstance(run, StoredRun) else None
            rows.append((*cell.values, run.seed, name, *(found.get(metric) for metric in metrics)))
    schema: dict[str, Any] = dict.fromkeys(sweep.keys, pl.String)
    schema |= {"seed": pl.UInt64, "run": pl.String} | dict.fromkeys(metrics, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def summary_of(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """Return number, mean, median and 95 % interval of each metric of the runs of a cell."""
    from sojourn.stats import mean_interval
    from sojourn.stats.paired import METRICS
    from sojourn.store.metrics import metrics_of

    found = [metrics_of(run) for run in runs]
    rows: dict[str, dict[str, Any]] = {}
    for metric in METRICS:
        values = [value for one in found if (value := one.get(metric)) is not None]
        if not values:
            rows[metric] = {"n": 0, "mean": None, "median": None, "low": None, "high": None}
            continue
        interval = mean_interval(values)
        rows[metric] = {
            "n": interval.n,
            "mean": interval.value,
            "median": float(median(values)),
            "low": interval.low,
            "high": interval.high,
        }
    return rows


def _table(sweep: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for cell in sweep["cells"]:
        summary = cell["summary"]
        shown = [tables.interval(*(summary[metric][name] for name in ("mean", "low", "high"))) for metric in SHOWN]
        rows.append([*cell["values"].values(), str(cell["n"]), *shown])
    return [*sweep["vary"], "runs", *SHOWN.values()], rows
