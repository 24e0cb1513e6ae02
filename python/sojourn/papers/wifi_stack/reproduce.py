"""`sojourn reproduce wifi-stack`: "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sojourn.papers.kit.reproduction import Reproduction, Request
from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import Bed, Outcome, plan, reproduce
from sojourn.report.exhibit import Exhibit


def reproduction(asked: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for."""
    bed = Bed(profile=asked.profile, parts=asked.run_parts, seed=asked.seed, tcp=asked.tcp)
    bed = replace(bed, **asked.settings)
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: JUDGES.judge(claims, outcome.evidence),
        exhibits=lambda outcome, _claims, _judged: _exhibits(bed, outcome),
        facts=lambda _judged: {"TCP": f"{bed.tcp}, CUBIC"},
    )


def _exhibits(bed: Bed, outcome: Outcome) -> Iterable[Exhibit]:
    from sojourn.papers.wifi_stack.exhibits import GALLERY

    return GALLERY.exhibits(outcome.evidence, bed.parts)
