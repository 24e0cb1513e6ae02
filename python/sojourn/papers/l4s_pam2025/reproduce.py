"""`sojourn reproduce l4s-pam2025`: TCP Prague beside classic flows, and what cells need that cannot be run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from sojourn.papers.l4s_pam2025.judges import JUDGES
from sojourn.papers.l4s_pam2025.plan import Bed, Outcome, plan, reproduce
from sojourn.study.cell import Cell
from sojourn.study.evidence import Evidence
from sojourn.study.plan import missing
from sojourn.study.reproduction import Reproduction, Request

if TYPE_CHECKING:
    from sojourn.report.exhibit import Exhibit


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the study as it is asked for."""
    bed = Bed(
        profile=request.profile,
        parts=request.run_parts,
        seed=request.seed,
        tcp=request.tcp,
        backend=request.backend.name,
        **request.settings,
    )
    planned = bed.cells()
    there = sum(not bed.lacks(cell) for cell in planned)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=lambda outcome, _claims, _judged: _exhibits(planned, outcome.evidence),
        facts=lambda _judged: {
            "back end": bed.backend,
            "TCP": f"{'the kernel' if request.on_kernel else request.tcp}, CUBIC",
            "cells": f"{there} of {len(planned)} can be run",
        },
        begin=lambda _outcome: [
            "\n".join([f"{there} of {len(planned)} cells can be run.", *missing(planned, bed.lacks)])
        ],
    )


def _exhibits(planned: Iterable[Cell], evidence: Evidence) -> Iterable[Exhibit]:
    # Plots are loaded only here.
    from sojourn.papers.l4s_pam2025.exhibits import exhibits

    return exhibits(planned, evidence)
