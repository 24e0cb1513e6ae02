"""The runs that claims are judged by, as what was observed of them, and the quantities the claims speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, NamedTuple

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.observation import STEADY_FROM_S, Observation, known, observe
from sojourn.store.run import Run

#: The disciplines of seed 000, in the order of its Table 1.
FIFO = "pfifo_fast"
AQMS = ("ared", "pie", "codel")
FAIR = ("sfq", "fq_codel", "fq_nocodel")
PURE_SCHEDULERS = ("sfq", "fq_nocodel")
DISCIPLINES = (FIFO, *AQMS, *FAIR)

#: Links, download before upload, Mbit/s.
LINKS = ("100/100", "10/10", "10/1")

#: The experiments of the paper. An ablation is an experiment with a name of its own.
RRUL = "rrul"
VOIP = "voip"
VOIP_RRUL = "voip_rrul"
RTT_FAIRNESS = "rtt_fairness"
PAGES = ("google", "huffpost")
#: Traffic beside the fetches: one flow up, or RRUL; and none, for comparison.
WEB, WEB_RRUL, WEB_IDLE = "web", "web_rrul", "web_idle"
SPARED = "rrul spared"

#: `"both"` is the mean of the two directions: on a symmetric link the paper shows one for both.
Side = Literal["up", "down", "both"]


class Cell(NamedTuple):
    """What is repeated: an experiment on a link under a discipline.

    Attributes
    ----------
    experiment
        Its name; of the web experiments with the page, such as `"web_rrul:google"`.
    link, qdisc
        As in `LINKS` and `DISCIPLINES`.
    cc
        Congestion control of the bulk flows.
    """

    experiment: str
    link: str
    qdisc: str
    cc: str = "cubic"

    def words(self) -> str:
        """Return the cell in words."""
        return f"{self.experiment} at {self.link} under {self.qdisc} ({self.cc})"


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A run in which a probe shares its queue with an upstream data flow, found by trying seeds in order.

    Attributes
    ----------
    seen
        The run with the collision.
    probe, flow
        Which share a queue.
    tried
        How many seeds were tried before it was found, the repeats of the experiment included.
    """

    seen: Observation
    probe: str
    flow: str
    tried: int


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was run.

    Attributes
    ----------
    cells
        For each cell the repeats, in the order of their seeds.
    collisions
        By (experiment, discipline) a run at 10/1 with a hash collision, where one was found.
    """

    cells: dict[Cell, tuple[Observation, ...]]
    collisions: dict[tuple[str, str], Collision] = field(default_factory=dict)

    def of(self, link: str, qdisc: str, experiment: str = RRUL, cc: str = "cubic") -> tuple[Observation, ...]:
        """Return the repeats of a cell.

        Raises
        ------
        SojournError
            If there are none.
        """
        cell = Cell(experiment, link, qdisc, cc)
        found = self.cells.get(cell, ())
        if not found:
            message = f"there are no runs of {cell.words()}"
            raise SojournError(message)
        return found

    def each(
        self,
        link: str,
        qdisc: str,
        quantity: Callable[[Observation], float],
        experiment: str = RRUL,
        cc: str = "cubic",
    ) -> list[float]:
        """Return a quantity of each repeat."""
        return [quantity(run) for run in self.of(link, qdisc, experiment, cc)]

    def latency(self, link: str, qdisc: str, experiment: str = RRUL, cc: str = "cubic") -> list[float]:
        """Return the induced latency of each repeat (ms)."""
        return self.each(link, qdisc, induced_latency, experiment, cc)

    def goodput(self, link: str, qdisc: str, side: Side, experiment: str = RRUL, cc: str = "cubic") -> list[float]:
        """Return the goodput of each repeat (Mbit/s)."""
        return self.each(link, qdisc, lambda run: goodput(run, side), experiment, cc)

    def best(self, link: str, side: Side, among: tuple[str, ...] = DISCIPLINES, experiment: str = RRUL) -> str:
        """Return the discipline with the highest mean goodput."""
        return max(among, key=lambda qdisc: fmean(self.goodput(link, qdisc, side, experiment)))


class Gathering:
    """Evidence in the making: runs come in any order, and only what was observed of them is kept."""

    def __init__(self) -> None:
        self._seen: dict[Cell, dict[int, Observation]] = {}

    def add(self, cell: Cell, run: Run) -> None:
        """Observe a run of a cell; a seed that is there already is replaced."""
        seen = observe(run)
        self._seen.setdefault(cell, {})[seen.seed] = seen

    def evidence(self, collisions: dict[tuple[str, str], Collision] | None = None) -> Evidence:
        """Return what has come in so far, the repeats of each cell in the order of their seeds."""
        cells = {cell: tuple(runs[seed] for seed in sorted(runs)) for cell, runs in self._seen.items()}
        return Evidence(cells=cells, collisions=collisions or {})


def sides(link: str) -> tuple[Side, ...]:
    """Return the directions in which a link's goodput is judged."""
    down, up = link.split("/")
    return ("both",) if down == up else ("down", "up")


def rates(link: str) -> tuple[float, float]:
    """Return a link's rates, down and up (Mbit/s)."""
    down, up = link.split("/")
    return float(down), float(up)


def induced_latency(run: Observation) -> float:
    """Return the mean round-trip time of all probes less the base round-trip time (ms)."""
    return known(run.latency_ms, run, "induced latency: no probe was answered")


def goodput(run: Observation, side: Side) -> float:
    """Return the goodput of a direction, or the mean of both (Mbit/s)."""
    if side == "both":
        return (run.goodput_up + run.goodput_down) / 2
    return run.goodput_up if side == "up" else run.goodput_down


def steady(value: float | None, run: Observation) -> float:
    """Return a quantity of the steady state.

    Raises
    ------
    SojournError
        If the run is not long enough.
    """
    return known(value, run, f"steady state: duration is too short for it, as it begins after {STEADY_FROM_S:g} s")


def differences(a: Iterable[float], b: Iterable[float]) -> list[float]:
    """Return `a - b`, seed by seed, of the repeats that both have (their seeds begin with the same)."""
    return [one - other for one, other in zip(a, b, strict=False)]


def ratios(a: Iterable[float], b: Iterable[float]) -> list[float]:
    """Return `a / b`, seed by seed, of the repeats that both have.

    Raises
    ------
    SojournError
        If one of `b` is 0.
    """
    a, b = list(a), list(b)
    if 0 in b:
        message = "a ratio cannot be formed: what it is a share of is 0 in one of the runs"
        raise SojournError(message)
    return [one / other for one, other in zip(a, b, strict=False)]
