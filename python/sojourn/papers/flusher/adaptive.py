"""The flusher `adaptive` beside the thesis's: what it gains, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.papers.flusher.evidence import CUBIC, ONE, READINGS, RENO, Cell, Evidence, active, mbit, mean, passive
from sojourn.papers.flusher.plan import ours, scenes
from sojourn.papers.kit.exhibits import recorded, said
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval

_HEADS = ("scene", "TCP", "base", "buffer")
_WORDS = {reading: reading.replace("_", " ") for reading in READINGS}


def means(evidence: Evidence) -> Table | None:
    """Return the means of a passive FIFO, of each reading and of `adaptive`."""
    rows, records = [], []
    for names, cells in _places(evidence):
        row = [*names]
        for label, cell in cells.items():
            quantities = {"mean_rtt_ms": mean, "goodput_mbit": mbit, "flush_packets": lambda seen: seen.packets}
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
    for names, cells in _places(evidence):
        row = [*names]
        for reading in READINGS:
            rtt, rate = _gaps(evidence, cells, reading)
            row += [said(rtt), said(rate, 3), "yes" if _better(rtt, rate) else "no"]
        rows.append(tuple(row))
    if not rows:
        return None
    return Table(
        name="adaptive-verdicts",
        headers=(*_HEADS, *(word for name in _WORDS.values() for word in (f"RTT, {name}", "goodput", "better"))),
        rows=tuple(rows),
        records=(),
        note="Better: the whole interval of the RTT is below zero, and that of the goodput is not.",
        left=4,
    )


def wins(evidence: Evidence) -> tuple[str, ...]:
    """Return in how many cells `adaptive` is better than each reading."""
    places = [cells for _, cells in _places(evidence)]
    won = {reading: sum(_better(*_gaps(evidence, cells, reading)) for cells in places) for reading in READINGS}
    return tuple(f"Better than the flusher {_WORDS[name]} in {n} of {len(places)} cells." for name, n in won.items())


def _places(evidence: Evidence) -> Iterator[tuple[tuple[str, ...], dict[str, Cell]]]:
    """Yield for each scene, TCP, path and buffer that was run its cells: passive, each reading, `adaptive`."""
    for scene, base, buffer in scenes():
        for tcp in (CUBIC, RENO) if scene == ONE else (CUBIC,):
            mine = ours(tcp, base, buffer, scene)
            if mine in evidence.cells:
                theirs = {
                    reading: active(tcp, base, buffer, reading=reading)._replace(scene=scene) for reading in READINGS
                }
                idle = passive(tcp, base, buffer)._replace(scene=scene)
                yield (scene, tcp, f"{base} ms", str(buffer)), {"passive": idle, **theirs, "adaptive": mine}


def _gaps(evidence: Evidence, cells: dict[str, Cell], reading: str) -> tuple[Interval, Interval]:
    """Return RTT and goodput of `adaptive` less those of a reading, by seed."""
    rtt, rate = (mean_interval(evidence.gaps(cells["adaptive"], cells[reading], of)) for of in (mean, mbit))
    return rtt, rate


def _better(rtt: Interval, rate: Interval) -> bool:
    def below(found: Interval) -> bool:
        return found.high is not None and found.high < 0

    return below(rtt) and not below(rate)
