"""The tables of "The Good, the Bad and the WiFi" (seed 000): the paper's values beside ours, and figures' numbers.

The paper's are data, `tables.toml`; ours are what the presets stand for (Table 1) and what was measured. Of what was
not run there is no table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from msgspec import Struct

from sojourn import units
from sojourn._native import expand_qdisc
from sojourn.errors import ParamError
from sojourn.papers.good_bad_wifi.section7 import TABLE_3
from sojourn.plots.panels import FALLING, LOADS, RISING, finite, in_order, labels_of
from sojourn.report.table import Table
from sojourn.stats import mean_interval, measure_transient
from sojourn.stats.bootstrap import Interval
from sojourn.stats.proportion import share_interval
from sojourn.stats.transient import STEADY_S, WINDOW_S, Course
from sojourn.store.cell import link_words
from sojourn.study.claims import stored
from sojourn.study.exhibits import interval_text, recorded
from sojourn.tables import Value

#: The link that each column of the paper's tables stands for.
LINK_OF_COLUMN = {"1": "10/1", "10": "10/10", "100": "100/100"}

#: A loss (per cent) agrees if it is within a factor of 2 of the paper's; below 0.05 % the paper's own count is of a
#: few packets, and a factor of 10 is asked.
FACTOR, SMALL_PERCENT, SMALL_FACTOR = 2.0, 0.05, 10.0

#: Head and decimals of what a course is measured by.
_TRANSIENT = {
    "steady_ms": ("steady level (ms)", 0),
    "peak_ms": ("peak (ms)", 0),
    "peak_s": ("at (s)", 1),
    "settling_s": ("settles after (s)", 1),
    "excess_ms_s": ("excess (ms s)", 0),
}

#: For each link and cross traffic, and each discipline, the lost and the sent packets of each run.
Losses = Mapping[tuple[str, str], Mapping[str, tuple[Sequence[int], Sequence[int]]]]
Agreement = Literal["agrees", "differs", "no data"]

#: Units of the tables, as `tc` has them.
_UNITS = {
    "s": (units.TIMES, "s"),
    "ms": (units.TIMES, "ms"),
    "Mbit/s": (units.RATES, "mbit"),
    "bytes": (units.COUNTS, ""),
    "packets": (units.COUNTS, ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCell:
    """One cell of Table 2, per cent."""

    #: Cross traffic, discipline, and down/up rates.
    load: str
    qdisc: str
    link: str
    #: The paper's value; 0 is its dash.
    paper: float
    #: Mean over the runs and 95 % interval; `None` if nothing was measured.
    ours: Interval | None
    #: Ours by the paper's; `None` if one of them is 0 or not there.
    ratio: float | None
    #: `"agrees"`: within a factor of 2 (of 10 below 0.05 %), or no loss in either.
    agreement: Agreement


class _Parameter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    qdisc: str
    parameter: str
    ours: str = ""
    unit: str
    values: dict[str, int | float]
    note: str = ""


class _Tables(Struct, frozen=True, forbid_unknown_fields=True):
    table1: list[_Parameter]
    table2: dict[str, dict[str, dict[str, float]]]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    return stored("good_bad_wifi", "tables", _Tables)


def table1() -> Table:
    """Return the parameters: the paper's and those of our presets `gbw:*`."""
    parameters = _tables().table1
    columns = list(LINK_OF_COLUMN)
    rows, records = [], list[Mapping[str, Value]]()
    for row in parameters:
        shown = [row.qdisc, f"{row.parameter} ({row.unit})"]
        for column in columns:
            paper = row.values.get(column)
            ours = _preset_value(row.qdisc, row.ours or row.parameter, row.unit, int(column))
            differs = paper is not None and float(paper) != ours
            shown += ["not given" if paper is None else f"{paper}", f"{ours:g}" + (" (differs)" if differs else "")]
            records.append(
                {
                    "qdisc": row.qdisc,
                    "parameter": row.parameter,
                    "unit": row.unit,
                    "rate_mbit": int(column),
                    "paper": paper,
                    "ours": ours,
                    "same": None if paper is None else not differs,
                }
            )
        rows.append(tuple(shown))
    heads = [head for column in columns for head in (f"{column} Mbit/s: paper", "ours")]
    notes = [row.note for row in parameters if row.note]
    return Table(
        name="table1",
        headers=("qdisc", "parameter", *heads),
        rows=tuple(rows),
        records=tuple(records),
        note=" ".join(["Ours are the presets gbw:NAME as the simulator expands them at that rate.", *notes]),
    )


