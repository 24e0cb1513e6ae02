"""`sojourn reproduce cake`: "Piece of CAKE", as far as the back end has what its cells need."""

from __future__ import annotations

from functools import partial

from sojourn.papers.cake.judges import JUDGES
from sojourn.papers.cake.plan import Bed, Outcome, cells, lacks, plan, reproduce
from sojourn.study.plan import missing
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for."""
    backend = request.backend.name
    bed = Bed(profile=request.profile, parts=request.run_parts, seed=request.seed, tcp=request.tcp, backend=backend)
    planned = cells(bed.parts)
    lacking = partial(lacks, backend=backend)
    there = sum(not lacking(cell) for cell in planned)
    tcp = f"{'the kernel' if request.on_kernel else bed.tcp}, CUBIC"
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=gallery("cake", bed.parts),
        facts=lambda _judged: {
            "back end": backend,
            "TCP": tcp,
            "cells": f"{there} of {len(planned)} can be run",
        },
        begin=lambda _outcome: [
            "\n".join(
                [f"{there} of {len(planned)} cells can be run.", *missing(planned, partial(lacks, backend=backend))]
            )
        ],
    )
