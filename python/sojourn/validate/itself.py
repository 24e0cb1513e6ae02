"""How far the simulator is from itself: the same errors, with some of its own runs in the place of the kernel's.

A run of few seconds, or one in which a hash decides who shares a queue, differs much from the next. An error as large
as these is no error of the model. Each scenario's simulated runs are cut into blocks of as many runs as the kernel has,
and each block is compared with the other runs as the kernel's runs are compared with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sojourn.validate.errors import Bars, Itself, errors_of
from sojourn.validate.execute import Both
from sojourn.validate.judge import InMemory, judge


def errors_of_itself(ran: Iterable[Both], bars_of: Bars) -> Itself:
    """Return the errors of the simulator against itself; none of a scenario with fewer runs than two blocks."""
    found: Itself = {}
    for both in ran:
        runs, block = [InMemory(run.record) for run in both.sim], len(both.kernel)
        for start in range(0, len(runs) - block + 1, block) if len(runs) >= 2 * block else ():
            rest = (*runs[:start], *runs[start + block :])
            rows = judge(replace(both, sim=rest, kernel=tuple(runs[start : start + block])))
            for metric, errors in errors_of(rows, bars_of).items():
                found.setdefault(metric, {}).setdefault(both.cell.name, []).extend(error.value for error in errors)
    return found
