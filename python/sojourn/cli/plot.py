"""`sojourn plot FIGURE DIR`: figures of stored results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sojourn.cli import options
from sojourn.errors import ParamError, refused
from sojourn.store.cell import DisciplineRuns, links

FIGURES = {
    "ellipse": "latency against goodput: medians and 1-sigma ellipses over the repeats",
    "timeseries": "round-trip time and goodput over time (the run with the lowest seed of each discipline)",
    "cdf": "distribution of the probes' round-trip times over all repeats",
}

_ABOUT = (
    "Draws a figure from a folder that run, compare or reproduce has written, without running anything.\n\n"
    + "\n".join(f"  {name:<11} {what}" for name, what in FIGURES.items())
)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("plot", help="draw a figure of stored results", description=_ABOUT)
    parser.add_argument("figure", metavar="FIGURE", choices=FIGURES, help=f"one of {', '.join(FIGURES)}")
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder written with --out")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file to write; its ending, .svg or .png, sets the format",
    )
    parser.add_argument(
        "--link", metavar="DOWN/UP", help="which link, if the folder has several, such as 10/1 (Mbit/s)"
    )
    options.add_other_store(parser)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Draw it."""
    from sojourn import plots
    from sojourn.files import check_target, write_file
    from sojourn.store.index import load

    file_format = args.out.suffix.removeprefix(".").lower()
    if file_format not in plots.FORMATS:
        raise refused(str(args.out), "out", "must end in .svg or .png")
    check_target(args.out, "out", force=args.force)
    cells = _of_link(load(args.folder, args.store).comparison.cells, args.link)
    figure = _draw(args.figure, cells)
    write_file(args.out, plots.to_bytes(figure, file_format))
    print(args.out)
    return 0


def _of_link(cells: tuple[DisciplineRuns, ...], link: str | None) -> tuple[DisciplineRuns, ...]:
    there = links(cells)
    if link is None and len(there) > 1:
        message = f"link is not given, but must be one of {', '.join(there)}"
        raise ParamError(message)
    if link is not None and link not in there:
        raise refused(link, "link", f"must be one of {', '.join(there)}")
    return tuple(cell for cell in cells if link in (None, cell.link))


def _draw(name: str, cells: tuple[DisciplineRuns, ...]) -> Any:
    from sojourn import plots
    from sojourn.frame_library import pl
    from sojourn.report import directions_of, link_title
    from sojourn.store import metrics

    title = link_title(cells[0])
    if name == "ellipse":
        return plots.latency_goodput(metrics.runs(cells), directions=directions_of(cells), title=title)
    if name == "timeseries":
        return plots.rtt_and_goodput({cell.qdisc: cell.runs[0].series for cell in cells}, title=title)
    return plots.rtt_cdf({cell.qdisc: pl.concat([run.series for run in cell.runs]) for cell in cells}, title=title)