def loss_cells(loss: Losses) -> tuple[LossCell, ...]:
    """Return the cells of Table 2, row by row.

    Raises `ParamError` if the counts are not ones (`sojourn.stats.share_interval`).

    - `loss`: for each (link, cross traffic) and discipline the lost and the sent packets of each run. A discipline may
      be named as a preset, `gbw:codel`.
    """
    cells = []
    for load, rows in _tables().table2.items():
        for qdisc, values in rows.items():
            for column, link in LINK_OF_COLUMN.items():
                there = {label.rsplit(":", 1)[-1]: counts for label, counts in loss.get((link, load), {}).items()}
                lost, sent = there.get(qdisc, ((), ()))
                ours = _percent(share_interval(lost, sent)) if any(sent) else None
                cells.append(_cell(load, qdisc, link, values[column], ours))
    return tuple(cells)


def table2(loss: Losses) -> Table | None:
    """Return the loss of the voice stream: the paper's and ours with its 95 % interval; see `loss_cells`."""
    if not loss:
        return None
    cells = loss_cells(loss)
    rows = []
    for place in range(0, len(cells), len(LINK_OF_COLUMN)):
        of_row = cells[place : place + len(LINK_OF_COLUMN)]
        shown = [of_row[0].load, of_row[0].qdisc]
        for cell in of_row:
            shown += ["-" if cell.paper == 0 else f"{cell.paper:g}", _ours(cell.ours), _mark(cell)]
        rows.append(tuple(shown))
    known = [cell for cell in cells if cell.agreement != "no data"]
    agreeing = sum(cell.agreement == "agrees" for cell in known)
    heads = [head for column in LINK_OF_COLUMN for head in (f"{column} Mbit/s: paper", "ours", "ratio")]
    note = (
        "Per cent. Ours: mean over the runs of lost / sent and its 95 % interval. "
        f"{agreeing} of {len(known)} cells agree: within a factor of 2 (of 10 below 0.05 %), or no loss in either. "
        "Where nothing was lost, the upper end is the largest loss that would show nothing in so many packets in 5 % "
        "of the cases."
    )
    return Table(
        name="table2",
        headers=("cross traffic", "qdisc", *heads),
        rows=tuple(rows),
        records=tuple(_record(cell) for cell in cells),
        note=note,
    )


def table3(loss: Losses) -> Table | None:
    """Return the loss of the voice stream over Wi-Fi: the paper's and ours with its 95 % interval, per cent."""
    rows, records = [], list[Mapping[str, Value]]()
    for qdisc, stated in TABLE_3.items():
        row = [qdisc]
        for load, paper in zip(LOADS, stated, strict=True):
            lost, sent = loss.get(("100/100", load), {}).get(qdisc, ((), ()))
            found = _percent(share_interval(lost, sent)) if any(sent) else None
            ratio = "-" if found is None else f"{found.value / paper:.2g}"
            row += [f"{paper:g}", "no data" if found is None else interval_text(found, 2), ratio]
            records.append({"qdisc": qdisc, "cross_traffic": load, "paper": paper, **recorded(found, "ours")})
        rows.append(tuple(row))
    if not loss:
        return None
    return Table(
        name="table3",
        headers=("qdisc", *(head for load in LOADS for head in (f"{load}: paper", "ours", "ours / paper"))),
        rows=tuple(rows),
        records=tuple(records),
        note="Per cent. Ours: mean over the runs of lost / sent and its 95 % interval.",
        left=1,
    )


