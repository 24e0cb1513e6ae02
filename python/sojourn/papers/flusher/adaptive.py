"""The flusher `adaptive` beside the thesis's: what it gains, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.papers.flusher.evidence import ADAPTIVE, READINGS, Evidence, active, mbit, mean, passive
from sojourn.papers.flusher.plan import BETTER, cells
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval
from sojourn.study.cell import Cell
from sojourn.study.exhibits import interval_text, recorded

_HEADS = ("scene", "TCP", "base", "buffer")
_WORDS = {reading: reading.replace("_", " ") for reading in READINGS}


def means(evidence: Evidence) -> Table | None:
    """Return the means of a passive FIFO, of each reading and of `adaptive`."""
    rows, records = [], []
    for names, each in _places(evidence):
        row = [*names]
        for label, cell in each.items():
            quantities = {"mean_rtt_ms": mean, "goodput_mbit": mbit, "flush_packets": lambda run: run.packets}
            found = {name: mean_interval(evidence.each(cell, of)) for name, of in quantities.items()}
            rtt, rate, packets = (one.value for one in found.values())
            row.append(f"{rtt:.1f} / {rate:.3f} / {packets:.0f}")
            named = {**dict(zip(_HEADS, names, strict=True)), "flusher": label}
            records += [{**named, "quantity": quantity, **recorded(one)} for quantity, one in found.items()]
        rows.append(tuple(row))
    if not rows:
        return None
    return Table(
        name="adaptive",
        headers=(*_HEADS, "passive", *_WORDS.values(), "adaptive"),
        rows=tuple(rows),
        records=tuple(records),
        note="A cell has RTT / goodput / flush packets, means over the repeats. Of four flows, and of the flow and the "
        "foreign one that the flusher does not see, goodput is that of all; the RTT is the first flow's.",
        left=4,
    )


def verdicts(evidence: Evidence) -> Table | None:
    """Return the paired differences from each reading, with a verdict of each cell."""
    rows = []
    for names, each in _places(evidence):
        row = [*names]
        for reading in READINGS:
            rtt, rate = _gaps(evidence, each, reading)
            row += [interval_text(rtt), interval_text(rate, 3), "yes" if _better(rtt, rate) else "no"]
        rows.append(tuple(row))
    if not rows:
        return None
    return Table(
        name="adaptive-verdicts",
        headers=(*_HEADS, *(word for name in _WORDS.values() for word in (f"RTT, {name}", "goodput", "better"))),
        rows=tuple(rows),
        note="Better: the whole interval of the RTT is below zero, and that of the goodput is not.",
        left=4,
    )


def wins(evidence: Evidence) -> tuple[str, ...]:
    """Return in how many cells `adaptive` is better than each reading."""
    places = [each for _, each in _places(evidence)]
    won = {reading: sum(_better(*_gaps(evidence, each, reading)) for each in places) for reading in READINGS}
    return tuple(f"Better than the flusher {_WORDS[name]} in {n} of {len(places)} cells." for name, n in won.items())


def _places(evidence: Evidence) -> Iterator[tuple[tuple[str, ...], dict[str, Cell]]]:
    """Yield for each scene, TCP, path and buffer that was run its cells: passive, each reading, `adaptive`."""
    for mine in cells((BETTER,)):
        if mine.reading == ADAPTIVE and mine in evidence.cells:
            place = mine.tcp, mine.base, mine.buffer
            theirs = {name: active(*place, reading=name).replaced(scene=mine.scene) for name in READINGS}
            every = {"passive": passive(*place).replaced(scene=mine.scene), **theirs, "adaptive": mine}
            yield (mine.scene, mine.tcp, f"{mine.base} ms", str(mine.buffer)), every


def _gaps(evidence: Evidence, each: dict[str, Cell], reading: str) -> tuple[Interval, Interval]:
    """Return RTT and goodput of `adaptive` less those of a reading, by seed."""
    rtt, rate = (mean_interval(evidence.gaps(each["adaptive"], each[reading], of)) for of in (mean, mbit))
    return rtt, rate


def _better(rtt: Interval, rate: Interval) -> bool:
    def below(found: Interval) -> bool:
        return found.high is not None and found.high < 0

    return below(rtt) and not below(rate)
