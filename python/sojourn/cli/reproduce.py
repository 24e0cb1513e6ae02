"""`sojourn reproduce PAPER`: a paper's figures and tables, and a verdict on each of its claims."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _native, backends, plan, tables
from sojourn.cli import options
from sojourn.errors import ParamError
from sojourn.papers import PAPERS
from sojourn.results import links
from sojourn.run_store import RunStore
from sojourn.stored import Results, write_index

if TYPE_CHECKING:
    from sojourn.papers.good_bad_wifi import Bed, Outcome
    from sojourn.papers.paper import Paper, Profile
    from sojourn.report import PaperReport
    from sojourn.store import ResultFolder

#: What the exhibits of a part of the paper begin with.
_EXHIBITS = {
    "rrul": ("table1", "fig2"),
    "voip": ("fig3", "table2", "voip"),
    "web": ("fig4", "fig5", "page"),
    "fairness": ("fig6",),
    "transient": ("fig7",),
}
_SETUP = (
    "Client, router, delay, router and server in a row; tbf and the discipline under test at both bottleneck egresses; "
    "base round-trip time 50 ms; disciplines as in Linux 3.14 with the parameters of Table 1, the same in both "
    "directions. All runs are simulated."
)

_ABOUT = """\
Runs a paper's experiments and writes claims.json, figures/*.svg and *.png, report.html, tables/*.md and *.csv,
table.md, table.csv and every run into DIR. Prints tables and verdicts and where the report is; with --json prints the
claims instead.

papers:
  good-bad-wifi   "The Good, the Bad and the WiFi", sections 4 to 6 and 8: RRUL, voice, web pages, RTT fairness and
                  start-up on links of 100/100, 10/10 and 10/1 Mbit/s (down/up) under seven queue disciplines:
                  Fig. 2 to 7, Tables 1 and 2, and 108 claims; TCP as in the paper's kernel (--tcp)
  rural           "Tackling Bufferbloat in Capacity-limited Networks": CoDel's interval and target at 1 Mbit/s and
                  300 ms, rural against default parameters over 50 to 550 ms, two paths of different length, the
                  emulated bed, and a model of the satellite service: Fig. 2 to 8 and 35 claims; with --backend linux
                  the last two

A claim that fails is a result, not an error: the exit status is 0 all the same, or 1 with --strict. The same command
goes on where it was stopped.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("reproduce", help="run a paper's experiments, judge its claims", description=_ABOUT)
    parser.add_argument("paper", metavar="PAPER", choices=PAPERS, help=f"one of {', '.join(PAPERS)}")
    parser.add_argument("--only", metavar="PART", help="which part of the paper (default: all there is)")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default="quick",
        help="good-bad-wifi: quick, 60 s (fairness 150 s) x 4 repeats, or paper, 140 s (600 s) x 30; rural: quick, "
        "300 s x 8 repeats (emulation and satellite 5), or paper, 300 s x 100 (10) (default quick)",
    )
    parser.add_argument("--duration", metavar="TIME", help="measured window of each run (default: the profile's)")
    parser.add_argument(
        "--tcp",
        metavar="VARIANT",
        help="whose loss recovery TCP has: linux-3.14, the paper's kernel, or linux-6.1 (default linux-3.14; on the "
        "linux back end linux-6.1, which stands for the kernel's own)",
    )
    parser.add_argument(
        "--document", metavar="FILE", type=Path, help="also write FILE, a Markdown page, and its figures beside it"
    )
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if a claim fails")
    options.add_repeats(parser, default="the profile's")
    options.add_output(
        parser, "print the claims as a JSON list", "the folder for claims, figures and report", out_required=True
    )
    parser.set_defaults(handler=handle)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.claims import judge_all, load
    from sojourn.papers import document, good_bad_wifi
    from sojourn.store import ResultFolder, plan_name

    paper = PAPERS[asked.paper]
    if paper.name == "rural":
        from sojourn.cli import reproduce_rural

        return reproduce_rural.handle(asked)
    check(paper, asked)
    backend = backends.named(asked.backend)
    bed = good_bad_wifi.Bed(
        profile=profile_of(paper.profiles[asked.profile], asked),
        part=asked.only,
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or ("linux-3.14" if backend.name == "sim" else "linux-6.1"),
        spared=backend.name == "sim",
    )
    jobs = plan.jobs([planned.scenario for planned in good_bad_wifi.plan(bed)], backend=backend)
    name = plan_name("reproduce", backend.name, asked.paper, asked.only, [job.text for job in jobs])
    folder = ResultFolder(asked.out, force=asked.force, plan=name)
    store = options.store_of(asked)
    assert store is not None
    with options.say_how_to_go_on("the same command goes on from there"):
        outcome = good_bad_wifi.reproduce(
            bed, workers=asked.workers, progress=paper.name, store=RunStore(store), dask=asked.dask, backend=backend
        )
    print("judging the claims", file=sys.stderr)
    prefixes = ("gbw-",) if asked.only is None else good_bad_wifi.CLAIMS[asked.only]
    claims = [claim for prefix in prefixes for claim in judge_all(load("good_bad_wifi", prefix), outcome.evidence)]
    print("drawing the figures", file=sys.stderr)
    told = _told(paper, bed, outcome, claims)
    page = _write(folder, told, outcome)
    if asked.document is not None:
        document.write(told, asked.document)
    print(json.dumps(claims, indent=1) if asked.json else _describe(told, outcome, page))
    failed = any(claim["verdict"] == "fails" for claim in claims)
    return 1 if asked.strict and failed else 0


