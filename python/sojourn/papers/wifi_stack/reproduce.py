"""`sojourn reproduce wifi-stack`: "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sojourn.papers.kit.reproduction import Reproduction, Request
from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import Bed, Outcome, plan, reproduce
from sojourn.report.exhibit import Exhibit

#: What the exhibits of a part of the paper are.
EXHIBITS = {
    "latency": ("fig2", "cells"),
    "airtime": ("fig3", "model", "cells"),
    "throughput": ("fig4", "cells"),
    "mechanisms": ("cells",),
}


def reproduction(asked: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for."""
    bed = Bed(profile=asked.profile, parts=asked.run_parts, seed=asked.seed, tcp=asked.tcp)
    bed = replace(bed, **asked.settings)
    wanted = {name for part in bed.parts for name in EXHIBITS[part]}
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=lambda outcome, _claims, _judged: (one for one in _exhibits(outcome) if one.name in wanted),
        facts=lambda _judged: {"TCP": f"{bed.tcp}, CUBIC"},
    )


def _exhibits(outcome: Outcome) -> Iterable[Exhibit]:
    from sojourn.papers.wifi_stack.exhibits import exhibits

    return exhibits(outcome.evidence)
