"""`sojourn kernel bisect`: the commit of a kernel's source that made a measured quantity worse."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import api, bounds
from sojourn.cli import options
from sojourn.cli.kernel_compare import add_runs
from sojourn.errors import ParamError, refused

if TYPE_CHECKING:
    from sojourn.regress.bisection import Bisection
    from sojourn.regress.quantities import Worse
    from sojourn.scenario import Scenario
    from sojourn.store.folder import ResultFolder

DEFAULT_REPEAT, DEFAULT_MOST = 4, 32

_ABOUT = """\
Finds the commit of a kernel's git repository that made a measured quantity worse. It runs `git bisect`: each commit
that git asks about is built, measured in virtual time, and judged good or bad.

First it measures both ends, which must differ by the threshold. Then a commit is good or bad, whichever end it is
nearer to. If that is not certain, it is measured with more seeds, up to --max-repeat. A commit that does not
build, does not boot or cannot be told is skipped. At the end it prints the first bad commit, how much it changes the
metric, and each commit that was measured.

Nothing is written to --source. The work is done in a folder of its own (--work), which takes 1.6 GB for Linux and keeps
the build, each kernel and each run. So the second build compiles only what has changed, a command that was stopped goes
on from there, and a second search in the same repository uses the kernels of the first. The first build takes 4 minutes
on two cores.

With --out DIR it writes bisect.json, bisect.md, the figures, and bisect.log, which `git bisect replay` takes. The exit
status is 0 if the commit was found, and 1 if commits that were skipped are in the way.

