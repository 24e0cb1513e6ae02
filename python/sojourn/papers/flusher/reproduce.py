"""`sojourn reproduce flusher`: "Fighting fire with fire"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from sojourn.errors import ParamError
from sojourn.papers.flusher.evidence import EMULATORS, NETEM, READINGS
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
        facts=lambda judged: shared | _by_reading(judged, bed.emulators),
    )


def _exhibits(bed: Bed, outcome: Outcome) -> Iterable[Exhibit]:
    from sojourn.papers.flusher.exhibits import exhibits

    return exhibits(outcome.evidence[bed.emulators[0]], adaptive_only=bed.parts == (BETTER,))


def _by_reading(claims: list[dict[str, Any]], emulators: Sequence[str]) -> dict[str, str]:
    """Return how many claims hold in each reading."""
    readings = claims[0]["readings"] if claims else {}
    held = {reading: sum(claim["readings"][reading] == "holds" for claim in claims) for reading in readings}
    each = {f"hold {reading.replace('_', ' ')}": f"{count} of {len(claims)}" for reading, count in held.items()}
    return each | {
        f"hold on {emulator}": f"{sum(_holds_on(claim, emulator) for claim in claims)} of {len(claims)}"
        for emulator in emulators
        if len(emulators) > 1 and claims
    }


def _holds_on(claim: dict[str, Any], emulator: str) -> bool:
    # The first emulator's readings have their bare names.
    return any(
        verdict == "holds" and (reading.endswith(f"({emulator})") or (emulator == NETEM and reading in READINGS))
        for reading, verdict in claim["readings"].items()
    )
