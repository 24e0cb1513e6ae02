"""What the figures and tables of `exhibits.toml` are drawn of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.papers.flusher import adaptive
from sojourn.papers.flusher.evidence import DESCRIBED, FIFO, RANKS, RENO, Evidence, passive
from sojourn.papers.flusher.judges import bdp
from sojourn.papers.flusher.quantities import VOCABULARY, gain_curves
from sojourn.report.table import Table
from sojourn.stats import mean_interval
from sojourn.study.cell import Cell
from sojourn.study.exhibits import Gallery

Numbers = NDArray[np.float64]


def ranked(evidence: Evidence, cell: Cell, name: str) -> Numbers:
    """Return a distribution at each of `RANKS`, mean over the repeats; of one that has none, zeros."""
    each = [getattr(run, name) for run in evidence.of(cell)]
    found: Numbers = np.mean([np.zeros(RANKS.size) if one is None else one for one in each], axis=0)
    return found


def seconds(evidence: Evidence, cell: Cell) -> Numbers:
    """Return the throughput of the seconds of a run at each of `RANKS`, Mbit/s, mean over the repeats."""
    found: Numbers = np.mean([np.quantile(run.per_second, RANKS) for run in evidence.of(cell)], axis=0)
    return found


def gain(evidence: Evidence, cell: Cell) -> Numbers:
    """Return the gain in RTT at each of `RANKS`, ms, mean over the repeats."""
    found: Numbers = np.mean(list(gain_curves(evidence, cell).values()), axis=0)
    return found


def paths(evidence: Evidence) -> Table:
    """Return Table 6.1."""
    rows, records = [], []
    for base, delays in {100: "20 + 30", 50: "10 + 15", 10: "2 + 3"}.items():
        least = mean_interval(evidence.each(passive(RENO, base), lambda run: run.least)).value
        rows.append((delays, str(base), f"{least:.2f}", str(bdp(base))))
        records.append({"base_rtt_ms": base, "shortest_rtt_ms": least, "bdp_packets": bdp(base)})
    return Table(
        name="table6.1",
        headers=("delays (ms)", "RTT (ms)", "shortest RTT seen (ms)", "BDP (packets)"),
        rows=tuple(rows),
        records=tuple(records),
        note="The shortest RTT has the time that packets take on the links besides.",
        left=1,
    )


def _labels(cell: Cell) -> dict[str, str]:
    reading = cell.reading.replace("_", " ")
    return {
        "TCP": cell.tcp,
        "base": f"{cell.base} ms",
        "queue": f"{cell.buffer} packets" if cell.queue == FIFO else cell.queue,
        "flusher": reading if cell.active or cell.reading != DESCRIBED else "passive",
        "mode": "active" if cell.active else "passive",
        "threshold": f"{cell.threshold:g}" if cell.threshold else "-",
        "variant": ", ".join(word for word in (cell.variant, cell.scene) if word),
    }


def _course(evidence: Evidence, cell: Cell, name: str) -> Any:
    return getattr(evidence.of(cell)[0].course, name)


GALLERY = Gallery(
    paper="flusher",
    vocabulary=VOCABULARY,
    quantities={
        "proposed": lambda run: len(run.flushes) + len(run.forced),
        "packets": lambda run: run.packets,
    },
    functions={"paths": paths, "adaptive": adaptive.means, "verdicts": adaptive.verdicts, "wins": adaptive.wins},
    arrays={
        "ranks": lambda _evidence, _cell: RANKS,
        "mean": ranked,
        "seconds": seconds,
        "gain": gain,
        "course": _course,
    },
    labels=_labels,
)
