"""`sojourn reproduce PAPER`: a paper's figures and tables, and a verdict on each of its claims."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from sojourn import api, plan, tables
from sojourn.cli import options
from sojourn.errors import ParamError
from sojourn.papers import PAPERS
from sojourn.results import links
from sojourn.run_store import RunStore
from sojourn.stored import Results, write_index

if TYPE_CHECKING:
    from sojourn.papers.good_bad_wifi import Outcome
    from sojourn.store import ResultFolder

_ABOUT = """\
Runs a paper's experiments and writes claims.json, figures/*.svg and *.png, report.html, table.md, table.csv and every
record into DIR. Prints the table and where the report is; with --json prints the claims instead.

papers:
  good-bad-wifi   "The Good, the Bad and the WiFi", section 5.1 (--only rrul): RRUL on links of 100/100, 10/10 and
                  10/1 Mbit/s (down/up), RTT 50 ms, under seven queue disciplines: Fig. 2a to 2c, and its claims

A claim that fails is a result, not an error: the exit status is 0 all the same, or 1 with --strict.
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
        help="quick: 60 s x 10 repeats; paper: 140 s x 30 repeats (default quick)",
    )
    parser.add_argument("--duration", metavar="TIME", help="measured window of each run (default: the profile's)")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if a claim fails")
    options.add_repeats(parser, default="the profile's")
    options.add_output(
        parser, "print the claims as a JSON list", "the folder for claims, figures and report", out_required=True
    )
    parser.set_defaults(handler=handle)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.claims import judge_all, load
    from sojourn.papers import good_bad_wifi
    from sojourn.store import ResultFolder, plan_name

    paper = PAPERS[asked.paper]
    _one_of("profile", asked.profile, paper.profiles)
    if asked.only is not None:
        _one_of("only", asked.only, paper.parts)
    profile = paper.profiles[asked.profile]
    wanted = {
        "duration": asked.duration or profile.duration,
        "repeat": profile.repeat if asked.repeat is None else asked.repeat,
        "seed": 1 if asked.seed is None else asked.seed,
        "backend": asked.backend,
    }
    api.require_backend(asked.backend)
    jobs = plan.jobs([planned.scenario for planned in good_bad_wifi.plan(**wanted)])
    name = plan_name("reproduce", asked.paper, asked.only, [job.text for job in jobs])
    folder = ResultFolder(asked.out, force=asked.force, plan=name)
    store = options.store_of(asked)
    assert store is not None
    with options.say_how_to_go_on("the same command goes on from there"):
        outcome = good_bad_wifi.reproduce(
            **wanted, workers=asked.workers, progress=paper.name, store=RunStore(store), dask=asked.dask
        )
    claims = judge_all(load("good_bad_wifi", "gbw-rrul-"), outcome.evidence)
    results = Results(
        title="The Good, the Bad and the WiFi, section 5.1: latency under load",
        comparison=outcome.comparison,
        command=options.command_line(),
        paper=paper.reference,
        claims=tuple(claims),
    )
    page = _write(folder, results)
    print(json.dumps(claims, indent=1) if asked.json else _describe(outcome, claims, page))
    failed = any(claim["verdict"] == "fails" for claim in claims)
    return 1 if asked.strict and failed else 0


def _one_of(field: str, value: str, known: dict[str, Any]) -> None:
    if value not in known:
        message = f"{field} is {value!r}, but must be one of {', '.join(known)}"
        raise ParamError(message)


def _write(folder: ResultFolder, results: Results) -> str:
    from sojourn import report
    from sojourn.papers.good_bad_wifi import FIGURES

    comparison = results.comparison
    folder.write("claims.json", json.dumps(list(results.claims), indent=1) + "\n")
    folder.write_frame("runs.parquet", comparison.runs)
    folder.write("table.csv", comparison.summary.write_csv())
    parts = [
        f"## {link} Mbit/s (down/up)\n\n{tables.markdown(report.headers(), report.table_rows(comparison, link))}\n"
        for link in links(comparison.cells)
    ]
    folder.write("table.md", "\n".join(parts))
    print("drawing the figures", file=sys.stderr)
    drawn = report.all_figures(results, FIGURES)
    for figure in (one for of_link in drawn.values() for one in of_link):
        folder.write(f"figures/{figure.name}.svg", figure.svg)
        folder.write(f"figures/{figure.name}.png", figure.png)
    page = folder.write("report.html", report.page(results, drawn))
    write_index(folder, results)
    return str(page)


def _describe(outcome: Outcome, claims: list[dict[str, Any]], page: str) -> str:
    from sojourn import report

    comparison = outcome.comparison
    parts = []
    for link in links(comparison.cells):
        table = tables.text(report.headers(), report.table_rows(comparison, link))
        parts.append(f"{link} Mbit/s (down/up)\n{table}")
    verdicts = [[claim["id"], claim["verdict"], _value(claim), claim["says"]] for claim in claims]
    parts.append(tables.text(["claim", "verdict", "value [95 % interval]", "says"], verdicts, left=4))
    parts.append(f"report: {page}")
    return "\n\n".join(parts)


def _value(claim: dict[str, Any]) -> str:
    value, low, high = claim["value"], claim["low"], claim["high"]
    if value is None:
        return "-"
    ends = "" if low is None or low == high else f" [{low:.4g}, {high:.4g}]"
    unit = f" {claim['unit']}" if claim["unit"] else ""
    return f"{value:.4g}{ends}{unit}"
