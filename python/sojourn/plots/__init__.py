"""Figures: one function for each type. They take plain data and return matplotlib figures; they run nothing."""

from sojourn.plots.distribution import rtt_cdf
from sojourn.plots.ellipse import latency_goodput
from sojourn.plots.save import FORMATS, for_page, to_bytes
from sojourn.plots.timeseries import rtt_and_goodput

__all__ = ["FORMATS", "for_page", "latency_goodput", "rtt_and_goodput", "rtt_cdf", "to_bytes"]
