"""What every `sojourn reproduce PAPER` does: run the plan, judge the claims, draw, write and print."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn import _native, backends, bounds, plan, tables
from sojourn.cli import options
from sojourn.lazy import mapped
from sojourn.store.claims import JudgedClaim, to_json
from sojourn.store.index import store_beside
from sojourn.study import worlds
from sojourn.study.claims import load
from sojourn.study.paper import Paper
from sojourn.study.plan import Outcome
from sojourn.study.reproduction import E, Reproduction, Request

if TYPE_CHECKING:
    from pathlib import Path

    from sojourn.report import Report
    from sojourn.store.folder import ResultFolder


def reproduce(
    args: argparse.Namespace,
    request: Request,
    one: Reproduction[Any, E],
    others: Mapping[str, tuple[Request, Reproduction[Any, Any]]],
) -> int:
    """Reproduce a paper, in other worlds too, and return the exit status."""
    paper, backend = one.paper or request.paper, request.backend
    plans = {"": (request, one), **others}
    number = sum(len(each.plan) for _, each in plans.values())
    bounds.check_plan(number)
    ends = []
    for where, each in plans.values():
        jobs = plan.jobs(
            mapped(lambda planned: planned.scenario, each.plan), backend=where.backend
        )  # which are checked
        # Between the first and the last run of a cell there are its seeds alone.
        ends += [jobs[place].text for place in jobs.kinds]
    for reached in {where.backend.spec: where.backend for where, _ in plans.values()}.values():
        backends.reach(reached)  # the request first, then the machine
    only = None if request.parts is None else ",".join(request.parts)
    name = ("reproduce", backend.spec, paper.name, only, number, [*ends, *others])
    folder = options.result_folder(args, *name, again=False, runs=number)
    means = options.means(args, folder, paper.name, backend)
    # What draws is loaded meanwhile: it takes as long as dozens of short runs.
    threading.Thread(target=_load_report).start()
    known = load(paper.folder)
    elsewhere, runs = {}, 0
    with options.say_how_to_go_on():
        outcome = one.run(means)
        for world, (where, each) in others.items():
            there = dataclasses.replace(means, backend=where.backend, progress=f"{paper.name}, {world}")
            came = each.run(there)
            runs += came.runs
            elsewhere[world] = {one.id: one.verdict for one in each.judge(where.judged(known), came.evidence)}
    from sojourn.study import page as pages

    print("judging the claims", file=sys.stderr)
    claims = request.judged(known)
    judged = one.judge(claims, outcome.evidence)
    for world, verdicts in {**one.beside(claims, outcome.evidence, judged), **elsewhere}.items():
        worlds.beside(judged, world, verdicts)
    print("drawing the figures", file=sys.stderr)
    paper_report = _paper_report(request, paper, one, outcome, judged, runs)
    paper_report = dataclasses.replace(paper_report, store=store_beside(means.store, folder))
    page = write_exhibits(folder, paper_report)
    one.keep(folder, paper_report, outcome.evidence)
    if args.document is not None:
        pages.write(paper_report, args.document)
    shown = [*one.begin(outcome.evidence), *describe_exhibits(paper_report, hidden=paper.hidden), f"report: {page}"]
    print(to_json(judged) if args.json else "\n\n".join(shown))
    folder.finish()
    failed = any(claim.verdict == "fails" for claim in judged)
    return 1 if args.strict and failed else 0


def _paper_report(
    request: Request,
    paper: Paper,
    one: Reproduction[Any, E],
    outcome: Outcome[E],
    judged: list[JudgedClaim],
    elsewhere: int,
) -> Report:
    """Return what the report shows; `elsewhere` is the number of runs in other worlds."""
    from sojourn.report.exhibit import Exhibit, Report, verdicts, worlds_of
    from sojourn.report.result import of_claims

    profile, parts = request.profile, request.parts
    world = ", ".join(f"{name} {value}" for name, value in paper.world.items())
    shown = list(one.exhibits(outcome.evidence))
    if worlds_of(judged):
        shown.append(
            Exhibit(
                name="worlds",
                title="The claims in other worlds",
                section="all",
                says="How many claims hold where one thing of the set-up is otherwise. The list of claims says which.",
                table=worlds.table(judged, f"{world} (declared)"),
                paragraphs=worlds.about(paper.worlds, judged),
            )
        )
    title = paper.title if parts is None else f"{paper.title}: {'; '.join(paper.parts[part] for part in parts)}"
    return Report(
        title=title,
        reference=paper.reference,
        result=of_claims(judged, shown),
        command=options.command_line(),
        facts=(
            ("runs", str(outcome.runs)),
            *([("runs in other worlds", str(elsewhere))] if elsewhere else []),
            ("repeats", paper.repeats.format(**dataclasses.asdict(profile))),
            ("measured window", profile.duration + (f"; {paper.long} {profile.long_duration}" if paper.long else "")),
            ("seeds", f"from {request.seed} on"),
            *([("counted world", world)] if request.declared else []),
            *one.facts.items(),
            ("version", _native.__version__),
            ("claims", ", ".join(f"{count} {word}" for word, count in verdicts(judged))),
        ),
        setup=f"{paper.setup}\n\n{paper.setup_on_kernel}".strip() if request.on_kernel else paper.setup,
        exhibits=tuple(shown),
        claims=tuple(judged),
        claimed=paper.claimed,
    )


def _load_report() -> None:
    from sojourn import report  # noqa: F401


def write_exhibits(folder: ResultFolder, paper_report: Report) -> Path:
    """Write claims, figures, tables and the page into the folder; return the path of the page."""
    from sojourn import report

    folder.write("claims.json", to_json(paper_report.claims) + "\n")
    for exhibit in paper_report.exhibits:
        if exhibit.table is not None:
            folder.write(f"tables/{exhibit.table.name}.md", exhibit.table.markdown() + "\n")
            folder.write(f"tables/{exhibit.table.name}.csv", exhibit.table.csv())
    return report.write(folder, paper_report)


def describe_exhibits(paper_report: Report, *, hidden: str) -> list[str]:
    """Return the tables but one, and the claims, for a terminal."""
    from sojourn.report.exhibit import verdict

    parts = []
    for exhibit in paper_report.exhibits:
        if exhibit.table is not None and exhibit.name != hidden:
            rows = [list(row) for row in exhibit.table.rows]
            parts.append(f"{exhibit.title}\n{tables.text(list(exhibit.table.headers), rows, left=exhibit.table.left)}")
    verdicts = [[claim.id, verdict(claim), claim.numbers, claim.says] for claim in paper_report.claims]
    parts.append(tables.text(["claim", "verdict", "value [95 % interval]", "says"], verdicts, left=4))
    parts.append(f"claims: {dict(paper_report.facts)['claims']}")
    return parts
