"""`sojourn reproduce wifi-next-steps`: what each next step of seed 002 section 4 brings and what it costs."""

from __future__ import annotations

from sojourn.papers.wifi_next_steps.evidence import Evidence, observe
from sojourn.papers.wifi_next_steps.judges import JUDGES
from sojourn.papers.wifi_next_steps.plan import StepsBed, plan
from sojourn.study.cell import Cell
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the paper as a request has it."""
    bed = StepsBed.of(request)
    return Reproduction(
        plan=plan(bed),
        observe=lambda _cell, run: observe(run),
        evidence=lambda cells: Evidence(cells=cells),
        judge=JUDGES.judge,
        exhibits=gallery("wifi_next_steps"),
        facts={"TCP": f"{bed.tcp}, CUBIC"},
    )
