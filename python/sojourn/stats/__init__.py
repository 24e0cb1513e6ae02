"""Statistics over repeats: pure functions of numbers and frames, the same answer each time."""

from sojourn.stats.bootstrap import Interval, mean_interval
from sojourn.stats.cdf import cdf
from sojourn.stats.ellipse import Ellipse, one_sigma
from sojourn.stats.jain import jain
from sojourn.stats.paired import compare_pairs, summarise

__all__ = ["Ellipse", "Interval", "cdf", "compare_pairs", "jain", "mean_interval", "one_sigma", "summarise"]
