"""`sojourn tune QDISC --map`: the best target and interval over many rates and RTTs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sojourn import backends, tables
from sojourn.cli import options
from sojourn.errors import ParamError, refused

if TYPE_CHECKING:
    from sojourn.store.folder import ResultFolder
    from sojourn.tune.map import MapCell

#: Options of a single link or a search, which a map has not.
_FOREIGN = (
    "rate", "up", "down", "rtt", "rtts", "limit", "duration", "goal", "minimise", "param", "trials", "time", "seeds"
)  # fmt: skip


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of a map."""
    group = parser.add_argument_group("map")
    group.add_argument(
        "--map",
        action="store_true",
        help="search many links instead of one: find the best target and interval of codel, fq_codel, or "
        "codel,fq_codel over rates and RTTs, with CUBIC unless --cc says otherwise; writes map.csv, map.json, "
        "report.html and figures/map into --out DIR",
    )
    group.add_argument("--map-rates", metavar="RATES", help="rates, separated by commas (default 250kbit to 100mbit)")
    group.add_argument("--map-rtts", metavar="TIMES", help="base RTTs, separated by commas (default 10ms to 600ms)")


def check(args: argparse.Namespace) -> None:
    """Raise `ParamError` for options of a map without `--map`."""
    for name, value in options.explicit(args, ("map_rates", "map_rtts")):
        raise refused(value, name, "means nothing without --map")


def handle(args: argparse.Namespace) -> int:
    """Draw a map."""
    from sojourn.progress import progress_bar
    from sojourn.tune import loads
    from sojourn.tune import map as maps
    from sojourn.tune.bench import Bench
    from sojourn.tune.measure import FILE as JOURNAL
    from sojourn.tune.measure import Journal

    qdiscs = tuple(args.qdisc.split(","))
    _check(args, qdiscs)
    rates, rtts = maps.read_axes(args.map_rates, args.map_rtts)
    load = args.load or loads.DEFAULT
    if "fct" not in loads.named(load).metrics:
        raise refused(load, "load", "a map needs one with files")
    cc = args.cc or maps.DEFAULT_CC
    backend = backends.for_many(options.backend_of(args), "tune")
    bench = Bench(
        link=maps.link_of(rates[0], rtts[0]),
        load=loads.named(load),
        direction="up",
        backend=backend,
        journal=Journal(None),
        cc=cc,
        workers=args.workers,
        dask=args.dask,
    )
    bench.load.scenario(bench.link, "up", qdisc=qdiscs[0], rtt_ms=rtts[0], seed=args.seed, cc=cc).normalized(
        backend.name
    )
    backends.reach(backend)
    folder = options.result_folder(args, "tune-map", qdiscs, rates, rtts, load, cc, args.seed, backend.spec)
    bench = replace(bench, journal=Journal(folder.claim(JOURNAL).parent))
    try:
        with (
            options.say_how_to_go_on(),
            progress_bar(maps.runs(qdiscs, rates, rtts), "map") as tick,
        ):
            cells = maps.draw_map(bench, qdiscs=qdiscs, rates=rates, rtts_ms=rtts, seed=args.seed, tick=tick)
    finally:
        bench.journal.close()
    rows = [cell.row() for cell in cells]
    whole = json.dumps({"format": maps.FORMAT, "load": load, "congestion_control": cc, "cells": rows}, indent=1)
    folder.write("map.json", whole + "\n")
    folder.write("map.csv", tables.csv_text(rows))
    _write_report(folder, cells, cc)
    folder.finish()
    print(whole if args.json else tables.text(*_rows(cells)))
    print(f"{len(rows)} cells: {args.out}", file=sys.stderr)
    return 0


def _check(args: argparse.Namespace, qdiscs: tuple[str, ...]) -> None:
    from sojourn.tune import map as maps

    for name in qdiscs:
        if name not in maps.QDISCS or qdiscs.count(name) > 1:
            raise refused(args.qdisc, "qdisc", "a map is of codel, fq_codel, or codel,fq_codel")
    for option, value in options.explicit(args, _FOREIGN):
        raise refused(value, option, "a map has none: leave it out")
    if args.direction != "up":
        raise refused(args.direction, "direction", "a map is of the direction up")
    if args.out is None:
        message = "out is not given, but a map needs a folder: give --out DIR"
        raise ParamError(message)


def _write_report(folder: ResultFolder, cells: Sequence[MapCell], cc: str) -> None:
    from sojourn.plots.tuning_map import tuning_map
    from sojourn.report import Exhibit, Report, write
    from sojourn.report.exhibit import draw
    from sojourn.report.result import extremes
    from sojourn.report.table import Table
    from sojourn.stats import Interval

    note = "The best setting, and utilisation / delay (ms) of it and of three others, with fresh seeds."
    best = {
        name: {
            f"{cell.qdisc} at {cell.rate} and {cell.rtt_ms:g} ms": Interval(
                value=cell.best[name], low=cell.near[name][0], high=cell.near[name][1], n=1
            )
            for cell in cells
            if cell.filled
        }
        for name in ("target", "interval")
    }
    caption = "The best target and interval by rate and RTT; below each the range of those nearly as good."
    exhibit = Exhibit(
        name="cells",
        title="All cells",
        figures=(draw("map", caption, tuning_map(cells)),),
        table=Table.of("cells", _rows(cells), note, left=1),
    )
    shown = Report(
        title="A map of CoDel's parameters",
        reference="The best target and interval on links of many rates and RTTs.",
        result=" ".join(extremes((f"best {name}", found, "ms")) for name, found in best.items()),
        command=options.command_line(),
        facts=(("cells", str(len(cells))), ("congestion control", cc)),
        setup="In brackets is the range of the settings that are nearly as good.",
        exhibits=(exhibit,),
    )
    write(folder, shown)


def _rows(cells: Sequence[MapCell]) -> tuple[list[str], list[list[str]]]:
    headers = [
        *("qdisc", "rate", "rtt (ms)", "target", "interval", "utilisation", "delay (ms)"),
        *("default", "rural", "rule"),
    ]
    return (
        headers,
        [
            [
                cell.qdisc,
                cell.rate,
                f"{cell.rtt_ms:g}",
                f"{cell.best['target']:g}",
                f"{cell.best['interval']:g}",
                tables.number(cell.means["best"]["utilisation"], 3),
                tables.number(cell.means["best"]["delay"], 1),
                *(
                    f"{tables.number(cell.means[name]['utilisation'], 3)} / "
                    f"{tables.number(cell.means[name]['delay'], 1)}"
                    for name in ("default", "rural", "rule")
                ),
            ]
            for cell in cells
        ],
    )
