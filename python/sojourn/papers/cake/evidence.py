"""What the claims of CAKE's paper are judged by: cells, what is kept of a run, and what a cell lacks."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.errors import SojournError
from sojourn.schema import required
from sojourn.store.run import Run
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Cell, Observation

#: The tests of section IV, which are the parts of the plan.
RRUL, ISOLATION, DIFFSERV, VOICE, ACKS = PARTS = ("rrul", "isolation", "diffserv", "voice", "acks")

#: The base round-trip time of the bed, ms.
BASE_MS = 50.0

#: What stands at the bottleneck, in words.
SCHEMES = {
    "pfifo": "a FIFO",
    "fq_codel": "FQ-CoDel",
    "besteffort": "CAKE, best effort",
    "diffserv3": "CAKE, diffserv3",
    "diffserv4": "CAKE, diffserv4",
    "flows": "CAKE, no host isolation",
    "source": "CAKE, dual-srchost",
    "destination": "CAKE, dual-dsthost",
    "triple": "CAKE, triple-isolate",
    "ack_filter": "CAKE, ack-filter",
    "ack_filter_aggressive": "CAKE, ack-filter-aggressive",
}

#: What has a filter of acknowledgements, and what it is compared with.
FILTERS, UNFILTERED = ("ack_filter", "ack_filter_aggressive"), "besteffort"

#: Fig. 3: each flow's source host and destination host, by number.
HOSTS = {
    "a_a": (1, 1),
    "a_b": (1, 2),
    "a_c1": (1, 3),
    "a_c2": (1, 3),
    "b_c": (2, 3),
    "b_d": (2, 4),
}

#: Fig. 4: the code point of each flow and probe of the marked RRUL test, by how it is called.
MARKS = {"bk": "CS1", "be": "CS0", "cs5": "CS5", "ef": "EF"}
#: The marked probes beside them (there is none with CS5).
MARKED_PROBES = ("bk", "be", "ef")


def _words(cell: Cell) -> str:
    return f"{cell.test}, {SCHEMES[cell.scheme]}, {cell.down} Mbit/s down, {cell.up} up"


#: One of `PARTS`; what stands at the bottleneck, a key of `SCHEMES`; rates of the link, Mbit/s.
AXES = Axes("test", "scheme", up=10, down=10, words=_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """What is kept of a probe that is answered: its round-trip time above the base, ms."""

    mean_ms: float
    p95_ms: float


class Evidence(kit.Evidence):
    """What was run; of a filter of acknowledgements that was not at work nothing is said."""

    def of(self, cell: Cell) -> tuple[Observation, ...]:
        """Return the repeats of a cell.

        Raises `SojournError` if there are none, or can be none, or if a filter of acknowledgements was not at work: a
        back end may accept the words and not tell the discipline what a packet acknowledges.
        """
        found = super().of(cell)
        if cell.scheme in FILTERS and found == self.cells.get(cell.replaced(scheme=UNFILTERED)):
            message = f"its runs are those without a filter, so no filter was at work: {cell.words()}"
            raise SojournError(message)
        return found


def observe(run: Run) -> Observation:
    """Return what is kept of a run.

    The values of the observation:

    up, down
        Goodput of each TCP flow of a direction by the flow's name, Mbit/s.
    echoes
        Of each probe that is answered, by its name. A probe without an answer is not there.
    voice_ms
        Mean one-way delay of the fixed-rate flow above that of the path, ms; `None` if nothing arrived, or there is
        none.
    voice_loss
        What of its packets was lost, per cent; `None` if there is none.
    """
    record = run.record
    goodput: dict[str, dict[str, float]] = {"up": {}, "down": {}}
    for flow in record.flows:
        goodput[flow.direction][flow.name] = flow.goodput_mbit
    trips = {one.name: (one.rtt_ms.mean, one.rtt_ms.p95) for one in record.probes if one.rtt_ms is not None}
    echoes = {
        name: Echo(mean_ms=mean - BASE_MS, p95_ms=p95 - BASE_MS)
        for name, (mean, p95) in trips.items()
        if mean is not None and p95 is not None
    }
    voice_ms = voice_loss = None
    for one in record.probes:
        if one.name == "voice" and one.sent:
            voice_loss = 100 * one.lost / one.sent
            if (delay := required(one.delay_ms, "delay_ms").mean) is not None:
                voice_ms = delay - required(one.base_delay_ms, "base_delay_ms")
    return Observation(seed=run.seed, **goodput, echoes=echoes, voice_ms=voice_ms, voice_loss=voice_loss)
