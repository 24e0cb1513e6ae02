"""The plan of seed 002: three stations under four schemes, and small cells that show how the stack works."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sojourn import api
from sojourn.backends import Backend
from sojourn.cells import Planned, repeats
from sojourn.experiments.voip import voice
from sojourn.experiments.wifi import FAST, Options, cell, pings, tcp, udp, with_options
from sojourn.papers.wifi_stack.evidence import (
    DEPTHS,
    EQUAL,
    FIFO,
    FQ_MAC,
    LEVEL_BE,
    LEVEL_VO,
    LEVELS,
    LOSSLESS,
    LOSSY,
    ONE_TID,
    ORDER,
    OVERLOAD,
    SHAPED,
    STREAMS,
    TCP,
    TWO_TIDS,
    UDP,
    VOICE_BE,
    VOICE_VO,
)
from sojourn.papers.wifi_stack.quantities import VOCABULARY
from sojourn.scenario import Flow, Probe, Scenario, Tcp
from sojourn.scenario_keys import Station
from sojourn.schema import required
from sojourn.store.run import Run
from sojourn.study.cell import Cell
from sojourn.study.plan import Bed, cells_of

#: Parts of the paper.
LATENCY, SHARES, RATES, CODE = PARTS = ("latency", "airtime", "throughput", "mechanisms")

#: Two and three stations as fast as the paper's fast ones.
TWO = (Station(name="fast1", rate=FAST), Station(name="fast2", rate=FAST))
THREE = (*TWO, Station(name="fast3", rate=FAST))
#: The shaper of "aggressively shaping": below the 110 Mbit/s or so that three such stations get.
SHAPER, SHAPER_QDISC = "80mbit", "fq_codel"
#: Share of frames lost on the air where losses are looked at.
ERROR = 0.2
#: Code points of the four levels, and of a second traffic identifier of best effort.
LEVEL_DSCPS = {"vo": "CS6", "vi": "CS5", "be": "CS0", "bk": "CS1"}
OTHER_BEST_EFFORT = "CS3"
#: More than a station of 144.4 Mbit/s carries.
FLOOD = "200mbit"
#: How often processor time is measured, each time as the least of so many runs of each scheme, and of what: so much
#: traffic that every packet is delivered.
CPU_MEASUREMENTS, CPU_REPEATS, CPU_RATE, CPU_DURATION = 5, 11, "60mbit", "40s"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackBed(Bed):
    """What all runs share; the paper's kernel was 4.6, to which `"linux-3.14"` is nearer.

    TCP downloads have the long window, as a FIFO of 1000 packets takes CUBIC some 20 s to fill.
    """

    parts: tuple[str, ...] = PARTS
    tcp: str = "linux-3.14"

    def scenario(self, one: Cell) -> Scenario:
        """Return the scenario of a cell with the first seed."""
        found = self._build(one)
        return replace(found, tcp=replace(found.tcp or Tcp(), variant=self.tcp))

    def _build(self, one: Cell) -> Scenario:
        experiment = one.experiment
        long = experiment == TCP
        duration = self.profile.long_duration if long else self.profile.duration
        options = Options(scheme=one.scheme, seed=self.seed, duration=duration)
        build = partial(api.build, scheme=one.scheme, seed=self.seed, duration=duration)
        if experiment in (TCP, UDP):
            return build(experiment)
        if experiment in (VOICE_BE, VOICE_VO):
            return build("wifi_voip", dscp=experiment.split()[1])
        if experiment == EQUAL:
            return cell(experiment, options, THREE, flows=tcp(THREE))
        if experiment == SHAPED:
            open_wire = cell(experiment, options, THREE, flows=tcp(THREE))
            return replace(open_wire, down=SHAPER, up=SHAPER, qdisc_down=SHAPER_QDISC, qdisc_up=SHAPER_QDISC)
        return _small(experiment, options)


def cells(parts: tuple[str, ...] = PARTS) -> list[Cell]:
    """Return the cells of parts of the paper, each once."""
    return cells_of("wifi_stack", VOCABULARY, parts)


def plan(bed: StackBed) -> Sequence[Planned[Cell]]:
    """Return all runs."""
    many = (TCP, UDP)
    return repeats(
        (one, bed.scenario(one), bed.profile.repeat if one.experiment in many else bed.profile.other_repeat)
        for one in cells(bed.parts)
    )


def processor_time(bed: StackBed, backend: Backend) -> dict[str, tuple[float, ...]]:
    """Return the processor time of a packet (ns) under FIFO and under FQ-MAC, measured here and now.

    Each of `CPU_MEASUREMENTS` values is the least of `CPU_REPEATS` runs: what else the machine does can only add. The
    runs are made in this process, the two schemes in turn, so that both see the machine alike. They are not kept: a
    stored run says nothing of the machine that reads it. The traffic is below what the cell carries, so that both
    schemes send the same packets, in the same number of calendar events.
    """
    found: dict[str, list[float]] = {FIFO: [], FQ_MAC: []}
    texts = {
        scheme: cell(
            "processor time",
            Options(scheme=scheme, seed=bed.seed, duration=CPU_DURATION),
            TWO[:1],
            flows=udp(TWO[:1], CPU_RATE),
        ).normalized(backend.name)
        for scheme in found
    }
    for _ in range(CPU_MEASUREMENTS):
        least = dict.fromkeys(texts, math.inf)
        for _ in range(CPU_REPEATS):
            for scheme, text in texts.items():
                began = time.process_time_ns()
                run = Run(text=backend.run(text))
                took = time.process_time_ns() - began
                packets = required(run.record.wifi, "wifi").stations[0].down.packets
                least[scheme] = min(least[scheme], took / max(packets, 1))
        for scheme, value in least.items():
            found[scheme].append(value)
    return {scheme: tuple(each) for scheme, each in found.items()}


def _small(experiment: str, options: Options) -> Scenario:
    """Return the scenario of a cell that shows a property of the code."""
    one = TWO[:1]

    def build(
        stations: tuple[Station, ...], flows: tuple[Flow, ...], probes: tuple[Probe, ...] = (), **wifi: Any
    ) -> Scenario:
        found = cell(experiment, options, stations, flows=flows, probes=(*pings(stations), *probes))
        return with_options(found, **wifi)

    if experiment == OVERLOAD:
        flows = (*udp(TWO[:1], FLOOD), *udp(TWO[1:], "2mbit"))
        fifo = "pfifo_fast limit 100 variant linux-3.14"
        return build(TWO, flows, qdisc=fifo) if options.scheme == FIFO else build(TWO, flows, limit=100)
    if experiment == LEVELS:
        names = LEVEL_DSCPS.items()
        flood = tuple(replace(udp(one, FLOOD)[0], name=f"udp_{name}", dscp=dscp) for name, dscp in names)
        return build(one, flood, tuple(_stream(f"voice_{name}", dscp) for name, dscp in names))
    if experiment in (LEVEL_BE, LEVEL_VO):
        dscp = LEVEL_DSCPS["be" if experiment == LEVEL_BE else "vo"]
        found = cell(experiment, options, one, flows=(replace(udp(one, FLOOD)[0], dscp=dscp),), probes=())
        return found
    if experiment in DEPTHS.values():
        depth = next(number for number, name in DEPTHS.items() if name == experiment)
        found = cell(experiment, options, one, flows=udp(one, FLOOD), probes=())
        return with_options(found, hardware_queue=depth)
    if experiment in (LOSSLESS, LOSSY):
        stations = (replace(one[0], error=ERROR if experiment == LOSSY else 0.0),)
        return build(stations, udp(stations, FLOOD))
    if experiment in (ONE_TID, TWO_TIDS):
        others = OTHER_BEST_EFFORT if experiment == TWO_TIDS else LEVEL_DSCPS["be"]
        dscps = [LEVEL_DSCPS["be"], others] * (STREAMS // 2)
        # All begin at once and go on at the same pace, so that a packet of each arrives at the same time.
        streams = tuple(
            replace(udp(one, "1mbit")[0], name=f"udp_{number}", dscp=dscp) for number, dscp in enumerate(dscps, 1)
        )
        found = replace(cell(experiment, options, one, flows=streams, probes=()), start_jitter="0s")
        return with_options(found, hardware_queue=1)
    assert experiment == ORDER
    return build(one, tuple(replace(udp(one, "15mbit")[0], name=f"udp_{number}") for number in range(1, 5)))


def _stream(name: str, dscp: str) -> Probe:
    """Return a thin stream down to the fast station: a voice call's."""
    return replace(voice(), name=name, direction="down", station="fast1", dscp=dscp)
