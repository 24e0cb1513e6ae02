"""The figure of the front, from an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.tune.bench import Bench, Scored
from sojourn.tune.goals import METRICS
from sojourn.tune.search import Request
from sojourn.tune.space import Space
from sojourn.tune.study import Tuning, interval_at_worst
from sojourn.tune.words import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CAPTION = (
    "The first metric that is minimised against the others: settings with the seeds of the search, the front, and the "
    "marked settings with fresh seeds and their intervals."
)


def of(outcome: Tuning, bench: Bench, space: Space, request: Request) -> Figure:
    """Return the figure: the first metric that is minimised against the others that matter.

    The grey points have the seeds of the search, those of the front the choice's besides, the marked ones fresh seeds.
    A setting of the front has no grey point, and the best one no second mark if it is a known one.
    """
    from sojourn.plots.front import Axle, Measure, pareto_front

    spare = [name for name in ("utilisation", "delay") if name not in request.axes]
    names = request.axes if len(request.axes) > 1 else (*request.axes, spare[0])
    worst = " (worst RTT)" if len(bench.link.rtts_ms) > 1 else ""

    drawn = {one.setting.text for one in outcome.front}

    def measure(one: object) -> Measure:
        from sojourn.stats import Interval

        assert isinstance(one, Interval)
        return Measure(mean=one.value, low=one.low, high=one.high)

    return pareto_front(
        [
            Axle(name=name, label=f"{name}{f' ({METRICS[name].unit})' if METRICS[name].unit else ''}{worst}")
            for name in names
        ],
        tried=[{name: one.worst(name) for name in names} for one in outcome.tried if one.setting.text not in drawn],
        front=[{name: one.worst(name) for name in names} for one in outcome.front],
        named={
            label: {name: measure(interval_at_worst(one, name)[1]) for name in names}
            for label, one in _marked(outcome).items()
        },
        title=f"{space.qdisc} on {bench.link.down}/{bench.link.up}, load {bench.load.name}",
    )


def _marked(outcome: Tuning) -> dict[str, Scored]:
    """Return the settings that are marked, each once, by label: if the best is the default, as "best (default)"."""
    labels: dict[str, list[str]] = {}
    by_text: dict[str, Scored] = {}
    for name, one in named(outcome).items():
        labels.setdefault(one.setting.text, []).append(name)
        by_text.setdefault(one.setting.text, one)
    return {
        f"{first} ({', '.join(others)})" if others else first: by_text[text]
        for text, (first, *others) in labels.items()
    }
