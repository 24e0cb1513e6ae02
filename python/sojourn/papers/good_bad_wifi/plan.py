"""The plan of seed 000: sections 5 and 6 on three wired links under seven disciplines, section 7 over Wi-Fi."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import api
from sojourn.cells import Planned, repeats
from sojourn.papers.good_bad_wifi.collide import find_collision
from sojourn.papers.good_bad_wifi.devices import (
    COMPARED,
    JUDGED,
    MECHANISMS,
    STRONG_LAPTOP,
    STRONG_POINT,
    UNEVEN,
    UNSTATED,
    Pair,
    over_wifi,
)
from sojourn.papers.good_bad_wifi.evidence import (
    AXES,
    DISCIPLINES,
    FAIR,
    FIFO,
    LARGE_OBJECTS,
    LINKS,
    LONG_QUEUE,
    PAGES,
    RRUL,
    RTT_FAIRNESS,
    SHORT_FIFO,
    SPARED,
    VOIP,
    VOIP_RRUL,
    WEB,
    WEB_IDLE,
    WEB_RRUL,
    Collision,
    Evidence,
)
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.papers.good_bad_wifi.section7 import (
    SHALLOW,
    SLOW_LINKS,
    WIFI_RRUL,
    WIFI_VOIP,
    WIFI_VOIP_RRUL,
    WIFI_WEB,
    WIFI_WEB_IDLE,
    WIFI_WEB_RRUL,
    in_pair,
)
from sojourn.scenario import Scenario, Tcp
from sojourn.store.cell import DisciplineRuns
from sojourn.store.comparison import Comparison
from sojourn.store.run import Run
from sojourn.study.cell import Cell, Observation
from sojourn.study.plan import Bed

#: The figure of each link.
FIGURES = {"100/100": "fig2a", "10/10": "fig2b", "10/1": "fig2c"}

#: The paper's base round-trip time; the experiment `rtt_fairness` has its own.
RTT = "50ms"
#: Flent's probes run so long before the flows of a test start.
LEAD = "5s"
#: Bins of the fairness runs, which are long.
LONG_BINS = "1s"
#: A queue that never overflows at 100 Mbit/s.
UNLIMITED = "fq_codel limit 16000 target 100s interval 100s noecn drop_batch 1"
#: Objects of 3 MB in four pieces: an ablation of the Huffpost page.
FOUR_OBJECTS = (750_000,) * 4
#: Where voice is looked for in the queue of an upstream data flow.
COLLIDING = ((RRUL, "fq_nocodel"), (VOIP_RRUL, "sfq"), (VOIP_RRUL, "fq_nocodel"), (VOIP_RRUL, "fq_codel"))

#: The wired experiment that runs over Wi-Fi under each name.
OVER_WIFI = {
    WIFI_RRUL: RRUL,
    WIFI_VOIP: VOIP,
    WIFI_VOIP_RRUL: VOIP_RRUL,
    WIFI_WEB: WEB,
    WIFI_WEB_RRUL: WEB_RRUL,
    WIFI_WEB_IDLE: WEB_IDLE,
}

#: What each part of the paper needs, and what the claims about it begin with.
EXPERIMENTS = {
    "rrul": (RRUL,),
    "transient": (RRUL,),
    "voip": (RRUL, VOIP, VOIP_RRUL),
    "web": (RRUL, WEB, WEB_RRUL, WEB_IDLE),
    "fairness": (RTT_FAIRNESS,),
    "wifi": (RRUL, WEB_RRUL, *OVER_WIFI),
}
CLAIMS = {
    "rrul": ("gbw-rrul-",),
    "transient": ("gbw-tran-",),
    "voip": ("gbw-voip-", "gbw-t2-"),
    "web": ("gbw-web-",),
    "fairness": ("gbw-fair-",),
    "wifi": ("gbw-wifi-", "gbw-t3-"),
}
#: The part that only the simulator has.
WIFI_PART = "wifi"


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredBed(Bed):
    """What all runs share; the paper's kernel was `"linux-3.14"`."""

    parts: tuple[str, ...] = tuple(EXPERIMENTS)
    tcp: str = "linux-3.14"
    #: Whether all parts of the paper are asked for: then there are also cells that no part needs alone.
    whole: bool = True
    #: Whether that is run that only the simulator can: an ablation, in which no bare acknowledgement is lost, and
    #: section 7.
    spared: bool = True
    #: Whether section 7 is run with other pairs of devices, too, if its part is named.
    other_pairs: bool = True
    #: Bytes that ARED takes a packet for, which sets the weight of its average; `None` for those of the preset.
    avpkt: int | None = None
    #: Time text: the delay box lets packets out at multiples of this only; `None` for at once.
    delay_tick: str | None = None
    #: Which connections of a page look up the server's name: each, or with `"page"` the first.
    look_ups: str | None = None

    def scenario(
        self, experiment: str, link: str, qdisc: str, *, cc: str = "cubic", page: str | None = None
    ) -> Scenario:
        """Return the scenario of a cell with the first seed."""
        down, up = link.split("/")
        fair = experiment == RTT_FAIRNESS
        found = api.build(
            experiment,
            qdisc=preset(qdisc),
            down=f"{down}mbit",
            up=f"{up}mbit",
            cc=cc,
            duration=self.profile.long_duration if fair else self.profile.duration,
            seed=self.seed,
            **({} if fair else {"rtt": RTT}),
            **({} if page is None else {"page": page}),
        )
        if qdisc == "ared" and self.avpkt is not None:
            found = _averaged(found, self.avpkt)
        return dataclasses.replace(
            found,
            delay_tick=self.delay_tick,
            web=tuple(dataclasses.replace(client, look_ups=self.look_ups) for client in found.web),
            lead=LEAD if experiment == RRUL else found.lead,
            tcp=dataclasses.replace(found.tcp or Tcp(), variant=self.tcp),
            sample_interval=LONG_BINS if fair else found.sample_interval,
        )