Only build from a source that you trust: its makefiles run on this machine.
"""


def add(parts: Any) -> None:
    """Add the command to those of `sojourn kernel`."""
    parser = parts.add_parser("bisect", help="find the commit that made a kernel worse", description=_ABOUT)
    git = parser.add_argument_group("commits")
    git.add_argument("--source", metavar="DIR", type=Path, required=True, help="git repository of the kernel's source")
    git.add_argument("--good", metavar="COMMIT", required=True, help="a commit that is good: branch, tag or hash")
    git.add_argument("--bad", metavar="COMMIT", required=True, help="a later commit that is bad")
    git.add_argument(
        "--path",
        metavar="PATH",
        action="append",
        help="only commits that change this file or folder of the source, such as net/sched; repeat the option for "
        "several (default: all commits)",
    )
    options.add_experiment(parser)
    options.add_directions(parser)
    judged = parser.add_argument_group("judgement")
    judged.add_argument(
        "--metric",
        metavar="NAME",
        default="induced_latency_ms",
        help="what is measured, such as goodput_up_mbit or rtt_p99_ms (default induced_latency_ms)",
    )
    judged.add_argument(
        "--threshold",
        metavar="SIZE",
        required=True,
        help="how much worse the bad commit must be at least: a percentage of the good one's mean such as 10%%, or a "
        "number in the metric's unit",
    )
    way = judged.add_mutually_exclusive_group()
    way.add_argument("--higher", action="store_true", help="a higher value is worse (default: by the metric)")
    way.add_argument("--lower", action="store_true", help="a lower value is worse (default: by the metric)")
    runs = add_runs(parser, f"number of runs of each commit at first (default {DEFAULT_REPEAT})")
    runs.add_argument(
        "--max-repeat",
        metavar="N",
        type=options.max_repeat,
        help=f"number of runs of a commit at most, where fewer cannot tell (default {DEFAULT_MOST})",
    )
    build = parser.add_argument_group("build")
    build.add_argument(
        "--jobs",
        metavar="N",
        type=options.whole_number,
        help="number of compilers at a time (default: one for each core)",
    )
    build.add_argument(
        "--hz",
        metavar="N",
        type=options.whole_number,
        default=1000,
        help="ticks per second, which TCP's timers count: 100, 250, 300 or 1000 (default 1000)",
    )
    build.add_argument(
        "--work",
        metavar="DIR",
        type=Path,
        help="folder for the build, the kernels and the runs (default: one for each source in bisect/ of the cache)",
    )
    options.add_output(parser, "print bisect.json instead of the table", "the folder for results")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn import runner
    from sojourn.cells import Means, in_world
    from sojourn.kernel import assemble, tools
    from sojourn.kernel.make import ended_like_ctrl_c
    from sojourn.regress import bisection, commits, search
    from sojourn.regress.repository import Origin, Repository
    from sojourn.regress.threshold import threshold
    from sojourn.store.run_store import RunStore

    limit = threshold(args.threshold)
    repeat, most = _counts(args)
    jobs = runner.cores() if args.jobs is None else args.jobs
    assemble.check(jobs, args.hz)
    scenario = _scenario(args)
    worse = _worse(args)
    origin = Origin.at(args.source)
    work = (commits.folder_of(args.source) if args.work is None else args.work).absolute()
    assemble.check_folder(work, "folder of the work", "give --work DIR")
    if args.work is not None and work.resolve().is_relative_to(args.source.resolve()):
        raise refused(str(args.work), "work", "must not lie in source, of which nothing is changed")
    request = search.Request(
        good=origin.commit(args.good, "good"),
        bad=origin.commit(args.bad, "bad"),
        names=(args.good, args.bad),
        paths=tuple(args.path or ()),
        scenario=scenario,
        metric=args.metric,
        worse=worse,
        threshold=limit,
        repeat=repeat,
        most=most,
        command=options.command_line(),
    )
    tools.check_tools()
    with ended_like_ctrl_c(), commits.held(work), options.say_how_to_go_on():
        repository = Repository.borrow(origin, work / "tree")
        order = search.check_order(repository, request)
        folder = _folder(args, request)
        commits_left = f"{len(order)} commits" if len(order) > 1 else "1 commit"
        _say(f"{commits_left} to search; the build, the kernels and the runs are kept in {work}")
        builder = commits.Builder(repository=repository, work=work, jobs=jobs, hz=args.hz, describe="compile")
        store = RunStore(options.store_of(args, None) or work / "runs")
        run = in_world(Means(workers=args.workers, store=store))
        result = search.search(request, repository, builder, run, _say)
        shown = result.to_json() if args.json else bisection.terminal(result)
        if folder is not None:
            _write(folder, result)
            folder.finish()
    print(shown)
    return 0 if result.first_bad is not None else 1


def _say(sentence: str) -> None:
    print(f"bisect: {sentence}", file=sys.stderr, flush=True)


def _counts(args: argparse.Namespace) -> tuple[int, int]:
    """Return the number of runs of a commit at first and at most; raises `ParamError` if they do not fit."""
    repeat = DEFAULT_REPEAT if args.repeat is None else args.repeat
    if repeat < 2:
        raise refused(repeat, "repeat", "must be at least 2: one run says nothing about its spread")
    most = max(DEFAULT_MOST, repeat) if args.max_repeat is None else args.max_repeat
    if most < repeat:
        raise refused(most, "max-repeat", f"must be at least repeat, which is {repeat}")
    bounds.check_plan(most)
    return repeat, most


def _scenario(args: argparse.Namespace) -> Scenario:
    """Return what is run; raises `ParamError` if it is refused, or needs radios."""
    from sojourn.backends.linux import has_cell
    from sojourn.regress import quantities

    made = api.build(args.experiment, backend="linux", **options.scenario_options(args))
    if has_cell(made.normalized("linux")):
        message = (
            f"experiment is {args.experiment!r}, but must have no Wi-Fi cell: the driver is written for one version "
            "of Linux, and not for each commit"
        )
        raise ParamError(message)
    quantities.check_name(args.metric, cell=False)
    return made


def _worse(args: argparse.Namespace) -> Worse:
    """Return which way the metric is worse; raises `ParamError` if that is not known, and was not said."""
    from sojourn.regress.quantities import worse_way

    if args.higher or args.lower:
        return "higher" if args.higher else "lower"
    way = worse_way(args.metric)
    if way is None:
        message = f"metric is {args.metric!r}, of which it is not known which way is worse: give --higher or --lower"
        raise ParamError(message)
    return way


def _folder(args: argparse.Namespace, request: Any) -> ResultFolder | None:
    if args.out is None:
        return None
    # A search that goes on may ask for more runs; its commits, its scenario and its metric are what it is.
    text = request.scenario.normalized("linux")
    plan = (request.good, request.bad, request.paths, text, request.metric, request.worse)
    return options.result_folder(args, "kernel bisect", *plan)


def _write(folder: ResultFolder, result: Bisection) -> None:
    """Write the report and the figures."""
    from sojourn.frame_library import pl
    from sojourn.plots import rtt_cdf, save, two_kernels
    from sojourn.regress import bisection
    from sojourn.regress.search import SHORT

    shown = [two_kernels.Measured(name=one.sha[:SHORT], side=one.side, values=one.values) for one in result.commits]
    title = f"{result.experiment}: {result.quantity.title} of each commit"
    figures = {"commits": two_kernels.along(shown, result.middle, label=result.quantity.heading, title=title)}
    if result.first_bad is not None and result.last_good is not None:
        names, sides = ("last good", "first bad"), (result.last_good, result.first_bad)
        panel = two_kernels.Panel(
            title=result.quantity.title,
            unit=result.quantity.unit,
            first=result.last_good.values,
            second=result.first_bad.values,
        )
        figures["runs"] = two_kernels.paired([panel], names)
        series = {
            name: pl.concat([run.series for run in result.runs[one.sha]])
            for name, one in zip(names, sides, strict=True)
        }
        figures["rtt"] = rtt_cdf(series, title=f"{result.experiment}: round-trip times", sides=True)
    save.write(folder, figures)
    folder.write("bisect.json", result.to_json() + "\n")
    folder.write("bisect.log", result.log)
    page = folder.write("bisect.md", bisection.markdown(result, list(figures)))
    print(f"report: {page}", file=sys.stderr)
