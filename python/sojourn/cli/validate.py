"""`sojourn validate EXPERIMENT`: the same scenarios on the simulator, the Linux kernel and real packets."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options
from sojourn.errors import ParamError, refused
from sojourn.files import check_target

if TYPE_CHECKING:
    from sojourn.cells import Means
    from sojourn.store.folder import ResultFolder
    from sojourn.validate.grid import PlannedCell
    from sojourn.validate.part import Part
    from sojourn.validate.suite import Request

_ABOUT = """\
Runs the same scenarios in the simulator and on the real Linux kernel, and says how far they differ. For each link,
discipline and metric it prints the means of both with 95 % intervals, their ratio, and a verdict.

  EXPERIMENT  a built-in experiment (rrul, tcp_1up, tcp_1down, voip, voip_rrul, web, web_rrul, web_idle, rtt_fairness,
              transient, bulk) or a TOML file, on a grid of links and disciplines
  random      scenarios drawn by a seed: 1 to 200 Mbit/s, 5 to 500 ms, 1 to 32 flows each way, any discipline with
              random parameters (or --qdisc), CUBIC or Reno; reports the relative error of each and its quantiles
  trust       as random, with every discipline and congestion control of the simulator, up to 300 ms, ECN, and two
              controls side by side; stricter bars; --only draws some of them alone
  wifi-airtime, wifi-latency, wifi-dense, wifi-aql, wifi-sparse, wifi-anomaly
              Wi-Fi cells on mac80211 (kernel built with --wifi): some that a seed draws (1 to 30 stations, rates,
              errors, TCP, UDP, switches), and grids of loads and schemes
  wifi        all six of these, each in a folder of its own in DIR
  bbr-coexist, bbr-loss, bbr-shallow, bbr-bufferbloat
              BBR as Google's own regression tests load it: beside CUBIC in buffers of 0.1 to 16 BDP, with random loss
              of 0.001 to 20 %, in a buffer of 0.02 BDP, and in buffers of 1 to 100 BDP
  flusher     a third of the cells of `sojourn reproduce flusher`, with the daemon `sojournd flush` in the kernel;
              reports mean round-trip time (the bar is 15 %) and goodput (5 %)
  calls       random sequences of packets for each discipline, or for those of --qdisc: the kernel's and the simulator's
              are called at the same times, and must let the same packets go, within a microsecond, with the same marks
              and counters; no bars, the exit status is 1 if a sequence differs; disciplines that draw random numbers
              are compared on average, by a bar of 3 %
  all         rrul, one flow (CUBIC, Reno), voip, rtt_fairness, web and random, each in a folder of its own in DIR

Each metric has a bar. For Wi-Fi: airtime shares within 0.01, goodput within 3 %, median pings within 2 ms or 10 %, and
95th percentiles within 20 %. For other experiments: mean latency within 10 % or 1 ms, goodput within 2 %, voice loss
within a factor of 1.5, a flow's share within 10 % of the total, page fetch times within 10 %, and marks of flows with
ECN within 20 % or 5 packets. For random: the median of the relative errors below 5 % and the 90th percentile below
20 %. For trust: 2 % and 10 % of latency (or 1 ms), 0.5 % and 3 % of goodput.

A cell agrees if its means are within the bar. It differs if the whole interval of the difference lies outside the bar.
Otherwise the verdict is "cannot tell". The exit status is 1 if a cell differs.

With --backend live the simulator is compared with real packets of this machine through Sojourn's own disciplines, in
real time. With --backend live --backend linux these are then also compared with the kernel.

Each --kernel is compared with the simulator in turn. The page then has a column for each kernel.