def plan(bed: WiredBed) -> Sequence[Planned[Cell]]:
    """Return all runs but the searches for collisions, the costliest first."""
    experiments = {name for part in bed.parts for name in EXPERIMENTS[part]}
    return repeats(sorted(_cells(bed, experiments), key=lambda one: -_cost(one[0])))


class Gathering:
    """What is kept of runs as they come: of all what was observed, and the RRUL runs with CUBIC themselves."""

    def __init__(self, bed: WiredBed) -> None:
        self._bed = bed
        self._rrul: dict[Cell, list[Run]] = {}

    def observe(self, cell: Cell, run: Run) -> Observation:
        """Return what is observed of a run."""
        if (cell.experiment, cell.cc) == (RRUL, "cubic"):
            self._rrul.setdefault(cell, []).append(run)
        return observe(run)

    def evidence(self, runs: Mapping[Cell, tuple[Observation, ...]]) -> Evidence:
        """Return what the claims are judged by; collisions are looked for."""
        collisions = {
            (experiment, qdisc): collision
            for experiment, qdisc in COLLIDING
            if (repeats := runs.get(AXES(experiment, "10/1", qdisc)))
            and (collision := self._collision(experiment, qdisc, repeats)) is not None
        }
        cells = tuple(
            DisciplineRuns(link=cell.link, qdisc=preset(cell.qdisc), runs=tuple(self._rrul[cell]))
            for cell in sorted(self._rrul, key=_order)
        )
        return Evidence(
            cells={cell: runs[cell] for cell in sorted(runs, key=_order)},
            collisions=collisions,
            comparison=Comparison(experiment=RRUL, cells=cells),
        )

    def _collision(self, experiment: str, qdisc: str, runs: tuple[Observation, ...]) -> Collision | None:
        scenario = self._bed.scenario(experiment, "10/1", qdisc)
        return find_collision(runs, scenario, voice=experiment == VOIP_RRUL)


def preset(qdisc: str) -> str:
    """Return the preset of a discipline of Table 1."""
    return f"gbw:{qdisc}"


def _averaged(scenario: Scenario, avpkt: int) -> Scenario:
    """Return a scenario whose RED takes a packet for so many bytes; tc's own burst follows from them."""
    found = json.loads(scenario.normalized())
    texts = [re.sub(r" burst \d+", "", found[side]) for side in ("qdisc_up", "qdisc_down")]
    up, down = (re.sub(r" avpkt \d+", f" avpkt {avpkt}", text) for text in texts)
    return dataclasses.replace(scenario, qdisc_up=up, qdisc_down=down)


def _cells(bed: WiredBed, experiments: Iterable[str]) -> Iterator[tuple[Cell, Scenario, int]]:
    """Yield every cell with its first scenario and how often it is repeated."""
    repeat, other = bed.profile.repeat, bed.profile.other_repeat
    experiments = set(experiments)
    for link in LINKS:
        for qdisc in DISCIPLINES:
            for name in (RRUL, VOIP, VOIP_RRUL, RTT_FAIRNESS):
                if name in experiments:
                    yield AXES(name, link, qdisc), bed.scenario(name, link, qdisc), repeat
            for name in (RRUL, RTT_FAIRNESS):
                if name in experiments and other and (bed.whole or name == RTT_FAIRNESS):
                    yield AXES(name, link, qdisc, "reno"), bed.scenario(name, link, qdisc, cc="reno"), other
            for page in PAGES:
                for name in (WEB, WEB_RRUL, WEB_IDLE):
                    if name in experiments and (name != WEB_IDLE or qdisc == FIFO):
                        yield AXES(f"{name}:{page}", link, qdisc), bed.scenario(name, link, qdisc, page=page), repeat
    yield from _ablations(bed, experiments)
    if WIFI_RRUL in experiments:
        yield from _over_wifi(bed)


