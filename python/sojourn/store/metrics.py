"""The metrics of a run, and the frame of the metrics of many runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from sojourn.frame_library import pl
from sojourn.record import ProbeRecord, Summary
from sojourn.schema import or_null, required
from sojourn.store.cell import DisciplineRuns
from sojourn.store.run import Run

RUN_SCHEMA = {
    "link": pl.String,
    "qdisc": pl.String,
    "seed": pl.UInt64,
    "goodput_up_mbit": pl.Float64,
    "goodput_down_mbit": pl.Float64,
    "induced_latency_ms": pl.Float64,
    "rtt_mean_ms": pl.Float64,
    "rtt_median_ms": pl.Float64,
    "rtt_p5_ms": pl.Float64,
    "rtt_p95_ms": pl.Float64,
    "rtt_p99_ms": pl.Float64,
    "probe_loss": pl.Float64,
    "jain_up": pl.Float64,
    "jain_down": pl.Float64,
    "page_fetch_s": pl.Float64,
    "fct_ms": pl.Float64,
    "voip_delay_ms": pl.Float64,
    "voip_loss": pl.Float64,
}


def runs(cells: Iterable[DisciplineRuns]) -> pl.DataFrame:
    """Return one row for each run: where it belongs, its seed and its summary."""
    rows = []
    for cell in cells:
        for run in cell.runs:
            rows.append({**metrics_of(run), "link": cell.link, "qdisc": cell.qdisc, "seed": run.seed})
    return pl.DataFrame([{name: row.get(name) for name in RUN_SCHEMA} for row in rows], schema=RUN_SCHEMA)


def metrics_of(run: Run) -> dict[str, float | None]:
    """Return the summary of a run, flat: quantiles of the round-trip time as `rtt_median_ms` and so on."""
    return flat(run.summary) | _voice(run.voices)


def flat(summary: Summary) -> dict[str, float | None]:
    """Return the numbers of a summary by their names in `RUN_SCHEMA`."""
    rtt = {f"rtt_{name}_ms": value for name, value in asdict(summary.rtt_ms).items()}
    return asdict(summary) | rtt | {"fct_ms": or_null(summary.fct_ms)}


def metric_of(run: Run, metric: str) -> float | None:
    """Return one metric of a run, by its name in `RUN_SCHEMA`; `None` if the run has none."""
    value = metrics_of(run).get(metric)
    return None if value is None else float(value)


def metric_names() -> list[str]:
    """Return the metrics of a run, in the order of `RUN_SCHEMA`."""
    return [name for name, kind in RUN_SCHEMA.items() if kind == pl.Float64]


def _voice(streams: Sequence[ProbeRecord]) -> dict[str, float]:
    """Return mean delay and loss of all voice streams of a run, if there are any."""
    delays = [required(stream.delay_ms, "delay_ms") for stream in streams]
    arrived = sum(delay.count for delay in delays)
    sent = sum(stream.sent for stream in streams)
    found = {}
    if arrived > 0:
        found["voip_delay_ms"] = sum((delay.mean or 0.0) * delay.count for delay in delays) / arrived
    if sent > 0:
        found["voip_loss"] = 1 - arrived / sent
    return found
