"""`sojourn reproduce rural`: what is told of "Tackling Bufferbloat in Capacity-limited Networks"."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options
from sojourn.cli.reproduction import Reproduction, check, last_facts, parts_of, profile_of, reproduce, title_of
from sojourn.errors import ParamError
from sojourn.papers.kit.paper import RURAL

if TYPE_CHECKING:
    from sojourn.papers.rural.plan import Bed, Outcome
    from sojourn.report import PaperReport

_SETUP = (
    "Senders, a router, a long link of 1 Mbit/s both ways, a router and receivers; the discipline under test at the "
    "first router's egress, 25 packets long (300 ms); a FIFO of 25 packets on the way back; access links of 100 Mbit/s "
    "with 300 packets. Reno with SACK, initial window of 3 segments; packets of 1500 bytes, 1514 with the Ethernet "
    "header, which counts. The base RTT includes the access links' delay. Low load is one flow of each kind, high load "
    "two: files of 1.7 MB with exponential idle times of 9.5 s on average, bulk transfers, and in Figs. 3 to 5 thin "
    "streams of 150 bytes every 300 ms, which an echo every 200 ms replaces in Figs. 2, 7 and 8. Flows start within "
    "the first second of 300. Figs. 3 to 6 have ns-2's forms of CoDel and FQ-CoDel (sfqCoDel of 2013), the others "
    "Linux 3.14's. The simulations' TCP is the bed's, Linux 3.14's, because the paper says that it has the same "
    "characteristics. Not stated in the paper, and assumed: delayed acknowledgements; that the hosts of Figs. 2, "
    "7 and 8 remember each other's slow-start threshold from one file to the next, as Linux does unless it is "
    "told not to, and those of ns-2 do not; which values the sweeps have beside those it names; which RTTs "
    "between 50 and 550 ms; the whole satellite path but its 1 Mbit/s (Fig. 8)."
)

_KERNEL = (
    "Here the stacks and queues are the kernel's, and of the parts only those of section V are there. What follows "
    "`why` in the reasons has the simulation's numbers."
)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.papers.rural import plan as rural
    from sojourn.papers.rural.judges import judge
    from sojourn.papers.rural.satellite import Satellite

    check(RURAL, asked)
    parts = parts_of(RURAL, asked)
    backend = backends.for_many(asked.backend, "reproduce")
    bed = rural.Bed(
        profile=profile_of(RURAL.profiles[asked.profile], asked),
        parts=_parts(parts, backend.name),
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or ("linux-3.14" if backend.name == "sim" else "linux-6.1"),
        old_kernel=backend.name == "sim",
        satellite=Satellite.read(asked.satellite),
    )
    paper: Reproduction[Outcome] = Reproduction(
        paper=RURAL,
        backend=backend,
        plan=rural.plan(bed),
        run=lambda means: rural.reproduce(bed, means),
        judge=lambda outcome: judge(rural.claims(bed.parts), outcome.evidence),
        tell=lambda outcome, claims: _told(bed, outcome, claims, parts, backend.name),
        hidden="cells",
    )
    return reproduce(asked, paper)


def _parts(asked: tuple[str, ...] | None, backend: str) -> tuple[str, ...]:
    from sojourn.papers.rural.plan import KERNEL_PARTS, PARTS

    known = PARTS if backend == "sim" else KERNEL_PARTS
    if asked is None:
        return known
    for part in asked:
        if part not in known:
            message = (
                f"only is {part!r}, but on the {backend} back end must be one of {', '.join(known)}: the others need "
                "ns-2's forms of CoDel, which only the simulator has"
            )
            raise ParamError(message)
    return asked


def _told(
    bed: Bed, outcome: Outcome, claims: list[dict[str, Any]], parts: Sequence[str] | None, backend: str
) -> PaperReport:
    from sojourn.papers.rural.exhibits import exhibits
    from sojourn.report import PaperReport

    profile = bed.profile
    facts = (
        ("runs", str(outcome.runs)),
        ("repeats", f"{profile.repeat} of each cell; emulation and satellite {profile.other_repeat}"),
        ("measured window", profile.duration),
        *last_facts(bed.seed, claims, back_end=backend, TCP=f"{bed.tcp if backend == 'sim' else 'the kernel'}, Reno"),
    )
    return PaperReport(
        title=title_of("Tackling Bufferbloat in Capacity-limited Networks", RURAL, parts),
        reference=RURAL.reference,
        command=options.command_line(),
        facts=facts,
        setup=_SETUP if backend == "sim" else f"{_SETUP} {_KERNEL}",
        exhibits=exhibits(outcome.evidence),
        claims=tuple(claims),
    )
