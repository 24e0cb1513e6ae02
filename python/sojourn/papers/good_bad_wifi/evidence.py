"""The runs that claims are judged by, as what was observed of them, and the quantities the claims speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sojourn.papers.good_bad_wifi.observation import known
from sojourn.store.comparison import Comparison
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Observation

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
#: Ablations: no acknowledgement is lost; FIFO as short as at the lower rates; fq_nocodel with room for what the long
#: flows need at 100 Mbit/s; as many bytes as the Huffpost page, in a few large objects.
SPARED, SHORT_FIFO, LONG_QUEUE = "rrul spared", "rrul short fifo", "rtt_fairness long queue"
LARGE_OBJECTS = f"{WEB_RRUL}:huffpost large objects"

#: `"both"` is the mean of the two directions: on a symmetric link the paper shows one for both. `"sum"` is what the
#: link carries in all, which a sentence means that names no direction.
Side = Literal["up", "down", "both", "sum"]


#: An experiment, with the page where it is of the web, such as `"web_rrul:google"`; a link and a discipline as in
#: `LINKS` and `DISCIPLINES`; and the congestion control of the bulk flows.
AXES = Axes(
    "experiment",
    "link",
    "qdisc",
    cc="cubic",
    words=lambda cell: f"{cell.experiment} at {cell.link} under {cell.qdisc} ({cell.cc})",
)


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A run in which a probe shares its queue with an upstream data flow, found by trying seeds in order."""

    #: The run with the collision.
    run: Observation
    #: Which share a queue.
    probe: str
    flow: str
    #: How many seeds were tried before it was found, the repeats of the experiment included.
    tried: int


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence):
    """What was run."""

    #: By (experiment, discipline) a run at 10/1 with a hash collision, where one was found.
    collisions: Mapping[tuple[str, str], Collision] = field(default_factory=dict)
    #: The RRUL runs with CUBIC; without cells if there are none.
    comparison: Comparison = field(default_factory=lambda: Comparison(experiment=RRUL, cells=()))

    def numbers(
        self,
        link: str,
        qdisc: str,
        quantity: Callable[[Observation], float],
        experiment: str = RRUL,
        cc: str = "cubic",
    ) -> list[float]:
        """Return a quantity of each repeat of a cell."""
        return self.each(AXES(experiment, link, qdisc, cc), quantity)

    def latency(self, link: str, qdisc: str, experiment: str = RRUL) -> list[float]:
        """Return the induced latency of each repeat (ms)."""
        return self.numbers(link, qdisc, induced_latency, experiment)

    def goodput(self, link: str, qdisc: str, side: Side, experiment: str = RRUL) -> list[float]:
        """Return the goodput of each repeat (Mbit/s)."""
        return self.numbers(link, qdisc, lambda run: goodput(run, side), experiment)


def sides(link: str) -> tuple[Side, ...]:
    """Return the directions in which a link's goodput is judged."""
    down, up = link.split("/")
    return ("both",) if down == up else ("down", "up")


def induced_latency(run: Observation) -> float:
    """Return the mean round-trip time of all probes less the base round-trip time (ms)."""
    return known(run.latency_ms, run, "induced latency: no probe was answered")


def goodput(run: Observation, side: Side | str) -> float:
    """Return the goodput of a direction, the mean of both, or their sum (Mbit/s)."""
    if side in ("both", "sum"):
        return (run.goodput_up + run.goodput_down) / (2 if side == "both" else 1)
    return run.goodput_up if side == "up" else run.goodput_down
