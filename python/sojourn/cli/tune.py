"""`sojourn tune QDISC`: parameters for a link, found by running candidates on it."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sojourn import backends
from sojourn.cli import options, tune_map
from sojourn.errors import ParamError, refused

if TYPE_CHECKING:
    from sojourn.store.folder import ResultFolder
    from sojourn.tune.bench import Bench, Seeds
    from sojourn.tune.search import Request
    from sojourn.tune.space import Space
    from sojourn.tune.study import Tuning

DEFAULT_TRIALS = {"sim": 96, "linux": 24}
#: With a time and no number of trials, this many at most.
MOST_TRIALS = 1000
DEFAULT_SEEDS = {"sim": 8, "linux": 2}
#: The choice has so many times the seeds of the search, the check so many.
CHOICE_SEEDS, FRESH_SEEDS = 3, 6

_ABOUT = """\
Searches the parameters of QDISC for a link, and prints the best setting as a tc command line to paste. It also prints
the Pareto front, how much each parameter matters, and a comparison of the best setting with the default and with the
rural study's setting (target 65 ms, interval 300 ms; for codel and fq_codel). The comparison uses seeds that the search
did not use, and has 95 % intervals.

  sojourn tune codel --rate 1mbit --rtt 300ms
  sojourn tune fq_codel --up 1mbit --down 10mbit --rtt 50ms..550ms --goal "utilisation>=0.9" --minimise delay

Every candidate runs with the same seeds at the same RTTs. For a range of RTTs these are its ends and RTTs between them.
A candidate counts by its mean over the seeds, at the RTT where it is worst. Metrics of the direction under test:

  utilisation   bits that left the bottleneck over what it could carry
  delay         mean time of a packet in the queue (ms); delay_p95: 95th percentile over packets
  fct           mean completion time of the load's files (ms)
  loss          packets dropped over offered
  thin_delay    mean time of the thin streams' packets in the queue (ms)

Loads, in the direction under test:

  rural-low     a bulk transfer, repeated downloads of 1.7 MB, a thin stream of 150 bytes each 300 ms; Reno
  rural-high    two of each
  home          two bulk transfers each way, and downloads and a thin stream; CUBIC; fq_codel the other way
  bulk          two bulk transfers; CUBIC

A goal is METRIC>=BOUND or METRIC<=BOUND. BOUND is a number (0.9 or 90%, 40ms), or `default` or `rural`, which mean no
worse than with that setting at any RTT. Without --goal and --minimise, the reference is the rural setting, or the
default where there is no rural setting. The goals are then to be no worse than the reference in utilisation, delay and
fct, and the search looks for the least delay and fct. With several --minimise, each metric is divided by the
reference's value, and the best setting has the least sum.

