"""`sojourn import FILE`: measurements that Flent has made."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import tables
from sojourn.bounds import Plain

if TYPE_CHECKING:
    from sojourn.interop.flent import Imported

#: Most characters of a name or a title in a table.
LONGEST = 120
FORMAT = "sojourn-import/1"

_ABOUT = """\
Reads a data file of Flent (version 1 to 4; .flent.gz, .flent.bz2, .flnt or plain JSON) and prints statistics of each
of its series over the measured window, which is the time of the TCP flows. Nothing in the file is executed, and
no path or address in it is opened.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("import", help="read a data file of Flent", description=_ABOUT)
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the data file, at most 128 MiB unpacked, with at most 10,000 series"
    )
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help=f"print one JSON object of format {FORMAT}")
    group.add_argument("--out", metavar="DIR", type=Path, help="write import.json and series.parquet into DIR")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out DIR")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Read it."""
    from sojourn.interop import flent

    imported = flent.read(args.file)
    text = json.dumps(_body(imported))
    if args.out is not None:
        from sojourn.store.folder import ResultFolder

        folder = ResultFolder(args.out, force=args.force)
        folder.write("import.json", text + "\n")
        folder.write_frame("series.parquet", imported.series)
        folder.finish()
    print(text if args.json else describe(imported))
    return 0


def describe(imported: Imported) -> str:
    """Return the table of a data file."""
    metadata = imported.metadata
    head = [_cut(str(metadata[key])) for key in ("NAME", "TITLE", "TIME") if metadata.get(key)]
    columns = ("mean", "median", "p5", "p95", "p99")
    rows = [
        [_cut(row["name"]), _cut(row["unit"]), str(row["count"]), *(tables.number(row[name]) for name in columns)]
        for row in imported.summary().to_dicts()
    ]
    # A file may hold anything, also what would drive a terminal.
    words = "; ".join(head) or "no name"
    table = tables.text(["series", "unit", "samples", *columns], rows, left=2)
    return "\n".join(
        "".join(c if c.isprintable() else "?" for c in line) for line in f"{words}\n\n{table}".splitlines()
    )


def _cut(text: str) -> str:
    """Return text as a table shows it; the file and --json have all of it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _body(imported: Imported) -> Mapping[str, Plain]:
    return {
        "format": FORMAT,
        "version": imported.version,
        "length_s": imported.length_s,
        "series": imported.summary().to_dicts(),
        "metadata": imported.metadata,
    }
