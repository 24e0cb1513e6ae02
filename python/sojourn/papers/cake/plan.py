"""The plan of CAKE's paper: its cells, their scenarios, and what those need that a back end may not have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.cells import Planned, repeats
from sojourn.errors import ParamError
from sojourn.experiments.options import ping
from sojourn.experiments.rrul import FLOWS_EACH_WAY, probes
from sojourn.papers.cake.evidence import (
    ACKS,
    AXES,
    BASE_MS,
    DIFFSERV,
    HOSTS,
    ISOLATION,
    MARKED_PROBES,
    MARKS,
    PARTS,
    RRUL,
    VOICE,
)
from sojourn.scenario import Direction, Flow, Probe, Scenario, Tcp
from sojourn.study.cell import Cell
from sojourn.study.plan import Bed, runnable

#: The wire around CAKE, which shapes by itself. With 1 Gbit/s, a run of 140 s is refused on
#: the kernel: the estimate of its memory goes by the rate of the wire.
WIRE = "100mbit"
#: Parallel uploads beside the fixed-rate flow, and that flow's rate of payload, time between packets and code point.
UPLOADS, VOICE_RATE, VOICE_FRAME, VOICE_MARK = 32, "2mbit", "5ms", "EF"
#: What CAKE is told beside its bandwidth. Where host isolation and Diffserv are not under test they are off.
CAKE = {
    "besteffort": "besteffort flows",
    "diffserv3": "diffserv3 flows",
    "diffserv4": "diffserv4 flows",
    "flows": "besteffort flows",
    "source": "besteffort dual-srchost",
    "destination": "besteffort dual-dsthost",
    "triple": "besteffort triple-isolate",
    "ack_filter": "besteffort flows ack-filter",
    "ack_filter_aggressive": "besteffort flows ack-filter-aggressive",
}
#: The other disciplines, at the egress of a link of the cell's rate.
OTHERS = {"pfifo": "pfifo limit 1000", "fq_codel": "fq_codel"}

#: What a cell may need that a back end does not have.
NEEDS_CAKE, NEEDS_HOSTS, NEEDS_MARKS = "CAKE", "several hosts on a wire", "code points on a wire"


def cells(parts: Iterable[str] = PARTS) -> list[Cell]:
    """Return the cells of parts, in the order of the paper, also those that cannot be run."""
    found = {
        RRUL: [AXES(RRUL, scheme) for scheme in ("pfifo", "fq_codel", "besteffort")]
        + [AXES(RRUL, scheme, up=1) for scheme in ("fq_codel", "besteffort")],
        ISOLATION: [AXES(ISOLATION, scheme) for scheme in ("flows", "source", "destination", "triple")],
        DIFFSERV: [AXES(DIFFSERV, scheme) for scheme in ("fq_codel", "besteffort", "diffserv3", "diffserv4")]
        + [AXES(DIFFSERV, "diffserv4", up=1)],
        VOICE: [AXES(VOICE, scheme) for scheme in ("fq_codel", "besteffort", "diffserv4")],
        ACKS: [AXES(ACKS, scheme, up=1, down=30) for scheme in ("besteffort", "ack_filter", "ack_filter_aggressive")],
    }
    parts = tuple(parts)
    return [cell for part in PARTS if part in parts for cell in found[part]]


def qdisc(cell: Cell, direction: Direction) -> str:
    """Return the bottleneck of a direction as `tc` spells it.

    An ACK filter stands at the upload alone, where acknowledgements of downloads queue.
    """
    if cell.scheme in OTHERS:
        return OTHERS[cell.scheme]
    filters = cell.test == ACKS and direction == "down"
    words = CAKE["besteffort" if filters else cell.scheme]
    return f"cake bandwidth {getattr(cell, direction)}mbit {words}"


def rate(cell: Cell, direction: Direction) -> str:
    """Return the rate of the link below the bottleneck's discipline."""
    return f"{getattr(cell, direction)}mbit" if cell.scheme in OTHERS else WIRE


