"""`sojourn reproduce cake`: "Piece of CAKE", as far as the back end has what its cells need."""

from __future__ import annotations

from sojourn.papers.cake.evidence import Evidence, observe
from sojourn.papers.cake.judges import JUDGES
from sojourn.papers.cake.plan import CakeBed, cells, plan
from sojourn.study.cell import Cell
from sojourn.study.plan import missing, ready
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the paper as it is asked for."""
    bed = CakeBed.of(request)
    planned = cells(bed.parts)
    share = ready(planned, bed.lacks)
    return Reproduction(
        plan=plan(bed),
        observe=lambda _cell, run: observe(run),
        evidence=lambda runs: Evidence(cells=runs, lacks=bed.lacks),
        judge=JUDGES.judge,
        exhibits=gallery("cake", bed.parts),
        facts={
            "back end": bed.backend,
            "TCP": f"{bed.whose_tcp}, CUBIC",
            "cells": f"{share} can be run",
        },
        begin=lambda _evidence: ["\n".join([f"{share} cells can be run.", *missing(planned, bed.lacks)])],
    )
