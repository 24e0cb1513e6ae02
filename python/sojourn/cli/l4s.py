"""`sojourn l4s map`: an atlas of L4S flows beside classic ones."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import bounds, tables
from sojourn.cli import options

if TYPE_CHECKING:
    from sojourn.cells import Planned
    from sojourn.l4s.outcome import JudgedCell
    from sojourn.l4s.planes import Plan
    from sojourn.report import Figure
    from sojourn.store.folder import ResultFolder
    from sojourn.study.cell import Cell

DEFAULT_REPEAT = 3
DEFAULT_DURATION = "30s"
DEFAULT_PAIRS = ("prague/cubic",)

_ABOUT = """\
Runs flows of one sender beside flows of another through one bottleneck, over planes of rate, RTT, buffer, flows and
burstiness, and says where they get along, where one has less, and where one starves.

  planes       rate-rtt, burst-rtt, buffer-rtt, rtts (of both sides), flows; all go through 100 Mbit/s, 20 ms, one flow
               of each, 2 BDP
  bottlenecks  fifo, codel, fq_codel, fq_codel_l4s (marks L4S above 1 ms), cake, dualpi2
  senders      prague, bbr3, bbr3-ecn, bbr2-l4s, bbr2, cubic, cubic-ecn, reno, bbr

An axis may have other values: --axis rate=10mbit,50mbit --axis rtt=10ms,80ms (rate, rtt, l4s-rtt, classic-rtt, burst,
buffer, l4s-flows, classic-flows).

Writes into DIR: map.csv and map.json (a row for each cell: share, its 95 % interval, queues, utilisation, verdict,
seeds), report.html and map.md with rules of thumb, a heat map of each plane and pair (figures/), and every run (runs/).
However a map was stopped, the same command goes on from there.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("l4s", help="L4S flows beside classic ones")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", dest="part", required=True)
    drawn = parts.add_parser("map", help="draw an atlas of coexistence", description=_ABOUT)
    cells = drawn.add_argument_group("cells")
    cells.add_argument(
        "--pair",
        metavar="A/B",
        action="append",
        help="two senders, the L4S side first; repeat the option for several (default prague/cubic)",
    )
    cells.add_argument(
        "--bottleneck", metavar="NAME", action="append", help="repeat the option for several (default: all of them)"
    )
    cells.add_argument(
        "--plane", metavar="NAME", action="append", help="repeat the option for several (default: all of them)"
    )
    cells.add_argument(
        "--axis",
        metavar="NAME=VALUES",
        action="append",
        help="other values of an axis, with commas between; repeat the option for several",
    )
    cells.add_argument(
        "--duration", metavar="TIME", default=DEFAULT_DURATION, help=f"of each run (default {DEFAULT_DURATION})"
    )
    runs = drawn.add_argument_group("runs")
    options.add_seed(runs, default=1)
    options.add_repeat(runs, f"runs of each cell, each with the next seed (default {DEFAULT_REPEAT})", DEFAULT_REPEAT)
    options.add_workers(runs)
    options.add_cluster(runs)
    options.add_store(runs)
    options.add_output(
        drawn, "print map.json instead of the table", "the folder for runs, tables and figures", out_required=True
    )
    drawn.add_argument("--document", metavar="FILE", type=Path, help="also write map.md to FILE")
    drawn.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.files import check_target
    from sojourn.l4s import cells as senders
    from sojourn.l4s import planes, report
    from sojourn.report import write

    plan = planes.plan(
        [senders.read_pair(text) for text in args.pair or DEFAULT_PAIRS],
        args.bottleneck,
        args.plane,
        args.axis or (),
    )
    planned = plan.cells()
    if args.document is not None:
        check_target(args.document, "document", force=args.force)
    number = len(planned) * args.repeat
    bounds.check_plan(number)
    runs = _plan(planned, args)
    runs[0].scenario.normalized()
    name = ("l4s map", [cell.values for cell in planned], args.duration, args.seed, args.repeat)
    folder = options.result_folder(args, *name, runs=number)
    print(f"{len(planned)} cells, {number} runs", file=sys.stderr)
    with options.say_how_to_go_on():
        found = _run(runs, args, folder)
    rows = report.rows(found.values())
    tcp = json.loads(runs[0].scenario.normalized())["tcp"]
    made_by = {"prague_version": tcp.get("prague_version", senders.PRAGUE_VERSION), "tcp_variant": tcp["variant"]}
    whole = json.dumps({"format": report.FORMAT, "duration": args.duration, **made_by, "cells": rows}, indent=1)
    folder.write("map.json", whole + "\n")
    folder.write("map.csv", tables.csv_text(rows))
    figures = _figures(plan, found)
    facts = {
        "runs": str(number),
        "repeats": f"{args.repeat}, from seed {args.seed} on, {args.duration} each",
        **made_by,
    }
    shown = report.report_of(list(found.values()), figures, command=options.command_line(), facts=facts)
    write(folder, shown)
    page = partial(
        report.document,
        list(found.values()),
        plan,
        command=options.command_line(),
        repeat=args.repeat,
        seed=args.seed,
        duration=args.duration,
        **made_by,
    )
    folder.write("map.md", page(images="figures/{}.svg"))
    folder.finish()
    if args.document is not None:
        _write_document(args.document, page, figures)
    print(whole if args.json else report.terminal(list(found.values())))
    print(f"{len(rows)} cells: {args.out}", file=sys.stderr)
    return 0


