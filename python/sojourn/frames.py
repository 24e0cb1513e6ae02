"""Frames of runs, under the names that programs import."""

from sojourn.store.frames import BINNED, DROP_SCHEMA, FLOW_SCHEMA, SERIES_SCHEMA, drops, flows, series
from sojourn.store.metrics import RUN_SCHEMA, metric_names, metric_of, metrics_of, runs

__all__ = [
    "BINNED",
    "DROP_SCHEMA",
    "FLOW_SCHEMA",
    "RUN_SCHEMA",
    "SERIES_SCHEMA",
    "drops",
    "flows",
    "metric_names",
    "metric_of",
    "metrics_of",
    "runs",
    "series",
]
