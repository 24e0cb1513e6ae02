"""`sojourn reproduce PAPER`: a paper's figures and tables, and a verdict on each of its claims."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from sojourn import backends, papers
from sojourn.cli import options
from sojourn.errors import ParamError, refused
from sojourn.files import check_target
from sojourn.study.paper import Paper, Profile

_ABOUT = """\
Runs a paper's experiments and writes claims.json, figures/*.svg and *.png, report.html, tables/*.md and *.csv,
table.md, table.csv and every run into DIR. Prints the tables, the verdicts and the path of the report, or with --json
the claims instead. `sojourn reproduce PAPER --help` shows the parts and profiles of one paper.

papers:
{papers}
A claim that fails is a result, not an error. The exit status is then still 0, or 1 with --strict. If the command was
stopped, the same command goes on from there.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("reproduce", help="run a paper's experiments, judge its claims")
    parser.about = _about
    parser.add_argument("paper", metavar="PAPER", choices=papers.NAMES, help=f"one of {', '.join(papers.NAMES)}")
    parser.add_argument(
        "--only",
        metavar="PART[,PART...]",
        help="parts of the paper to run, separated by commas (default: all)",
    )
    parser.add_argument(
        "--profile", metavar="NAME", default="quick", help="how much to run: quick or paper (default quick)"
    )
    parser.add_argument("--duration", metavar="TIME", help="measured window of each run (default: the profile's)")
    parser.add_argument(
        "--tcp",
        metavar="VARIANT",
        help="the kernel whose TCP the hosts have, a value of tcp.variant (docs/scenario.md), such as linux-3.14 or "
        "linux-6.1 (default: that of the paper's hosts; on the linux back end linux-6.1, which means the TCP of the "
        "kernel itself)",
    )
    parser.add_argument(
        "--satellite",
        metavar="KEY=VALUE[,...]",
        help="for rural, the properties of the satellite path, about which the paper says little: rtt, return (rate of "
        "the return channel), loss (of data packets), jitter (of on-demand allocation) (default "
        "rtt=580ms,return=256kbit,loss=0,jitter=0ms)",
    )
    parser.add_argument(
        "--document", metavar="FILE", type=Path, help="also write FILE, a Markdown page, and its figures beside it"
    )
    parser.add_argument(
        "--worlds",
        metavar="NAME[,NAME...]",
        help="worlds (other assumptions than the paper's set-up) in which the claims are judged too: all, or some of "
        "those that the paper's help lists (default: those that need no runs of their own)",
    )
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if a claim fails")
    options.add_repeats(parser, default="the profile's")
    options.add_output(
        parser, "print the claims as a JSON list", "the folder for claims, figures and report", out_required=True
    )
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.cli.reproduction import reproduce
    from sojourn.study.reproduction import Request
    from sojourn.study.worlds import chosen

    paper = papers.paper(args.paper)
    check(paper, args)
    parts = parts_of(paper, args)
    backend = backends.for_many(options.backend_of(args), "reproduce")
    paper.check_parts(parts, backend.name)
    request = Request(
        paper=paper,
        backend=backend,
        profile=profile_of(paper.profiles[args.profile], args),
        parts=parts,
        seed=1 if args.seed is None else args.seed,
        tcp=paper.tcp_on(backend.name, args.tcp),
        stated_tcp=args.tcp,
        satellite=args.satellite,
    )
    if args.worlds is not None and not request.declared:
        message = (
            f"worlds is {args.worlds!r}, but other worlds can stand only beside the declared one: leave out tcp, "
            "backend and others"
        )
        raise ParamError(message)
    reproduction = import_module(f"sojourn.papers.{paper.folder}.reproduce").reproduction
    others = [(world.name, world.request(request)) for world in chosen(paper.worlds, args.worlds)]
    return reproduce(
        args,
        request,
        reproduction(request),
        {name: (one, reproduction(one)) for name, one in others if one is not None},
    )


def check(paper: Paper, args: argparse.Namespace) -> None:
    """Raise `ParamError` if there is no such profile, part or option, or the document cannot be a file."""
    if args.satellite is not None and "satellite" not in paper.parts:
        raise refused(args.satellite, "satellite", f"only the paper rural has such a path, not {paper.name}")
    _one_of("profile", args.profile, paper.profiles)
    parts_of(paper, args)
    if args.document is not None:
        check_target(args.document, "document", force=args.force)


def parts_of(paper: Paper, args: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the parts that were asked for, in the order of the paper, or `None` for all there is.

    Raises `ParamError` if there is no such part, or one is named twice.
    """
    if args.only is None:
        return None
    named = args.only.split(",")
    for part in named:
        _one_of("only", part, paper.parts)
        if named.count(part) > 1:
            message = f"only has {part!r} twice, but each part must be named once"
            raise ParamError(message)
    return tuple(part for part in paper.parts if part in named)


def profile_of(profile: Profile, args: argparse.Namespace) -> Profile:
    """Return the profile with the options that were given laid over it."""
    if args.duration is not None:
        profile = dataclasses.replace(profile, duration=args.duration, long_duration=args.duration)
    if args.repeat is not None:
        # Cells that the profile leaves out stay out.
        other = args.repeat if profile.other_repeat else 0
        profile = dataclasses.replace(profile, repeat=args.repeat, other_repeat=other)
    return profile


def _about(args: argparse.Namespace) -> str:
    """Return what the help says of the command, or of the paper that is named before it."""
    from sojourn.study.claims import load

    named = getattr(args, "paper", None)
    if named is not None:
        paper = papers.paper(named)
        return paper.describe(len(load(paper.folder)))
    rows = []
    for paper in map(papers.paper, papers.NAMES):
        text = f'"{paper.title}". {paper.about} {len(load(paper.folder))} claims are judged'
        if paper.kernel_parts is not None:
            kernel = ", ".join(paper.kernel_parts)
            text += f"; the linux back end runs {kernel}" if kernel else "; only the simulator runs this paper"
        rows.append(
            textwrap.fill(f"{text}.", 118, initial_indent=f"  {paper.name:<16}", subsequent_indent=" " * 18) + "\n"
        )
    return _ABOUT.format(papers="".join(rows))


def _one_of(field: str, value: str, known: Any) -> None:
    if value not in known:
        raise refused(value, field, f"must be one of {', '.join(known)}")
