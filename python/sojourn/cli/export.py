"""`sojourn export --flent RUN`: stored runs as another program's files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sojourn.cli import options

_ABOUT = """\
Writes stored runs as data files of Flent (version 4, .flent.gz), one file for each run. Flent's plots and its summary
can read them. The same run gives the same bytes. The date in a file is not real: it is made from the run's seed.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("export", help="write stored runs as files of Flent", description=_ABOUT)
    parser.add_argument(
        "--flent",
        metavar="RUN",
        type=Path,
        required=True,
        help="a folder written with --out by run, compare or reproduce, or the file of one record",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="the folder for the files (default .)")
    options.add_other_store(parser)
    parser.add_argument("--force", action="store_true", help="replace existing files")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Write them."""
    from sojourn.interop import flent
    from sojourn.store.index import load, load_run

    cells = load(args.flent, args.store).comparison.cells if args.flent.is_dir() else (load_run(args.flent),)
    for path in flent.export(cells, args.out, force=args.force):
        print(path)
    return 0
