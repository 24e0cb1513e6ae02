"""`sojourn reproduce wifi-next-steps`: what each next step of seed 002 section 4 brings and what it costs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options
from sojourn.cli.reproduction import Reproduction, check, last_facts, parts_of, profile_of, reproduce, title_of
from sojourn.errors import ParamError
from sojourn.papers.kit.paper import WIFI_NEXT_STEPS

if TYPE_CHECKING:
    from sojourn.papers.wifi_next_steps.plan import Bed, Outcome
    from sojourn.report import PaperReport

_SETUP = (
    "Unless a part says otherwise: a server, a wire of 1 Gbit/s with a base RTT of 1 ms, an access point with the "
    "scheme airtime, and three stations, two at 144.4 Mbit/s (HT MCS 15, 20 MHz, short guard interval) and one at 7.2 "
    "Mbit/s (MCS 0), each with a TCP download (CUBIC) and a ping each 200 ms; no losses on the air but by collisions; "
    "two aggregates in the hardware, of 32 frames, 4 ms and 65535 bytes at most. One option differs from cell to cell. "
    "Pings are the mean over the stations of each one's median or percentile, of those that were answered; voice is a "
    "stream of 50 packets a second down to a station, its delay what it has above an idle path's. All runs are "
    "simulated."
)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.papers.kit.claims import load
    from sojourn.papers.wifi_next_steps import plan as wifi_next_steps
    from sojourn.papers.wifi_next_steps.judges import JUDGES

    check(WIFI_NEXT_STEPS, asked)
    parts = parts_of(WIFI_NEXT_STEPS, asked)
    backend = backends.for_many(asked.backend, "reproduce")
    if backend.name != "sim":
        message = f"backend is {backend.name!r}, but wifi-next-steps needs sim: only the simulator has Wi-Fi cells"
        raise ParamError(message)
    if asked.tcp is not None:
        message = f"tcp is {asked.tcp!r}, but wifi-next-steps has no kernel of a paper to be like: leave it out"
        raise ParamError(message)
    bed = wifi_next_steps.Bed(
        profile=profile_of(WIFI_NEXT_STEPS.profiles[asked.profile], asked),
        parts=wifi_next_steps.PARTS if parts is None else parts,
        seed=1 if asked.seed is None else asked.seed,
    )
    paper: Reproduction[Outcome] = Reproduction(
        paper=WIFI_NEXT_STEPS,
        backend=backend,
        plan=wifi_next_steps.plan(bed),
        run=lambda means: wifi_next_steps.reproduce(bed, means),
        judge=lambda outcome: JUDGES.judge(load("wifi_next_steps", parts=parts), outcome.evidence),
        tell=lambda outcome, claims: _told(bed, outcome, claims, parts),
        hidden="dense",
    )
    return reproduce(asked, paper)


def _told(bed: Bed, outcome: Outcome, claims: list[dict[str, Any]], parts: Sequence[str] | None) -> PaperReport:
    from sojourn.papers.wifi_next_steps.exhibits import exhibits
    from sojourn.report import PaperReport

    profile = bed.profile
    return PaperReport(
        title=title_of("Next steps of the WiFi stack", WIFI_NEXT_STEPS, parts),
        reference=WIFI_NEXT_STEPS.reference,
        command=options.command_line(),
        facts=(
            ("runs", str(outcome.runs)),
            ("repeats", f"{profile.repeat} of each cell"),
            ("measured window", profile.duration),
            *last_facts(bed.seed, claims, TCP="linux-6.1, CUBIC"),
        ),
        setup=_SETUP,
        exhibits=exhibits(outcome.evidence),
        claims=tuple(claims),
        claimed="what is expected",
    )