With --out DIR it writes validate.json, validate.md, figures and every run (runs/), and of drawn scenarios errors.csv.
If the command was stopped, the same command goes on from there. With --document page.md it also writes the tables on
one page.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("validate", help="compare the simulator with the Linux kernel", description=_ABOUT)
    parser.add_argument(
        "experiment", metavar="EXPERIMENT", help="an experiment, a TOML file, random, flusher, calls, or all"
    )
    grid = parser.add_argument_group("grid")
    grid.add_argument(
        "--links", metavar="D/U,...", help="links as down/up, in Mbit/s or with a unit (default 100/100,10/10,10/1)"
    )
    grid.add_argument(
        "--qdisc",
        metavar="TEXT",
        action="append",
        help="discipline of both directions, tc text or preset; repeat the option for several (default: the seven of "
        "Table 1 of 'The Good, the Bad and the WiFi' as the current kernel has them; for random, eight kinds with "
        "drawn parameters)",
    )
    grid.add_argument("--rtt", metavar="TIME", help="base round-trip time of the path (default 50ms)")
    grid.add_argument("--cc", metavar="NAME", help="congestion control of every TCP flow (default cubic)")
    grid.add_argument("--duration", metavar="TIME", help="measured window of each run (default 60s)")
    grid.add_argument("--page", metavar="NAME", help="page to fetch, for the web experiments (default google)")
    grid.add_argument("--flows-up", metavar="N", type=options.whole_number, help="TCP flows up, for bulk (default 1)")
    grid.add_argument(
        "--flows-down", metavar="N", type=options.whole_number, help="TCP flows down, for bulk (default 1)"
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=options.whole_number,
        help="number of scenarios to draw, for random and all (default 30) and trust (200)",
    )
    parser.add_argument(
        "--only",
        metavar="PART[,PART...]",
        help="what to run of flusher: grid, queues, adaptive; of random and trust: disciplines and congestion controls "
        "that are drawn; separated by commas (default: all)",
    )
    parser.add_argument(
        "--sequences",
        metavar="N",
        type=options.whole_number,
        help="number of random sequences for each discipline, for calls (default 200)",
    )
    runs = parser.add_argument_group("runs")
    runs.add_argument(
        "--backend",
        metavar="NAME",
        action="append",
        help="linux or live: what the simulator is compared with; if both are given, the first is also compared with "
        "the second (default linux)",
    )
    options.add_kernels(runs)
    options.add_repeat(runs, "number of runs of each cell on the kernel or live (default 4)")
    runs.add_argument(
        "--sim-repeat",
        metavar="N",
        type=options.sim_repeat,
        help="number of runs of each cell in the simulator (default 10)",
    )
    options.add_seed(runs, "seed of the first run of a cell; for random, seed of the draw (default 1)")
    options.add_workers(runs)
    options.add_store(runs)
    options.add_output(parser, "print validate.json instead of the tables", "the folder for results")
    document = parser.add_argument_group("document")
    document.add_argument(
        "--document", metavar="FILE", type=Path, help="also write FILE, a Markdown page of the tables"
    )
    document.add_argument(
        "--with",
        dest="earlier",
        metavar="DIR",
        type=Path,
        action="append",
        help="with --document: also put the validations in the folder DIR on the page, before this one; repeat the "
        "option for several",
    )
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    if args.experiment == "flusher":
        from sojourn.cli import validate_flusher

        return validate_flusher.handle(args)
    if args.experiment == "calls":
        from sojourn.cli import validate_calls

        return validate_calls.handle(args)
    from sojourn.validate import suite
    from sojourn.validate.execute import spec_of
    from sojourn.validate.part import in_json, load_all

    _check(args)
    requests = _requests(args)
    plans = [suite.cells_of(one) for one in requests]
    kernels = dict.fromkeys(one.kernel for one in requests)
    used = [backends.named(spec_of(backend, kernel)) for kernel in kernels for backend in ("sim", *_real(args))]
    _check_plans(plans, _real(args))
    earlier = [part for folder in args.earlier or () for part in load_all(folder)]
    for backend in used:
        backends.reach(backend)
    folder, folders = _folders(args, requests)
    _say_cost(args, requests, plans)
    means = options.means(args, folder)
    parts = []
    with options.say_how_to_go_on(means.store):
        for one, of_pairs in zip(requests, folders, strict=True):
            for part in _one(one, means, of_pairs):
                parts.append(part)
                if not args.json:
                    from sojourn.validate.words import terminal

                    print(f"{part.name}\n\n{terminal(part)}\n", flush=True)
    entries = [entry for part in parts for entry in part.entries]
    if args.json:
        print(in_json(entries))
    _write_pages(args, folder, [*earlier, *parts], entries)
    _write_errors(folder, parts)
    for done in {id(one): one for one in [folder, *(one for of_pairs in folders for one in of_pairs)]}.values():
        if done is not None:
            done.finish()
    return 1 if any(part.differs for part in parts) else 0


