"""`sojourn reproduce flusher`: "Fighting fire with fire"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sojourn.errors import ParamError
from sojourn.papers.flusher.evidence import EMULATORS
from sojourn.papers.flusher.judges import judge, others
from sojourn.papers.flusher.plan import Bed, Outcome, plan, reproduce
from sojourn.papers.kit.reproduction import Reproduction, Request
from sojourn.report.exhibit import Exhibit

_KERNEL_TCP = "linux-6.1"


def reproduction(asked: Request) -> Reproduction[Outcome]:
    """Return the paper as it is asked for.

    Raises
    ------
    ParamError
        If another TCP than the kernel's is asked of the kernel.
    """
    if asked.on_kernel and asked.given_tcp not in (None, _KERNEL_TCP):
        message = f"tcp is {asked.given_tcp!r}, but the kernel has its own: leave it out"
        raise ParamError(message)
    bed = Bed(
        profile=asked.profile,
        parts=asked.run_parts,
        seed=asked.seed,
        tcp=_KERNEL_TCP if asked.on_kernel else asked.tcp,
        selects=not asked.on_kernel,
        emulators=EMULATORS[:1] if asked.on_kernel else EMULATORS,
    )
    bed = replace(bed, **asked.settings)
    shared = {"back end": asked.backend.name, "TCP": "the kernel" if asked.on_kernel else bed.tcp}
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