def _plan(planned: list[Cell], args: argparse.Namespace) -> Sequence[Planned[Cell]]:
    """Return the repeats of all cells, cell by cell."""
    from sojourn.cells import repeats
    from sojourn.l4s.cells import scenario

    return repeats((cell, scenario(cell, duration=args.duration, seed=args.seed), args.repeat) for cell in planned)


def _run(runs: Sequence[Planned[Cell]], args: argparse.Namespace, folder: ResultFolder) -> Mapping[Cell, JudgedCell]:
    """Run all and return each cell's outcome, in the order of the plan."""
    from sojourn.l4s import outcome
    from sojourn.study.plan import observed

    cells, _ = observed(runs, outcome.observe, options.means(args, folder, "map"))
    return {cell: outcome.judged(cell, observations) for cell, observations in cells.items()}


def _write_document(path: Path, page: Callable[..., str], figures: Sequence[Figure]) -> None:
    """Write the page to `path`, and its figures into a folder beside it."""
    from sojourn.files import write_file
    from sojourn.plots.save import for_page

    images = path.with_suffix("")
    images.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        write_file(images / f"{figure.name}.webp", for_page(figure.png))
    write_file(path, page(images=f"{images.name}/{{}}.webp"))


def _figures(plan: Plan, found: Mapping[Cell, JudgedCell]) -> list[Figure]:
    """Return the heat map of each plane and pair."""
    from sojourn.l4s import report
    from sojourn.l4s.cells import SENDERS
    from sojourn.l4s.planes import AXES, PLANES
    from sojourn.plots.coexistence import coexistence
    from sojourn.progress import progress_bar
    from sojourn.report.exhibit import draw

    made = []
    with progress_bar(len(plan.planes) * len(plan.pairs), "draw") as tick:
        for plane, pair in product(plan.planes, plan.pairs):
            tick()
            axes = (AXES[PLANES[plane][0]].title, AXES[PLANES[plane][1]].title)
            panels = []
            for bottleneck in plan.bottlenecks:
                cells = plan.of(pair, bottleneck, plane)
                if cells:
                    panels.append((report.TITLES[bottleneck], {place: found[cell] for place, cell in cells.items()}))
            if not panels:
                continue
            l4s, classic = (SENDERS[side].title for side in pair)
            title = f"{l4s} beside {classic}: share of an L4S flow (%), queues of both sides (ms)"
            figure = coexistence(panels, axes, title=title)
            made.append(draw(report.figure_name(plane, pair), title, figure))
    return made
