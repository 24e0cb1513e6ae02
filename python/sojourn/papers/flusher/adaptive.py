"""The flusher `adaptive` beside the thesis's: what it gains, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.papers.flusher.evidence import (
    CUBIC,
    ONE,
    READINGS,
    RENO,
    Cell,
    Evidence,
    Seen,
    active,
    mbit,
    mean,
    passive,
)
from sojourn.papers.flusher.plan import ours, scenes
from sojourn.report.exhibit import Exhibit
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval

_HEADS = ("scene", "TCP", "base", "buffer")


def exhibits(evidence: Evidence) -> Iterator[Exhibit]:
    """Yield the comparison: one table of means, one of paired differences with a verdict of each cell."""
    places = [
        (scene, tcp, base, buffer)
        for scene, base, buffer in scenes()
        for tcp in ((CUBIC, RENO) if scene == ONE else (CUBIC,))
        if ours(tcp, base, buffer, scene) in evidence.cells
    ]
    if not places:
        return
    means, verdicts, records = [], [], []
    won = {reading: 0 for reading in READINGS}
    for scene, tcp, base, buffer in places:
        names = (scene, tcp, f"{base} ms", str(buffer))
        mine = ours(tcp, base, buffer, scene)
        theirs = {reading: active(tcp, base, buffer, reading=reading)._replace(scene=scene) for reading in READINGS}
        every = {"passive": passive(tcp, base, buffer)._replace(scene=scene), **theirs, "adaptive": mine}
        means.append((*names, *(_both(evidence, cell) for cell in every.values())))
        for label, cell in every.items():
            found = {"mean_rtt_ms": mean, "goodput_mbit": mbit, "flush_packets": _packets}
            for quantity, of in found.items():
                one = mean_interval(evidence.each(cell, of))
                value = {"mean": one.value, "low": one.low, "high": one.high, "n": one.n}
                records.append(
                    {**dict(zip(_HEADS, names, strict=True)), "flusher": label, "quantity": quantity, **value}
                )
        row: list[str] = []
        for reading, cell in theirs.items():
            rtt = mean_interval(evidence.gaps(mine, cell, mean))
            rate = mean_interval(evidence.gaps(mine, cell, mbit))
            better = _above(rtt, negative=True) and not _above(rate, negative=True)
            won[reading] += better
            row += [_shown(rtt, 1), _shown(rate, 3), "yes" if better else "no"]
        verdicts.append((*names, *row))
    count = len(places)
    yield Exhibit(
        name="adaptive",
        title="The flusher adaptive",
        section="6.5",
        says="Mean RTT (ms), goodput (Mbit/s) and flush packets a run of the passive FIFO, of the thesis's flusher "
        "(threshold 1.7) in each reading, and of adaptive.",
        table=Table(
            name="adaptive",
            headers=(*_HEADS, "passive", *(reading.replace("_", " ") for reading in READINGS), "adaptive"),
            rows=tuple(means),
            records=tuple(records),
            note="A cell has RTT / goodput / flush packets, means over the repeats. Of four flows, and of the flow and "
            "the foreign one that the flusher does not see, goodput is that of all; the RTT is the first flow's.",
            left=4,
        ),
    )
    yield Exhibit(
        name="adaptive-verdicts",
        title="Adaptive against the thesis's flusher",
        section="6.5",
        says="Paired differences over the seeds and their 95 % intervals: adaptive less the thesis's flusher.",
        table=Table(
            name="adaptive-verdicts",
            headers=(
                *_HEADS,
                *(word for reading in READINGS for word in (f"RTT, {reading.replace('_', ' ')}", "goodput", "better")),
            ),
            rows=tuple(verdicts),
            records=(),
            note="Better: the whole interval of the RTT is below zero, and that of the goodput is not.",
            left=4,
        ),
        paragraphs=tuple(
            f"Better than the flusher {reading.replace('_', ' ')} in {won[reading]} of {count} cells."
            for reading in READINGS
        ),
    )


def _both(evidence: Evidence, cell: Cell) -> str:
    rtt, rate, packets = (mean_interval(evidence.each(cell, of)).value for of in (mean, mbit, _packets))
    return f"{rtt:.1f} / {rate:.3f} / {packets:.0f}"


def _packets(seen: Seen) -> float:
    return float(seen.packets)


def _above(found: Interval, *, negative: bool) -> bool:
    """Return whether the whole interval is above zero, or with `negative` below."""
    if found.low is None or found.high is None:
        return False
    return found.high < 0 if negative else found.low > 0


def _shown(found: Interval, digits: int) -> str:
    if found.low is None or found.high is None:
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"
