"""The plan of seed 001: the parameter study, paths of other lengths, the emulated bed and a satellite path."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from sojourn import api
from sojourn.cells import Planned, repeats
from sojourn.experiments.rural import download
from sojourn.papers.rural.evidence import (
    CODEL,
    DROPTAIL,
    EMULATION,
    FQ_CODEL,
    NS2,
    ONE_QUEUE,
    SATELLITE,
    SFQ,
    TWO_RTT,
    Evidence,
)
from sojourn.papers.rural.quantities import VOCABULARY
from sojourn.papers.rural.satellite import Satellite
from sojourn.scenario import Scenario, Tcp
from sojourn.study.cell import Cell
from sojourn.study.plan import Bed, cells_of

#: Parts of the paper.
LAMBDA, TAU, RTT, TWO, EMULATED, SERVICE = PARTS = ("lambda", "tau", "rtt", "two-rtt", "emulation", "satellite")

#: What the disciplines are called that have parameters.
_FORMS = {
    CODEL: "codel limit 25",
    FQ_CODEL: "fq_codel limit 25",
    ONE_QUEUE: "fq_codel limit 25 flows 1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuralBed(Bed):
    """What all runs share; the paper's kernel was `"linux-3.14"`."""

    parts: tuple[str, ...] = PARTS
    tcp: str = "linux-3.14"
    #: Whether CoDel and FQ-CoDel of the bed and the satellite path are those of Linux 3.14, the paper's kernel (seed
    #: 001 section III-A). A real kernel of today has its own.
    old_kernel: bool = True
    #: Whether hosts of the bed and the satellite path remember of each other, from one file to the next, what Linux
    #: 3.14 saves by default (`net.ipv4.tcp_no_metrics_save` 0). ns-2 saves nothing.
    save_metrics: bool = True
    #: Whether the simulations' files go over one connection, as those of one agent of ns-2 do, and are acknowledged
    #: segment by segment, as its plain sink does.
    one_agent: bool = False
    #: What the satellite path is like.
    satellite: Satellite = field(default_factory=Satellite)

    def scenario(self, cell: Cell) -> Scenario:
        """Return the scenario of a cell with the first seed."""
        bed = cell.experiment in (EMULATION, SATELLITE)
        found = api.build(
            "rural",
            load=cell.load,
            traffic="emulation" if bed else "ns2",
            rtt=f"{cell.rtt}ms",
            qdisc_up=self.qdisc(cell),
            duration=self.profile.duration,
            seed=self.seed,
        )
        if cell.experiment == SATELLITE:
            found = self.satellite.over(found)
        if cell.experiment == TWO_RTT:
            files = (download("file_1", rtt=f"{cell.rtt}ms"), download("file_2", rtt=f"{cell.other_rtt}ms"))
            found = dataclasses.replace(found, flows=(), downloads=files)
        one_agent = self.one_agent and not bed
        if one_agent:
            downloads = tuple(dataclasses.replace(each, persistent=True) for each in found.downloads)
            found = dataclasses.replace(found, downloads=downloads)
        return dataclasses.replace(
            found,
            # Bins as long as the echo's interval hold one echo each, of which a percentile can be taken.
            sample_interval=found.probes[0].interval if cell.experiment == EMULATION else found.sample_interval,
            tcp=dataclasses.replace(
                found.tcp or Tcp(),
                variant=self.tcp,
                save_metrics=True if bed and self.save_metrics else None,
                delayed_ack=False if one_agent else None,
            ),
        )

    def qdisc(self, cell: Cell) -> str:
        """Return the discipline of a cell as `tc` spells it."""
        if cell.scheme == DROPTAIL:
            return "rural:droptail"
        if cell.scheme == SFQ:
            return "rural:sfq"
        ns2 = cell.experiment in (NS2, TWO_RTT)
        quantum = " quantum 0" if ns2 and cell.scheme != CODEL else ""
        target, interval = cell.setting
        words = f"{_FORMS[cell.scheme]}{quantum} target {target}ms interval {interval}ms noecn"
        if ns2:
            return f"{words} variant ns2"
        return f"{words} variant linux-3.14" if self.old_kernel else words


def cells(parts: Sequence[str] = PARTS, satellite: Satellite | None = None) -> list[Cell]:
    """Return the cells of parts of the paper, each once."""
    services = Evidence(cells={}, satellite=satellite or Satellite()).services()
    return cells_of("rural", VOCABULARY, parts) + (services if SERVICE in parts else [])


def plan(bed: RuralBed) -> Sequence[Planned[Cell]]:
    """Return all runs."""
    few = (EMULATION, SATELLITE)
    return repeats(
        (cell, bed.scenario(cell), bed.profile.other_repeat if cell.experiment in few else bed.profile.repeat)
        for cell in cells(bed.parts, bed.satellite)
    )