The exit status is 0 for success, 1 if fresh seeds refute a goal that the search saw met, and 2 for bad input or if no
setting meets the goals. A sentence then says how near a setting comes.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("tune", help="find a discipline's parameters for a link", description=_ABOUT)
    parser.add_argument("qdisc", metavar="QDISC", help="codel, fq_codel, pie, red, sfq or cake")
    link = parser.add_argument_group("link")
    link.add_argument("--rate", metavar="RATE", help="bottleneck rate of both directions (default 10mbit)")
    link.add_argument("--up", metavar="RATE", help="bottleneck rate from client to server (default 10mbit)")
    link.add_argument("--down", metavar="RATE", help="bottleneck rate from server to client (default 10mbit)")
    link.add_argument("--rtt", metavar="LOW..HIGH", help="base RTT, or a range of them (default 50ms)")
    link.add_argument(
        "--rtts", metavar="N", type=options.whole_number, help="number of RTTs tried in a range, 2 to 9 (default 3)"
    )
    link.add_argument(
        "--limit",
        metavar="N",
        type=options.whole_number,
        help="packets that the queue may hold (default: rate times longest RTT, at least 25)",
    )
    traffic = parser.add_argument_group("traffic")
    traffic.add_argument(
        "--load", metavar="NAME", help="rural-low, rural-high, home or bulk, see above (default rural-low)"
    )
    traffic.add_argument(
        "--direction",
        metavar="WAY",
        choices=("up", "down"),
        default="up",
        help="the direction that has the discipline, up or down (default up)",
    )
    traffic.add_argument("--cc", metavar="NAME", help="congestion control of every TCP flow (default: the load's)")
    traffic.add_argument(
        "--duration", metavar="TIME", help="length of each run (default: depends on the rate; 300s at 1mbit)"
    )
    goals = parser.add_argument_group("goals")
    goals.add_argument(
        "--goal", metavar="GOAL", action="append", help="what a setting must meet; repeat the option for several"
    )
    goals.add_argument(
        "--minimise",
        metavar="METRIC",
        action="append",
        help="delay, delay_p95, fct, loss or thin_delay; repeat the option for several",
    )
    goals.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        help="search NAME=LOW..HIGH, or fix NAME=VALUE; repeat the option for several (default: search all, in ranges "
        "that follow from the link)",
    )
    effort = parser.add_argument_group("effort")
    effort.add_argument(
        "--trials",
        metavar="N",
        type=options.trials,
        help=f"number of settings to try (default {DEFAULT_TRIALS['sim']}; {DEFAULT_TRIALS['linux']} on linux; with "
        f"--time, {MOST_TRIALS})",
    )
    effort.add_argument(
        "--time",
        metavar="TIME",
        help="propose no more settings after this time (default: no bound); the result then depends on the clock",
    )
    effort.add_argument(
        "--seeds",
        metavar="N",
        type=options.whole_number,
        help=f"number of runs of each setting at each RTT (default {DEFAULT_SEEDS['sim']}; {DEFAULT_SEEDS['linux']} on "
        f"linux); the choice makes {CHOICE_SEEDS} times as many more runs, the check {FRESH_SEEDS} times as many "
        "with fresh seeds",
    )
    options.add_seed(effort, "seed of the proposals, and first seed of the runs (default 1)", 1)
    options.add_workers(effort)
    options.add_cluster(effort)
    options.add_backend(effort)
    options.add_output(
        parser,
        "print tune.json instead of the tables",
        "the folder for tune.json, table.md, report.html, figures/ and measures.jsonl, from which a stopped search "
        "goes on",
    )
    tune_map.add(parser)
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    if args.map:
        return tune_map.handle(args)
    tune_map.check(args)
    from sojourn.tune import words
    from sojourn.tune.bench import Bench
    from sojourn.tune.measure import FILE as JOURNAL
    from sojourn.tune.measure import Journal
    from sojourn.tune.space import TUNED, space
    from sojourn.tune.study import tune

    link, load = _question(args)
    found_space = space(args.qdisc, link, args.direction, args.param or (), args.backend)
    if args.limit is not None and not TUNED[args.qdisc].has_limit:
        raise refused(args.limit, "limit", f"{args.qdisc} has no limit of packets: leave it out")
    request = _request(args, load.metrics, tuple(found_space.references()))
    seeds = _seeds(args)
    backend = backends.for_many(options.backend_of(args), "tune")
    bench = Bench(
        link=link,
        load=load,
        direction=args.direction,
        backend=backend,
        journal=Journal(None),
        cc=args.cc,
        workers=args.workers,
        dask=args.dask,
    )
    _check_scenario(bench, found_space, seeds)
    backends.reach(backend)
    folder = _folder(args, bench, found_space, request, seeds)
    journal = Journal(None if folder is None else folder.claim(JOURNAL).parent)
    bench = replace(bench, journal=journal)
    try:
        with options.say_how_to_go_on(folder):
            outcome = tune(bench, found_space, request, seeds, _bar)
            if not outcome.reachable:
                raise ParamError(words.unreachable(outcome, bench, found_space, request))
            return _answer(args, outcome, bench, found_space, request, seeds, folder)
    finally:
        journal.close()


def _question(args: argparse.Namespace) -> tuple[Any, Any]:
    """Return the link and the load."""
    from sojourn.tune import loads
    from sojourn.tune.link import read_link

    for name in ("up", "down"):
        if args.rate is not None and getattr(args, name) is not None:
            raise refused(args.rate, "rate", f"must not be given together with {name}")
    load = loads.named(args.load or loads.DEFAULT)
    link = read_link(
        up=args.up or args.rate or "10mbit",
        down=args.down or args.rate or "10mbit",
        rtt=args.rtt or "50ms",
        direction=args.direction,
        points=args.rtts,
        limit=args.limit,
        duration=args.duration,
    )
    return link, load


