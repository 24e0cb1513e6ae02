"""`sojourn reproduce wifi-stack`: what is told of "Bufferbloat mitigation in the WiFi stack"."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options
from sojourn.cli.reproduction import Reproduction, check, last_facts, parts_of, profile_of, reproduce, title_of
from sojourn.errors import ParamError
from sojourn.papers.kit.paper import WIFI_STACK

if TYPE_CHECKING:
    from sojourn.papers.wifi_stack.plan import Bed, Outcome
    from sojourn.report import PaperReport

#: What the exhibits of a part of the paper are.
_EXHIBITS = {
    "latency": ("fig2", "cells"),
    "airtime": ("fig3", "model", "cells"),
    "throughput": ("fig4", "cells"),
    "mechanisms": ("cells",),
}

_SETUP = (
    "A server, a wire of 1 Gbit/s with a FIFO of 1000 packets, an access point, and three stations: two at 144.4 "
    "Mbit/s (HT MCS 15, 20 MHz, short guard interval) and one at 7.2 Mbit/s (MCS 0), in the 5 GHz band, without "
    "losses on the air. Everything contends, TCP's acknowledgements too. The access point queues by one of four "
    "schemes: pfifo_fast or fq_codel above a driver that holds 123 frames of each access category, as ath9k did, or "
    "the queues inside the MAC without (FQ-MAC) and with the airtime scheduler; two aggregates in the hardware, of "
    "32 frames, 4 ms and 65535 bytes at most. The rates are those of the paper behind this one, 'Ending the "
    "Anomaly'. Not stated in either, and assumed: a base RTT of 1 ms on the wire, 50 Mbit/s of UDP to each station, "
    "CUBIC. TCP downloads last 120 s rather than 30: on so short a wire HyStart ends slow start at some 40 "
    "segments, and until CUBIC has filled a FIFO of 1000 packets, which takes it 20 s, the fast stations have what "
    "the slow one has not asked for yet (over 30 s FIFO has 42 Mbit/s in all, and FQ-CoDel 34). All runs are "
    "simulated."
)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.papers.wifi_stack import plan as wifi_stack
    from sojourn.papers.wifi_stack.judges import judge

    check(WIFI_STACK, asked)
    parts = parts_of(WIFI_STACK, asked)
    backend = backends.for_many(asked.backend, "reproduce")
    if backend.name != "sim":
        message = f"backend is {backend.name!r}, but wifi-stack needs sim: only the simulator has Wi-Fi cells"
        raise ParamError(message)
    bed = wifi_stack.Bed(
        profile=profile_of(WIFI_STACK.profiles[asked.profile], asked),
        parts=wifi_stack.PARTS if parts is None else parts,
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or "linux-3.14",
    )
    paper: Reproduction[Outcome] = Reproduction(
        paper=WIFI_STACK,
        backend=backend,
        plan=wifi_stack.plan(bed),
        run=lambda means: wifi_stack.reproduce(bed, means),
        judge=lambda outcome: judge(wifi_stack.claims(bed.parts), outcome.evidence),
        tell=lambda outcome, claims: _told(bed, outcome, claims, parts),
        hidden="cells",
    )
    return reproduce(asked, paper)


def _told(bed: Bed, outcome: Outcome, claims: list[dict[str, Any]], parts: Sequence[str] | None) -> PaperReport:
    from sojourn.papers.wifi_stack.exhibits import exhibits
    from sojourn.report import PaperReport

    profile = bed.profile
    wanted = None if parts is None else {name for part in parts for name in _EXHIBITS[part]}
    return PaperReport(
        title=title_of("Bufferbloat mitigation in the WiFi stack", WIFI_STACK, parts),
        reference=WIFI_STACK.reference,
        command=options.command_line(),
        facts=(
            ("runs", str(outcome.runs)),
            ("repeats", f"{profile.repeat} of each cell of three stations; {profile.other_repeat} of the others"),
            ("measured window", f"{profile.duration}; TCP downloads {profile.long_duration}"),
            *last_facts(bed.seed, claims, TCP=f"{bed.tcp}, CUBIC"),
        ),
        setup=_SETUP,
        exhibits=tuple(one for one in exhibits(outcome.evidence) if wanted is None or one.name in wanted),
        claims=tuple(claims),
    )
