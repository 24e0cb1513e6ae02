"""Whether the kernel's run can be told from the simulator's: its place among them, over many scenarios.

The first run of a scenario on the kernel is put among the simulated runs of the same scenario, by the value of a
metric. With n simulated runs there are n + 1 places, from below all to above all. If the kernel's run is like one more
run of the simulator, each place is as likely, however much the runs differ from each other. So the counts over many
scenarios tell a model's error from the noise of single runs. Source: the rank histogram of ensemble forecasts (Hamill
2001, doi:10.1175/1520-0493(2001)129<0550:IORHFV>2.0.CO;2); the test is Pearson's chi-squared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from sojourn.validate.entry import Ranks
from sojourn.validate.execute import Both
from sojourn.validate.judge import InMemory
from sojourn.validate.metrics import metrics_of

#: Metrics whose places are counted: those of which each scenario has a value that is seldom the same in two runs.
METRICS = ("induced_latency_ms", "goodput_up_mbit", "goodput_down_mbit")


def ranks_of(ran: Sequence[Both]) -> list[Ranks]:
    """Return the places of each metric; none if the scenarios have different numbers of simulated runs."""
    if len({len(both.sim) for both in ran}) != 1:
        return []
    titles: dict[str, str] = {}
    places: dict[str, list[list[float]]] = {}
    for both in ran:
        kernel, sims = InMemory(both.kernel[0].record), [InMemory(run.record) for run in both.sim]
        for metric in metrics_of(kernel.record):
            if metric.name not in METRICS:
                continue
            sides = [metric.measure([run]) for run in (kernel, *sims)]
            values = [side.interval.value for side in sides if side is not None]
            if len(values) == len(sides):
                titles[metric.name] = metric.title
                places.setdefault(metric.name, []).append(_place(values[0], values[1:]))
    found = []
    for name, each in places.items():
        counts = np.sum(each, axis=0)
        test = stats.chisquare(counts)
        found.append(
            Ranks(
                metric=name,
                title=titles[name],
                counts=tuple(round(float(count), 2) for count in counts),
                p_value=float(test.pvalue),
            )
        )
    return found


def _place(value: float, others: Iterable[float]) -> list[float]:
    """Return the share of each place that a value has: 1 of one of them, unless others are the same."""
    ordered = list(others)
    below, same = (sum(test(one) for one in ordered) for test in (value.__gt__, value.__eq__))
    return [1 / (same + 1) if below <= place <= below + same else 0.0 for place in range(len(ordered) + 1)]


def cells(ranks: Ranks) -> list[str]:
    """Return the row of a table: what, the counts, and the probability."""
    return [ranks.title, *(f"{count:.1f}" for count in ranks.counts), f"{ranks.p_value:.2g}"]
