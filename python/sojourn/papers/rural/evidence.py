"""What the claims of the rural study are judged by: of each run the few numbers that its figures are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sojourn.disciplines import times_of_preset
from sojourn.papers.kit import evidence as kit
from sojourn.papers.rural.satellite import Satellite
from sojourn.store.run import Run

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


class Cell(NamedTuple):
    """What is repeated.

    Attributes
    ----------
    experiment, scheme, setting, load
        Which of those above.
    rtt
        Of the path, or of `file_1`, ms.
    other_rtt
        Of `file_2` in `TWO_RTT`, ms; else 0.
    """

    experiment: str
    scheme: str
    setting: Setting = NONE
    load: str = "low"
    rtt: int = STUDY_RTT
    other_rtt: int = 0

    def words(self) -> str:
        """Return the cell in words."""
        setting = "" if self.setting == NONE else f" {self.setting.target}/{self.setting.interval} ms"
        other = f" and {self.other_rtt}" if self.other_rtt else ""
        return f"{self.experiment}, {self.scheme}{setting}, {self.load} load, {self.rtt}{other} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is kept of a run; `None` where the run has nothing of the kind.

    Attributes
    ----------
    seed
        Of the run.
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

    seed: int
    utilisation: float
    queueing_ms: float | None
    queueing_p95_ms: float | None
    fct_s: float | None
    file_fct_s: tuple[float | None, ...]
    files: int
    bulk_mbit: float | None
    thin_ms: float | None
    thin_write_ms: float | None
    ping_ms: float | None
    ping_p90_ms: float | None
    ping_max_ms: float | None
    aqm_drops: int
    drops: int
    packets: int
    syn_offered: int
    syn_dropped: int


Quantity = Callable[[Observation], "float | None"]


def observe(run: Run, base_rtt_ms: float) -> Observation:
    """Return what is kept of a run of the rural study; `base_rtt_ms` is the path's."""
    record = run.record
    queue = record["bottleneck"]["up"]
    bulk = [flow["goodput_mbit"] for flow in record["flows"] if "writes" not in flow]
    thin = [flow for flow in record["flows"] if "writes" in flow]
    completed = [[one["fct_ms"] for one in each["files"] if one["fct_ms"] is not None] for each in record["downloads"]]
    rtt = record["summary"]["rtt_ms"]
    echo = {name: value - base_rtt_ms for name in ("mean", "max") if (value := rtt[name]) is not None}
    fct = record["summary"].get("fct_ms")
    return Observation(
        seed=run.seed,
        utilisation=queue["utilisation"],
        queueing_ms=queue["sojourn_ms"]["mean"],
        queueing_p95_ms=queue["sojourn_ms"]["p95"],
        fct_s=None if fct is None else fct / 1e3,
        file_fct_s=tuple(fmean(times) / 1e3 if times else None for times in completed),
        files=sum(len(times) for times in completed),
        bulk_mbit=_mean(bulk),
        thin_ms=_mean([flow["sojourn_ms"]["mean"] for flow in thin]),
        thin_write_ms=_mean(
            [
                None if (delay := flow["writes"]["delay_ms"]["mean"]) is None else delay - flow["base_rtt_ms"] / 2
                for flow in thin
            ]
        ),
        ping_ms=echo.get("mean"),
        ping_p90_ms=_ping_p90(run) - base_rtt_ms if echo else None,
        ping_max_ms=echo.get("max"),
        aqm_drops=queue["drops"]["congestion"],
        drops=sum(queue["drops"].values()),
        packets=queue["packets"],
        syn_offered=queue["syn"]["offered"],
        syn_dropped=queue["syn"]["dropped"],
    )


@dataclass(frozen=True, kw_only=True)
class Evidence(kit.Evidence[Cell, Observation]):
    """What was run: for each cell the repeats in the order of their seeds.

    Attributes
    ----------
    satellite
        What the path of `SATELLITE` is like.
    """

    satellite: Satellite = field(default_factory=Satellite)

    def services(self) -> list[Cell]:
        """Return all cells of the satellite path."""
        tuned = [self.service(scheme, setting) for setting in (DEFAULT, RURAL) for scheme in SCHEMES]
        return [self.service(DROPTAIL), self.service(SFQ), *tuned]

    def service(self, scheme: str, setting: Setting = NONE) -> Cell:
        """Return a cell of the satellite path, Fig. 8."""
        return Cell(SATELLITE, scheme, setting, rtt=self.satellite.rtt_ms)


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
