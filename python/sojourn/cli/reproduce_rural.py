"""`sojourn reproduce rural`: what is told of "Tackling Bufferbloat in Capacity-limited Networks"."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from sojourn import _native, backends, plan
from sojourn.cli import options, reproduce
from sojourn.errors import ParamError
from sojourn.papers.paper import RURAL
from sojourn.run_store import RunStore

if TYPE_CHECKING:
    from sojourn.papers.rural import Bed, Outcome
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
    "characteristics. Not stated in the paper, and assumed: delayed acknowledgements; which values the sweeps have "
    "beside those it names; which RTTs between 50 and 550 ms; the whole satellite path but its 1 Mbit/s (Fig. 8)."
)

_KERNEL = (
    "Here the stacks and queues are the kernel's, and of the parts only those of section V are there. What follows "
    "`why` in the reasons has the simulation's numbers."
)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.claims import judge_rural
    from sojourn.papers import document, rural
    from sojourn.store import ResultFolder, plan_name

    reproduce.check(RURAL, asked)
    backend = backends.named(asked.backend)
    bed = rural.Bed(
        profile=reproduce.profile_of(RURAL.profiles[asked.profile], asked),
        parts=_parts(asked.only, backend.name),
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or ("linux-3.14" if backend.name == "sim" else "linux-6.1"),
        old_kernel=backend.name == "sim",
    )
    jobs = plan.jobs([planned.scenario for planned in rural.plan(bed)], backend=backend)
    name = plan_name("reproduce", backend.name, asked.paper, asked.only, [job.text for job in jobs])
    folder = ResultFolder(asked.out, force=asked.force, plan=name)
    store = options.store_of(asked)
    assert store is not None
    with options.say_how_to_go_on("the same command goes on from there"):
        outcome = rural.reproduce(
            bed, workers=asked.workers, progress=RURAL.name, store=RunStore(store), dask=asked.dask, backend=backend
        )
    print("judging the claims", file=sys.stderr)
    claims = judge_rural(rural.claims(bed.parts), outcome.evidence)
    print("drawing the figures", file=sys.stderr)
    told = _told(bed, outcome, claims, asked.only, backend.name)
    from sojourn import report

    reproduce.write_exhibits(folder, told)
    page = folder.write("report.html", report.paper(told))
    if asked.document is not None:
        document.write(told, asked.document)
    shown = "\n\n".join([*reproduce.describe_exhibits(told, hidden="cells"), f"report: {page}"])
    print(json.dumps(claims, indent=1) if asked.json else shown)
    failed = any(claim["verdict"] == "fails" for claim in claims)
    return 1 if asked.strict and failed else 0


def _parts(only: str | None, backend: str) -> tuple[str, ...]:
    from sojourn.papers.rural import KERNEL_PARTS, PARTS

    known = PARTS if backend == "sim" else KERNEL_PARTS
    if only is None:
        return known
    if only not in known:
        message = (
            f"only is {only!r}, but on the {backend} back end must be one of {', '.join(known)}: the others need "
            "ns-2's forms of CoDel, which only the simulator has"
        )
        raise ParamError(message)
    return (only,)


def _told(bed: Bed, outcome: Outcome, claims: list[dict[str, Any]], only: str | None, backend: str) -> PaperReport:
    from sojourn.papers.rural_exhibits import exhibits
    from sojourn.report import PaperReport

    profile = bed.profile
    counts = Counter(claim["verdict"] for claim in claims)
    facts = (
        ("runs", str(outcome.runs)),
        ("repeats", f"{profile.repeat} of each cell; emulation and satellite {profile.other_repeat}"),
        ("measured window", profile.duration),
        ("seeds", f"from {bed.seed} on"),
        ("back end", backend),
        ("TCP", f"{bed.tcp if backend == 'sim' else 'the kernel'}, Reno"),
        ("version", _native.__version__),
        ("claims", ", ".join(f"{counts[word]} {word}" for word in ("holds", "fails", "cannot tell"))),
    )
    return PaperReport(
        title="Tackling Bufferbloat in Capacity-limited Networks" + ("" if only is None else f": {RURAL.parts[only]}"),
        reference=RURAL.reference,
        command=options.command_line(),
        facts=facts,
        setup=_SETUP if backend == "sim" else f"{_SETUP} {_KERNEL}",
        exhibits=exhibits(outcome.evidence),
        claims=tuple(claims),
    )
