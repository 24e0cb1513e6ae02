"""`sojourn compare EXPERIMENT --qdisc A --qdisc B`: disciplines side by side."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from sojourn import api, backends, bounds, tables
from sojourn.cli import options
from sojourn.cli.describe import headline
from sojourn.errors import refused
from sojourn.store.comparison import Comparison
from sojourn.store.index import Results, write_index

if TYPE_CHECKING:
    from sojourn.store.folder import ResultFolder

_ABOUT = """\
Runs one experiment under several queue disciplines, N times each with the same seeds, and prints means with 95 %
confidence intervals over the repeats.

With --until-ci 2% it adds seeds, the same for each discipline, until the intervals are that narrow. (Stopping when an
interval is narrow is sequential sampling, so the interval covers the true mean a little less often than 95 %.)

With --out DIR it also writes every run (runs/), compare.json, runs.parquet, table.md, table.csv, figures and
report.html.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("compare", help="run several disciplines side by side", description=_ABOUT)
    options.add_experiment(parser)
    parser.add_argument(
        "--qdisc",
        metavar="TEXT",
        action="append",
        required=True,
        help="discipline of both directions: tc text or a preset (see `sojourn list`); repeat the option for each",
    )
    options.add_repeats(parser, default="10")
    options.add_precision(parser)
    options.add_output(
        parser, "print one JSON object of format sojourn-compare/1", "write records, tables, figures and a report"
    )
    # Not offered, but whoever knows it from `sojourn run` is told why not.
    parser.add_argument("--pcap", help=argparse.SUPPRESS)
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    if args.pcap is not None:
        raise refused(args.pcap, "pcap", "a capture is of one run: use sojourn run with --pcap")
    keywords = options.scenario_options(args)
    repeat = 10 if args.repeat is None else args.repeat
    bounds.check_plan(len(args.qdisc) * repeat, stored=options.stores(args))
    until = options.precision(args, repeat)
    spec = options.backend_of(args)
    backend = backends.named(spec)
    built = [api.build(args.experiment, qdisc=qdisc, backend=args.backend, **keywords) for qdisc in args.qdisc]
    texts = [scenario.normalized(args.backend) for scenario in built]
    backends.reach(backend)
    folder = None
    if args.out is not None:
        plan = ("compare", spec, texts, args.qdisc, repeat, until and dataclasses.asdict(until))
        number = None if until is not None else len(args.qdisc) * repeat
        folder = options.result_folder(args, *plan, again=False, runs=number)
    store = options.store_of(args, folder)
    with options.say_how_to_go_on(store):
        comparison = api.compare(
            args.experiment,
            qdiscs=args.qdisc,
            repeat=repeat,
            workers=args.workers,
            progress="compare",
            store=store,
            dask=args.dask,
            until=until,
            backend=spec,
            **keywords,
        )
    shown = comparison.to_json() if args.json else describe(comparison)
    if folder is not None:
        write(folder, comparison)
        folder.finish()
    print(shown)
    return 0


def describe(comparison: Comparison) -> str:
    """Return the table of a comparison."""
    from sojourn import report

    runs = comparison.cells[0].runs
    names = ", ".join(cell.qdisc for cell in comparison.cells)
    table = tables.text(report.headers(comparison), report.table_rows(comparison, comparison.cells[0].link))
    note = f"mean [95 % interval] over {len(runs)} runs" if len(runs) > 1 else "one run: no interval"
    return f"{headline(runs[0].record, names)}\n\n{table}\n\n{note}"


def write(folder: ResultFolder, comparison: Comparison) -> None:
    """Write all but the records."""
    from sojourn import report

    results = Results(
        title=f"{comparison.experiment}: {len(comparison.cells)} queue disciplines compared",
        comparison=comparison,
        command=options.command_line(),
    )
    folder.write("compare.json", comparison.to_json() + "\n")
    folder.write_frame("runs.parquet", comparison.runs)
    folder.write("table.csv", comparison.summary.write_csv())
    rows = report.table_rows(comparison, comparison.cells[0].link)
    folder.write("table.md", tables.markdown(report.headers(comparison), rows) + "\n")
    page = report.write(folder, report.compared(results, report.all_figures(results)))
    write_index(folder, results)
    print(f"report: {page}", file=sys.stderr)
