"""What the claims about L4S beside classic flows are judged by: cells, what was measured in them, what a run has."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from sojourn.l4s.cells import Sender
from sojourn.schema import or_null
from sojourn.store.run import Run
from sojourn.study.cell import Axes, Cell, Observation

#: The base round-trip time of most cells, ms.
BASE_MS = 10.0


SENDERS = {
    "prague": Sender("TCP Prague", "prague", "accecn"),
    "prague_fallback": Sender("TCP Prague with detection of classic marking", "prague", "accecn"),
    "cubic": Sender("CUBIC without ECN", "cubic"),
    "cubic_ecn": Sender("CUBIC with ECN", "cubic", True),
    "bbr": Sender("BBRv1", "bbr"),
    "bbr2": Sender("BBRv2 without ECN", "bbr2"),
    "bbr2_ecn": Sender("BBRv2 with ECN", "bbr2", True),
    "bbr2_dctcp": Sender("BBRv2 with ECN and DCTCP's echo", "bbr2", True),
    "bbr2_l4s": Sender("L4S-compatible BBRv2", "bbr2-l4s", "accecn"),
    "bbr3": Sender("BBRv3 without ECN", "bbr3"),
    "bbr3_ecn": Sender("BBRv3 with ECN", "bbr3", True),
    "bbr3_low": Sender("BBRv3 with ECN, told that thresholds are low", "bbr3", True),
}
BOTTLENECKS = {
    "fifo": "FIFO",
    "one_queue_fq": "fq with one queue, marking above 5 ms",
    "fq": "fq, marking above 5 ms",
    "codel": "CoDel, marking",
    "codel_drop": "CoDel, dropping",
    "pie_drop": "PIE, dropping",
    "fq_codel": "FQ-CoDel",
    "fq_codel_l4s": "FQ-CoDel, marking L4S above 1 ms",
    "dualpi2": "DualPI2",
}


def _words(cell: Cell) -> str:
    sides = ((cell.l4s, cell.l4s_flows), (cell.classic, cell.classic_flows))
    first, second = (
        f"{n} x {SENDERS[name].title}" if cell.part == "many" else SENDERS[name].title for name, n in sides
    )
    return f"{first} beside {second}, {BOTTLENECKS[cell.aqm]}, {cell.bdp:g} BDP{cell.beside_base}"


def _part(cell: Cell) -> str:
    if SENDERS[cell.l4s].ecn != "accecn":
        return "control"
    return "pair" if cell.l4s_flows + cell.classic_flows == 2 else "many"


def _beside_base(cell: Cell) -> str:
    return "" if cell.base_ms == BASE_MS else f", {cell.base_ms:g} ms"


#: The two senders, keys of `SENDERS` (where both are classic the first stands in the place of the L4S one); the
#: bottleneck, a key of `BOTTLENECKS`, and its buffer in bandwidth-delay products; how many flows each side has; and the
#: base round-trip time, ms. A cell also has the `part` of the plan that it is in, and what is said `beside_base`, of a
#: base round-trip time that is not that of most cells.
AXES = Axes(
    "l4s",
    "classic",
    "aqm",
    bdp=2.0,
    l4s_flows=1,
    classic_flows=1,
    base_ms=BASE_MS,
    words=_words,
    derived={"part": _part, "beside_base": _beside_base},
)


@lru_cache(maxsize=1)
def measured() -> dict[Cell, Observation]:
    """Return the means over the trials of the study's bed, in each cell that is known; 0 in place of a seed.

    They are in `measured.csv`, computed from what the authors published (fatihsarpkaya/L4S-PAM2025), to a tenth.
    """
    found = {}
    for row in _rows():
        mbit = float(row["l4s_mbit"]), float(row["classic_mbit"])
        l4s_ms, classic_ms = (float(row[name]) if row[name] else None for name in ("l4s_ms", "classic_ms"))
        found[_cell(row)] = Observation(
            seed=0, l4s_mbit=mbit[0], classic_mbit=mbit[1], l4s_ms=l4s_ms, classic_ms=classic_ms
        )
    return found


@lru_cache(maxsize=1)
def claimed() -> frozenset[Cell]:
    """Return those of the measured cells that claims speak of."""
    return frozenset(_cell(row) for row in _rows() if row["claims"])


def _rows() -> list[dict[str, str]]:
    text = files("sojourn.papers.l4s_pam2025").joinpath("measured.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _cell(row: Mapping[str, str]) -> Cell:
    flows = int(row["l4s_flows"]), int(row["classic_flows"])
    return AXES(row["l4s"], row["classic"], row["aqm"], float(row["bdp"]), *flows, float(row["base_ms"]))


def share(run: Observation) -> float:
    """Return what of the goodput the L4S side has, per cent."""
    return 100 * run.l4s_mbit / (run.l4s_mbit + run.classic_mbit)


def flows_of(cell: Cell) -> str:
    """Return in words how many flows a cell has."""
    return "many" if cell.part == "many" else "one each"


def observe(run: Run, cell: Cell) -> Observation:
    """Return what is kept of a run, whose first flows are those of the L4S side.

    The values of the observation:

    l4s_mbit, classic_mbit
        Goodput of each side, Mbit/s.
    l4s_ms, classic_ms
        Round-trip time of each side, ms: the mean of its senders' smoothed ones over time, as the study has it.
    """
    flows = run.record.flows
    sides = flows[: cell.l4s_flows], flows[cell.l4s_flows :]
    mbit = [sum(one.goodput_mbit for one in side) for side in sides]
    times = [[value for one in side if (value := or_null(one.mean_srtt_ms)) is not None] for side in sides]
    l4s_ms, classic_ms = (sum(each) / len(each) if each else None for each in times)
    return Observation(seed=run.seed, l4s_mbit=mbit[0], classic_mbit=mbit[1], l4s_ms=l4s_ms, classic_ms=classic_ms)