def _request(args: argparse.Namespace, metrics: tuple[str, ...], references: tuple[str, ...]) -> Request:
    from sojourn.tune import loads
    from sojourn.tune.goals import METRICS, read_goal, read_objectives
    from sojourn.tune.search import Request
    from sojourn.units import seconds

    usual = [name for name in ("utilisation", "delay", "fct") if name in metrics]
    if args.goal is None and args.minimise is None:
        goals = [f"{name}{'>=' if METRICS[name].better == 'higher' else '<='}{references[-1]}" for name in usual]
        minimise = usual[1:]
    else:
        goals, minimise = args.goal or [], args.minimise or ["delay"]
    read = tuple(read_goal(text) for text in goals)
    for number, goal in enumerate(read):
        if isinstance(goal.bound, str) and goal.bound not in references:
            raise refused(goal.text, "goal", f"{args.qdisc} has no {goal.bound} setting")
        if goal.text in {one.text for one in read[:number]}:
            message = f"goal is {goal.text!r} twice, but each goal must be given once"
            raise ParamError(message)
    objectives = read_objectives(minimise)
    for name in (*objectives, *(goal.metric for goal in read)):
        if name not in metrics:
            message = (
                f"{name} is asked for, but the load {args.load or loads.DEFAULT} has none: it has {', '.join(metrics)}"
            )
            raise ParamError(message)
    time_s = None
    if args.time is not None:
        from sojourn.scenario import Scenario

        time_s = seconds(json.loads(_time(Scenario(experiment="tune", duration=args.time)))["duration"])
    trials = args.trials
    if trials is None:
        trials = MOST_TRIALS if time_s is not None else DEFAULT_TRIALS.get(args.backend, DEFAULT_TRIALS["sim"])
    return Request(goals=read, minimise=objectives, trials=trials, seed=args.seed, time_s=time_s)


def _time(scenario: Any) -> str:
    try:
        return str(scenario.normalized())
    except ParamError as error:
        message = str(error).replace("duration", "time", 1)
        raise ParamError(message) from error


def _seeds(args: argparse.Namespace) -> Seeds:
    from sojourn.tune.bench import STRIDE, Seeds

    number = args.seeds if args.seeds is not None else DEFAULT_SEEDS.get(args.backend, DEFAULT_SEEDS["sim"])
    if not 1 <= number <= STRIDE // FRESH_SEEDS:
        raise refused(number, "seeds", f"must be from 1 to {STRIDE // FRESH_SEEDS}")
    if args.seed >= 2**64 - 3 * STRIDE:
        raise refused(args.seed, "seed", f"must be below {2**64 - 3 * STRIDE}: the fresh seeds lie above it")
    return Seeds.of(args.seed, search=number, choice=CHOICE_SEEDS * number, fresh=FRESH_SEEDS * number)


def _check_scenario(bench: Bench, found_space: Space, seeds: Seeds) -> None:
    """Have the one validator see a scenario, before a folder is made."""
    setting = found_space.references()["default"]
    bench.load.scenario(
        bench.link, bench.direction, qdisc=setting.text, rtt_ms=bench.link.rtts_ms[0], seed=seeds.search[0], cc=bench.cc
    ).normalized(bench.backend.name)


def _folder(
    args: argparse.Namespace, bench: Bench, found_space: Space, request: Request, seeds: Seeds
) -> ResultFolder | None:
    """Return the folder; the name of the plan holds what the answer is a function of."""
    if args.out is None:
        return None
    parts = [found_space, bench.link, bench.load.name, bench.direction, bench.cc, bench.backend.spec, request.goals]
    more = [request.minimise, request.trials, request.seed, request.time_s, seeds]
    return options.result_folder(args, "tune", *map(repr, [*parts, *more]))


def _bar(total: int, step: str) -> AbstractContextManager[Any]:
    from sojourn.progress import progress_bar

    return progress_bar(total, step)


def _answer(
    args: argparse.Namespace,
    outcome: Tuning,
    bench: Bench,
    found_space: Space,
    request: Request,
    seeds: Seeds,
    folder: ResultFolder | None,
) -> int:
    """Write and print what came of it."""
    from sojourn.tune import words

    text = json.dumps(words.whole(outcome, bench, found_space, request, seeds), indent=1, allow_nan=False)
    summary = words.terminal(outcome, bench, found_space, request)
    if folder is not None:
        from sojourn import report
        from sojourn.report.exhibit import draw
        from sojourn.tune import figure

        front = draw("front", figure.CAPTION, figure.of(outcome, bench, found_space, request))
        report.write(folder, words.report_of(outcome, bench, found_space, request, front, options.command_line()))
        folder.write("table.md", f"```\n{summary}\n```\n")
        print(f"answer: {folder.write('tune.json', text + chr(10))}", file=sys.stderr)
        folder.finish()
    print(text if args.json else summary)
    refuted = [goal for goal, met in outcome.met.items() if met == "not met"]
    for goal in refuted:
        print(f"goal {goal}: with fresh seeds it is not met", file=sys.stderr)
    return 1 if refuted else 0
