"""Sweeps: the product of lists of settings, each combination run several times."""

from sojourn.sweep.file import Sweep, SweepCell, load
from sojourn.sweep.report import read, report_of
from sojourn.sweep.tables import (
    MetricSummary,
    csv_table,
    markdown_table,
    runs_frame,
    summarised,
    summary_of,
    text_table,
)

__all__ = [
    "MetricSummary",
    "Sweep",
    "SweepCell",
    "csv_table",
    "load",
    "markdown_table",
    "read",
    "report_of",
    "runs_frame",
    "summarised",
    "summary_of",
    "text_table",
]
