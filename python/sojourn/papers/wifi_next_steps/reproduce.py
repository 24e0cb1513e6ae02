"""`sojourn reproduce wifi-next-steps`: what each next step of seed 002 section 4 brings and what it costs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.papers.wifi_next_steps.judges import JUDGES
from sojourn.papers.wifi_next_steps.plan import Bed, Outcome, plan, reproduce
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the paper as a request has it."""
    bed = Bed(profile=request.profile, parts=request.run_parts, seed=request.seed, tcp=request.tcp)
    bed = replace(bed, **request.settings)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=gallery("wifi_next_steps"),
        facts=lambda _judged: {"TCP": f"{bed.tcp}, CUBIC"},
    )
