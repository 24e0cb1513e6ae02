"""The plan of seed 003: the thesis's bed, its flusher in two readings, AQMs beside it, and the flusher `adaptive`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sojourn.cells import Planned, repeats
from sojourn.flusher_parameters import Parameters
from sojourn.papers.flusher.evidence import (
    ADAPTIVE,
    AXES,
    CODEL,
    DESCRIBED,
    EMULATORS,
    FIFO,
    FOREIGN,
    FOUR,
    FQ_CODEL,
    IPFW,
    KARN,
    NETEM,
    ONE,
    PAIR,
    PIE,
    READINGS,
    TIMED,
    WRITTEN,
    Evidence,
)
from sojourn.papers.flusher.quantities import VOCABULARY
from sojourn.scenario import Flow, Scenario, Tcp
from sojourn.scenario_keys import Flusher
from sojourn.study import plan as plans
from sojourn.study.cell import Cell, Observation
from sojourn.study.plan import cells_of

#: Parts of the paper.
GRID, AQM, LOGS, _, BETTER = PARTS = ("grid", "aqm", "logs", "conjectures", "adaptive")

#: Disciplines of the bottleneck.
QUEUES = {
    CODEL: "codel limit 1000 target 5ms interval 100ms noecn",
    PIE: "pie limit 1000 target 20ms tupdate 30ms noecn",
    FQ_CODEL: "fq_codel limit 1000 target 5ms interval 100ms noecn",
    "codel 2.5 %": "codel limit 1000 target 2.5ms interval 100ms noecn",
    "codel 10 %": "codel limit 1000 target 10ms interval 100ms noecn",
}

#: What a cell's `variant` changes of the flusher's parameters.
THE_OTHER = "it sees the other flow"
VARIANTS: dict[str, dict[str, str | float]] = {
    "": {},
    THE_OTHER: {},
    "10 packets": {"windows": 1},
    TIMED: {"window_time": "100ms"},
    "one sample": {"windows": 1, "window_samples": 1},
    "no threshold": {"threshold": 100.0},
    "threshold 1.05": {"threshold": 1.05, "floor": "0s"},
    "threshold 5": {"threshold": 5.0},
}

#: Flows that share the path in the scenes of several.
FLOWS = 4
#: Base RTT of the longer of two, ms.
LONG_MS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FlusherBed(plans.Bed):
    """What all runs share."""

    parts: tuple[str, ...] = PARTS
    tcp: str = "linux-3.14"
    #: Whether a flusher can look at some flows only. The daemon sees all that passes its interface, so cells with a
    #: foreign flow are left out where it cannot.
    selects: bool = True
    #: How a flusher hands its bursts over: see `sojourn.scenario_keys.Flusher`.
    bursts: str | None = None
    #: Whether the daemon's gate judges its flushes: see there.
    gate: str | None = None
    #: Depth of the token buckets at the edges, as a kernel's bed has them; `None` for wires.
    edge_burst: str | None = None
    #: What emulates the slow link, each of `sojourn.papers.flusher.evidence.EMULATORS` at most once; the figures show
    #: the first. With `netem` a FIFO's packets are those of a netem with the link's delay below the shaper; with
    #: `ipfw` they are those of a FIFO alone, and all of the delay is behind it (sections 5.2.1, 5.2.2 and 6.2).
    emulators: tuple[str, ...] = EMULATORS
    #: How the flusher decides in the thesis's cells: of `sojourn.papers.flusher.evidence.READINGS`, or `ADAPTIVE`.
    readings: tuple[str, ...] = READINGS

    def scenario(self, cell: Cell, emulator: str = NETEM) -> Scenario:
        """Return the scenario of a cell with the first seed."""
        return Scenario(
            experiment="flusher",
            duration=self.profile.duration,
            lead="0s",
            up="5mbit",
            down="5mbit",
            burst_up="1514b",
            edge_rate="10mbit",
            edge_burst=self.edge_burst,
            rtt=f"{beyond(cell, cell.base, emulator)}ms",
            qdisc_up=qdisc(cell, emulator),
            qdisc_down="pfifo limit 1000",
            start_jitter="1s",
            sample_interval="100ms",
            tcp=Tcp(variant=self.tcp),
            flows=flows(cell, f"{beyond(cell, LONG_MS, emulator)}ms"),
            flusher=flusher(cell, self.bursts, self.gate),
            seed=self.seed,
        )


def qdisc(cell: Cell, emulator: str) -> str:
    """Return the discipline of a cell as `tc` spells it."""
    if cell.queue != FIFO:
        return QUEUES[cell.queue]
    if emulator == IPFW:
        return f"pfifo limit {cell.buffer}"
    return f"netem limit {cell.buffer} delay {slow_ms(cell)}ms"


def beyond(cell: Cell, rtt: int, emulator: str) -> float:
    """Return what of a base RTT (ms) is not in the bottleneck's netem."""
    return round(rtt - slow_ms(cell), 3) if emulator == NETEM and cell.queue == FIFO else rtt


