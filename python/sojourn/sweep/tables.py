"""What a sweep comes to: tables that are a function of its file and its records alone.

What a run cost, which differs from one machine to the next, is in none of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from sojourn import _native, tables
from sojourn.cells import Grown
from sojourn.rounds import Precision
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


class MetricSummary(Struct, frozen=True):
    """Number, mean, median and 95 % interval of a metric of the runs of a cell."""

    n: int
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None


class CellSummary(Struct, frozen=True, kw_only=True):
    """What a cell has come to: its values, its runs, and its metrics."""

    values: dict[str, str]
    n: int
    reached: bool | None
    summary: dict[str, MetricSummary]
    runs: list[str]


class SweepSummary(Struct, frozen=True, kw_only=True):
    """What a sweep has come to, format `sojourn-sweep/1`."""

    format: str = SWEEP_FORMAT
    sweep: str
    code_version: str = _native.__version__
    build: str = _native.__build__
    vary: dict[str, list[str]]
    repeat: int
    until: Precision | None
    cells: list[CellSummary]

    def json(self) -> str:
        """Return it as `sweep.json` has it."""
        return json.dumps(msgspec.to_builtins(self), indent=1)


def summarised(
    sweep: Sweep, grown: Sequence[Grown], until: Precision | None, summaries: Sequence[dict[str, MetricSummary]]
) -> SweepSummary:
    """Return what a sweep has come to: for each cell its values, its runs, and each metric's interval."""
    cells = [
        CellSummary(
            values=dict(zip(sweep.keys, cell.values, strict=True)),
            n=len(one.runs),
            reached=one.reached,
            summary=summary,
            runs=[run.id for run in one.runs if isinstance(run, StoredRun)],
        )
        for cell, one, summary in zip(sweep.cells, grown, summaries, strict=True)
    ]
    return SweepSummary(sweep=sweep.name, vary=sweep.vary, repeat=sweep.repeat, until=until, cells=cells)


def csv_table(sweep: SweepSummary) -> str:
    """Return one row for each metric of each cell."""
    return tables.csv_text(
        [
            {**cell.values, "metric": metric, **structs.asdict(row)}
            for cell in sweep.cells
            for metric, row in cell.summary.items()
        ]
    )


def markdown_table(sweep: SweepSummary) -> str:
    """Return the table of the cells, in Markdown."""
    return tables.markdown(*table(sweep), left=len(sweep.vary)) + "\n"


def text_table(sweep: SweepSummary) -> str:
    """Return the table of the cells, for a terminal."""
    return tables.text(*table(sweep), left=len(sweep.vary))


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
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(sweep.keys, pl.String)
    schema |= {"seed": pl.UInt64, "run": pl.String} | dict.fromkeys(metrics, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def summary_of(runs: Sequence[Run]) -> dict[str, MetricSummary]:
    """Return number, mean, median and 95 % interval of each metric of the runs of a cell."""
    from sojourn.stats import mean_interval
    from sojourn.stats.paired import METRICS
    from sojourn.store.metrics import metrics_of

    found = [metrics_of(run) for run in runs]
    rows: dict[str, MetricSummary] = {}
    for metric in METRICS:
        values = [value for one in found if (value := one.get(metric)) is not None]
        if not values:
            rows[metric] = MetricSummary(n=0)
            continue
        interval, middle = mean_interval(values), float(median(values))
        rows[metric] = MetricSummary(interval.n, interval.value, middle, interval.low, interval.high)
    return rows


def table(sweep: SweepSummary) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of the table of the cells."""
    rows = []
    for cell in sweep.cells:
        found = [cell.summary[metric] for metric in SHOWN]
        shown = [tables.interval(one.mean, one.low, one.high) for one in found]
        rows.append([*cell.values.values(), str(cell.n), *shown])
    return [*sweep.vary, "runs", *SHOWN.values()], rows
