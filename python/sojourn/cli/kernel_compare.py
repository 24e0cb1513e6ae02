"""`sojourn kernel compare A B EXPERIMENT`: two kernels under the same scenarios with the same seeds."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from sojourn import api, backends, bounds
from sojourn.cli import options
from sojourn.errors import ParamError
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from sojourn.regress.pair import Pair
    from sojourn.store.folder import ResultFolder

DEFAULT_REPEAT = 10

_ABOUT = """\
Runs the same scenarios with the same seeds on two kernels, and says in what they differ. For each scenario and metric
it prints the mean of both kernels, the difference seed by seed with its 95 % interval, and a verdict:

  differs             the difference is beyond chance, with the number of rows taken into account
  no difference seen  its interval holds zero; how large a difference may be, the interval says
  agrees              with --threshold: the interval lies within the threshold
  cannot tell         neither: more runs (--repeat) may tell

Without --threshold any difference counts. A row differs only if its interval at 100 - 5/ROWS % leaves out zero, so that
the whole table has a false "differs" in one of twenty comparisons at most.

With --out DIR it writes compare.json, compare.md, figures of both distributions, and every run (runs/). If the command
was stopped, the same command goes on from there. The exit status is 1 if a threshold was given and a row differs.
"""


def add(parts: Any) -> None:
    """Add the command to those of `sojourn kernel`."""
    parser = parts.add_parser("compare", help="run the same scenarios on two kernels", description=_ABOUT)
    parser.add_argument(
        "kernel_a", metavar="A", help="the first kernel, as --kernel of `sojourn run` takes it, such as 6.1"
    )
    parser.add_argument("kernel_b", metavar="B", help="the second kernel")
    options.add_experiment(parser)
    parser.add_argument(
        "--qdisc",
        metavar="TEXT",
        action="append",
        help="discipline of both directions: tc text or a preset (see `sojourn list`); repeat the option for several "
        "(default: as the experiment has it)",
    )
    judged = parser.add_argument_group("judgement")
    judged.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        help="what is compared, such as induced_latency_ms, goodput_up_mbit, rtt_p99_ms; repeat the option for several "
        "(default: what `sojourn validate` judges)",
    )
    judged.add_argument(
        "--threshold",
        metavar="SIZE",
        help="how large a difference must be to count: a percentage of A's mean such as 10%%, or a number in the "
        "metric's unit (default: any difference counts)",
    )
    add_runs(parser, f"number of runs of each scenario on each kernel (default {DEFAULT_REPEAT})")
    options.add_output(parser, "print compare.json instead of the table", "the folder for results")
    parser.set_defaults(handler=handle)


def add_runs(parser: argparse.ArgumentParser, repeat: str) -> argparse._ArgumentGroup:
    """Add the options of runs on kernels; `repeat` is the help of that option."""
    runs = parser.add_argument_group("runs")
    options.add_seed(runs)
    options.add_repeat(runs, repeat)
    options.add_workers(runs)
    options.add_store(runs)
    return runs


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.backends.linux import has_cell
    from sojourn.cells import in_world
    from sojourn.regress import pair, quantities, words
    from sojourn.regress.threshold import threshold

    limit = None if args.threshold is None else threshold(args.threshold)
    repeat = DEFAULT_REPEAT if args.repeat is None else args.repeat
    scenarios = _scenarios(args)
    texts = [one.normalized("linux") for _, one in scenarios]
    names: list[str] = list(dict.fromkeys(args.metric or ()))
    for name in names:
        quantities.check_name(name, cell=has_cell(texts[0]))
    bounds.check_plan(2 * len(scenarios) * repeat, stored=options.stores(args))
    _reach(args)
    folder = None
    if args.out is not None:  # what only changes the report may change when the command goes on
        plan = ("kernel compare", args.kernel_a, args.kernel_b, texts, repeat)
        folder = options.result_folder(args, *plan, runs=2 * len(texts) * repeat)
    means = options.means(args, folder)
    with options.say_how_to_go_on(means.store):
        found = pair.compare(
            pair.KERNELS,
            (args.kernel_a, args.kernel_b),
            scenarios,
            repeat=repeat,
            metrics=names,
            threshold=limit,
            run=in_world(means),
            command=options.command_line(),
        )
    shown = found.to_json() if args.json else words.terminal(found)
    if folder is not None:
        write(folder, found)
        folder.finish()
    print(shown)
    return 1 if limit is not None and found.differs else 0


def _scenarios(args: argparse.Namespace) -> list[tuple[str, Scenario]]:
    """Return the scenarios with their names: one for each discipline, or the experiment's own.

    Raises `ParamError` if one is refused, or a discipline is named twice.
    """
    keywords = options.scenario_options(args)
    qdiscs: list[str] = args.qdisc or []
    if len(set(qdiscs)) < len(qdiscs):
        message = f"qdisc is {', '.join(qdiscs)}, but each discipline must be named once"
        raise ParamError(message)
    if qdiscs:
        return [(text, api.build(args.experiment, qdisc=text, backend="linux", **keywords)) for text in qdiscs]
    made = api.build(args.experiment, backend="linux", **keywords)
    plain = json.loads(made.normalized("linux"))
    ways = dict.fromkeys(plain[way] for way in ("qdisc_up", "qdisc_down") if plain.get(way))
    return [(" and ".join(ways) or plain["experiment"], made)]


def _reach(args: argparse.Namespace) -> None:
    """Raise `ParamError` unless both kernels are there."""
    for field, name in (("A", args.kernel_a), ("B", args.kernel_b)):
        if not name:
            message = f"{field} is '', but must be the name of a kernel: `sojourn kernel status` lists them"
            raise ParamError(message)
        backends.reach(backends.named(f"linux:{name}"))


def write(folder: ResultFolder, found: Pair) -> None:
    """Write all but the records."""
    from sojourn.frame_library import pl
    from sojourn.plots import rtt_cdf, save, two_kernels
    from sojourn.regress import words
    from sojourn.store.index import slug

    panels = [
        two_kernels.Panel(
            title=f"{row.quantity.title}\n{row.cell}", unit=row.quantity.unit, first=row.first, second=row.second
        )
        for row in found.rows
    ]
    figures = {
        "runs": two_kernels.paired(
            panels, found.labels, title=f"{found.experiment}: each run on both {found.kind.noun}s"
        )
    }
    for number, (name, both) in enumerate(found.runs.items(), start=1):
        series = [pl.concat([run.series for run in runs]) for runs in both]
        title = f"{found.experiment}, {name}"
        # Two long names may be the same up to here.
        figures[f"rtt_{number}_{slug(name)[:60]}"] = rtt_cdf(
            dict(zip(found.labels, series, strict=True)), title=title, sides=True
        )
    save.write(folder, figures)
    folder.write("compare.json", found.to_json() + "\n")
    page = folder.write("compare.md", words.markdown(found, list(figures)))
    print(f"report: {page}", file=sys.stderr)
