"""`sojourn reproduce rural`: "Tackling Bufferbloat in Capacity-limited Networks"."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.papers.rural.judges import judge
from sojourn.papers.rural.plan import Bed, Outcome, plan, reproduce
from sojourn.papers.rural.satellite import Satellite
from sojourn.study.reproduction import Reproduction, Request, gallery


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the paper as a request has it."""
    bed = Bed(
        profile=request.profile,
        parts=request.run_parts,
        seed=request.seed,
        tcp=request.tcp,
        old_kernel=not request.on_kernel,
        satellite=Satellite.read(request.satellite),
    )
    bed = replace(bed, **request.settings)
    tcp = f"{'the kernel' if request.on_kernel else bed.tcp}, Reno"
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: judge(claims, outcome.evidence),
        exhibits=gallery("rural"),
        facts=lambda _judged: {"back end": request.backend.name, "TCP": tcp},
    )
