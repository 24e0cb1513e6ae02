"""Sojourn: a laboratory and toolbox for queueing latency.

>>> import sojourn
>>> run = sojourn.run("rrul", qdisc="fq_codel", rate="10mbit", duration="5s")
>>> run.summary["induced_latency_ms"] < 10
True
"""

from sojourn._native import Qdisc, __version__
from sojourn.api import compare, run
from sojourn.errors import ParamError, SojournError
from sojourn.results import Cell, Comparison, Run
from sojourn.scenario import Flow, Probe, Scenario, Tcp, Web

__all__ = [
    "Cell",
    "Comparison",
    "Flow",
    "ParamError",
    "Probe",
    "Qdisc",
    "Run",
    "Scenario",
    "SojournError",
    "Tcp",
    "Web",
    "__version__",
    "compare",
    "run",
]