def transient_table(courses: Mapping[str, Mapping[str, Course]]) -> Table | None:
    """Return peak, settling time and excess of every course (`sojourn.stats.transient`).

    A row whose runs are too short for the steady level has dashes.
    """
    rows, records = [], []
    for link in in_order(courses, FALLING):
        for qdisc, course in courses[link].items():
            try:
                numbers = measure_transient(course)
            except ParamError:
                rows.append((link, qdisc, *("-",) * len(_TRANSIENT)))
                continue
            found = {name: getattr(numbers, name) for name in _TRANSIENT}
            shown = (interval_text(one, _TRANSIENT[name][1]).replace("inf", "∞") for name, one in found.items())
            rows.append((link, qdisc, *shown))
            named = {"link": link, "qdisc": qdisc}
            records += [{**named, "quantity": name} | recorded(one, "value") for name, one in found.items()]
    if not rows:
        return None
    return Table(
        name="fig7-numbers",
        headers=("link", "qdisc", *(head for head, _ in _TRANSIENT.values())),
        rows=tuple(rows),
        records=tuple(records),
        note=(
            f"Of the point-wise mean and its 95 % interval over runs. Peak and excess: first {WINDOW_S:g} s. Steady "
            f"level: mean from {STEADY_S[0]:g} to {STEADY_S[1]:g} s. Settled: the mean over 1 s is for 5 s on end not "
            "more than a tenth (at least 5 ms) above the steady level. ∞: not within the time looked at."
        ),
    )


def mos_table(scores: Mapping[tuple[str, str], Mapping[str, Sequence[float | None]]]) -> Table | None:
    """Return the mean opinion score of each cell, in the layout of Table 2; runs without a score are left out."""
    links = in_order((link for link, _ in scores), RISING)
    rows, records = [], []
    for load, qdisc in product(in_order((load for _, load in scores), LOADS), labels_of(scores.values())):
        row = [load, qdisc]
        for link in links:
            values = finite(scores.get((link, load), {}).get(qdisc, []))
            found = mean_interval(values) if len(values) else None
            row.append(interval_text(found, 2))
            if found is not None:
                records.append({"cross_traffic": load, "qdisc": qdisc, "link": link} | recorded(found, "mos"))
        rows.append(tuple(row))
    if not rows:
        return None
    return Table(
        name="voip-mos",
        headers=("cross traffic", "qdisc", *map(link_words, links)),
        rows=tuple(rows),
        records=tuple(records),
        note=(
            "Mean over the runs and its 95 % interval. E-model (ITU-T G.107) with its default values, G.711 without "
            "loss concealment, delay = mean one-way delay + 2 × mean |IPDV|. From 1 to 4.5; below about 3.6 many users "
            "are dissatisfied."
        ),
    )


def stated_loss(load: str, qdisc: str, column: str) -> float:
    """Return the paper's value of a cell of Table 2 (per cent); 0 is its dash."""
    return _tables().table2[load][qdisc][column]


def _cell(load: str, qdisc: str, link: str, paper: float, ours: Interval | None) -> LossCell:
    ratio = None if ours is None or paper == 0 or ours.value == 0 else ours.value / paper
    agreement: Agreement = "differs"
    if ours is None:
        agreement = "no data"
    elif ratio is not None:
        factor = FACTOR if paper >= SMALL_PERCENT else SMALL_FACTOR
        agreement = "agrees" if 1 / factor <= ratio <= factor else "differs"
    elif ours.value == paper:
        agreement = "agrees"
    return LossCell(load=load, qdisc=qdisc, link=link, paper=paper, ours=ours, ratio=ratio, agreement=agreement)


def _record(cell: LossCell) -> Mapping[str, Value]:
    return {
        "cross_traffic": cell.load,
        "qdisc": cell.qdisc,
        "link": cell.link,
        "paper_percent": cell.paper,
        **recorded(cell.ours, "ours_percent"),
        "ratio": cell.ratio,
        "agreement": cell.agreement,
    }


def _ours(found: Interval | None) -> str:
    if found is None:
        return "no data"
    value = f"{found.value:.3g}"
    return value if found.low is None or found.high is None else f"{value} [{found.low:.3g}, {found.high:.3g}]"


def _mark(cell: LossCell) -> str:
    if cell.agreement == "no data":
        return "-"
    ratio = "" if cell.ratio is None else f"{cell.ratio:.3g} "
    return ratio + {"agrees": "✓", "differs": "✗"}[cell.agreement]


def _percent(found: Interval) -> Interval:
    low = None if found.low is None else 100 * found.low
    high = None if found.high is None else 100 * found.high
    return Interval(value=100 * found.value, low=low, high=high, n=found.n)


def _preset_value(qdisc: str, word: str, unit: str, rate_mbit: int) -> float:
    """Return a parameter of a preset at a rate, in the given unit."""
    words = expand_qdisc(f"gbw:{qdisc}", rate_mbit * 1_000_000).split()
    return float(units.value(words[words.index(word) + 1], *_UNITS[unit]))
