"""`sojourn reproduce flusher`: "Fighting fire with fire"."""

from __future__ import annotations

from collections.abc import Mapping

from sojourn.errors import refused
from sojourn.papers.flusher.evidence import EMULATORS, Evidence, observe
from sojourn.papers.flusher.judges import judge, others
from sojourn.papers.flusher.plan import FlusherBed, evidence, plan
from sojourn.study.cell import Cell
from sojourn.study.reproduction import Reproduction, Request, gallery

_KERNEL_TCP = "linux-6.1"


def reproduction(request: Request) -> Reproduction[tuple[str, Cell], Mapping[str, Evidence]]:
    """Return the paper as a request has it.

    Raises `ParamError` if another TCP than the kernel's is wanted of the kernel.
    """
    if request.on_kernel and request.stated_tcp not in (None, _KERNEL_TCP):
        raise refused(request.stated_tcp, "tcp", "the kernel has its own: leave it out")
    of_kernel = {"tcp": _KERNEL_TCP, "selects": False, "emulators": EMULATORS[:1]} if request.on_kernel else {}
    bed = FlusherBed.of(request, **of_kernel)
    exhibits = gallery("flusher", bed.parts)
    return Reproduction(
        plan=plan(bed),
        observe=lambda place, run: observe(run, place[1]),
        evidence=evidence,
        judge=lambda claims, runs: judge(claims, runs, bed.readings),
        beside=lambda _claims, _runs, judged: others(judged),
        exhibits=lambda runs: exhibits(runs[bed.emulators[0]]),
        facts={"back end": bed.backend, "TCP": bed.whose_tcp},
    )
