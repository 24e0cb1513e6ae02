"""`sojourn run EXPERIMENT`: one run, as a table or as its record."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from sojourn import api, backends, bounds, rounds, runner
from sojourn.cli import options, wifi_stats
from sojourn.cli.cautions import cautions
from sojourn.cli.describe import cost, describe
from sojourn.errors import refused
from sojourn.progress import progress_bar
from sojourn.scenario import Scenario
from sojourn.schema import required
from sojourn.store.cell import DisciplineRuns, label_of, link_name
from sojourn.store.comparison import Comparison
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore

if TYPE_CHECKING:
    from sojourn.store.folder import ResultFolder

_ABOUT = """\
Runs one experiment and prints a table, or the whole record as one JSON object with --json. `sojourn run EXPERIMENT
--help` shows the options and defaults of one experiment.

With --repeat N > 1 it runs N seeds and prints means with 95 % confidence intervals. With --json it then prints one
object of format sojourn-compare/1, as `sojourn compare` does for one discipline.

With --pcap FILE it also writes what tcpdump would have captured on the path, as pcapng. The record stays the same.
"""


#: What a scenario has where it names none.
_DISCIPLINE = "fq_codel"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("run", help="run one experiment", description=_ABOUT)
    options.add_experiment(parser)
    options.add_directions(parser)
    options.add_repeats(parser, default="1")
    options.add_output(
        parser, "print the record as one JSON object", "write run.json, series.parquet and flows.parquet into DIR"
    )
    options.add_capture(parser)
    parser.add_argument(
        "--wifi-stats",
        action="store_true",
        help="also print the airtime and the queues of a Wi-Fi cell, as iw and debugfs do",
    )
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    backend = backends.named(options.backend_of(args))
    if args.pcap is not None and backend.name != "sim":
        raise refused(str(args.pcap), "pcap", "only the sim back end writes captures: leave --backend out")
    scenario = api.build(args.experiment, backend=backend.name, **options.scenario_options(args))
    plan = rounds.repeats(scenario, 1 if args.repeat is None else args.repeat)
    label = _label(scenario)
    bounds.check_plan(len(plan), stored=options.stores(args))
    options.check_capture(args, len(plan))
    text = scenario.normalized(backend.name)
    if args.wifi_stats:
        wifi_stats.check(text, len(plan))
    backends.reach(backend)
    for sentence in cautions(json.loads(text)):
        print(f"sojourn: {sentence}", file=sys.stderr)
    folder = None
    if args.out is not None:
        from sojourn.store.folder import ResultFolder, plan_name

        name = plan_name("run", scenario.normalized(backend.name), label, len(plan)) if len(plan) > 1 else None
        folder = ResultFolder(args.out, force=args.force, plan=name)
    store = options.store_of(args, folder) if len(plan) > 1 else args.store
    if args.pcap is not None:
        runs = [_captured(args, plan[0])]
    else:
        with options.say_how_to_go_on(store, "nothing was kept"):
            runs = runner.run_all(
                plan,
                workers=args.workers,
                describe=scenario.experiment,
                store=None if store is None else RunStore(store),
                dask=args.dask,
                backend=backend,
            )
    if len(runs) > 1:
        return _several(args, runs, label, folder)
    run = runs[0]
    if folder is not None:
        folder.write("run.json", run.text + "\n")
        folder.write_frame("series.parquet", run.series)
        folder.write_frame("flows.parquet", run.flows)
        folder.finish()
    print(run.text if args.json else describe(run))
    if args.wifi_stats and not args.json:
        print("\n" + "\n\n".join(wifi_stats.describe(required(run.record.wifi, "wifi"))))
    print(cost(run.record), file=sys.stderr)
    # A run with a transport of somebody else that failed has failed.
    return int(any(flow.stack is not None and flow.error is not None for flow in run.record.flows))


def _captured(args: argparse.Namespace, scenario: Scenario) -> Run:
    from sojourn.interop import capture

    points = capture.DEFAULT_POINTS if args.pcap_at is None else args.pcap_at.split(",")
    snaplen = capture.DEFAULT_SNAPLEN if args.pcap_snaplen is None else args.pcap_snaplen
    with progress_bar(1, scenario.experiment):
        return Run(text=capture.run(scenario, args.pcap, points=points, snaplen=snaplen, force=args.force))


def _label(scenario: Scenario) -> str:
    """Return the disciplines as they were asked for."""
    default = _DISCIPLINE
    return label_of(scenario.qdisc_up or default, scenario.qdisc_down or default)


def _several(args: argparse.Namespace, runs: list[Run], label: str, folder: ResultFolder | None) -> int:
    from sojourn.cli import compare

    scenario = runs[0].record.scenario
    cell = DisciplineRuns(link=link_name(scenario["down"], scenario["up"]), qdisc=label, runs=tuple(runs))
    comparison = Comparison(experiment=scenario["experiment"], cells=(cell,))
    if folder is not None:
        compare.write(folder, comparison)
    print(comparison.to_json() if args.json else compare.describe(comparison))
    if folder is not None:
        folder.finish()
    return 0
