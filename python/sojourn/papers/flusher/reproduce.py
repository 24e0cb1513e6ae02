"""`sojourn reproduce flusher`: "Fighting fire with fire"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

from sojourn.errors import ParamError
from sojourn.papers.flusher.evidence import EMULATORS
from sojourn.papers.flusher.judges import judge
from sojourn.papers.flusher.plan import BETTER, Bed, Outcome, plan, reproduce
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
    shared = {"back end": asked.backend.name, "TCP": "the kernel" if asked.on_kernel else bed.tcp}
    return Reproduction(
        plan=plan(bed),
        run=partial(reproduce, bed),
        judge=lambda claims, outcome: judge(claims, outcome.evidence),
        exhibits=lambda outcome, _claims, _judged: _exhibits(bed, outcome),
        facts=lambda judged: shared | _by_world(judged),
    )


def _exhibits(bed: Bed, outcome: Outcome) -> Iterable[Exhibit]:
    from sojourn.papers.flusher.exhibits import exhibits

    return exhibits(outcome.evidence[bed.emulators[0]], adaptive_only=bed.parts == (BETTER,))


def _by_world(claims: list[dict[str, Any]]) -> dict[str, str]:
    """Return how many of the counted claims hold, fail and cannot be told in each reading on each emulator."""
    counted = [claim["readings"] for claim in claims if "by_construction" not in claim]
    found = {}
    for world in counted[0] if counted else ():
        verdicts = Counter(readings[world] for readings in counted)
        words = ", ".join(f"{verdicts[word]} {word}" for word in ("holds", "fails", "cannot tell"))
        found[world.replace("_", " ")] = words
    return found
