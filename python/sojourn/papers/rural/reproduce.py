"""`sojourn reproduce rural`: "Tackling Bufferbloat in Capacity-limited Networks"."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.papers.kit.reproduction import Reproduction, Request, gallery
from sojourn.papers.rural.judges import judge
from sojourn.papers.rural.plan import Bed, Outcome, plan, reproduce
from sojourn.papers.rural.satellite import Satellite


def reproduction(asked: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for."""
    bed = Bed(
        profile=asked.profile,
        parts=asked.run_parts,
        seed=asked.seed,
        tcp=asked.tcp,
        old_kernel=not asked.on_kernel,
        satellite=Satellite.read(asked.satellite),
    )
    bed = replace(bed, **asked.settings)
    tcp = f"{'the kernel' if asked.on_kernel else bed.tcp}, Reno"
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: judge(claims, outcome.evidence),
        exhibits=gallery("rural"),
        facts=lambda _judged: {"back end": asked.backend.name, "TCP": tcp},
    )
