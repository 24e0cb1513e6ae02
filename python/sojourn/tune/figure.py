"""The figure of the front, from an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.tune.bench import Bench
from sojourn.tune.goals import METRICS
from sojourn.tune.search import Request
from sojourn.tune.space import Space
from sojourn.tune.study import Outcome, interval_at_worst
from sojourn.tune.words import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def of(outcome: Outcome, bench: Bench, space: Space, request: Request) -> Figure:
    """Return the figure: the first metric that is minimised against the others that matter.

    The grey points have the seeds of the search, those of the front the choice's besides, the marked ones fresh seeds.
    """
    from sojourn.plots.front import Axle, Measure, pareto_front

    spare = [name for name in ("utilisation", "delay") if name not in request.axes]
    names = request.axes if len(request.axes) > 1 else (*request.axes, spare[0])
    worst = " (worst RTT)" if len(bench.link.rtts_ms) > 1 else ""

    def measure(one: object) -> Measure:
        from sojourn.stats import Interval

        assert isinstance(one, Interval)
        return Measure(mean=one.value, low=one.low, high=one.high)

    return pareto_front(
        [
            Axle(name=name, label=f"{name}{f' ({METRICS[name].unit})' if METRICS[name].unit else ''}{worst}")
            for name in names
        ],
        tried=[{name: one.worst(name) for name in names} for one in outcome.tried],
        front=[{name: one.worst(name) for name in names} for one in outcome.front],
        named={
            label: {name: measure(interval_at_worst(one, name)[1]) for name in names}
            for label, one in named(outcome).items()
        },
        title=f"{space.qdisc} on {bench.link.down}/{bench.link.up}, load {bench.load.name}",
    )