def _ablations(bed: WiredBed, experiments: set[str]) -> Iterator[tuple[Cell, Scenario, int]]:
    repeat, other = bed.profile.repeat, bed.profile.other_repeat
    if bed.spared and "rrul" in bed.parts:
        spared = dataclasses.replace(bed.scenario(RRUL, "10/1", FIFO), spare_acks=True)
        yield AXES(SPARED, "10/1", FIFO), spared, repeat
    if bed.whole:
        short = bed.scenario(RRUL, "100/100", FIFO)
        short = dataclasses.replace(short, qdisc_up="pfifo limit 127", qdisc_down="pfifo limit 127")
        yield AXES(SHORT_FIFO, "100/100", FIFO), short, repeat
    if RTT_FAIRNESS in experiments:
        long = bed.scenario(RTT_FAIRNESS, "100/100", "fq_nocodel")
        long = dataclasses.replace(long, qdisc_up=UNLIMITED, qdisc_down=UNLIMITED)
        yield AXES(LONG_QUEUE, "100/100", "fq_nocodel"), long, max(other, 2)
    if WEB_RRUL in experiments:
        for qdisc in ("codel", "sfq", "fq_codel", "fq_nocodel"):
            large = bed.scenario(WEB_RRUL, "10/10", qdisc, page="huffpost")
            web = tuple(dataclasses.replace(one, objects=FOUR_OBJECTS) for one in large.web)
            yield AXES(LARGE_OBJECTS, "10/10", qdisc), dataclasses.replace(large, web=web), repeat


def _over_wifi(bed: WiredBed) -> Iterator[tuple[Cell, Scenario, int]]:
    """Yield the cells of section 7; those of other pairs of devices only if the part is named: they are the most."""
    repeat = bed.profile.repeat
    for cell, scenario in _with_pair(bed, UNEVEN):
        yield cell, scenario, repeat
    for page in PAGES:
        idle = over_wifi(bed.scenario(WEB_IDLE, "100/100", FIFO, page=page))
        yield AXES(f"{WIFI_WEB_IDLE}:{page}", "100/100", FIFO), idle, repeat
    for pair in (STRONG_POINT, STRONG_LAPTOP):
        scenario = over_wifi(bed.scenario(RRUL, "100/100", FIFO), pair)
        yield AXES(in_pair(pair.name, WIFI_RRUL), "100/100", FIFO), scenario, repeat
    if bed.whole or not bed.other_pairs:
        return
    for pair in JUDGED[1:]:
        for cell, scenario in _with_pair(bed, pair):
            yield cell.replaced(experiment=in_pair(pair.name, cell.experiment)), scenario, repeat
    for pairs, disciplines in ((MECHANISMS, COMPARED), (UNSTATED, DISCIPLINES)):
        for pair, qdisc in itertools.product([one for one in pairs if one not in JUDGED], disciplines):
            scenario = over_wifi(bed.scenario(VOIP_RRUL, "100/100", qdisc), pair)
            yield AXES(in_pair(pair.name, WIFI_VOIP_RRUL), "100/100", qdisc), scenario, repeat


def _with_pair(bed: WiredBed, pair: Pair) -> Iterator[tuple[Cell, Scenario]]:
    """Yield what the claims need of one pair of devices."""
    for qdisc in DISCIPLINES:
        for name in (WIFI_RRUL, WIFI_VOIP, WIFI_VOIP_RRUL):
            yield AXES(name, "100/100", qdisc), over_wifi(bed.scenario(OVER_WIFI[name], "100/100", qdisc), pair)
        for name, page in itertools.product((WIFI_WEB, WIFI_WEB_RRUL), PAGES):
            scenario = bed.scenario(OVER_WIFI[name], "100/100", qdisc, page=page)
            yield AXES(f"{name}:{page}", "100/100", qdisc), over_wifi(scenario, pair)
        for link in SLOW_LINKS:
            yield AXES(WIFI_RRUL, link, qdisc), over_wifi(bed.scenario(RRUL, link, qdisc), pair)
    for qdisc in FAIR:
        yield AXES(SHALLOW, "100/100", qdisc), over_wifi(bed.scenario(RRUL, "100/100", qdisc), pair.shallow())


def _order(cell: Cell) -> tuple[Any, ...]:
    """Return what puts cells into the order of the paper, whatever order they were run in."""
    return (cell.experiment, LINKS.index(cell.link), DISCIPLINES.index(cell.qdisc), cell.cc)


def _cost(cell: Cell) -> float:
    """Return about how long a run takes, to begin with the longest: packets are what takes time."""
    down, up = (float(rate) for rate in cell.link.split("/"))
    seconds = 4.0 if cell.experiment.startswith(RTT_FAIRNESS) else 1.0
    return seconds * (up if cell.experiment.partition(":")[0] in {VOIP, WEB, RTT_FAIRNESS} else up + down)
