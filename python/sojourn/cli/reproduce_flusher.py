"""`sojourn reproduce flusher`: what is told of "Fighting fire with fire"."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options
from sojourn.cli.reproduction import Reproduction, check, last_facts, parts_of, profile_of, reproduce, title_of
from sojourn.errors import ParamError
from sojourn.papers.kit.paper import FLUSHER

if TYPE_CHECKING:
    from sojourn.papers.flusher.plan import Bed, Outcome
    from sojourn.report import PaperReport

_SETUP = (
    "Client, a link of 10 Mbit/s, a router, a link of 5 Mbit/s with three tenths of the base RTT each way (Table "
    "6.1), a link of 10 Mbit/s, server, and the same way back. One TCP flow up that starts within the first "
    "second of the window. Before the slow link stands a shaper (HTB in the thesis, a token bucket of one packet "
    "here) and below it a netem with the link's delay and a limit of 10 to 100 packets: it holds the packets that"
    " it delays and those that wait for the link, and its limit counts both, so that the queue is at most the "
    "limit less what the link sends during the delay. Or CoDel, PIE or FQ-CoDel of 1000, with the delay behind "
    "it. That is HTB and netem; the thesis ran all scenarios on ipfw, too (section 6.2), whose queue is a FIFO "
    "before the delay, and does not say which of the two its figures show. Here the figures are from netem, and "
    "each claim is judged on both. The flusher is on the client's link, sees both directions, and sends its "
    "bursts into the client's link at its rate, through the same queues as the flow's data. Round-trip times are "
    "those of synthetic packet pairs between captures at client and server, all of them, the start included. As "
    "described: the thesis's text; with Karn: the same without samples of segments that were sent again, which "
    "section 4.8 misses; as written: its listings. A claim holds if it does in one of the three on one of the "
    "two; the list says in which. Not stated in the thesis, and assumed: where the flusher is, the TCP of Linux "
    "3.14 with an initial window of 10, and an unlimited receive window. A packet is 1514 bytes with the Ethernet"
    " header, which counts. The thesis has one run of a cell. What follows `why` in the reasons was found, "
    "numbers included, on the bed of ipfw."
)

_KERNEL = (
    "Only on netem. Here the hosts are the kernel's, with its own TCP, and the flusher is the daemon sojournd "
    "flush on the client's interface, its gate as wide as it goes. Cells with a flow that the flusher does not "
    "see are left out: the daemon sees all."
)
_KERNEL_TCP = "linux-6.1"


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.papers.flusher import plan as flusher
    from sojourn.papers.flusher.judges import judge
    from sojourn.papers.kit.claims import load

    check(FLUSHER, asked)
    parts = parts_of(FLUSHER, asked)
    backend = backends.for_many(asked.backend, "reproduce")
    on_kernel = backend.name != "sim"
    if on_kernel and asked.tcp not in (None, _KERNEL_TCP):
        message = f"tcp is {asked.tcp!r}, but the kernel has its own: leave it out"
        raise ParamError(message)
    bed = flusher.Bed(
        profile=profile_of(FLUSHER.profiles[asked.profile], asked),
        parts=flusher.PARTS if parts is None else parts,
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or (_KERNEL_TCP if on_kernel else "linux-3.14"),
        selects=not on_kernel,
        emulators=flusher.EMULATORS[:1] if on_kernel else flusher.EMULATORS,
    )
    paper: Reproduction[Outcome] = Reproduction(
        paper=FLUSHER,
        backend=backend,
        plan=flusher.plan(bed),
        run=lambda means: flusher.reproduce(bed, means),
        judge=lambda outcome: judge(load("flusher", parts=parts), outcome.evidence),
        tell=lambda outcome, claims: _told(bed, outcome, claims, parts, backend.name),
        hidden="cells",
    )
    return reproduce(asked, paper)


def _told(
    bed: Bed, outcome: Outcome, claims: list[dict[str, Any]], parts: Sequence[str] | None, backend: str
) -> PaperReport:
    from sojourn.papers.flusher.exhibits import exhibits
    from sojourn.papers.flusher.plan import BETTER
    from sojourn.report import PaperReport

    profile = bed.profile
    facts = (
        ("runs", str(outcome.runs)),
        ("repeats", f"{profile.repeat} of each cell of the figures; conjectures {profile.other_repeat}"),
        ("measured window", profile.duration),
        *last_facts(
            bed.seed,
            claims,
            back_end=backend,
            TCP=bed.tcp if bed.selects else "the kernel",
            **_by_reading(claims, bed.emulators),
        ),
    )
    return PaperReport(
        title=title_of("Fighting fire with fire", FLUSHER, parts),
        reference=FLUSHER.reference,
        command=options.command_line(),
        facts=facts,
        setup=_SETUP if bed.selects else f"{_SETUP} {_KERNEL}",
        exhibits=exhibits(outcome.evidence[bed.emulators[0]], adaptive_only=bed.parts == (BETTER,)),
        claims=tuple(claims),
        claimed="the thesis says",
    )


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
    from sojourn.papers.flusher.evidence import READINGS

    # The first emulator's readings have their bare names.
    return any(
        verdict == "holds" and (reading.endswith(f"({emulator})") or (emulator == "netem" and reading in READINGS))
        for reading, verdict in claim["readings"].items()
    )
