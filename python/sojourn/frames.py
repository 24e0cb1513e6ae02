"""Frames of runs, under the names that programs import."""

from sojourn.store.frames import BINNED, FLOW_SCHEMA, SERIES_SCHEMA, flows, series
from sojourn.store.metrics import RUN_SCHEMA, metric_names, metric_of, metrics_of, runs

__all__ = [
    "BINNED",
    "FLOW_SCHEMA",
    "RUN_SCHEMA",
    "SERIES_SCHEMA",
    "flows",
    "metric_names",
    "metric_of",
    "metrics_of",
    "runs",
    "series",
]
