"""Sojourn: a laboratory and toolbox for queueing latency.

>>> import sojourn
>>> run = sojourn.run("rrul", qdisc="fq_codel", rate="10mbit", duration="5s")
>>> run.summary.induced_latency_ms < 10
True
"""

from __future__ import annotations

from importlib import import_module

from sojourn._native import Qdisc, __version__
from sojourn.errors import ParamError, SojournError

TYPE_CHECKING = False  # that of typing, which takes longer to load than all the rest here
if TYPE_CHECKING:
    from sojourn.api import compare, run
    from sojourn.scenario import Download, Flow, Probe, Scenario, Tcp, Web
    from sojourn.store.cell import DisciplineRuns
    from sojourn.store.comparison import Comparison
    from sojourn.store.run import Run

__all__ = [
    "Comparison",
    "DisciplineRuns",
    "Download",
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

#: Where a name is defined that is loaded when it is first asked for: a worker process needs none of them.
_LATER = {
    "Comparison": "store.comparison",
    "DisciplineRuns": "store.cell",
    "Download": "scenario",
    "Flow": "scenario",
    "Probe": "scenario",
    "Run": "store.run",
    "Scenario": "scenario",
    "Tcp": "scenario",
    "Web": "scenario",
    "compare": "api",
    "run": "api",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found: object = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
