"""`sojourn reproduce rural`: "Tackling Bufferbloat in Capacity-limited Networks"."""

from __future__ import annotations

from sojourn.papers.rural.evidence import Evidence, observe
from sojourn.papers.rural.judges import judge
from sojourn.papers.rural.plan import RuralBed, plan
from sojourn.papers.rural.satellite import Satellite
from sojourn.study.cell import Cell
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the paper as a request has it."""
    bed = RuralBed.of(request, old_kernel=not request.on_kernel, satellite=Satellite.read(request.satellite))
    return Reproduction(
        plan=plan(bed),
        observe=lambda cell, run: observe(run, cell.rtt),
        evidence=lambda cells: Evidence(cells=cells, satellite=bed.satellite),
        judge=judge,
        exhibits=gallery("rural"),
        facts={"back end": bed.backend, "TCP": f"{bed.whose_tcp}, Reno"},
    )
