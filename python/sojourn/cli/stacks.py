"""`sojourn stacks`: transports of others as flows of the simulator, listed, checked and compared."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sojourn import backends, bounds, tables
from sojourn.cli import options
from sojourn.cli.kernel_compare import DEFAULT_REPEAT, add_runs, write
from sojourn.errors import refused

if TYPE_CHECKING:
    from sojourn.record import Record
    from sojourn.scenario import Scenario

_ABOUT = """\
Transports of others as flows of the simulator: `sojourn run bulk --stack quinn --cc bbr --qdisc cake`.

They are in a program of their own (`make stacks`: quinn and noq), in one that you make of your own transport
(examples/own-stack), or in a Python file (`sojourn.stacks`, examples/aioquic_stack.py).
"""

_CHECK = """\
Runs a stack in cells where its windows, losses and delays show, each twice with one seed. It says which flows failed
and why, and whether the two runs differ: then something in the stack reads a clock, or draws from the system. The exit
status is 1 if something is wrong.
"""

_COMPARE = """\
Runs two builds of a stack in the same cells with the same seeds, and says in what they differ, as `sojourn kernel
compare` does for kernels: each difference with its interval, and a verdict at which the whole table has a false
"differs" in one of twenty comparisons at most. The exit status is 1 if a threshold was given and a row differs.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("stacks", help="transports of others: list, check, compare", description=_ABOUT)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", dest="part", required=True)
    listed = parts.add_parser("list", help="list the stacks", description="Lists stacks, versions and controls.")
    options.add_stacks(listed)
    listed.add_argument("--json", action="store_true", help="print one JSON array")
    listed.set_defaults(handler=_list)
    checked = parts.add_parser("check", help="run a stack where it may fail", description=_CHECK)
    _add_stack(checked)
    options.add_stacks(checked)
    checked.add_argument("--json", action="store_true", help="print one JSON array")
    checked.set_defaults(handler=_check)
    compared = parts.add_parser("compare", help="compare two builds of a stack", description=_COMPARE)
    compared.add_argument("build_a", metavar="A", help="the first program or Python file")
    compared.add_argument("build_b", metavar="B", help="the second one")
    _add_stack(compared)
    compared.add_argument(
        "--scenario",
        metavar="FILE",
        action="append",
        help="a TOML file of a scenario whose TCP flows the stack carries; repeat the option for several (default: "
        "eight cells)",
    )
    compared.add_argument(
        "--threshold",
        metavar="SIZE",
        help="how large a difference must be to count: a percentage of A's mean such as 10%%, or a number in the "
        "metric's unit (default: any difference counts)",
    )
    add_runs(compared, f"number of runs of each cell with each build (default {DEFAULT_REPEAT})")
    options.add_cluster(compared)
    options.add_output(compared, "print compare.json instead of the table", "the folder for results")
    compared.set_defaults(handler=_compare)


def _add_stack(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stack", metavar="NAME", required=True, help="the stack, as `sojourn stacks list` shows it")
    parser.add_argument("--cc", metavar="NAME", help="its congestion control (default: its own)")


def _list(args: argparse.Namespace) -> int:
    from sojourn.backends.stacks import runner_of

    found = runner_of(args.stacks).stacks()
    if args.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        print(
            tables.text(
                ["stack", "version", "controls (--cc)"],
                [[o.name, o.version, ", ".join(o.controls)] for o in found],
                left=3,
            )
        )
    return 0


def _check(args: argparse.Namespace) -> int:
    from sojourn.stacks import bench, check

    found = check.check(bench.hard_cells(args.stack, args.cc), backends.Simulator(args.stacks))
    if args.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        rows = [[one.cell, tables.number(one.goodput_mbit), "; ".join(one.faults) or "in order"] for one in found]
        print(tables.text(["cell", "Mbit/s", "what became of it"], rows, left=1))
    return 1 if any(one.faults for one in found) else 0


def _compare(args: argparse.Namespace) -> int:
    from sojourn.cells import in_world
    from sojourn.regress import pair, words
    from sojourn.regress.threshold import threshold
    from sojourn.stacks import bench

    limit = None if args.threshold is None else threshold(args.threshold)
    repeat = DEFAULT_REPEAT if args.repeat is None else args.repeat
    scenarios = _scenarios(args)
    texts = [one.normalized("sim") for _, one in scenarios]
    bounds.check_plan(2 * len(scenarios) * repeat, stored=options.stores(args))
    for build in (args.build_a, args.build_b):
        named = {one.name for one in backends.Simulator(build).stacks.stacks()}
        if args.stack not in named:
            raise refused(args.stack, "stack", f"must be one of {build}: {', '.join(sorted(named)) or 'none'}")
    folder = None
    if args.out is not None:
        plan = ("stacks compare", args.build_a, args.build_b, texts, repeat)
        folder = options.result_folder(args, *plan, runs=2 * len(texts) * repeat)
    means = options.means(args, folder)
    with options.say_how_to_go_on(means.store):
        found = pair.compare(
            pair.Kind(
                noun="build",
                format="sojourn-stacks-compare/1",
                version_key="version",
                world=lambda name: f"sim:{name}",
                version=_version,
            ),
            (args.build_a, args.build_b),
            scenarios,
            repeat=repeat,
            metrics=list(bench.METRICS),
            threshold=limit,
            run=in_world(means),
            command=options.command_line(),
        )
    print(found.to_json() if args.json else words.terminal(found))
    if folder is not None:
        write(folder, found)
        folder.finish()
    return 1 if limit is not None and found.differs else 0


def _scenarios(args: argparse.Namespace) -> list[tuple[str, Scenario]]:
    """Return the cells that were asked for; raises `ParamError` if one is refused."""
    from sojourn import api
    from sojourn.stacks import bench

    keywords = {} if args.seed is None else {"seed": args.seed}
    if args.scenario is None:
        return [(name, api.build(one, **keywords)) for name, one in bench.cells(args.stack, args.cc)]
    return [(path, api.build(path, stack=args.stack, cc=args.cc, **keywords)) for path in args.scenario]


def _version(record: Record) -> str:
    """Return the version of the first stack of a record."""
    return next((flow.stack.version for flow in record.flows if flow.stack is not None), "")
