"""`sojourn reproduce wifi-stack`: "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import Bed, Outcome, plan, reproduce
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the paper as a request has it."""
    bed = Bed(profile=request.profile, parts=request.run_parts, seed=request.seed, tcp=request.tcp)
    bed = replace(bed, **request.settings)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=gallery("wifi_stack", bed.parts),
        facts=lambda _judged: {"TCP": f"{bed.tcp}, CUBIC"},
    )
