"""Disciplines side by side: a row of statistics for each, and paired differences.

Repeat number k of every discipline has the same seed, and with it the same start times and probe phases, so
differences are taken seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sojourn.frame_library import pl
from sojourn.stats.bootstrap import mean_interval

#: What is compared, with its unit; the names are those of the record's summary.
METRICS: dict[str, str] = {
    "goodput_up_mbit": "Mbit/s",
    "goodput_down_mbit": "Mbit/s",
    "induced_latency_ms": "ms",
    "rtt_median_ms": "ms",
    "rtt_p95_ms": "ms",
    "rtt_p99_ms": "ms",
    "probe_loss": "",
    "jain_up": "",
    "jain_down": "",
}

#: What only some experiments have: it is compared where there is a value.
OPTIONAL_METRICS: dict[str, str] = {"page_fetch_s": "s", "fct_ms": "ms", "voip_delay_ms": "ms", "voip_loss": ""}

SUMMARY_SCHEMA = {
    "link": pl.String,
    "qdisc": pl.String,
    "metric": pl.String,
    "n": pl.Int64,
    "mean": pl.Float64,
    "median": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
PAIR_SCHEMA = {
    "link": pl.String,
    "metric": pl.String,
    "a": pl.String,
    "b": pl.String,
    "n": pl.Int64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "verdict": pl.String,
}


def measured(runs: pl.DataFrame) -> tuple[str, ...]:
    """Return the metrics that these runs are compared by: all common ones, and the optional ones that have a value."""
    there = [name for name in OPTIONAL_METRICS if name in runs.columns and runs[name].null_count() < len(runs)]
    return (*METRICS, *there)


def summarise(runs: pl.DataFrame, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Return mean, median and 95 % interval of each metric for each link and discipline, in order of appearance."""
    metrics = measured(runs) if metrics is None else metrics
    rows: list[tuple[object, ...]] = []
    for (link, qdisc), group in runs.group_by("link", "qdisc", maintain_order=True):
        for metric in metrics:
            values = group[metric].drop_nulls()
            if values.is_empty():
                rows.append((link, qdisc, metric, 0, None, None, None, None))
                continue
            interval = mean_interval(values)
            rows.append((link, qdisc, metric, interval.n, interval.value, values.median(), interval.low, interval.high))
    return pl.DataFrame(rows, schema=SUMMARY_SCHEMA, orient="row")


def compare_pairs(runs: pl.DataFrame, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Return `b - a` of each metric for each two disciplines on a link, paired by seed, with its 95 % interval.

    The verdict is `"higher"` or `"lower"` (b against a) if the interval leaves out 0, else `"cannot tell"`; with
    fewer than two pairs there is no interval.
    """
    metrics = measured(runs) if metrics is None else metrics
    rows: list[tuple[object, ...]] = []
    for (link,), group in runs.group_by("link", maintain_order=True):
        names = group["qdisc"].unique(maintain_order=True).to_list()
        for a, b in combinations(names, 2):
            both = group.filter(pl.col("qdisc") == a).join(group.filter(pl.col("qdisc") == b), on="seed", suffix="_b")
            for metric in metrics:
                values = (both[f"{metric}_b"] - both[metric]).drop_nulls()
                if values.is_empty():
                    rows.append((link, metric, a, b, 0, None, None, None, "cannot tell"))
                    continue
                interval = mean_interval(values)
                verdict = ("cannot tell", "higher", "lower")[interval.sign()]
                rows.append((link, metric, a, b, interval.n, interval.value, interval.low, interval.high, verdict))
    return pl.DataFrame(rows, schema=PAIR_SCHEMA, orient="row")
