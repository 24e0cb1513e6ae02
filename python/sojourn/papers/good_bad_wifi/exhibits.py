"""What the figures and tables of `exhibits.toml` are drawn of: numbers of the runs, by link and discipline.

Figures have the cells with CUBIC. `over` is `"wifi_"` for those of section 7, which have the fast link alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sojourn.frame_library import pl
from sojourn.papers.good_bad_wifi import pairs, tables
from sojourn.papers.good_bad_wifi.evidence import (
    AXES,
    DISCIPLINES,
    FIFO,
    LINKS,
    RRUL,
    RTT_FAIRNESS,
    VOIP,
    VOIP_RRUL,
    WEB,
    WEB_IDLE,
    WEB_RRUL,
    Evidence,
)
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.observation import VoiceObservation
from sojourn.papers.good_bad_wifi.quantities import flow_of, whole_fetch
from sojourn.papers.good_bad_wifi.section7 import FAST_LINK
from sojourn.plots.panels import LOADS
from sojourn.stats import Course, course, jain
from sojourn.stats.transient import STEADY_S
from sojourn.store import metrics
from sojourn.study.cell import Observation
from sojourn.study.exhibits import Gallery

T = TypeVar("T")
Runs = tuple[Observation, ...]
Numbers = list[float | None]


def by_link(evidence: Evidence, experiment: str, of: Callable[[Runs], T], over: str = "") -> dict[str, dict[str, T]]:
    """Return by link and discipline what is made of the repeats, as far as they were run."""
    numbers: dict[str, dict[str, T]] = {}
    for link, qdisc in product((FAST_LINK,) if over else LINKS, DISCIPLINES):
        if runs := evidence.cells.get(AXES(over + experiment, link, qdisc)):
            numbers.setdefault(link, {})[qdisc] = of(runs)
    return numbers


def _by_load(
    evidence: Evidence, experiments: tuple[str, str], of: Callable[[Runs], T], over: str
) -> dict[tuple[str, str], dict[str, T]]:
    """Return by link and cross traffic, and by discipline, what is made of the repeats."""
    return {
        (link, load): numbers
        for load, experiment in zip(LOADS, experiments, strict=True)
        for link, numbers in by_link(evidence, experiment, of, over).items()
    }


def rrul(evidence: Evidence, link: str, experiment: str = RRUL) -> pl.DataFrame:
    """Return the runs of Figs. 2 and 9, as rows of `sojourn.store.metrics.RUN_SCHEMA`."""
    rows = [
        {
            "link": link,
            "qdisc": qdisc,
            "seed": run.seed,
            "goodput_up_mbit": run.goodput_up,
            "goodput_down_mbit": run.goodput_down,
            "induced_latency_ms": run.latency_ms,
        }
        for qdisc in DISCIPLINES
        for run in evidence.cells.get(AXES(experiment, link, qdisc), ())
    ]
    return pl.DataFrame(rows, schema=metrics.RUN_SCHEMA)


def _voices(runs: Runs) -> list[VoiceObservation]:
    return [run.voice for run in runs if run.voice is not None]


def delays(evidence: Evidence, over: str = "") -> dict[tuple[str, str], dict[str, NDArray[np.float64]]]:
    """Return the samples of the voice's delay of all runs (ms): Figs. 3 and 10."""

    def of(runs: Runs) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *(voice.delay_ms for voice in _voices(runs))])

    return _by_load(evidence, (VOIP, VOIP_RRUL), of, over)


def losses(evidence: Evidence, over: str = "") -> tables.Losses:
    """Return the lost and the sent packets of the voice in each run: Tables 2 and 3."""

    def of(runs: Runs) -> tuple[list[int], list[int]]:
        return [voice.lost for voice in _voices(runs)], [voice.sent for voice in _voices(runs)]

    return _by_load(evidence, (VOIP, VOIP_RRUL), of, over)


def scores(evidence: Evidence) -> dict[tuple[str, str], dict[str, Numbers]]:
    """Return the opinion score of the voice in each run, or `None`; the paper does not have it."""
    return _by_load(evidence, (VOIP, VOIP_RRUL), lambda runs: [voice.mos for voice in _voices(runs)], "")


def _means(runs: Runs) -> Numbers:
    return [float(run.pages.time_s.mean()) if run.pages is not None and run.pages.time_s.size else None for run in runs]


def fetches(evidence: Evidence, page: str, over: str = "") -> dict[tuple[str, str], dict[str, Numbers]]:
    """Return the mean fetch time of each run (s), or `None`: Figs. 4, 5 and 11.

    In Fig. 11 a fetch that the end of the run cut off counts (`sojourn.stats.fetches`).
    """

    def whole(runs: Runs) -> Numbers:
        return [whole_fetch(run) for run in runs]

    return _by_load(evidence, (f"{WEB}:{page}", f"{WEB_RRUL}:{page}"), whole if over else _means, over)


def unloaded(evidence: Evidence, page: str, over: str = "") -> dict[str, Numbers]:
    """Return the same by link, without other traffic."""
    idle = by_link(evidence, f"{WEB_IDLE}:{page}", _means, over)
    return {link: times[FIFO] for link, times in idle.items()}


def flow_goodputs(evidence: Evidence) -> Mapping[str, Mapping[str, Mapping[float, list[float]]]]:
    """Return by link, discipline and base round-trip time (ms) the goodput of each run: Figs. 6b to 6d."""

    def of(runs: Runs) -> dict[float, list[float]]:
        rtts = [flow.rtt_ms for flow in runs[0].flows]
        return {rtt_ms: [flow_of(run, rtt_ms).goodput for run in runs] for rtt_ms in rtts}

    return by_link(evidence, RTT_FAIRNESS, of)


def indices(evidence: Evidence) -> dict[str, dict[str, Numbers]]:
    """Return Jain's index of each run, `None` where nothing arrived: Fig. 6a."""

    def index(run: Observation) -> float | None:
        goodputs = [flow.goodput for flow in run.flows]
        return jain(goodputs) if any(goodputs) else None

    return by_link(evidence, RTT_FAIRNESS, lambda runs: [index(run) for run in runs])


def transients(evidence: Evidence) -> dict[str, dict[str, Course]]:
    """Return the courses of the start-ups, of the records that the comparison keeps: Fig. 7."""
    courses: dict[str, dict[str, Course]] = {}
    for cell in evidence.comparison.cells:
        runs = [{name: (one.t_s, one.rtt_ms) for name, one in run.record.series.rtt.items()} for run in cell.runs]
        courses.setdefault(cell.link, {})[cell.qdisc.removeprefix("gbw:")] = course(runs, end_s=STEADY_S[1])
    return courses


GALLERY = Gallery(
    paper="good_bad_wifi",
    vocabulary=JUDGES.vocabulary,
    functions={
        "rrul": rrul,
        "delays": delays,
        "fetches": fetches,
        "unloaded": unloaded,
        "indices": indices,
        "flow_goodputs": flow_goodputs,
        "transients": transients,
        "table1": lambda _: tables.table1(),
        "table2": lambda evidence: tables.table2(losses(evidence)),
        "table3": lambda evidence: tables.table3(losses(evidence, "wifi_")),
        "scores": lambda evidence: tables.mos_table(scores(evidence)),
        "settling": lambda evidence: tables.transient_table(transients(evidence)),
        "mechanisms": pairs.mechanisms,
        "to_compare": lambda _: (pairs.TO_COMPARE,),
        "unstated": pairs.unstated,
    },
)