def check(paper: Paper, asked: argparse.Namespace) -> None:
    """Raise `ParamError` if there is no such profile or part, or the document cannot be a file."""
    _one_of("profile", asked.profile, paper.profiles)
    if asked.only is not None:
        _one_of("only", asked.only, paper.parts)
    if asked.document is not None and asked.document.is_dir():
        message = f"document is {str(asked.document)!r}, but must be a file"
        raise ParamError(message)


def profile_of(profile: Profile, asked: argparse.Namespace) -> Profile:
    """Return the profile with the options that were given laid over it."""
    if asked.duration is not None:
        profile = dataclasses.replace(profile, duration=asked.duration, long_duration=asked.duration)
    if asked.repeat is not None:
        profile = dataclasses.replace(
            profile, repeat=asked.repeat, other_repeat=min(asked.repeat, profile.other_repeat)
        )
    return profile


def _one_of(field: str, value: str, known: dict[str, Any]) -> None:
    if value not in known:
        message = f"{field} is {value!r}, but must be one of {', '.join(known)}"
        raise ParamError(message)


def _told(paper: Paper, bed: Bed, outcome: Outcome, claims: list[dict[str, Any]]) -> PaperReport:
    from sojourn.papers.exhibits import exhibits
    from sojourn.report import PaperReport

    wanted = None if bed.part is None else _EXHIBITS[bed.part]
    profile = bed.profile
    counts = Counter(claim["verdict"] for claim in claims)
    facts = (
        ("runs", str(outcome.runs)),
        ("repeats", f"{profile.repeat} of each cell ({profile.other_repeat} with New Reno)"),
        ("measured window", f"{profile.duration}; RTT fairness {profile.long_duration}"),
        ("seeds", f"from {bed.seed} on"),
        ("TCP", f"{bed.tcp}, CUBIC"),
        ("version", _native.__version__),
        ("claims", ", ".join(f"{counts[word]} {word}" for word in ("holds", "fails", "cannot tell"))),
    )
    return PaperReport(
        title="The Good, the Bad and the WiFi" + ("" if bed.part is None else f": {paper.parts[bed.part]}"),
        reference=paper.reference,
        command=options.command_line(),
        facts=facts,
        setup=_SETUP,
        exhibits=tuple(one for one in exhibits(outcome.measured) if wanted is None or one.name.startswith(wanted)),
        claims=tuple(claims),
    )


def write_exhibits(folder: ResultFolder, told: PaperReport) -> None:
    """Write claims, figures and tables into the folder."""
    folder.write("claims.json", json.dumps(list(told.claims), indent=1) + "\n")
    for exhibit in told.exhibits:
        for figure in exhibit.figures:
            folder.write(f"figures/{figure.name}.svg", figure.svg)
            folder.write(f"figures/{figure.name}.png", figure.png)
        if exhibit.table is not None:
            folder.write(f"tables/{exhibit.table.name}.md", exhibit.table.markdown() + "\n")
            folder.write(f"tables/{exhibit.table.name}.csv", exhibit.table.csv())


def _write(folder: ResultFolder, told: PaperReport, outcome: Outcome) -> str:
    from sojourn import report

    write_exhibits(folder, told)
    comparison = outcome.comparison
    if comparison.cells:
        folder.write_frame("runs.parquet", comparison.runs)
        folder.write("table.csv", comparison.summary.write_csv())
        parts = [
            f"## {link} Mbit/s (down/up)\n\n{tables.markdown(report.headers(), report.table_rows(comparison, link))}\n"
            for link in links(comparison.cells)
        ]
        folder.write("table.md", "\n".join(parts))
        write_index(
            folder,
            Results(
                title=told.title,
                comparison=comparison,
                command=told.command,
                paper=told.reference,
                claims=told.claims,
            ),
        )
    return str(folder.write("report.html", report.paper(told)))


def _describe(told: PaperReport, outcome: Outcome, page: str) -> str:
    from sojourn import report

    parts: list[str] = []
    comparison = outcome.comparison
    for link in links(comparison.cells):
        table = tables.text(report.headers(), report.table_rows(comparison, link))
        parts.append(f"{link} Mbit/s (down/up)\n{table}")
    return "\n\n".join([*parts, *describe_exhibits(told, hidden="table1"), f"report: {page}"])


def describe_exhibits(told: PaperReport, *, hidden: str) -> list[str]:
    """Return the tables but one, and the claims, for a terminal."""
    parts = []
    for exhibit in told.exhibits:
        if exhibit.table is not None and exhibit.name != hidden:
            rows = [list(row) for row in exhibit.table.rows]
            parts.append(f"{exhibit.title}\n{tables.text(list(exhibit.table.headers), rows, left=exhibit.table.left)}")
    verdicts = [[claim["id"], claim["verdict"], _value(claim), claim["says"]] for claim in told.claims]
    parts.append(tables.text(["claim", "verdict", "value [95 % interval]", "says"], verdicts, left=4))
    parts.append(f"claims: {dict(told.facts)['claims']}")
    return parts


def _value(claim: dict[str, Any]) -> str:
    value, low, high = claim["value"], claim["low"], claim["high"]
    if value is None:
        return "-"
    ends = "" if low is None or low == high else f" [{low:.4g}, {high:.4g}]"
    unit = f" {claim['unit']}" if claim["unit"] else ""
    return f"{value:.4g}{ends}{unit}"
