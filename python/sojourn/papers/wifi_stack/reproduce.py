"""`sojourn reproduce wifi-stack`: "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.papers.kit.reproduction import Reproduction, Request, gallery
from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import Bed, Outcome, plan, reproduce


def reproduction(asked: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for."""
    bed = Bed(profile=asked.profile, parts=asked.run_parts, seed=asked.seed, tcp=asked.tcp)
    bed = replace(bed, **asked.settings)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=gallery("wifi_stack", bed.parts),
        facts=lambda _judged: {"TCP": f"{bed.tcp}, CUBIC"},
    )
