"""What the claims of the rural study are judged by: of each run the few numbers that its figures are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sojourn.disciplines import times_of_preset
from sojourn.papers.rural.satellite import Satellite
from sojourn.schema import or_null, required
from sojourn.store.run import Run
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Cell, Observation

#: Experiments: the parameter study, two downloads of different paths, the emulated bed, the satellite service.
NS2, TWO_RTT, EMULATION, SATELLITE = "ns2", "two_rtt", "emulation", "satellite"

DROPTAIL, SFQ, CODEL, FQ_CODEL = "droptail", "sfq", "codel", "fq_codel"
#: FQ-CoDel with a single queue: what it is when all flows share a tunnel.
ONE_QUEUE = "fq_codel, one queue"
SCHEMES = (CODEL, FQ_CODEL)
LOADS = ("low", "high")


class Setting(NamedTuple):
    """Target and interval of a CoDel, ms."""

    target: int
    interval: int


def _of_preset(name: str) -> Setting:
    times = times_of_preset(name)
    return Setting(round(times["target"]), round(times["interval"]))


DEFAULT, RURAL = _of_preset("rural:codel_default"), _of_preset("rural:codel")
#: What a discipline without them has.
NONE = Setting(0, 0)
#: What rules may call a setting.
SETTINGS = {"none": NONE, "default": DEFAULT, "rural": RURAL}

#: The sweeps of Figs. 3 and 4, ms; those values that the paper names are among them.
LAMBDA_MS = (50, 100, 150, 200, 300, 500)
TAU_MS = (5, 25, 45, 65, 85, 105)
#: The interval and the target that are kept meanwhile.
TAU_OF_LAMBDA, LAMBDA_OF_TAU = 5, 300
#: The path of the parameter study, and the paths of Figs. 2, 5 and 7, ms.
STUDY_RTT = 300
RTTS_MS = (50, 150, 250, 350, 450, 550)
#: The paths of the two downloads of Fig. 6: ratios 0.09 to 11, each read both ways.
RTT_PAIRS = ((50, 550), (100, 500), (150, 450), (200, 400))


def _words(cell: Cell) -> str:
    setting = "" if cell.setting == NONE else f" {cell.setting.target}/{cell.setting.interval} ms"
    other = f" and {cell.other_rtt}" if cell.other_rtt else ""
    return f"{cell.experiment}, {cell.scheme}{setting}, {cell.load} load, {cell.rtt}{other} ms"


def _setting(value: Setting | Sequence[int] | str) -> Setting:
    return SETTINGS[value] if isinstance(value, str) else Setting(*value)


#: Experiment, scheme, setting (which may be named, or a list of target and interval) and load are those above. The RTT
#: is of the path, or of `file_1`, ms; the other of `file_2` in `TWO_RTT`, else 0.
AXES = Axes(
    "experiment",
    "scheme",
    setting=NONE,
    load="low",
    rtt=STUDY_RTT,
    other_rtt=0,
    words=_words,
    read={"setting": _setting},
)


def observe(run: Run, base_rtt_ms: float) -> Observation:
    """Return what is kept of a run of the rural study; `base_rtt_ms` is the path's.

    The values of the observation:

    utilisation
        Of the bottleneck: delivered bits by capacity.
    queueing_ms, queueing_p95_ms
        Waiting of all packets that left the bottleneck's queue.
    fct_s
        Mean file completion time of all completed files.
    file_fct_s
        The same of each download, in their order.
    files
        How many were completed.
    bulk_mbit
        Mean throughput of a bulk flow.
    thin_ms
        Mean waiting of the thin streams' packets at the bottleneck.
    thin_write_ms
        Mean delay from write to in-order delivery, less half of the base round trip: waiting and repairing.
    ping_ms, ping_p90_ms, ping_max_ms
        Round-trip time of the echo less that of the path.
    aqm_drops, drops, packets
        Those that the AQM decided on, all with those for want of room, and packets that left the queue.
    syn_offered, syn_dropped
        The same of SYNs.
    """
    record = run.record
    queue = record.bottleneck["up"]
    bulk = [flow.goodput_mbit for flow in record.flows if flow.writes is None]
    thin = [(flow, flow.writes) for flow in record.flows if flow.writes is not None]
    completed = [[one.fct_ms for one in each.files if one.fct_ms is not None] for each in record.downloads or ()]
    rtt = record.summary.rtt_ms
    echo = {name: value - base_rtt_ms for name, value in (("mean", rtt.mean), ("max", rtt.max)) if value is not None}
    fct = or_null(record.summary.fct_ms)
    return Observation(
        seed=run.seed,
        utilisation=required(queue.utilisation, "utilisation"),
        queueing_ms=queue.sojourn_ms.mean,
        queueing_p95_ms=queue.sojourn_ms.p95,
        fct_s=None if fct is None else fct / 1e3,
        file_fct_s=tuple(fmean(times) / 1e3 if times else None for times in completed),
        files=sum(len(times) for times in completed),
        bulk_mbit=_mean(bulk),
        thin_ms=_mean([required(flow.sojourn_ms, "sojourn_ms").mean for flow, _ in thin]),
        thin_write_ms=_mean(
            [None if (delay := writes.delay_ms.mean) is None else delay - flow.base_rtt_ms / 2 for flow, writes in thin]
        ),
        ping_ms=echo.get("mean"),
        ping_p90_ms=_ping_p90(run) - base_rtt_ms if echo else None,
        ping_max_ms=echo.get("max"),
        aqm_drops=queue.drops["congestion"],
        drops=sum(queue.drops.values()),
        packets=queue.packets,
        syn_offered=queue.syn.offered,
        syn_dropped=queue.syn.dropped,
    )


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence):
    """What was run: for each cell the repeats in the order of their seeds."""

    #: What the path of `SATELLITE` is like.
    satellite: Satellite = field(default_factory=Satellite)

    def services(self) -> list[Cell]:
        """Return all cells of the satellite path."""
        tuned = [self.service(scheme, setting) for setting in (DEFAULT, RURAL) for scheme in SCHEMES]
        return [self.service(DROPTAIL), self.service(SFQ), *tuned]

    def service(self, scheme: str, setting: Setting = NONE) -> Cell:
        """Return a cell of the satellite path, Fig. 8."""
        return AXES(SATELLITE, scheme, setting, rtt=self.satellite.rtt_ms)


def improvement(default: float, rural: float) -> float:
    """Return imp_M, per cent: positive if the rural parameters make M smaller (seed 001 section IV-E)."""
    return 100 * (default - rural) / default


def increase(default: float, rural: float) -> float:
    """Return inc_N: positive if the rural parameters make N larger (seed 001 section IV-E)."""
    return rural - default


def _ping_p90(run: Run) -> float:
    """Return the 90th percentile of the echo's round-trip times, of which each bin of the series holds the mean."""
    series = run.series
    times = series.filter((series["metric"] == "rtt_ms") & series["value"].is_not_null())["value"]
    return float(np.percentile(times.to_numpy(), 90))


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None