def accepted(backend: str, **fields: Any) -> bool:
    """Return whether a back end takes a scenario with these fields."""
    try:
        Scenario(experiment="cake", duration="1s", **fields).normalized(backend)
    except ParamError:
        return False
    return True


def has_hosts(backend: str) -> bool:
    """Return whether flows on a wire of a back end can be of several hosts."""
    known = {one.name for one in dataclasses.fields(Flow)}
    return {"client", "server"} <= known and accepted(backend, flows=(_between("a", (2, 4)),))


def lacks(cell: Cell, backend: str = "sim") -> tuple[str, ...]:
    """Return what a cell needs that a back end has not, each thing in words; nothing if it can be run."""
    missing = []
    if cell.scheme in CAKE and not all(accepted(backend, up=WIRE, qdisc_up=qdisc(cell, way)) for way in ("up", "down")):
        missing.append(NEEDS_CAKE)
    if cell.test == ISOLATION and not has_hosts(backend):
        missing.append(NEEDS_HOSTS)
    marked = (Flow(name="a", direction="up", dscp="EF"),)
    if cell.test in (DIFFSERV, VOICE) and not accepted(backend, flows=marked):
        missing.append(NEEDS_MARKS)
    return tuple(missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class CakeBed(Bed):
    """What all runs share; the window is from the start of the flows on."""

    parts: tuple[str, ...] = PARTS

    def lacks(self, cell: Cell) -> tuple[str, ...]:
        """Return what a cell needs that the back end has not, each thing in words."""
        return lacks(cell, self.backend)

    def scenario(self, cell: Cell) -> Scenario:
        """Return the scenario of a cell that can be run, with the first seed."""
        flows, asked = _traffic(cell)
        return Scenario(
            experiment="cake",
            duration=self.profile.duration,
            up=rate(cell, "up"),
            down=rate(cell, "down"),
            rtt=f"{BASE_MS:g}ms",
            qdisc_up=qdisc(cell, "up"),
            qdisc_down=qdisc(cell, "down"),
            tcp=Tcp(variant=self.tcp),
            flows=flows,
            probes=asked,
            seed=self.seed,
        )


def plan(bed: CakeBed) -> Sequence[Planned[Cell]]:
    """Return all runs that can be made; raises `ParamError` if there are none."""
    there = runnable(cells(bed.parts), bed.lacks, bed.parts)
    return repeats((cell, bed.scenario(cell), bed.profile.repeat) for cell in there)


def _traffic(cell: Cell) -> tuple[tuple[Flow, ...], tuple[Probe, ...]]:
    """Return the flows and probes of a cell."""
    if cell.test == ISOLATION:
        return tuple(_between(name, hosts) for name, hosts in HOSTS.items()), (ping(),)
    if cell.test == DIFFSERV:
        return tuple(_marked("up") + _marked("down")), (ping(), *map(_marked_probe, MARKED_PROBES))
    if cell.test == VOICE:
        fixed = Probe(name="voice", kind="voip", direction="up", bitrate=VOICE_RATE, frame=VOICE_FRAME, dscp=VOICE_MARK)
        return tuple(_numbered("up", UPLOADS)), (ping(), fixed)
    return tuple(_numbered("up", FLOWS_EACH_WAY) + _numbered("down", FLOWS_EACH_WAY)), probes()


def _numbered(direction: Direction, count: int) -> list[Flow]:
    return [Flow(name=f"tcp_{direction}_{number}", direction=direction) for number in range(1, count + 1)]


def _marked(direction: Direction) -> list[Flow]:
    return [Flow(name=f"tcp_{direction}_{name}", direction=direction, dscp=mark) for name, mark in MARKS.items()]


def _marked_probe(name: str) -> Probe:
    return Probe(name=f"udp_{name}", kind="udp_rr", timeout="2s", size=60, dscp=MARKS[name])


def _between(name: str, hosts: tuple[int, int]) -> Flow:
    """Return an upload from one host to another."""
    client, server = hosts
    return Flow(name=name, direction="up", client=client, server=server)
