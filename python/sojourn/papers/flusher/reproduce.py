"""`sojourn reproduce flusher`: "Fighting fire with fire"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sojourn.errors import ParamError
from sojourn.papers.flusher.evidence import EMULATORS
from sojourn.papers.flusher.judges import judge, others
from sojourn.papers.flusher.plan import Bed, Outcome, plan, reproduce
from sojourn.report.exhibit import Exhibit
from sojourn.study.reproduction import Reproduction, Request

_KERNEL_TCP = "linux-6.1"


def reproduction(request: Request) -> Reproduction[Outcome]:
    """Return the paper as a request has it.

    Raises
    ------
    ParamError
        If another TCP than the kernel's is wanted of the kernel.
    """
    if request.on_kernel and request.stated_tcp not in (None, _KERNEL_TCP):
        message = f"tcp is {request.stated_tcp!r}, but the kernel has its own: leave it out"
        raise ParamError(message)
    bed = Bed(
        profile=request.profile,
        parts=request.run_parts,
        seed=request.seed,
        tcp=_KERNEL_TCP if request.on_kernel else request.tcp,
        selects=not request.on_kernel,
        emulators=EMULATORS[:1] if request.on_kernel else EMULATORS,
    )
    bed = replace(bed, **request.settings)
    shared = {"back end": request.backend.name, "TCP": "the kernel" if request.on_kernel else bed.tcp}
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: judge(claims, outcome.evidence, bed.readings),
        beside=lambda _claims, _outcome, judged: others(judged),
        exhibits=lambda outcome, _claims, _judged: _exhibits(bed, outcome),
        facts=lambda _judged: shared,
    )


def _exhibits(bed: Bed, outcome: Outcome) -> Iterable[Exhibit]:
    from sojourn.papers.flusher.exhibits import GALLERY

    return GALLERY.exhibits(outcome.evidence[bed.emulators[0]], bed.parts)
