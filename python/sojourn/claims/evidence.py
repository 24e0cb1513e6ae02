"""The runs that claims are judged by, and the quantities the claims speak of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from sojourn.errors import SojournError
from sojourn.results import Run

#: The disciplines of seed 000, in the order of its Table 1.
FIFO = "pfifo_fast"
AQMS = ("ared", "pie", "codel")
FAIR = ("sfq", "fq_codel", "fq_nocodel")
PURE_SCHEDULERS = ("sfq", "fq_nocodel")
DISCIPLINES = (FIFO, *AQMS, *FAIR)

#: Links, download before upload, Mbit/s.
LINKS = ("100/100", "10/10", "10/1")

#: `"both"` is the mean of the two directions: on a symmetric link the paper shows one for both.
Side = Literal["up", "down", "both"]

#: Steady state begins here (s): the start-up transients of the AQMs are over.
STEADY_FROM_S = 10.0


def sides(link: str) -> tuple[Side, ...]:
    """Return the directions in which a link's goodput is judged."""
    down, up = link.split("/")
    return ("both",) if down == up else ("down", "up")


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A run in which a probe shares its queue with an upstream data flow, found by trying seeds in order.

    Attributes
    ----------
    run
        The run with the collision.
    probe, flow
        Which share a queue.
    tried
        How many seeds were tried before it was found, the repeats of the experiment included.
    """

    run: Run
    probe: str
    flow: str
    tried: int


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was run.

    Attributes
    ----------
    runs
        For each (link, discipline) the repeats, in the order of their seeds.
    spared
        For each link and discipline, repeats in which pure acknowledgements are never dropped.
    collision
        A run with a hash collision at 10/1 under fq_nocodel, if one was found.
    """

    runs: dict[tuple[str, str], tuple[Run, ...]]
    spared: dict[tuple[str, str], tuple[Run, ...]] = field(default_factory=dict)
    collision: Collision | None = None

    def of(self, link: str, qdisc: str) -> tuple[Run, ...]:
        """Return the repeats of a discipline on a link."""
        return self.runs[link, qdisc]

    def each(self, link: str, qdisc: str, quantity: Callable[[Run], float]) -> list[float]:
        """Return a quantity of each repeat."""
        return [quantity(run) for run in self.of(link, qdisc)]

    def latency(self, link: str, qdisc: str) -> list[float]:
        """Return the induced latency of each repeat (ms)."""
        return self.each(link, qdisc, induced_latency)

    def goodput(self, link: str, qdisc: str, side: Side) -> list[float]:
        """Return the goodput of each repeat (Mbit/s)."""
        return self.each(link, qdisc, lambda run: goodput(run, side))

    def best(self, link: str, side: Side, among: tuple[str, ...] = DISCIPLINES) -> str:
        """Return the discipline with the highest mean goodput."""
        return max(among, key=lambda qdisc: fmean(self.goodput(link, qdisc, side)))


def induced_latency(run: Run) -> float:
    """Return the mean round-trip time of all probes less the base round-trip time (ms)."""
    if not run.summary["rtt_ms"]["count"]:
        message = f"the run with seed {run.seed} has no induced latency: no probe was answered"
        raise SojournError(message)
    return float(run.summary["induced_latency_ms"])


def goodput(run: Run, side: Side) -> float:
    """Return the goodput of a direction, or the mean of both (Mbit/s)."""
    if side == "both":
        return (goodput(run, "up") + goodput(run, "down")) / 2
    return float(run.summary[f"goodput_{side}_mbit"])


def ends(run: Run) -> list[tuple[str, dict[str, Any]]]:
    """Return the two bottlenecks of a run with their names."""
    return list(run.record["bottleneck"].items())


def steady(run: Run, metric: str, direction: str) -> list[float]:
    """Return a bottleneck's time series from `STEADY_FROM_S` on.

    Raises
    ------
    SojournError
        If the run is not long enough.
    """
    series = run.record["series"]
    values = [
        float(value)
        for time, value in zip(series["t_s"], series[metric][direction], strict=True)
        if time >= STEADY_FROM_S
    ]
    if len(values) < 2:
        message = f"duration is too short for the steady state, which begins after {STEADY_FROM_S:g} s"
        raise SojournError(message)
    return values


def collisions(run: Run) -> list[tuple[str, str]]:
    """Return the (probe, flow) pairs of a run that share a queue."""
    probes = {probe["name"] for probe in run.record["probes"]}
    return [
        (other, flow["name"]) for flow in run.record["flows"] for other in flow["queue_shared_with"] if other in probes
    ]


def differences(a: list[float], b: list[float]) -> list[float]:
    """Return `a - b`, seed by seed."""
    return [one - other for one, other in zip(a, b, strict=True)]


def ratios(a: list[float], b: list[float]) -> list[float]:
    """Return `a / b`, seed by seed.

    Raises
    ------
    SojournError
        If one of `b` is 0.
    """
    if 0 in b:
        message = "a ratio cannot be formed: what it is a share of is 0 in one of the runs"
        raise SojournError(message)
    return [one / other for one, other in zip(a, b, strict=True)]
