"""`sojourn sweep FILE.toml --out DIR`: the product of lists of settings, run on all cores or on a cluster."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sojourn import backends
from sojourn.cells import grow
from sojourn.cli import options
from sojourn.store.run import Run

_ABOUT = """\
Runs every combination of the lists in FILE.toml, several times each, and writes into DIR: each run (runs/ID/run.json
and series.parquet), table.md and table.csv (mean and 95 % interval of each metric of each combination), sweep.json,
runs.parquet (one row for each run), and report.html. Prints the table.

  experiment = "rrul"          a built-in experiment, or a TOML file beside this one
  duration = "10s"             any option of an experiment or key of the scenario; it is the same in all runs
  repeat = 10                  runs of each combination, with seeds seed, seed + 1, ... (default 10)
  seed = 1                     the first seed (default 1)
  [vary]
  link = ["100/100", "10/1"]   rates down/up in Mbit/s; or use the keys rate, up, down instead
  qdisc = ["codel", "fq_codel"]
  tcp.hystart = [true, false]  and so on: rtt, cc, duration, flows.NAME.rtt, ...

However a sweep was stopped, the same command goes on from there: it reuses the runs that DIR has, and the tables come
out the same. With --until-ci 2% each combination gets more seeds until its intervals are that narrow. (Stopping when an
interval is narrow is sequential sampling, so the interval covers the true mean a little less often than 95 %.)
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("sweep", help="run every combination of lists of settings", description=_ABOUT)
    parser.add_argument("file", metavar="FILE.toml", type=Path, help="the settings of the sweep; see above")
    group = parser.add_argument_group("runs")
    options.add_repeat(group, "runs of each combination (default: the file's)")
    options.add_workers(group)
    options.add_cluster(group)
    options.add_backend(group)
    options.add_store(group)
    options.add_precision(parser)
    options.add_output(
        parser, "print sweep.json instead of the table", "the folder for runs and tables", out_required=True
    )
    parser.set_defaults(handler=handle)


def _warm() -> None:
    """Load what tables and report need."""
    importlib.import_module("sojourn.store.frames")
    importlib.import_module("sojourn.stats")
    importlib.import_module("sojourn.report")


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn import sweep as sweeps

    backend = backends.named(options.backend_of(args))
    sweep = sweeps.load(args.file, repeat=args.repeat, backend=args.backend)
    until = options.precision(args, sweep.repeat)
    backends.reach(backend)
    bases = [cell.scenario for cell in sweep.cells]
    cells = [(cell.values, cell.text) for cell in sweep.cells]
    name = ("sweep", backend.spec, sweep.keys, cells, sweep.repeat, until and dataclasses.asdict(until))
    number = None if until is not None else len(cells) * sweep.repeat
    folder = options.result_folder(args, *name, runs=number)
    means = options.means(args, folder, sweep.name, backend)

    with options.say_how_to_go_on(), ThreadPoolExecutor(1) as beside:
        # The intervals of a cell are computed beside the runs of the next: they take as long as several short runs.
        warmed: list[Future[None]] = []
        early: dict[int, Future[dict[str, sweeps.MetricSummary]]] = {}

        runs: list[dict[int, Run]] = [{} for _ in bases]

        def done(place: int, cell: int, run: Run) -> None:
            if not warmed:  # not before: the workers start sooner so
                warmed.append(beside.submit(_warm))
            runs[cell][place] = run
            if until is None and len(runs[cell]) == sweep.repeat:
                early[cell] = beside.submit(sweeps.summary_of, [runs[cell][there] for there in sorted(runs[cell])])

        try:
            grown = grow(list(enumerate(bases)), sweep.repeat, until, means, together=False, done=done)
        except BaseException:
            beside.shutdown(wait=False, cancel_futures=True)
            raise
        summaries = [
            early[cell].result() if cell in early else sweeps.summary_of(one.runs) for cell, one in enumerate(grown)
        ]
        found = sweeps.summarised(sweep, grown, until, summaries)
        folder.write("table.csv", sweeps.csv_table(found))
        folder.write("table.md", sweeps.markdown_table(found))
        folder.write_frame("runs.parquet", sweeps.runs_frame(sweep, grown))
        whole = found.json()
        folder.write("sweep.json", whole + "\n")
        importlib.import_module("sojourn.report").write(folder, sweeps.report_of(found, options.command_line()))
        folder.finish()
    print(whole if args.json else sweeps.text_table(found))
    print(f"{sum(len(one.runs) for one in grown)} runs of {len(grown)} combinations: {args.out}", file=sys.stderr)
    short = sum(one.reached is False for one in grown)
    if until is not None and short:
        print(
            f"{short} of {len(grown)} combinations did not come within {100 * until.within:g} % in {until.most} runs",
            file=sys.stderr,
        )
    return 0