def slow_ms(cell: Cell) -> float:
    """Return the delay of the slow link, one way, ms: three tenths of the base RTT (Table 6.1)."""
    return round(0.3 * cell.base, 3)


def flows(cell: Cell, long: str) -> tuple[Flow, ...]:
    """Return the flows of a cell; the first is the one that is measured. `long` is the longer RTT of two."""
    cc = cell.tcp
    if cell.scene == FOUR:
        return tuple(Flow(name=f"flow_{i + 1}", direction="up", congestion_control=cc) for i in range(FLOWS))
    first = Flow(name="flow", direction="up", congestion_control=cc)
    if cell.scene == FOREIGN:
        return (first, Flow(name="foreign", direction="up", congestion_control=cc))
    if cell.scene == PAIR:
        return (first, Flow(name="long", direction="up", congestion_control=cc, rtt=long))
    return (first,)


def flusher(cell: Cell, bursts: str | None = None, gate: str | None = None) -> Flusher:
    """Return the flusher of a cell."""
    params: dict[str, str | float] = {"preset": cell.reading}
    if cell.reading == KARN:
        params = {"preset": DESCRIBED, "retransmissions": "karn"}
    if cell.threshold:
        params["threshold"] = cell.threshold
    params |= VARIANTS[cell.variant]
    watched = "foreign" if cell.variant == THE_OTHER else "flow"
    watch = (watched,) if cell.scene == FOREIGN else None
    mode = "active" if cell.active else "passive"
    return Flusher(params=Parameters(params), at="client", watch=watch, mode=mode, bursts=bursts, gate=gate)


def cells(parts: Iterable[str] = PARTS, readings: Sequence[str] = READINGS) -> list[Cell]:
    """Return the cells of parts of the paper, each once; `adaptive` stands beside all readings of the thesis."""
    windowed = [reading for reading in readings if reading != WRITTEN]
    return cells_of("flusher", VOCABULARY, tuple(parts), {"READINGS": readings, "WINDOWED": windowed})


def plan(bed: FlusherBed) -> Sequence[Planned[tuple[str, Cell]]]:
    """Return all runs: those of the figures and claims on each emulator, and those of `adaptive` on the first."""
    figures = {*cells((GRID, AQM, LOGS, BETTER), bed.readings)}
    return repeats(
        (
            (emulator, cell),
            bed.scenario(cell, emulator),
            bed.profile.repeat if cell in figures else bed.profile.other_repeat,
        )
        for emulator in bed.emulators
        for cell in cells((part for part in bed.parts if part != BETTER or emulator == bed.emulators[0]), bed.readings)
        if bed.selects or cell.scene != FOREIGN
    )


def evidence(runs: Mapping[tuple[str, Cell], tuple[Observation, ...]]) -> dict[str, Evidence]:
    """Return the evidence on each emulator, the one that the figures show first."""
    cells: dict[str, dict[Cell, tuple[Observation, ...]]] = {}
    for (emulator, cell), observations in runs.items():
        cells.setdefault(emulator, {})[cell] = observations
    return {emulator: Evidence(cells=each) for emulator, each in cells.items()}


def ours(tcp: str, base: int, buffer: int, scene: str = ONE) -> Cell:
    """Return a cell with the flusher `adaptive` as it is by default."""
    return AXES(tcp, base, buffer, FIFO, ADAPTIVE, True, 0.0, "", scene)
