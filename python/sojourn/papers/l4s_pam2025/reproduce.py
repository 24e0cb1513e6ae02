"""`sojourn reproduce l4s-pam2025`: TCP Prague beside classic flows, and what cells need that cannot be run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from sojourn.papers.kit.reproduction import Reproduction, Request
from sojourn.papers.l4s_pam2025.evidence import BOTTLENECKS, SENDERS, Cell, Evidence, Observation, measured
from sojourn.papers.l4s_pam2025.judges import JUDGES
from sojourn.papers.l4s_pam2025.plan import Bed, Outcome, cells, lacks, missing, plan, reproduce
from sojourn.stats import mean_interval

if TYPE_CHECKING:
    from sojourn.report.exhibit import Exhibit

#: What the table has of a cell.
COLUMNS: dict[str, Callable[[Observation], float | None]] = {
    "L4S Mbit/s": lambda run: run.l4s_mbit,
    "classic Mbit/s": lambda run: run.classic_mbit,
    "L4S RTT (ms)": lambda run: run.l4s_ms,
    "classic RTT (ms)": lambda run: run.classic_ms,
}


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the study as it is asked for."""
    bed = Bed(profile=request.profile, parts=request.run_parts, seed=request.seed)
    planned = cells(bed.parts)
    there = sum(not lacks(cell) for cell in planned)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=lambda outcome, _claims, _judged: _exhibits(planned, outcome.evidence),
        facts=lambda _judged: {"TCP": f"{request.tcp}, CUBIC", "cells": f"{there} of {len(planned)} can be run"},
        begin=lambda _outcome: ["\n".join([f"{there} of {len(planned)} cells can be run.", *missing(planned)])],
    )


def _exhibits(planned: Iterable[Cell], evidence: Evidence) -> Iterable[Exhibit]:
    from sojourn.report.exhibit import Exhibit
    from sojourn.report.table import Table

    planned = list(planned)
    stated = measured()
    rows, records = [], []
    for cell in planned:
        numbers = []
        for name, quantity in COLUMNS.items():
            there = quantity(stated[cell]) if cell in stated else None
            runs = [value for run in evidence.cells.get(cell, ()) if (value := quantity(run)) is not None]
            here = mean_interval(runs).value if runs else None
            numbers.append(" / ".join("-" if value is None else f"{value:.1f}" for value in (there, here)))
            records.append({**cell._asdict(), "quantity": name, "measured": there, "here": here})
        sides = f"{SENDERS[cell.l4s]} / {SENDERS[cell.classic]}"
        flows = f"{cell.l4s_flows}:{cell.classic_flows}"
        place = f"{BOTTLENECKS[cell.aqm]}, {cell.bdp:g} BDP"
        rows.append((sides, flows, place, *numbers, ", ".join(lacks(cell)) or "nothing"))
    table = Table(
        name="cells",
        headers=("L4S side / classic side", "flows", "bottleneck", *COLUMNS, "needs"),
        rows=tuple(rows),
        records=tuple(records),
        note="Measured by the authors / here, means over the trials; a dash where there is none.",
        left=3,
    )
    yield Exhibit(
        name="cells",
        title="Cells",
        section="all",
        says="What the authors measured, what was run here, and what a cell needs that the simulator lacks.",
        table=table,
        paragraphs=tuple(missing(planned)),
    )
