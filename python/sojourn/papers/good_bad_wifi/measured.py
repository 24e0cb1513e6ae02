"""What the figures and tables of "The Good, the Bad and the WiFi" are made of: plain numbers out of records.

`measure` takes the records of each experiment as they come, one at a time, and keeps only what is shown, so the records
of a whole reproduction need not be in memory together. A discipline keeps the name it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.errors import ParamError
from sojourn.frame_library import pl
from sojourn.papers.good_bad_wifi.observation import page_unfinished_s
from sojourn.record import Record, WebRecord
from sojourn.stats import Course, course, fetches, jain, mos
from sojourn.stats.transient import STEADY_S, Samples
from sojourn.store import metrics

Array = npt.NDArray[np.float64]

#: Name of the experiment, and the cross traffic it stands for in the figures.
VOIP = {"voip": "1 stream", "voip_rrul": "RRUL"}
WEB = {"web": "1 stream", "web_rrul": "RRUL"}
EXPERIMENTS = ("rrul", *VOIP, *WEB, "web_idle", "rtt_fairness", "transient")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The numbers behind all figures and tables; empty where nothing was run.

    Attributes
    ----------
    rrul
        Rows of `sojourn.store.metrics.RUN_SCHEMA`: Fig. 2.
    voip_delay_ms
        By (link, cross traffic) and discipline, samples of all runs: Fig. 3.
    voip_loss
        By (link, cross traffic) and discipline, lost and sent packets of each run: Table 2.
    voip_mos
        By (link, cross traffic) and discipline, score of each run or `None`; not in the paper.
    page_s
        By page, (link, cross traffic) and discipline, mean fetch time of each run or `None`: Figs. 4 and 5.
    page_unloaded_s
        By page and link, the same without other traffic.
    flow_goodput_mbit
        By link, discipline and base round-trip time (ms), goodput of each run: Figs. 6b to 6d.
    jain
        By link and discipline, the index of each run or `None`: Fig. 6a.
    transient
        By link and discipline: Fig. 7.
    """

    rrul: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=metrics.RUN_SCHEMA))
    voip_delay_ms: dict[tuple[str, str], dict[str, Array]] = field(default_factory=dict)
    voip_loss: dict[tuple[str, str], dict[str, tuple[list[int], list[int]]]] = field(default_factory=dict)
    voip_mos: dict[tuple[str, str], dict[str, list[float | None]]] = field(default_factory=dict)
    page_s: dict[str, dict[tuple[str, str], dict[str, list[float | None]]]] = field(default_factory=dict)
    page_unloaded_s: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    flow_goodput_mbit: dict[str, dict[str, dict[float, list[float | None]]]] = field(default_factory=dict)
    jain: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    transient: dict[str, dict[str, Course]] = field(default_factory=dict)


Records = Mapping[tuple[str, str], Iterable[Record]]


class Measuring:
    """The numbers in the making: records come one at a time and need not be kept.

    The records of a cell come in the order of their seeds. Without `"transient"`, Fig. 7 is the beginning of the
    `"rrul"` runs, as in the paper.

    Parameters
    ----------
    unfinished
        Whether a fetch that the end of the run cut off counts (`sojourn.stats.fetches`).
    """

    def __init__(self, *, unfinished: bool = False) -> None:
        self._found = Measured()
        self._unfinished = unfinished
        self._rows: list[dict[str, Any]] = []
        self._rtts: dict[str, dict[tuple[str, str], list[Samples]]] = {"rrul": {}, "transient": {}}

    def add(self, experiment: str, link: str, qdisc: str, record: Record) -> None:
        """Take the record of a run.

        Raises
        ------
        ParamError
            If the experiment is none of the paper's.
        """
        _require(experiment)
        if experiment == "rrul":
            self._rows.append(run_row(record, link, qdisc))
        if experiment in self._rtts:
            self._rtts[experiment].setdefault((link, qdisc), []).append(early_samples(record))
        _add(self._found, experiment, link, qdisc, record, unfinished=self._unfinished)

    def measured(self, *, end_s: float = STEADY_S[1]) -> Measured:
        """Return the numbers of all that has come in.

        Parameters
        ----------
        end_s
            How far the courses of Fig. 7 reach: to the end of the window of their steady level.
        """
        courses: dict[str, dict[str, Course]] = {}
        for (link, qdisc), rtts in (self._rtts["transient"] or self._rtts["rrul"]).items():
            courses.setdefault(link, {})[qdisc] = course(rtts, end_s=end_s)
        rows = pl.DataFrame(self._rows, schema=metrics.RUN_SCHEMA)
        return Measured(**{**vars(self._found), "rrul": rows, "transient": courses})


