"""`sojourn report DIR`: the HTML report of stored results, made anew."""

from __future__ import annotations

import argparse
import dataclasses
import os
from pathlib import Path
from typing import Any

from sojourn.cli import options

_ABOUT = """\
Writes the HTML report of a folder that run, compare, sweep or reproduce has written, without running anything. The
report is one file and needs no network.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("report", help="write the HTML report of stored results", description=_ABOUT)
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder written with --out")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    options.add_other_store(parser)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Write it."""
    from sojourn import report
    from sojourn.files import check_target, write_file
    from sojourn.store.index import load
    from sojourn.store.stored_run import StoredRun

    check_target(args.out, "out", force=args.force)
    if (args.folder / "sweep.json").is_file():
        from sojourn import sweep

        shown = sweep.report_of(sweep.read(args.folder))
    else:
        results = load(args.folder, args.store)
        shown = report.compared(results, report.all_figures(results))
        # The page may be in another folder than the one that it is of.
        run = next(run for cell in results.comparison.cells for run in cell.runs if isinstance(run, StoredRun))
        shown = dataclasses.replace(shown, store=os.path.relpath(run.folder.parent, args.out.parent))
    write_file(args.out, report.page(shown))
    print(args.out)
    return 0
