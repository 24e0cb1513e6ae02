"""`sojourn reproduce wifi-stack`: "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

from sojourn.papers.wifi_stack.evidence import Evidence, observe
from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import CODE, StackBed, plan, processor_time
from sojourn.study.cell import Cell
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the paper as a request has it."""
    bed = StackBed.of(request)
    return Reproduction(
        plan=plan(bed),
        observe=lambda _cell, run: observe(run),
        evidence=lambda cells: Evidence(
            cells=cells, cpu_ns=processor_time(bed, request.backend) if CODE in bed.parts else {}
        ),
        judge=JUDGES.judge,
        exhibits=gallery("wifi_stack", bed.parts),
        facts={"TCP": f"{bed.tcp}, CUBIC"},
    )
