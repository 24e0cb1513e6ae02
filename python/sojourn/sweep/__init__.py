"""Sweeps: the product of lists of settings, each combination run several times."""

from sojourn.sweep.file import Sweep, SweepCell, load
from sojourn.sweep.tables import csv_table, json_object, markdown_table, runs_frame, summary_of, text_table

__all__ = [
    "Sweep",
    "SweepCell",
    "csv_table",
    "json_object",
    "load",
    "markdown_table",
    "runs_frame",
    "summary_of",
    "text_table",
]
