"""The figures and tables of "Tackling Bufferbloat in Capacity-limited Networks", drawn from what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from sojourn.errors import SojournError
from sojourn.papers.rural.evidence import (
    CODEL,
    DEFAULT,
    DROPTAIL,
    EMULATION,
    FQ_CODEL,
    LOADS,
    NS2,
    RTT_PAIRS,
    RTTS_MS,
    RURAL,
    SCHEMES,
    SFQ,
    TWO_RTT,
    Cell,
    Evidence,
    Quantity,
)
from sojourn.papers.rural.quantities import bulk, fct, imp, inc, of_lambda, of_tau, queueing, thin, utilisation
from sojourn.plots.rural import Line, Panel, curves, scatter
from sojourn.report.exhibit import Exhibit, draw
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval
from sojourn.tables import interval

_RTT = "Base RTT (ms)"
_FCT = "File completion time (s)"
_WORDS = {DROPTAIL: "DropTail", CODEL: "CoDel", FQ_CODEL: "FQ-CoDel", SFQ: "SFQ"}
_MEANS = "Means over the runs and their 95 % intervals."


def exhibits(evidence: Evidence) -> tuple[Exhibit, ...]:
    """Return every figure and table that there are runs for, in the order of the paper."""
    makers: tuple[Callable[[Evidence], Iterator[Exhibit]], ...] = (_fig2, _fig3, _fig4, _fig5, _fig6, _fig7, _fig8)
    return (*(one for make in makers for one in make(evidence)), *_cells_table(evidence))


def _fig2(evidence: Evidence) -> Iterator[Exhibit]:
    cells = {
        scheme: [Cell(EMULATION, scheme, setting, rtt=rtt) for rtt in RTTS_MS]
        for scheme, setting in ((DROPTAIL, Cell(EMULATION, DROPTAIL).setting), (CODEL, DEFAULT), (FQ_CODEL, DEFAULT))
    }
    if not _there(evidence, cells[CODEL]):
        return
    panels = [
        Panel(
            x=_RTT,
            y=words,
            lines=[
                Line(scheme=_look(scheme), label=_WORDS[scheme], points=_points(evidence, each, RTTS_MS, quantity))
                for scheme, each in cells.items()
            ],
        )
        for words, quantity in ((_FCT, fct), ("Bulk throughput (Mbit/s)", bulk))
    ]
    yield Exhibit(
        name="fig2",
        title="Fig. 2: queue management with default parameters",
        section="III-B",
        says="File completion time and throughput of a bulk transfer over paths of several lengths, on the emulated "
        "bed.",
        figures=(draw("fig2", f"{_MEANS} The paper has both in one panel.", curves(panels)),),
        claims=("rur-01", "rur-02", "rur-03", "rur-04", "rur-05", "rur-07", "rur-35", "rur-38"),
    )


def _fig3(evidence: Evidence) -> Iterator[Exhibit]:
    if _there(evidence, of_lambda(CODEL, "low")):
        xs = [cell.setting.interval for cell in of_lambda(CODEL, "low")]
        yield _sweep(evidence, "fig3", "Fig. 3: the interval", "IV-B", "Interval (ms)", of_lambda, xs, "target 5 ms")


def _fig4(evidence: Evidence) -> Iterator[Exhibit]:
    if _there(evidence, of_tau(CODEL, "low")):
        xs = [cell.setting.target for cell in of_tau(CODEL, "low")]
        yield _sweep(evidence, "fig4", "Fig. 4: the target", "IV-C", "Target (ms)", of_tau, xs, "interval 300 ms")


def _fig5(evidence: Evidence) -> Iterator[Exhibit]:
    cells = [Cell(NS2, CODEL, DEFAULT, "low", rtt) for rtt in RTTS_MS]
    if _there(evidence, cells):
        yield _compare(
            evidence,
            NS2,
            LOADS,
            ("fig5", "Fig. 5: rural against default parameters, simulated", "IV-E"),
            ("thin", "of thin-stream delay (ms)"),
            ("rur-16", "rur-17", "rur-19", "rur-33"),
        )


def _fig6(evidence: Evidence) -> Iterator[Exhibit]:
    if not _there(evidence, [Cell(TWO_RTT, CODEL, DEFAULT, "low", *RTT_PAIRS[0])]):
        return
    lines: dict[str, list[Line]] = {"fct": [], "ratio": []}
    for scheme, setting in product(SCHEMES, (DEFAULT, RURAL)):
        times: dict[float, Interval] = {}
        ratios: dict[float, Interval] = {}
        for pair in RTT_PAIRS:
            cell = Cell(TWO_RTT, scheme, setting, "low", *pair)
            # Either download may be called the monitored one.
            for mine, other in ((0, 1), (1, 0)):
                place = pair[mine] / pair[other]
                found = [seen.file_fct_s for seen in evidence.of(cell)]
                both = [(a, b) for each in found if (a := each[mine]) is not None and (b := each[other]) is not None]
                if both:
                    times[place] = mean_interval([a for a, _ in both])
                    ratios[place] = mean_interval([a / b for a, b in both])
        label = f"{_WORDS[scheme]} {'rural' if setting == RURAL else 'default'}"
        for name, points in (("fct", times), ("ratio", ratios)):
            hollow = setting == DEFAULT
            lines[name].append(Line(scheme=scheme, label=label, points=points, dashed=hollow, hollow=hollow))
    x = "RTT of the monitored download / of the other"
    panels = [
        Panel(x=x, y=_FCT, lines=lines["fct"], logarithmic=True),
        Panel(x=x, y="FCT, monitored / other", lines=lines["ratio"], level=1.0, logarithmic=True),
    ]
    yield Exhibit(
        name="fig6",
        title="Fig. 6: two downloads with paths of different length",
        section="IV-F",
        says="File completion time of a download beside another whose path has another RTT, and their ratio.",
        figures=(
            draw(
                "fig6",
                f"{_MEANS} Pairs of {', '.join(f'{a} and {b}' for a, b in RTT_PAIRS)} ms, each read both ways. Hollow "
                "and dashed: default parameters.",
                curves(panels),
            ),
        ),
        claims=("rur-21",),
    )


def _fig7(evidence: Evidence) -> Iterator[Exhibit]:
    if _there(evidence, [Cell(EMULATION, CODEL, RURAL, rtt=rtt) for rtt in RTTS_MS]):
        yield _compare(
            evidence,
            EMULATION,
            ("low",),
            ("fig7", "Fig. 7: rural against default parameters, emulated", "V-A"),
            ("ping", "of the echo's delay (ms)"),
            ("rur-24", "rur-25", "rur-26", "rur-32"),
        )


def _fig8(evidence: Evidence) -> Iterator[Exhibit]:
    schemes: dict[str, tuple[Cell, bool]] = {
        "DropTail": (evidence.service(DROPTAIL), False),
        "SFQ": (evidence.service(SFQ), False),
        "CoDel default": (evidence.service(CODEL, DEFAULT), True),
        "FQ-CoDel default": (evidence.service(FQ_CODEL, DEFAULT), True),
        "CoDel rural": (evidence.service(CODEL, RURAL), False),
        "FQ-CoDel rural": (evidence.service(FQ_CODEL, RURAL), False),
    }
    if not _there(evidence, [cell for cell, _ in schemes.values()]):
        return

    base = evidence.satellite.rtt_ms
    points, rows, records = {}, [], []
    for label, (cell, hollow) in schemes.items():
        along = mean_interval([base + wait for wait in evidence.each(cell, queueing)])
        up = _interval(evidence, cell, fct)
        if up is None:
            continue
        points[label] = (_look(cell.scheme), hollow, along, up)
        echo = mean_interval([base + wait for wait in evidence.each(cell, lambda seen: seen.ping_ms)])
        rate = _interval(evidence, cell, bulk)
        numbers = {"fct_s": (up, 2), "rtt_ms": (along, 1), "echo_rtt_ms": (echo, 1), "bulk_mbit": (rate, 3)}
        rows.append((label, *(_shown(found, digits) for found, digits in numbers.values())))
        for name, (found, _) in numbers.items():
            records.append({"scheme": label, "quantity": name} | _record(found))
    yield Exhibit(
        name="fig8",
        title="Fig. 8: a satellite path",
        section="V-B",
        says="File completion time and round-trip time over a model of the satellite service.",
        figures=(
            draw(
                "fig8",
                f"{_MEANS} RTT: {base} ms and the mean waiting at the bottleneck. Hollow: default parameters.",
                scatter(points, x="RTT (ms)", y=_FCT),
            ),
        ),
        table=Table(
            name="fig8-numbers",
            headers=("scheme", "FCT (s)", "RTT of all packets (ms)", "RTT of an echo (ms)", "bulk (Mbit/s)"),
            rows=tuple(rows),
            records=tuple(records),
            note=f"The model: {evidence.satellite.words()}.",
            left=1,
        ),
        claims=("rur-27", "rur-28", "rur-29", "rur-30", "rur-31"),
    )


def _cells_table(evidence: Evidence) -> Iterator[Exhibit]:
    """Yield the numbers behind all figures."""
    quantities: tuple[tuple[str, Quantity, int], ...] = (
        ("utilisation (%)", utilisation, 1),
        ("delay (ms)", queueing, 1),
        ("FCT (s)", fct, 1),
        ("bulk (Mbit/s)", bulk, 3),
        ("thin (ms)", thin, 1),
        ("echo (ms)", lambda seen: seen.ping_ms, 1),
        ("files", lambda seen: seen.files, 1),
        ("SYNs dropped (%)", lambda seen: 100 * seen.syn_dropped / max(seen.syn_offered, 1), 1),
    )
    rows, records = [], []
    for cell in sorted(evidence.cells):
        found = [(words, _interval(evidence, cell, quantity), digits) for words, quantity, digits in quantities]
        setting = "-" if cell.setting.target == 0 else f"{cell.setting.target}/{cell.setting.interval}"
        rtt = f"{cell.rtt}" + (f", {cell.other_rtt}" if cell.other_rtt else "")
        names = (cell.experiment, cell.scheme, setting, cell.load, rtt)
        rows.append((*names, str(len(evidence.of(cell))), *(_mean(one, digits) for _, one, digits in found)))
        heads = ("experiment", "scheme", "target/interval", "load", "rtt_ms")
        for words, one, _ in found:
            records.append(dict(zip(heads, names, strict=True)) | {"quantity": words} | _record(one))
    if rows:
        yield Exhibit(
            name="cells",
            title="All cells",
            section="III to V",
            says="The means behind the figures; the CSV file has their intervals.",
            table=Table(
                name="cells",
                headers=(
                    *("experiment", "scheme", "target/interval (ms)", "load", "RTT (ms)", "runs"),
                    *(words for words, _, _ in quantities),
                ),
                rows=tuple(rows),
                records=tuple(records),
                note="Delay: mean waiting of all packets at the bottleneck. Thin: that of the thin streams' packets. "
                "FCT: over completed files only; at high load some five are completed in a run of 300 s, and the last "
                "of each download, which is not, does not count. A SYN that is dropped is sent again after a second.",
                left=5,
            ),
        )


def _sweep(
    evidence: Evidence,
    name: str,
    title: str,
    section: str,
    x: str,
    curve: Callable[[str, str], list[Cell]],
    xs: Sequence[int],
    fixed: str,
) -> Exhibit:
    panels = [
        Panel(
            x=x,
            y=words,
            lines=[
                Line(
                    scheme=scheme,
                    label=f"{_WORDS[scheme]}, {load} load",
                    points=_points(evidence, curve(scheme, load), xs, quantity),
                    dashed=load == "high",
                )
                for scheme, load in product(SCHEMES, LOADS)
            ],
        )
        for words, quantity in (("Utilisation (%)", utilisation), ("Queuing delay (ms)", queueing))
    ]
    numbers = (8, 9, 10, 11) if name == "fig3" else (12, 13, 14, 15, 34)
    return Exhibit(
        name=name,
        title=title,
        section=section,
        says=f"Utilisation of the bottleneck and mean queuing delay, {fixed}, RTT 300 ms.",
        figures=(draw(name, _MEANS, curves(panels)),),
        claims=tuple(f"rur-{number:02}" for number in numbers),
    )


def _compare(
    evidence: Evidence,
    experiment: str,
    loads: Sequence[str],
    words: tuple[str, str, str],
    delay: tuple[str, str],
    claims: tuple[str, ...],
) -> Exhibit:
    name, title, section = words
    panels = []
    for y, change, quantity in (
        ("Improvement of FCT (%)", imp, "fct"),
        (f"Increase {delay[1]}", inc, delay[0]),
        ("Increase of bulk throughput (Mbit/s)", inc, "bulk"),
    ):
        lines = []
        for scheme, load in product(SCHEMES, loads):
            points: dict[float, Interval] = {}
            for rtt in RTTS_MS:
                try:
                    found = change(evidence, Cell(experiment, scheme, DEFAULT, load, rtt), quantity)
                    points[rtt] = mean_interval(found.values())
                except SojournError:
                    continue
            label = _WORDS[scheme] + (f", {load} load" if len(loads) > 1 else "")
            lines.append(Line(scheme=scheme, label=label, points=points, dashed=load == "high"))
        panels.append(Panel(x=_RTT, y=y, lines=lines, level=0.0))
    return Exhibit(
        name=name,
        title=title,
        section=section,
        says="What rural parameters change: (default - rural) / default of the file completion time, rural - default "
        "of delay and throughput.",
        figures=(draw(name, f"{_MEANS} Paired by seed.", curves(panels)),),
        claims=claims,
    )


def _there(evidence: Evidence, cells: Iterable[Cell]) -> bool:
    return all(cell in evidence.cells for cell in cells)


def _points(evidence: Evidence, cells: Sequence[Cell], xs: Sequence[int], quantity: Quantity) -> dict[float, Interval]:
    found = {x: _interval(evidence, cell, quantity) for x, cell in zip(xs, cells, strict=True)}
    return {x: one for x, one in found.items() if one is not None}


def _interval(evidence: Evidence, cell: Cell, quantity: Quantity) -> Interval | None:
    try:
        return mean_interval(evidence.each(cell, quantity))
    except SojournError:
        return None


def _look(scheme: str) -> str:
    """Return the discipline whose colour and marker a scheme has."""
    return "pfifo" if scheme == DROPTAIL else scheme


def _shown(found: Interval | None, digits: int) -> str:
    return "-" if found is None else interval(found.value, found.low, found.high, digits)


def _mean(found: Interval | None, digits: int) -> str:
    return "-" if found is None else f"{found.value:.{digits}f}"


def _record(found: Interval | None) -> dict[str, float | int | None]:
    if found is None:
        return {"mean": None, "low": None, "high": None, "runs": 0}
    return {"mean": found.value, "low": found.low, "high": found.high, "runs": found.n}