def _real(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the back ends that the simulator is compared with.

    Raises `ParamError` if one is not real, or there twice.
    """
    names = tuple(args.backend or ("linux",))
    if not set(names) <= {"linux", "live"} or len(set(names)) < len(names):
        message = f"backend is {', '.join(names)}, but must be linux, live, or each of them once"
        raise ParamError(message)
    return names


def _kernels(args: argparse.Namespace) -> tuple[str | None, ...]:
    """Return the kernels that were named, each for a comparison of its own; only `None` if none was.

    Raises `ParamError` if there is no kernel among the back ends, a name is empty, or one is there twice.
    """
    names: list[str] = args.kernel or []
    if names and "linux" not in _real(args):
        raise refused(names[0], "kernel", "the back end live has none: give --backend linux")
    if "" in names:
        raise ParamError(options.NO_KERNEL)
    if len(set(names)) < len(names):
        message = f"kernel is {', '.join(names)}, but each kernel must be there once"
        raise ParamError(message)
    return tuple(names) or (None,)


def _check_plans(plans: Sequence[Sequence[PlannedCell]], real: Sequence[str]) -> None:
    """Raise `ParamError` for a scenario that one of the back ends cannot run, before any is run."""
    for name in real:
        for cells in plans:
            for cell in cells:
                cell.scenario.normalized(name)


def _check(args: argparse.Namespace) -> None:
    """Raise `ParamError` for what cannot be judged by its option alone."""
    from sojourn.validate.suite import ALL, WIFI

    if args.sequences is not None:
        raise refused(args.sequences, "sequences", f"{args.experiment} has no sequences: leave it out")
    if args.only is not None and args.experiment in {ALL, WIFI}:
        raise refused(args.only, "only", f"{args.experiment} has no parts: leave it out")
    if args.document is not None:
        check_target(args.document, "document", force=args.force)
    if args.earlier and args.document is None:
        raise refused(str(args.earlier[0]), "with", "means nothing without --document FILE")
    if args.experiment in {ALL, WIFI} and args.out is None:
        message = f"out is not given, but {args.experiment} needs a folder for its results: give --out DIR"
        raise ParamError(message)


def _requests(args: argparse.Namespace) -> tuple[Request, ...]:
    from sojourn.validate import suite
    from sojourn.validate.execute import Repeats

    default = suite.DEFAULT_REPEATS
    any_kernel = suite.Request(
        experiment=args.experiment,
        links=args.links,
        qdiscs=args.qdisc,
        options=suite.GridOptions(**{name: getattr(args, name) for name in suite.GridOptions.__struct_fields__}),
        seed=args.seed,
        count=args.count,
        only=tuple(name.strip() for name in args.only.split(",")) if args.only is not None else (),
        repeats=Repeats(
            sim=default.sim if args.sim_repeat is None else args.sim_repeat,
            kernel=default.kernel if args.repeat is None else args.repeat,
        ),
        real=_real(args),
    )
    each = [replace(any_kernel, kernel=kernel) for kernel in _kernels(args)]
    if args.experiment in {suite.ALL, suite.WIFI}:
        return tuple(request for one in each for request in suite.whole(one))
    return tuple(each)


def _folders(
    args: argparse.Namespace, requests: Sequence[Request]
) -> tuple[ResultFolder | None, list[list[ResultFolder | None]]]:
    """Return the folder that was asked for, and that of each part: the same, or one in it for each part of several.

    What was asked for has a part for each pair of back ends.
    """
    from sojourn.store.folder import ResultFolder, plan_name
    from sojourn.store.index import slug
    from sojourn.validate import suite

    names = [suite.part_names(one) for one in requests]
    if args.out is None:
        return None, [[None] * len(parts) for parts in names]
    commands = [one.command for one in requests]

    def folder(path: Path, *names: str) -> ResultFolder:
        return ResultFolder(path, force=args.force, plan=plan_name("validate", *names), again=True)

    top = folder(args.out, *commands)
    if sum(map(len, names)) == 1:
        return top, [[top]]
    return top, [
        [folder(args.out / slug(name), one.command) for name in parts]
        for one, parts in zip(requests, names, strict=True)
    ]


def _say_cost(args: argparse.Namespace, requests: Sequence[Request], plans: Sequence[Sequence[PlannedCell]]) -> None:
    """Say on standard error how much there is to do."""
    from sojourn import runner
    from sojourn.validate.execute import KERNEL, LIVE, kernel_seconds, live_seconds

    workers = args.workers or runner.cores()
    planned = list(zip(requests, plans, strict=True))
    kernel = sum(len(cells) * one.repeats.kernel for one, cells in zip(requests, plans, strict=True))
    sim = sum(len(cells) * one.repeats.sim for one, cells in zip(requests, plans, strict=True))
    if KERNEL in _real(args):
        about = _about(sum(kernel_seconds(cells, one.repeats, workers) for one, cells in planned))
        print(
            f"{kernel} runs on the kernel and {sim} simulated ones; a kernel in virtual time takes about {about} with "
            f"{workers} workers, less what is stored",
            file=sys.stderr,
        )
    if LIVE in _real(args):
        about = _about(sum(live_seconds(cells, one.repeats) for one, cells in planned))
        print(f"{kernel} live runs, one after the other in real time: about {about}", file=sys.stderr)


def _about(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"


def _one(one: Request, means: Means, folders: Sequence[ResultFolder | None]) -> list[Part]:
    """Validate what was asked for, and write each part."""
    from sojourn.cells import in_world
    from sojourn.validate import suite
    from sojourn.validate.part import FILE, in_json
    from sojourn.validate.words import report

    print(f"validate {one.name}", file=sys.stderr)
    figures = any(folder is not None for folder in folders)
    outcomes = suite.validate(one, in_world(means), figures=figures)
    for (part, drawn), folder in zip(outcomes, folders, strict=True):
        if folder is None:
            continue
        from sojourn.plots import save

        save.write(folder, drawn)
        folder.write("validate.json", in_json(part.entries) + "\n")
        folder.write(FILE, part.to_json())
        page = folder.write("validate.md", report(part, list(drawn)))
        print(f"report: {page}", file=sys.stderr)
    return [part for part, _ in outcomes]


def _write_pages(
    args: argparse.Namespace, folder: ResultFolder | None, parts: Sequence[Part], entries: Sequence[object]
) -> None:
    """Write the page of all parts where it was asked for, and what is about all of several parts."""
    from sojourn.validate import document
    from sojourn.validate.part import in_json

    if folder is not None and len(parts) - len(args.earlier or ()) > 1:
        folder.write("validate.json", in_json(entries) + "\n")
    if args.document is not None:
        command = _document_command(args)
        document.write(parts, command, args.document)
        print(f"document: {args.document}", file=sys.stderr)


def _write_errors(folder: ResultFolder | None, parts: Sequence[Part]) -> None:
    """Write the errors of all drawn scenarios, `errors.csv` and `figures/errors.*`, into the folder of the command."""
    from sojourn.plots import save
    from sojourn.validate import errors_table

    drawn = [part for part in parts if part.is_drawn]
    if folder is None or not drawn:
        return
    folder.write("errors.csv", errors_table.table(drawn).write_csv())
    save.write(folder, {"errors": errors_table.figure(drawn)})


def _document_command(args: argparse.Namespace) -> str:
    """Return what makes the page again, with plain names for folders."""
    from sojourn.validate import suite

    count = [] if args.count is None else [f"--count {args.count}"]
    if args.experiment not in {suite.ALL, suite.WIFI}:
        words = [replace(_requests(args)[0], kernel=None).command]
    else:
        stated = {name: getattr(args, name) for name in ("links", "duration", "repeat", "sim_repeat", "seed")}
        words = [f"sojourn validate {args.experiment}"]
        words += [f"--{name.replace('_', '-')} {value}" for name, value in stated.items() if value is not None]
        words += [f"--qdisc {text!r}" for text in args.qdisc or ()] + count
        words += [f"--backend {name}" for name in args.backend or ()]
    words += [f"--kernel {shlex.quote(name)}" for name in args.kernel or ()]
    words += [f"--with {folder.name}" for folder in args.earlier or ()]
    return " ".join([*words, "--out DIR", f"--document {args.document.name}"])