def measure(experiments: Mapping[str, Records], *, end_s: float = STEADY_S[1]) -> Measured:
    """Return the numbers of all experiments that were run.

    Parameters
    ----------
    experiments
        By name of the experiment (`EXPERIMENTS`) the records of each (link, discipline), in the order of the seeds.
    end_s
        As `Measuring.measured` takes it.

    Raises
    ------
    ParamError
        If an experiment is none of the paper's.
    """
    measuring = Measuring()
    for name, cells in experiments.items():
        _require(name)
        for (link, qdisc), records in cells.items():
            for record in records:
                measuring.add(name, link, qdisc, record)
    return measuring.measured(end_s=end_s)


def _require(experiment: str) -> None:
    if experiment not in EXPERIMENTS:
        message = f"experiment is {experiment!r}, but must be one of {', '.join(EXPERIMENTS)}"
        raise ParamError(message)


def run_row(record: Record, link: str, qdisc: str) -> dict[str, Any]:
    """Return one row of `sojourn.store.metrics.RUN_SCHEMA`."""
    row = metrics.flat(record.summary) | {"link": link, "qdisc": qdisc, "seed": record.seed}
    return {name: row.get(name) for name in metrics.RUN_SCHEMA}


def voip_delay_ms(record: Record) -> Array:
    """Return the induced one-way delay of a run's voice streams: each bin's delay less the least of the run (ms).

    Bins in which nothing arrived are left out. Source: seed 000 section 5.2 and Fig. 3 (bins of 200 ms).
    """
    parts = []
    for stream in record.series.voip.values():
        values = np.asarray([np.nan if value is None else value for value in stream.delay_ms], dtype=np.float64)
        values = values[np.isfinite(values)]
        parts.append(values - values.min() if len(values) else values)
    return np.concatenate(parts) if parts else np.zeros(0)


def voip_counts(record: Record) -> tuple[int, int]:
    """Return how many voice packets of a run were lost, and how many sent."""
    streams = [probe for probe in record.probes if probe.kind == "voip"]
    return sum(stream.lost for stream in streams), sum(stream.sent for stream in streams)


def voip_mos(record: Record) -> float | None:
    """Return the score of a run's first voice stream (`sojourn.stats.mos.mos_of_stream`), `None` without one."""
    stream = next((probe for probe in record.probes if probe.kind == "voip"), None)
    return None if stream is None else mos.mos_of_stream(stream)


def mean_fetch_s(client: WebRecord) -> float | None:
    """Return the mean fetch time of a web client of a run, `None` if it completed none."""
    times = [fetch.time_s for fetch in client.fetches]
    return float(np.mean(times)) if times else None


def _with_unfinished(record: Record, client: WebRecord) -> float:
    times = [float(fetch.time_s) for fetch in client.fetches]
    return fetches.mean_fetch_s(times, page_unfinished_s(record, client))


def echo_samples(record: Record) -> Samples:
    """Return when the probes of a run were sent and what round-trip time each had."""
    return {name: (probe.t_s, probe.rtt_ms) for name, probe in record.series.rtt.items()}


def early_samples(record: Record) -> Samples:
    """Return the echo samples up to the end of the steady level's window: the rest of a long run is not shown."""
    found: dict[str, tuple[list[float], list[float | None]]] = {}
    for name, (times, rtts) in echo_samples(record).items():
        early = [(t, rtt) for t, rtt in zip(times, rtts, strict=True) if t <= STEADY_S[1] + 1]
        found[name] = ([t for t, _ in early], [rtt for _, rtt in early])
    return found


def _add(found: Measured, name: str, link: str, qdisc: str, record: Record, *, unfinished: bool) -> None:
    if name in VOIP:
        cell = (link, VOIP[name])
        delays = found.voip_delay_ms.setdefault(cell, {})
        delays[qdisc] = np.concatenate([delays.get(qdisc, np.zeros(0)), voip_delay_ms(record)])
        lost, sent = found.voip_loss.setdefault(cell, {}).setdefault(qdisc, ([], []))
        counts = voip_counts(record)
        lost.append(counts[0])
        sent.append(counts[1])
        found.voip_mos.setdefault(cell, {}).setdefault(qdisc, []).append(voip_mos(record))
    elif name in WEB:
        for client in record.web:
            cells = found.page_s.setdefault(client.page, {}).setdefault((link, WEB[name]), {})
            cells.setdefault(qdisc, []).append(_with_unfinished(record, client) if unfinished else mean_fetch_s(client))
    elif name == "web_idle":
        for client in record.web:
            idle = found.page_unloaded_s.setdefault(client.page, {})
            idle.setdefault(link, []).append(mean_fetch_s(client))
    elif name == "rtt_fairness":
        goodputs = [float(flow.goodput_mbit) for flow in record.flows]
        flows = found.flow_goodput_mbit.setdefault(link, {}).setdefault(qdisc, {})
        for flow, goodput in zip(record.flows, goodputs, strict=True):
            flows.setdefault(float(flow.base_rtt_ms), []).append(goodput)
        index = jain(goodputs) if any(goodputs) else None
        found.jain.setdefault(link, {}).setdefault(qdisc, []).append(index)
