"""From a question to its answer, in three steps with seeds of their own.

1. Search: all candidates with the same few seeds.
2. Choice: the most promising again with more seeds; of those that surely meet the goals by all of these, the best is
   taken.
3. Check: the one that was taken, and the known settings, with fresh seeds. Only these numbers are reported of it:
   a winner's numbers of the seeds that it won on are too good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sojourn.stats import Interval, mean_interval
from sojourn.tune.bench import Bench, Scored, Seeds, Tick
from sojourn.tune.front import dominates, front, layers, order
from sojourn.tune.goals import METRICS, Goal
from sojourn.tune.search import Request, search
from sojourn.tune.sensitivity import Sensitivity, of_settings
from sojourn.tune.space import Space

#: The most settings that go on to the choice, apart from the known ones.
SHORTLIST = 12
#: The most settings of the front that are run with the seeds of the choice, the shortlist included.
LONGEST_FRONT = 24

#: Shows a step's progress: its number of runs and its name, and what is called for each run.
Progress = Callable[[int, str], AbstractContextManager[Tick]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One metric of the one that was taken against a known setting, by fresh seeds."""

    #: Paired difference, best less known, each at the RTT where it is worst: by that they are judged.
    at_worst: Interval
    #: Paired differences at each RTT.
    by_rtt: tuple[Interval, ...]
    #: `"better"` or `"worse"` if the interval at the worst leaves out 0 on that side, else `"cannot tell"`.
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What came of it."""

    #: All settings with the seeds of the search; the known ones first.
    tried: tuple[Scored, ...]
    #: Those that none dominates, with the seeds of search and choice, in order of the first axis.
    front: tuple[Scored, ...]
    #: The one that was taken, with fresh seeds.
    best: Scored
    #: The known settings, with fresh seeds.
    known: tuple[Scored, ...]
    #: The one that dominates the rural setting most clearly by the seeds before, with fresh seeds; `None` if none
    #: does.
    rival: Scored | None
    #: For each goal, whether the fresh seeds say that it is met: `"met"`, `"not met"`, or `"cannot tell"`.
    met: dict[str, str]
    #: Of each axis, if there were settings enough.
    sensitivity: dict[str, Sensitivity | None]
    #: Whether any setting met the goals by the seeds of search and choice.
    reachable: bool


def tune(bench: Bench, space: Space, request: Request, seeds: Seeds, progress: Progress) -> Tuning:
    """Answer the question; raises `ParamError` if a scenario is refused, and `SojournError` if a run fails."""
    rtts = len(bench.link.rtts_ms)
    count = len(space.references())
    with progress((request.trials + count) * rtts * len(seeds.search), "search") as tick:
        tried = search(bench, space, request, seeds.search, tick)
    places = _promising(tried, count, request)
    with progress(len(places) * rtts * len(seeds.choice), "choose") as tick:
        again = bench.run([(tried[place].name, tried[place].setting) for place in places], seeds.choice, tick)
    better_known = [tried[place].with_more(more) for place, more in zip(places, again, strict=True)]
    references = [one for one in better_known if one.name]
    chosen = better_known[_chosen(better_known, references, request)]
    rival = _rival(better_known, request.axes)
    to_check: dict[str, Scored] = {}
    for one in (chosen, *references, *([] if rival is None else [rival])):
        to_check.setdefault(one.setting.text, one)
    with progress(len(to_check) * rtts * len(seeds.fresh), "check") as tick:
        found = bench.run([(one.name, one.setting) for one in to_check.values()], seeds.fresh, tick)
    fresh = {one.setting.text: one for one in found}
    known = tuple(fresh[one.setting.text] for one in references)
    best = fresh[chosen.setting.text]
    vectors = [one.vector(request.axes) for one in better_known]
    edge = sorted((better_known[place] for place in front(vectors)), key=lambda one: one.vector(request.axes))
    return Tuning(
        tried=tuple(tried),
        front=tuple(edge),
        best=best,
        known=known,
        rival=None if rival is None else fresh[rival.setting.text],
        met={goal.text: judge(goal, best, known) for goal in request.goals},
        sensitivity=_sensitivity(tried, space, request),
        reachable=chosen.shortfall(request.goals, references) <= 0,
    )


def _chosen(better_known: Sequence[Scored], references: Sequence[Scored], request: Request) -> int:
    """Return the place of the one to take: the cheapest of those that surely meet the goals.

    Of many that seem to meet a goal, the cheapest is likely one that has been lucky; so it must meet them by the whole
    interval. If none does, by the means; if none does that either, it is the nearest.
    """
    costs = [cost(one, references, request) for one in better_known]
    surely = [
        place
        for place, one in enumerate(better_known)
        if all(_surely_met(goal, one, references) for goal in request.goals)
    ]
    if surely:
        return min(surely, key=lambda place: (costs[place], place))
    return order(costs, [one.shortfall(request.goals, references) for one in better_known])[0]


def cost(one: Scored, references: Sequence[Scored], request: Request) -> float:
    """Return what is least in the best setting: the sum of what is minimised, each in units of the last reference's."""
    units = {name: references[-1].worst(name) or 1.0 for name in request.minimise}
    return sum(one.worst(name) / units[name] for name in request.minimise)


