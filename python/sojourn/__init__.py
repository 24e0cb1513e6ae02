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
from sojourn.kinds import KINDS

TYPE_CHECKING = False  # that of typing, which takes longer to load than all the rest here
if TYPE_CHECKING:
    from sojourn.api import compare, run
    from sojourn.scenario import Scenario
    from sojourn.scenario_keys import *  # noqa: F403 -- the classes are generated, and so is which there are
    from sojourn.store.cell import DisciplineRuns
    from sojourn.store.comparison import Comparison
    from sojourn.store.run import Run

__all__ = [
    "Comparison",
    "DisciplineRuns",
    "ParamError",
    "Qdisc",
    "Run",
    "Scenario",
    "SojournError",
    "__version__",
    "compare",
    "run",
]
__all__.extend(KINDS)
__all__.sort()

#: Where a name is defined that is loaded when it is first asked for: a worker process needs none of them.
_LATER = {
    "Comparison": "store.comparison",
    "DisciplineRuns": "store.cell",
    "Run": "store.run",
    "Scenario": "scenario",
    "compare": "api",
    "run": "api",
    **dict.fromkeys(KINDS, "scenario"),
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
