"""`sojourn reproduce l4s-pam2025`: TCP Prague beside classic flows, and what cells need that cannot be run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sojourn.papers.l4s_pam2025.evidence import observe
from sojourn.papers.l4s_pam2025.judges import JUDGES
from sojourn.papers.l4s_pam2025.plan import L4sBed, plan
from sojourn.study.cell import Cell
from sojourn.study.evidence import Evidence
from sojourn.study.plan import missing, ready
from sojourn.study.reproduction import Reproduction, Request

if TYPE_CHECKING:
    from sojourn.report.exhibit import Exhibit


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the study as it is asked for."""
    bed = L4sBed.of(request)
    planned = bed.cells()
    share = ready(planned, bed.lacks)
    return Reproduction(
        plan=plan(bed),
        observe=lambda cell, run: observe(run, cell),
        evidence=lambda cells: Evidence(cells=cells, lacks=bed.lacks),
        judge=JUDGES.judge,
        exhibits=lambda evidence: _exhibits(planned, evidence),
        facts={
            "back end": bed.backend,
            "TCP": f"{bed.whose_tcp}, CUBIC",
            "cells": f"{share} can be run",
        },
        begin=lambda _evidence: ["\n".join([f"{share} cells can be run.", *missing(planned, bed.lacks)])],
    )


def _exhibits(planned: Iterable[Cell], evidence: Evidence) -> Iterable[Exhibit]:
    # Plots are loaded only here.
    from sojourn.papers.l4s_pam2025.exhibits import exhibits

    return exhibits(planned, evidence)
