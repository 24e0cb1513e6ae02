"""The queue flusher in the simulator and on the kernel: the cells of seed 003's bed, and what they are compared by.

On the kernel the flusher is the real daemon on an interface of the client, and its capture, its clock and its sockets
are the kernel's. Both are measured in the same way: round-trip times by synthetic packet pairs between captures at
client and server, and goodput.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from sojourn.papers.flusher.evidence import (
    ADAPTIVE,
    AXES,
    BASES_MS,
    CODEL,
    CUBIC,
    DESCRIBED,
    FIFO,
    FOUR,
    FQ_CODEL,
    KARN,
    ONE,
    PIE,
    RECOMMENDED,
    TCPS,
    THRESHOLDS,
    WRITTEN,
    active,
    passive,
)
from sojourn.papers.flusher.plan import FlusherBed, ours
from sojourn.record import FlusherRecord, Record
from sojourn.schema import required
from sojourn.study.cell import Cell
from sojourn.study.evidence import needed
from sojourn.study.paper import Profile
from sojourn.validate.bars import Within
from sojourn.validate.grid import PlannedCell
from sojourn.validate.metric import Metric, each_run

#: The kernel's loss recovery; that of the thesis's kernel is only in the simulator.
TCP = "linux-6.1"
#: What shapes the edges of the kernel's bed: buckets of one frame. A wire takes 1.2 ms more for a full one.
EDGE_BURST = "1514b"
NAME = "flusher"

#: How far the means may be apart, shares of the kernel's.
RTT, GOODPUT = 0.15, 0.05

#: The thesis's grid; other buffers and disciplines; `adaptive`, with one flow and with four.
PARTS = ("grid", "queues", "adaptive")


def _flusher(record: Record) -> FlusherRecord:
    return required(record.flusher, "flusher")


def _mean_rtt(record: Record) -> float:
    pairs = required(_flusher(record).flows[0].rtt, "rtt")
    return needed(pairs.mean_ms, "round trip by packet pairs")


def _goodput(record: Record) -> float:
    return sum(flow.goodput_mbit for flow in record.flows)


def _flushes(record: Record) -> float:
    return float(sum(event.reason in ("threshold", "forced") for event in _flusher(record).events))


#: The last two are shown beside the others.
METRICS = (
    Metric(
        name="mean_rtt_ms", title="mean RTT", unit="ms", measure=each_run(_mean_rtt), bar=Within(share=RTT), digits=1
    ),
    Metric(
        name="goodput_mbit",
        title="goodput",
        unit="Mbit/s",
        measure=each_run(_goodput),
        bar=Within(share=GOODPUT),
        digits=3,
    ),
    Metric(name="flushes", title="flushes", unit="", measure=each_run(_flushes), digits=1),
    Metric(
        name="burst_packets",
        title="burst packets",
        unit="",
        measure=each_run(lambda record: float(_flusher(record).packets)),
        digits=1,
    ),
)


def bed(profile: Profile, seed: int = 1) -> FlusherBed:
    """Return what both sides share.

    Bursts are handed over as a program does it, and behind the daemon's gate: the reproduction of the paper has none.
    """
    return FlusherBed(profile=profile, seed=seed, tcp=TCP, bursts="daemon", gate="widest", edge_burst=EDGE_BURST)


def cells_of(parts: Sequence[str], bed: FlusherBed) -> tuple[PlannedCell, ...]:
    """Return the cells: a third of those of `sojourn reproduce flusher`, from each of its parts.

    But for the logs, which are runs of the grid, and the foreign flow, which the daemon cannot but see. All are checked
    for the kernel.
    """
    makers = {"grid": _grid, "queues": _queues, "adaptive": _adaptive}
    cells = dict.fromkeys(cell for part in PARTS if part in parts for cell in makers[part]())
    found = [
        PlannedCell(name=cell.words(), link=_group(cell), qdisc=cell.queue, scenario=bed.scenario(cell))
        for cell in cells
    ]
    for one in found:
        one.scenario.normalized("linux")
    return tuple(found)


def _group(cell: Cell) -> str:
    """Return the table that a cell is in."""
    if cell.scene != ONE:
        return "Four flows"
    if cell.queue != FIFO:
        return "AQM"
    if not cell.active:
        return "FIFO, passive"
    return "FIFO, adaptive" if cell.reading == ADAPTIVE else "FIFO, the thesis's flusher"


def _grid() -> Iterator[Cell]:
    places = ((50, 20), (50, 50), (50, 100), (10, 100), (100, 100))
    for tcp, (base, buffer) in product(TCPS, places):
        yield passive(tcp, base, buffer)
        for reading, threshold in product((DESCRIBED, WRITTEN), THRESHOLDS):
            yield active(tcp, base, buffer, threshold, reading=reading)
        yield active(tcp, base, buffer, RECOMMENDED, reading=KARN)


def _queues() -> Iterator[Cell]:
    for tcp, base in product(TCPS, BASES_MS):
        for queue in (CODEL, PIE, FQ_CODEL):
            yield passive(tcp, base, queue=queue)
        for queue in (CODEL, PIE):
            yield AXES(tcp, base, 100, queue, DESCRIBED, True, RECOMMENDED)
        yield passive(tcp, base, 50)
        yield active(tcp, base, 50)


def _adaptive() -> Iterator[Cell]:
    for tcp, base, buffer in product(TCPS, BASES_MS, (50, 100)):
        yield ours(tcp, base, buffer)
    for base, buffer in product(BASES_MS, (50, 100)):
        yield passive(CUBIC, base, buffer).replaced(scene=FOUR)
        yield active(CUBIC, base, buffer).replaced(scene=FOUR)
        yield ours(CUBIC, base, buffer, FOUR)
