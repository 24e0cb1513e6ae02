"""Statistics over repeats: pure functions of numbers and frames, the same answer each time."""

from sojourn.stats.bootstrap import Interval, mean_interval
from sojourn.stats.cdf import cdf
from sojourn.stats.ellipse import Ellipse, one_sigma
from sojourn.stats.jain import jain
from sojourn.stats.mos import effective_delay_ms, mos_cole_rosenbluth, mos_g107, mos_practitioner
from sojourn.stats.paired import compare_pairs, summarise
from sojourn.stats.proportion import share_interval, upper_bound_of_none
from sojourn.stats.transient import Course, Transient, course, measure_transient

__all__ = [
    "Course",
    "Ellipse",
    "Interval",
    "Transient",
    "cdf",
    "compare_pairs",
    "course",
    "effective_delay_ms",
    "jain",
    "mean_interval",
    "measure_transient",
    "mos_cole_rosenbluth",
    "mos_g107",
    "mos_practitioner",
    "one_sigma",
    "share_interval",
    "summarise",
    "upper_bound_of_none",
]