def compare(best: Scored, known: Scored, metric: str) -> Compared:
    """Compare two settings in a metric, seed by seed."""
    intervals = tuple(
        mean_interval(a - b for a, b in zip(mine, theirs, strict=True))
        for mine, theirs in zip(best.samples[metric], known.samples[metric], strict=True)
    )
    mine, theirs = (one.samples[metric][interval_at_worst(one, metric)[0]] for one in (best, known))
    at_worst = mean_interval(a - b for a, b in zip(mine, theirs, strict=True))
    return Compared(at_worst=at_worst, by_rtt=intervals, verdict=_side(at_worst, METRICS[metric].sign) or "cannot tell")


def judge(goal: Goal, best: Scored, known: Sequence[Scored]) -> str:
    """Return what fresh seeds say of a goal: it is not met if an interval at some RTT lies beyond its bound."""
    sign = METRICS[goal.metric].sign
    intervals = _beyond(goal, best, known)
    if any(_side(one, sign) == "worse" for one in intervals):
        return "not met"
    beyond = [sign * one.value > 0 for one in intervals]
    return "cannot tell" if any(beyond) or any(one.low is None for one in intervals) else "met"


def _surely_met(goal: Goal, one: Scored, known: Sequence[Scored]) -> bool:
    """Return whether no interval of a setting's distance from a goal's bound reaches beyond that."""
    sign = METRICS[goal.metric].sign
    ends = [end.low if sign < 0 else end.high for end in _beyond(goal, one, known)]
    return all(end is not None and sign * end <= 0 for end in ends)


def _beyond(goal: Goal, one: Scored, known: Sequence[Scored]) -> list[Interval]:
    """Return, for each RTT, by how much a setting exceeds a goal's bound, seed by seed."""
    reference = next((other for other in known if other.name == goal.bound), None)
    intervals = []
    for place, values in enumerate(one.samples[goal.metric]):
        if isinstance(goal.bound, str):
            assert reference is not None
            bounds = reference.samples[goal.metric][place]
        else:
            bounds = [goal.bound] * len(values)
        intervals.append(mean_interval(a - b for a, b in zip(values, bounds, strict=True)))
    return intervals


def interval_at_worst(one: Scored, metric: str) -> tuple[int, Interval]:
    """Return at which RTT a setting is worst in a metric, and its mean there with its interval."""
    means = one.means(metric)
    place = means.index(METRICS[metric].worst(means))
    return place, mean_interval(one.samples[metric][place])


def _side(one: Interval, sign: int) -> str | None:
    """Return whether a difference is better or worse than 0 for certain; of equal values there is no difference."""
    side = sign * one.sign()
    return None if side == 0 else "worse" if side > 0 else "better"


def _promising(tried: Sequence[Scored], count: int, request: Request) -> list[int]:
    """Return the places of the known settings and of those that go on: the best, and what is near the front."""
    references = tried[:count]
    ordered = order(
        [cost(one, references, request) for one in tried], [one.shortfall(request.goals, references) for one in tried]
    )
    known = {one.setting.text for one in references}
    chosen = list(range(count))
    known_texts = set(known)

    def take(places: Sequence[int], most: int) -> None:
        for place in places:
            if len(chosen) - count >= most:
                return
            if tried[place].setting.text not in known_texts:
                known_texts.add(tried[place].setting.text)
                chosen.append(place)

    take(ordered, SHORTLIST)
    take(_along(layers([one.vector(request.axes) for one in tried])[0], tried, request.axes), LONGEST_FRONT)
    return chosen


def _along(places: Sequence[int], tried: Sequence[Scored], axes: Sequence[str]) -> list[int]:
    """Return the front's places in an order of which every beginning is spread along it."""
    left = sorted(places, key=lambda place: tried[place].vector(axes))
    step = 1
    while step < len(left):
        step *= 2
    found: list[int] = []
    while step >= 1:
        found += [place for place in left[::step] if place not in found]
        step //= 2
    return found


def _rival(better_known: Sequence[Scored], axes: Sequence[str]) -> Scored | None:
    """Return the setting that dominates the rural one by most: by the sum of its leads, as shares of rural's values."""
    rural = next((one for one in better_known if one.name == "rural"), None)
    if rural is None:
        return None
    mine = rural.vector(axes)

    def lead(one: Scored) -> float:
        return sum((b - a) / (abs(b) or 1.0) for a, b in zip(one.vector(axes), mine, strict=True))

    ahead = [one for one in better_known if dominates(one.vector(axes), mine)]
    return max(ahead, key=lead, default=None)


def _sensitivity(tried: Sequence[Scored], space: Space, request: Request) -> dict[str, Sensitivity | None]:
    inside = [one for one in tried if space.holds(one.setting)]
    return {
        name: of_settings(
            space.knobs, [one.setting.values for one in inside], [one.worst(name) for one in inside], seed=request.seed
        )
        for name in request.axes
    }
