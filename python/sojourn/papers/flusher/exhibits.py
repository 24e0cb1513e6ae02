"""The figures and tables of "Fighting fire with fire", drawn from what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.papers.flusher import adaptive
from sojourn.papers.flusher.evidence import (
    ADAPTIVE,
    BASES_MS,
    BUFFERS,
    CODEL,
    CUBIC,
    DESCRIBED,
    FIFO,
    KARN,
    PIE,
    RANKS,
    READINGS,
    RECOMMENDED,
    RENO,
    TCPS,
    THRESHOLDS,
    WRITTEN,
    Cell,
    Evidence,
    Seen,
    active,
    mbit,
    mean,
    median,
    passive,
)
from sojourn.papers.flusher.judges import bdp
from sojourn.papers.flusher.quantities import gain_curves
from sojourn.plots.flusher import Curve, Panel, boxes, courses, distributions
from sojourn.report.exhibit import Exhibit, draw
from sojourn.report.table import Table
from sojourn.stats import mean_interval

Numbers = NDArray[np.float64]

_WORDS = {RENO: "Reno", CUBIC: "CUBIC", CODEL: "CoDel", PIE: "PIE"}
_READ = {DESCRIBED: "as described", KARN: "as described, Karn", WRITTEN: "as written", ADAPTIVE: "adaptive"}
_RTT, _RATE, _RANK = "RTT (ms)", "Throughput (Mbit/s)", "Cumulative share"


def exhibits(evidence: Evidence, *, adaptive_only: bool = False) -> tuple[Exhibit, ...]:
    """Return every figure and table that there are runs for, in the order of the thesis.

    With `adaptive_only` those of section 6.5 and the table of all cells: that part has a few runs of each figure.
    """
    if adaptive_only:
        return (*adaptive.exhibits(evidence), *_cells_table(evidence))
    makers: tuple[Callable[[Evidence], Iterator[Exhibit]], ...] = (
        _logs,
        _validation,
        _table61,
        _boxes,
        _windows,
        _gains,
        _rtts,
        _throughput_boxes,
        _throughputs,
        _aqm_rtts,
        _aqm_throughputs,
        adaptive.exhibits,
        _cells_table,
    )
    return tuple(one for make in makers for one in make(evidence))


def _there(evidence: Evidence, cells: Iterable[Cell]) -> bool:
    return all(cell in evidence.cells for cell in cells)


def ranked(evidence: Evidence, cell: Cell, of: Callable[[Seen], Numbers]) -> Numbers:
    """Return a distribution at each of `RANKS`, mean over the repeats."""
    found: Numbers = np.mean([of(seen) for seen in evidence.of(cell)], axis=0)
    return found


def seconds(seen: Seen) -> Numbers:
    """Return the throughput of the seconds of a run at each of `RANKS`, Mbit/s."""
    return np.quantile(seen.per_second, RANKS)


def rtts(seen: Seen) -> Numbers:
    """Return the round-trip times at each of `RANKS`, ms."""
    return seen.rtt


def _cdf(evidence: Evidence, cells: Mapping[str, Cell], of: Callable[[Seen], Numbers]) -> list[Curve]:
    return [
        Curve(label=label, x=ranked(evidence, cell, of), y=RANKS, dashed=CUBIC in label.lower() and "Reno" not in label)
        for label, cell in cells.items()
        if cell in evidence.cells
    ]


def _logs(evidence: Evidence) -> Iterator[Exhibit]:
    for number, sends in (("4.8", False), ("4.9", True)):
        cells = [Cell(RENO, 100, 50, FIFO, reading, sends, RECOMMENDED if sends else 0.0) for reading in READINGS]
        if not _there(evidence, cells):
            continue
        panels = []
        for cell in cells:
            course = evidence.of(cell)[0].course
            for what, values, level in ((_RTT, course.flusher_rtt, 100.0), (_RATE, course.flusher_mbit, 5.0)):
                panels.append(
                    Panel(
                        title=f"{_READ[cell.reading]}: {what.split(' (')[0]} as the flusher has it",
                        x="Time (s)",
                        y=what,
                        curves=[Curve(label=_READ[cell.reading], x=course.t, y=values)],
                        level=level,
                    )
                )
        yield Exhibit(
            name=_name(number),
            title=f"Fig. {number}: the flusher's log, {'active' if sends else 'passive'}",
            section="4.7",
            says="RTT and throughput of a flow (Reno, 100 ms, 50 packets) as the flusher measures them.",
            figures=(draw(_name(number), "The first seed. Dotted: base RTT, link rate.", courses(panels)),),
            claims=("flu-71", "flu-72", "flu-73", "flu-74", "flu-75") if sends else (),
        )


def _validation(evidence: Evidence) -> Iterator[Exhibit]:
    for number, base, sends in (("5.2", 10, True), ("5.3", 10, False), ("5.4", 100, True)):
        panels = []
        for reading in READINGS:
            cell = Cell(RENO, base, 100, FIFO, reading, sends, RECOMMENDED if sends else 0.0)
            if cell not in evidence.cells:
                continue
            curves = [Curve(label="packet pairs", x=ranked(evidence, cell, rtts), y=RANKS)]
            for label, of in (("flusher", _flusher_rtt), ("sender", _sender_rtt)):
                curves.append(Curve(label=label, x=ranked(evidence, cell, of), y=RANKS))
            panels.append(Panel(title=_READ[reading], x=_RTT, y=_RANK, curves=curves))
        if panels:
            yield Exhibit(
                name=_name(number),
                title=f"Fig. {number}: three measurements of the RTT, {base} ms, {'active' if sends else 'passive'}",
                section="5.3.4",
                says="The flusher's smoothed RTT, the sender's (tcp_info), and synthetic packet pairs (Reno).",
                figures=(draw(_name(number), "Mean over the repeats at each rank.", distributions(panels)),),
                claims=("flu-69", "flu-70") if number == "5.2" else (),
            )


def _flusher_rtt(seen: Seen) -> Numbers:
    return np.zeros(RANKS.size) if seen.flusher_rtt is None else seen.flusher_rtt


def _sender_rtt(seen: Seen) -> Numbers:
    return seen.sender_rtt


def _table61(evidence: Evidence) -> Iterator[Exhibit]:
    if not _there(evidence, [passive(RENO, base) for base in BASES_MS]):
        return
    ways = {100: "20 + 30", 50: "10 + 15", 10: "2 + 3"}
    rows, records = [], []
    for base in reversed(BASES_MS):
        least = mean_interval(evidence.each(passive(RENO, base), lambda seen: seen.least)).value
        rows.append((ways[base], str(base), f"{least:.2f}", str(bdp(base))))
        records.append({"base_rtt_ms": base, "shortest_rtt_ms": least, "bdp_packets": bdp(base)})
    yield Exhibit(
        name="table6.1",
        title="Table 6.1: the paths",
        section="6.2",
        says="Delays of the two links, base RTT, and the bandwidth-delay product at 5 Mbit/s.",
        table=Table(
            name="table6.1",
            headers=("delays (ms)", "RTT (ms)", "shortest RTT seen (ms)", "BDP (packets)"),
            rows=tuple(rows),
            records=tuple(records),
            note="The shortest RTT has the time that packets take on the links besides.",
            left=1,
        ),
        claims=("flu-83",),
    )


def _boxes(evidence: Evidence) -> Iterator[Exhibit]:
    numbers = {
        (1.5, RENO): "6.2",
        (1.5, CUBIC): "6.3",
        (1.7, RENO): "6.4",
        (1.7, CUBIC): "6.5",
        (2.0, RENO): "6.6",
        (2.0, CUBIC): "6.7",
    }
    for (threshold, tcp), number in numbers.items():
        groups = _groups(evidence, tcp, threshold, rtts)
        if groups:
            yield Exhibit(
                name=_name(number),
                title=f"Fig. {number}: RTT over the buffer, {_WORDS[tcp]}, threshold {threshold:g}",
                section="6.3",
                says="Box plots of the RTT at a base RTT of 50 ms.",
                figures=(draw(_name(number), _BOXES, boxes(groups, x="Buffer (packets)", y=_RTT)),),
                claims=("flu-02", "flu-03", "flu-04", "flu-12", "flu-13", "flu-30") if number == "6.2" else (),
            )


_BOXES = (
    "Quartiles, whiskers to the last value within 1.5 interquartile ranges; of the mean distribution over the repeats "
    "at 201 ranks, so that a dot is half a per cent."
)


def _groups(
    evidence: Evidence, tcp: str, threshold: float, of: Callable[[Seen], Numbers]
) -> dict[str, dict[int, Numbers]]:
    found: dict[str, dict[int, Numbers]] = {}
    for buffer in BUFFERS:
        cells = {"passive": passive(tcp, 50, buffer)}
        cells |= {_READ[reading]: active(tcp, 50, buffer, threshold, reading=reading) for reading in READINGS}
        for label, cell in cells.items():
            if cell in evidence.cells:
                found.setdefault(label, {})[buffer] = ranked(evidence, cell, of)
    return found


def _windows(evidence: Evidence) -> Iterator[Exhibit]:
    for number, tcp in (("6.8", CUBIC), ("6.9", RENO)):
        if not _there(evidence, [passive(tcp, 50)]):
            continue
        course = evidence.of(passive(tcp, 50))[0].course
        quantities = ((_RTT, course.path_rtt), ("Window (packets)", course.cwnd), (_RATE, course.goodput))
        panels = [
            Panel(
                title=what.split(" (")[0], x="Time (s)", y=what, curves=[Curve(label=_WORDS[tcp], x=course.t, y=values)]
            )
            for what, values in quantities
        ]
        yield Exhibit(
            name=_name(number),
            title=f"Fig. {number}: RTT, window and throughput, passive, {_WORDS[tcp]}",
            section="6.3",
            says="A flow alone, 50 ms and 100 packets.",
            figures=(draw(_name(number), "The first seed, by tenth of a second.", courses(panels)),),
            claims=("flu-05", "flu-06", "flu-07", "flu-08", "flu-09", "flu-10", "flu-11") if number == "6.9" else (),
        )


def _gains(evidence: Evidence) -> Iterator[Exhibit]:
    about = {10: ("flu-14", "flu-16"), 50: ("flu-15", "flu-23", "flu-24"), 100: ("flu-19", "flu-20", "flu-21")}
    for number, base in (("6.10", 10), ("6.11", 50), ("6.12", 100)):
        panels = []
        for reading in READINGS:
            curves = []
            for tcp in TCPS:
                for threshold in THRESHOLDS:
                    if _there(evidence, [passive(tcp, base), active(tcp, base, threshold=threshold, reading=reading)]):
                        cell = active(tcp, base, threshold=threshold, reading=reading)
                        gain = np.mean(list(gain_curves(evidence, cell).values()), axis=0)
                        label = f"{_WORDS[tcp]} {threshold:g}"
                        curves.append(Curve(label=label, x=RANKS, y=gain, dashed=tcp == CUBIC))
            if curves:
                panels.append(Panel(title=_READ[reading], x="Rank", y="Gain in RTT (ms)", curves=curves, level=0.0))
        if panels:
            yield Exhibit(
                name=_name(number),
                title=f"Fig. {number}: gain in RTT, {base} ms",
                section="6.3",
                says="RTT passive less RTT active at the same rank of the distribution, 100 packets.",
                figures=(draw(_name(number), "Mean over the repeats.", distributions(panels)),),
                claims=about[base],
            )


def _rtts(evidence: Evidence) -> Iterator[Exhibit]:
    about = {10: ("flu-26", "flu-93"), 50: ("flu-25", "flu-43"), 100: ("flu-27", "flu-28", "flu-45")}
    for number, base in (("6.13", 10), ("6.14", 50), ("6.15", 100)):
        yield from _over_thresholds(evidence, number, base, (rtts, _RTT, "RTT", "6.3"), about[base])


def _throughputs(evidence: Evidence) -> Iterator[Exhibit]:
    about = {10: ("flu-40", "flu-41"), 50: ("flu-42", "flu-44"), 100: ()}
    for number, base in (("6.18", 10), ("6.19", 50), ("6.20", 100)):
        yield from _over_thresholds(evidence, number, base, (seconds, _RATE, "throughput", "6.3.1"), about[base])


def _over_thresholds(
    evidence: Evidence,
    number: str,
    base: int,
    what: tuple[Callable[[Seen], Numbers], str, str, str],
    about: tuple[str, ...],
) -> Iterator[Exhibit]:
    of, axis, words, section = what
    panels = []
    for reading in READINGS:
        cells = {
            f"{_WORDS[tcp]} {threshold:g}": active(tcp, base, threshold=threshold, reading=reading)
            for tcp in TCPS
            for threshold in THRESHOLDS
        }
        if curves := _cdf(evidence, cells, of):
            panels.append(Panel(title=_READ[reading], x=axis, y=_RANK, curves=curves))
    if panels:
        yield Exhibit(
            name=_name(number),
            title=f"Fig. {number}: {words}, flusher active, {base} ms",
            section=section,
            says=f"Distribution of the {words} for each threshold, 100 packets.",
            figures=(draw(_name(number), "Mean over the repeats at each rank.", distributions(panels)),),
            claims=about,
        )


def _throughput_boxes(evidence: Evidence) -> Iterator[Exhibit]:
    for number, tcp in (("6.16", RENO), ("6.17", CUBIC)):
        groups = _groups(evidence, tcp, RECOMMENDED, seconds)
        if groups:
            yield Exhibit(
                name=_name(number),
                title=f"Fig. {number}: throughput over the buffer, {_WORDS[tcp]}, threshold 1.7",
                section="6.3.1",
                says="Box plots of the throughput of each second at a base RTT of 50 ms.",
                figures=(draw(_name(number), _BOXES, boxes(groups, x="Buffer (packets)", y=_RATE)),),
                claims=("flu-35", "flu-36", "flu-37", "flu-39") if tcp == RENO else (),
            )


def _aqm_rtts(evidence: Evidence) -> Iterator[Exhibit]:
    places = (("6.21", 10, RENO), ("6.22", 10, CUBIC), ("6.23", 50, RENO), ("6.24", 50, CUBIC), ("6.25", 100, RENO))
    about = {"6.21": ("flu-50", "flu-51", "flu-53"), "6.25": ("flu-52", "flu-54", "flu-55", "flu-56", "flu-85")}
    for number, base, tcp in (*places, ("6.26", 100, CUBIC)):
        yield from _beside_aqms(evidence, number, base, tcp, (rtts, _RTT, "RTT", "6.3.2"), about.get(number, ()))


def _aqm_throughputs(evidence: Evidence) -> Iterator[Exhibit]:
    about = {"6.27": ("flu-60", "flu-61", "flu-62", "flu-63"), "6.28": ("flu-64",), "6.29": ("flu-67", "flu-90")}
    about["6.30"] = ("flu-66",)
    for number, base, tcp in (("6.27", 10, RENO), ("6.28", 50, RENO), ("6.29", 100, RENO), ("6.30", 100, CUBIC)):
        yield from _beside_aqms(evidence, number, base, tcp, (seconds, _RATE, "throughput", "6.3.3"), about[number])


def _beside_aqms(
    evidence: Evidence,
    number: str,
    base: int,
    tcp: str,
    what: tuple[Callable[[Seen], Numbers], str, str, str],
    about: tuple[str, ...],
) -> Iterator[Exhibit]:
    of, axis, words, section = what
    cells = {"FIFO, passive": passive(tcp, base)}
    cells |= {f"FIFO, {_READ[reading]}": active(tcp, base, reading=reading) for reading in READINGS}
    cells |= {_WORDS[queue]: passive(tcp, base, queue=queue) for queue in (CODEL, PIE)}
    if not _there(evidence, [passive(tcp, base, queue=CODEL)]):
        return
    panel = Panel(title="", x=axis, y=_RANK, curves=_cdf(evidence, cells, of))
    yield Exhibit(
        name=_name(number),
        title=f"Fig. {number}: {words} beside AQMs, {base} ms, {_WORDS[tcp]}",
        section=section,
        says=f"Distribution of the {words}: CoDel, PIE, a FIFO of 100 packets, and the same with the flusher (1.7).",
        figures=(draw(_name(number), "Mean over the repeats at each rank.", distributions([panel])),),
        claims=about,
    )


def _cells_table(evidence: Evidence) -> Iterator[Exhibit]:
    """Yield the numbers behind all figures."""
    quantities: tuple[tuple[str, Callable[[Seen], float], int], ...] = (
        ("mean RTT (ms)", mean, 1),
        ("median RTT (ms)", median, 1),
        ("longest RTT (ms)", lambda seen: seen.most, 1),
        ("goodput (Mbit/s)", mbit, 3),
        ("flushes", lambda seen: float(len(seen.flushes) + len(seen.forced)), 1),
        ("flush packets", lambda seen: float(seen.packets), 0),
        ("largest window", lambda seen: seen.cwnd, 0),
        ("reductions", lambda seen: float(seen.halvings), 1),
    )
    rows, records = [], []
    for cell in sorted(evidence.cells):
        names = _labels(cell)
        found = [(words, mean_interval(evidence.each(cell, of)), digits) for words, of, digits in quantities]
        rows.append((*names.values(), str(len(evidence.of(cell))), *(f"{one.value:.{n}f}" for _, one, n in found)))
        for words, one, _ in found:
            value = {"mean": one.value, "low": one.low, "high": one.high, "n": one.n}
            records.append({**names, "quantity": words, **value})
    if rows:
        heads = tuple(_labels(next(iter(evidence.cells))))
        yield Exhibit(
            name="cells",
            title="All cells",
            section="4 to 6",
            says="The means behind the figures; the CSV file has their intervals.",
            table=Table(
                name="cells",
                headers=(*heads, "runs", *(words for words, _, _ in quantities)),
                rows=tuple(rows),
                records=tuple(records),
                note="RTT: synthetic packet pairs of the first flow. Goodput: TCP payload of all flows. Flushes: those "
                "proposed; passive, none was sent.",
                left=len(heads),
            ),
        )


def _labels(cell: Cell) -> dict[str, str]:
    return {
        "TCP": cell.tcp,
        "base": f"{cell.base} ms",
        "queue": f"{cell.buffer} packets" if cell.queue == FIFO else cell.queue,
        "flusher": _READ[cell.reading] if cell.active or cell.reading != DESCRIBED else "passive",
        "mode": "active" if cell.active else "passive",
        "threshold": f"{cell.threshold:g}" if cell.threshold else "-",
        "variant": ", ".join(word for word in (cell.variant, cell.scene) if word),
    }


def _name(number: str) -> str:
    return f"fig{number}"
