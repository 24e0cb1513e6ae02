"""What every `sojourn reproduce PAPER` does: run the plan, judge the claims, draw, write and print."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sojourn import _native, backends, bounds, plan, tables
from sojourn.backends import Backend
from sojourn.cli import options
from sojourn.errors import ParamError
from sojourn.files import check_target
from sojourn.lazy import mapped
from sojourn.papers.kit.execute import Means, Planned
from sojourn.papers.kit.paper import Paper, Profile
from sojourn.store.run_store import RunStore

if TYPE_CHECKING:
    from sojourn.report import PaperReport
    from sojourn.store.folder import ResultFolder

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, kw_only=True)
class Reproduction(Generic[Outcome]):
    """A paper as the command runs it.

    Attributes
    ----------
    paper, backend
        Which, and what makes the runs.
    plan
        All runs.
    run
        Runs them.
    judge
        Returns the claims in the form of `claims.json`.
    tell
        Returns what the report shows, from the outcome and the claims.
    hidden
        The exhibit whose table is too long or too plain for a terminal.
    keep
        Writes what the folder holds besides claims, figures, tables and the report.
    begin
        Returns what is printed before the exhibits' tables.
    """

    paper: Paper
    backend: Backend
    plan: Sequence[Planned[Any]]
    run: Callable[[Means], Outcome]
    judge: Callable[[Outcome], list[dict[str, Any]]]
    tell: Callable[[Outcome, list[dict[str, Any]]], PaperReport]
    hidden: str
    keep: Callable[[ResultFolder, PaperReport, Outcome], None] = lambda _folder, _told, _outcome: None
    begin: Callable[[Outcome], list[str]] = lambda _outcome: []


def reproduce(asked: argparse.Namespace, one: Reproduction[Outcome]) -> int:
    """Reproduce a paper and return the exit status."""
    from sojourn.store.folder import ResultFolder, plan_name

    bounds.check_plan(len(one.plan))
    jobs = plan.jobs(mapped(lambda planned: planned.scenario, one.plan), backend=one.backend)  # which are checked
    backends.reach(one.backend)  # the request first, then the machine
    parts = parts_of(one.paper, asked)
    only = None if parts is None else ",".join(parts)
    # Between the first and the last run of a cell there are its seeds alone.
    ends = [jobs[place].text for place in jobs.kinds]
    name = plan_name("reproduce", one.backend.name, asked.paper, only, len(jobs), ends)
    folder = ResultFolder(asked.out, force=asked.force, plan=name)
    store = options.store_of(asked, folder)
    assert store is not None
    means = Means(
        workers=asked.workers,
        progress=one.paper.name,
        store=RunStore(store),
        dask=asked.dask,
        backend=one.backend,
    )
    # What draws is loaded meanwhile: it takes as long as dozens of short runs.
    threading.Thread(target=_load_report).start()
    with options.say_how_to_go_on("the same command goes on from there"):
        outcome = one.run(means)
    from sojourn import report
    from sojourn.papers.kit import document

    print("judging the claims", file=sys.stderr)
    claims = one.judge(outcome)
    print("drawing the figures", file=sys.stderr)
    told = one.tell(outcome, claims)
    write_exhibits(folder, told)
    one.keep(folder, told, outcome)
    page = folder.write("report.html", report.paper(told))
    if asked.document is not None:
        document.write(told, asked.document)
    shown = [*one.begin(outcome), *describe_exhibits(told, hidden=one.hidden), f"report: {page}"]
    print(json.dumps(claims, indent=1) if asked.json else "\n\n".join(shown))
    folder.finish()
    failed = any(claim["verdict"] == "fails" for claim in claims)
    return 1 if asked.strict and failed else 0


def _load_report() -> None:
    from sojourn import report  # noqa: F401


def check(paper: Paper, asked: argparse.Namespace) -> None:
    """Raise `ParamError` if there is no such profile, part or option, or the document cannot be a file."""
    if asked.satellite is not None and "satellite" not in paper.parts:
        message = f"satellite is {asked.satellite!r}, but only the paper rural has such a path, not {paper.name}"
        raise ParamError(message)
    _one_of("profile", asked.profile, paper.profiles)
    parts_of(paper, asked)
    if asked.document is not None:
        check_target(asked.document, "document", force=asked.force)


def parts_of(paper: Paper, asked: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the parts that were asked for, in the order of the paper, or `None` for all there is.

    Raises
    ------
    ParamError
        If there is no such part, or one is named twice.
    """
    if asked.only is None:
        return None
    named = asked.only.split(",")
    for part in named:
        _one_of("only", part, paper.parts)
        if named.count(part) > 1:
            message = f"only has {part!r} twice, but each part must be named once"
            raise ParamError(message)
    return tuple(part for part in paper.parts if part in named)


def title_of(title: str, paper: Paper, parts: Sequence[str] | None) -> str:
    """Return the title of a report about some parts of a paper, or all."""
    return title if parts is None else f"{title}: {'; '.join(paper.parts[part] for part in parts)}"


def profile_of(profile: Profile, asked: argparse.Namespace) -> Profile:
    """Return the profile with the options that were given laid over it."""
    if asked.duration is not None:
        profile = dataclasses.replace(profile, duration=asked.duration, long_duration=asked.duration)
    if asked.repeat is not None:
        profile = dataclasses.replace(profile, repeat=asked.repeat, other_repeat=asked.repeat)
    return profile


def last_facts(seed: int, claims: list[dict[str, Any]], **between: str) -> tuple[tuple[str, str], ...]:
    """Return the facts that every report ends with: seeds, what the paper adds, version and verdicts."""
    counts = Counter(claim["verdict"] for claim in claims)
    return (
        ("seeds", f"from {seed} on"),
        *((name.replace("_", " "), value) for name, value in between.items()),
        ("version", _native.__version__),
        ("claims", ", ".join(f"{counts[word]} {word}" for word in ("holds", "fails", "cannot tell"))),
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


def _one_of(field: str, value: str, known: dict[str, Any]) -> None:
    if value not in known:
        message = f"{field} is {value!r}, but must be one of {', '.join(known)}"
        raise ParamError(message)


def _value(claim: dict[str, Any]) -> str:
    value, low, high = claim["value"], claim["low"], claim["high"]
    if value is None:
        return "-"
    ends = "" if low is None or low == high else f" [{low:.4g}, {high:.4g}]"
    unit = f" {claim['unit']}" if claim["unit"] else ""
    return f"{value:.4g}{ends}{unit}"
