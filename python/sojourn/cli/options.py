"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sojourn import bounds, rounds
from sojourn.backends import SIMULATOR, Backend
from sojourn.bounds import DIGITS_SHOWN, shown
from sojourn.errors import ParamError, refused
from sojourn.experiments import BUILT_IN, Experiment, takers
from sojourn.experiments.options import Declared, defaults, own
from sojourn.files import NO_SYNC, check_target
from sojourn.rounds import DEFAULT_METRICS, DEFAULT_MOST, Precision
from sojourn.store.folder import RUNS

if TYPE_CHECKING:
    from sojourn.cells import Means
    from sojourn.store.folder import ResultFolder
    from sojourn.store.run_store import RunStore

#: Options that change no result, and whether a value follows them.
IN_PASSING = {"--workers": True, "--store": True, "--dask": True, "--force": False, "--no-sync": False}

#: The longest text that is shown in full where a number was expected.
TEXT_SHOWN = 200

EXPERIMENT_HELP = f"a built-in experiment ({', '.join(BUILT_IN)}) or the path of a TOML file"

#: Most characters of a sentence: what is wrong stands at its beginning or at its end.
LONGEST_LINE = 2_000


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and whose help keeps the lines of its description."""

    def __init__(self, **keywords: Any) -> None:
        keywords.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, add_help=False, **keywords)
        self.add_argument("-h", "--help", action=Help, nargs=0, help="show this help message and exit")
        #: What the help says first, if reading it takes time: of what stood before `--help`.
        self.about: Callable[[argparse.Namespace], str] | None = None

    def error(self, message: str) -> NoReturn:
        """Print one sentence and leave with status 2."""
        self.exit(2, f"sojourn: {one_line(message.removeprefix('argument '))}; see '{self.prog} --help'\n")


def one_line(sentence: str) -> str:
    """Return a sentence as a terminal may be shown it: one line, of bounded length, without anything that steers."""
    line = " ".join(sentence.split())
    if len(line) > LONGEST_LINE:
        line = f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in line)


def whole_number(text: str) -> int:
    """Read a whole number."""
    value = _any_whole_number(text)
    if abs(value) >= 10**DIGITS_SHOWN:
        message = f"value is {shown(value)}, but must be a whole number of at most 20 digits"
        raise argparse.ArgumentTypeError(message)
    return value


def repeat(text: str) -> int:
    """Read a number of runs of one scenario."""
    return _bounded(text, bounds.check_repeat)


def max_repeat(text: str) -> int:
    """Read the largest number of runs of one scenario."""
    return _bounded(text, lambda value: bounds.check_repeat(value, "max-repeat"))


def sim_repeat(text: str) -> int:
    """Read a number of runs of one scenario in the simulator."""
    return _bounded(text, lambda value: bounds.check_repeat(value, "sim-repeat"))


def workers(text: str) -> int:
    """Read a number of workers."""
    return _bounded(text, bounds.check_workers)


def trials(text: str) -> int:
    """Read a number of trials."""
    return _bounded(text, bounds.check_trials)


def _bounded(text: str, check: Callable[[int], None]) -> int:
    value = _any_whole_number(text)
    try:
        check(value)
    except ParamError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return value


def _any_whole_number(text: str) -> int:
    try:
        return bounds.whole(text)
    except ValueError as error:
        value = repr(text) if len(text) <= TEXT_SHOWN else f"a text of {len(text)} characters"
        message = f"value is {value}, but must be a whole number"
        raise argparse.ArgumentTypeError(message) from error


def seed(text: str) -> int:
    """Read a seed."""
    value = whole_number(text)
    if not 0 <= value < 2**64:
        message = f"seed is {value}, but must be from 0 to {2**64 - 1}"
        raise argparse.ArgumentTypeError(message)
    return value


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add EXPERIMENT and the options that change it."""
    parser.add_argument("experiment", metavar="EXPERIMENT", help=EXPERIMENT_HELP)
    link = parser.add_argument_group("link")
    link.add_argument("--rate", metavar="RATE", help="bottleneck rate of both directions (default 10mbit)")
    link.add_argument("--up", metavar="RATE", help="bottleneck rate from client to server (default 10mbit)")
    link.add_argument("--down", metavar="RATE", help="bottleneck rate from server to client (default 10mbit)")
    link.add_argument("--rtt", metavar="TIME", help="base round-trip time of the path (default 50ms)")
    traffic = parser.add_argument_group("traffic")
    traffic.add_argument("--cc", metavar="NAME", help="congestion control of every TCP flow (default cubic)")
    traffic.add_argument(
        "--stack",
        metavar="NAME",
        help="transport that carries every TCP flow in place of ours, such as quinn; see `sojourn stacks`",
    )
    traffic.add_argument(
        "--duration", metavar="TIME", help="length of the measured window, which starts with the flows (default 60s)"
    )
    for name, declared in _own_options().items():
        traffic.add_argument(
            f"--{name.replace('_', '-')}",
            metavar=declared.metavar,
            type=whole_number if declared.range else str,
            help=f"{declared.help}; for {', '.join(takers(name))}",
        )


def _own_options() -> dict[str, Declared]:
    """Return all options that only some experiments take."""
    return {name: declared for one in BUILT_IN.values() for name, declared in own(one.options).items()}


class Help(argparse.Action):
    """Prints the help of a command; where an experiment or a paper is named before it, the help of that one."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> NoReturn:
        """Print it and leave."""
        experiment = BUILT_IN.get(getattr(namespace, "experiment", None) or "")
        if experiment is not None:
            parser.description = f"{experiment.name}: {experiment.summary}.\n\n{parser.description}"
            for action in parser._actions:
                _fit(action, experiment)
        about = getattr(parser, "about", None)
        if about is not None:
            parser.description = about(namespace)
        parser.print_help()
        parser.exit()


def _fit(action: argparse.Action, experiment: Experiment) -> None:
    """Have the help of an option say what the experiment does where the option is left out, or nothing at all."""
    default = defaults(experiment.options)
    default |= {"rate": default["up"], "qdisc": default["qdisc_up"]}
    declared = own(experiment.options).get(action.dest)
    foreign = action.dest in _own_options() and declared is None
    if foreign or action.dest in experiment.fixed:
        action.help = argparse.SUPPRESS
    elif action.dest in default and action.help:
        about = declared.help if declared is not None else action.help.partition(" (default")[0]
        action.help = f"{about} (default {default[action.dest]})"


def add_directions(parser: argparse.ArgumentParser) -> None:
    """Add the options for a discipline of each direction."""
    group = parser.add_argument_group(
        "queue discipline", "TEXT is what follows `tc qdisc add dev X root`, or a preset; see `sojourn list`"
    )
    group.add_argument("--qdisc", metavar="TEXT", help="discipline of both directions (default fq_codel)")
    group.add_argument("--qdisc-up", metavar="TEXT", help="discipline of the upstream bottleneck (default fq_codel)")
    group.add_argument(
        "--qdisc-down", metavar="TEXT", help="discipline of the downstream bottleneck (default fq_codel)"
    )


def add_repeats(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options of repeated runs."""
    group = parser.add_argument_group("runs")
    add_seed(group)
    add_repeat(group, f"number of runs, each with the next seed (default {default})")
    add_workers(group)
    add_cluster(group)
    add_store(group)
    add_backend(group)


def add_seed(
    group: argparse._ArgumentGroup, help_text: str = "seed of the first run (default 1)", default: int | None = None
) -> None:
    """Add the option for the first seed."""
    group.add_argument("--seed", metavar="N", type=seed, default=default, help=help_text)


def add_repeat(group: argparse._ArgumentGroup, help_text: str, default: int | None = None) -> None:
    """Add the option for the number of runs."""
    group.add_argument("--repeat", metavar="N", type=repeat, default=default, help=help_text)


def add_workers(group: argparse._ArgumentGroup) -> None:
    """Add the option for the number of processes."""
    group.add_argument(
        "--workers", metavar="N", type=workers, help="number of processes that make runs (default: one for each core)"
    )


def add_store(group: argparse._ArgumentGroup) -> None:
    """Add the option for the store of runs."""
    group.add_argument(
        "--store",
        metavar="DIR",
        type=Path,
        help="keep runs in the store DIR, and reuse the runs that it has (default: runs/ in --out DIR)",
    )


def add_backend(group: argparse._ArgumentGroup) -> None:
    """Add the option for the back end."""
    group.add_argument(
        "--backend",
        metavar="NAME",
        default="sim",
        help="sim (the simulator), linux (the real kernel, see `sojourn kernel`) or live (real packets of this machine "
        "through Sojourn's disciplines, in real time) (default sim)",
    )
    add_kernel(group)
    add_stacks(group)


def add_stacks(group: argparse._ActionsContainer) -> None:
    """Add the option for what has the transports of others."""
    group.add_argument(
        "--stacks",
        metavar="PATH",
        help="program or Python file with the transports that --stack and scenarios name (default: sojourn-stacks)",
    )


#: The sentence for an empty name.
NO_KERNEL = "kernel is '', but must be the name of a kernel: `sojourn kernel status` lists them"


_KERNEL = (
    "kernel of the back end linux: a version that was built (7.3), a name that `sojourn kernel status` lists, the path "
    "of a program, virtual, uml or host (default: SOJOURN_KERNEL, else Linux 6.1, else the newest)"
)


def add_kernel(group: argparse._ArgumentGroup) -> None:
    """Add the option for the kernel of the back end linux."""
    group.add_argument("--kernel", metavar="NAME", help=_KERNEL)


def add_kernels(group: argparse._ArgumentGroup) -> None:
    """Add the option for one or several kernels of the back end linux, a list."""
    more = "repeat the option to compare with several kernels"
    group.add_argument("--kernel", metavar="NAME", action="append", help=f"{_KERNEL}; {more}")


def explicit(args: argparse.Namespace, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Yield those of the options that were given, as they are spelled, with their values."""
    for name in names:
        if getattr(args, name) is not None:
            yield {"earlier": "with"}.get(name, name.replace("_", "-")), getattr(args, name)


def one_kernel(args: argparse.Namespace) -> str | None:
    """Return the only kernel that `add_kernels` was given; `None` if there is none.

    Raises `ParamError` if there are several.
    """
    names: list[str] = args.kernel or []
    if len(names) > 1:
        message = f"kernel is {', '.join(names)}, but {args.experiment} takes one kernel"
        raise ParamError(message)
    return names[0] if names else None


def backend_of(args: argparse.Namespace) -> str:
    """Return the back end that was asked for, with its kernel, as `sojourn.backends.named` takes it.

    Raises `ParamError` if a kernel is named for a back end that has none.
    """
    backend: str = args.backend
    if getattr(args, "stacks", None) is not None:
        if backend != "sim":
            raise refused(args.stacks, "stacks", f"the back end {backend} has none: leave --backend out")
        return f"{backend}:{args.stacks}"
    if args.kernel is None:
        return backend
    if backend != "linux":
        raise refused(args.kernel, "kernel", f"the back end {backend} has none: give --backend linux")
    if not args.kernel:
        raise ParamError(NO_KERNEL)
    return f"{backend}:{args.kernel}"


def add_cluster(group: argparse._ArgumentGroup) -> None:
    """Add the option for a Dask cluster."""
    group.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="make the runs on the workers of the Dask scheduler at ADDRESS, such as tls://host:8786 (default: on this "
        "machine); whoever runs that scheduler can run code on this machine, and with tcp:// so can whoever reaches it",
    )


def add_precision(group: argparse.ArgumentParser) -> None:
    """Add the options for repeating until an interval is narrow."""
    part = group.add_argument_group("precision")
    part.add_argument(
        "--until-ci",
        metavar="PERCENT",
        help="add seeds until the 95 %% interval of each metric lies within +-PERCENT of its mean, such as 2%%; "
        "--repeat is then the least number of runs (default: exactly --repeat runs)",
    )
    part.add_argument(
        "--until-metric",
        metavar="NAME",
        action="append",
        help=f"a metric that --until-ci checks, a column of runs.parquet; repeat the option for several (default: "
        f"{', '.join(DEFAULT_METRICS)})",
    )
    part.add_argument(
        "--max-repeat",
        metavar="N",
        type=max_repeat,
        help=f"with --until-ci, the largest number of runs of a cell (default {DEFAULT_MOST})",
    )


def precision(args: argparse.Namespace, repeat: int) -> Precision | None:
    """Return when to stop repeating.

    Raises `ParamError` if a value is refused, or one is given without `--until-ci`.
    """
    if args.until_ci is not None:
        return rounds.precision(args.until_ci, args.until_metric, args.max_repeat, repeat)
    for name in ("until_metric", "max_repeat"):
        if getattr(args, name) is not None:
            message = f"{name.replace('_', '-')} is given, but is of use only together with until-ci"
            raise ParamError(message)
    return None


def add_other_store(parser: argparse.ArgumentParser) -> None:
    """Add the option for a store that a folder of results names and that lies outside of it."""
    parser.add_argument(
        "--store", metavar="DIR", type=Path, help="the store that compare was given, if it is outside of the results"
    )


def stores(args: argparse.Namespace) -> bool:
    """Return whether a store takes the records of the runs."""
    return args.store is not None or args.out is not None


def result_folder(args: argparse.Namespace, *plan: object, again: bool = True, runs: int | None = None) -> ResultFolder:
    """Return the folder of the results that was asked for, of a plan with so many runs; raises as `ResultFolder`."""
    from sojourn.store.folder import ResultFolder, plan_name

    return ResultFolder(args.out, force=args.force, plan=plan_name(*plan), again=again, runs=runs)


def run_store(args: argparse.Namespace, folder: ResultFolder | None) -> RunStore | None:
    """Return the store of the runs: the one that was asked for, or that in the result folder."""
    from sojourn.store.run_store import RunStore

    path = store_of(args, folder)
    return None if path is None else RunStore(path)


def store_of(args: argparse.Namespace, folder: ResultFolder | None) -> Path | None:
    """Return the folder of the store: the one that was asked for, or that in the result folder."""
    if args.no_sync:
        os.environ[NO_SYNC] = "1"  # which the workers inherit
    if args.store is not None:
        return Path(args.store)
    return None if folder is None else folder.path / RUNS


def means(
    args: argparse.Namespace, folder: ResultFolder | None, progress: str | None = None, backend: Backend = SIMULATOR
) -> Means:
    """Return how a plan is run whose runs the store or the result folder that was asked for keeps."""
    from sojourn.cells import Means

    dask = getattr(args, "dask", None)
    return Means(workers=args.workers, progress=progress, store=run_store(args, folder), dask=dask, backend=backend)


@contextmanager
def say_how_to_go_on(kept: object = True, otherwise: str = "--out DIR keeps finished runs") -> Iterator[None]:
    """Have Ctrl-C say how to go on: with the same command if something keeps the runs."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on from there" if kept else otherwise) from None


def add_output(parser: argparse.ArgumentParser, json_help: str, out_help: str, *, out_required: bool = False) -> None:
    """Add the options of where results go."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help=json_help)
    group.add_argument("--out", metavar="DIR", type=Path, required=out_required, help=out_help)
    group.add_argument("--force", action="store_true", help="replace earlier results in --out DIR, and existing files")
    group.add_argument(
        "--no-sync",
        action="store_true",
        help="do not wait until runs and results are on the disk; a power cut may then lose the last ones",
    )


def add_capture(parser: argparse.ArgumentParser) -> None:
    """Add the options of a packet capture."""
    group = parser.add_argument_group("packet capture")
    group.add_argument(
        "--pcap", metavar="FILE", type=Path, help="write a capture of the run, as pcapng (default: none)"
    )
    group.add_argument(
        "--pcap-at",
        metavar="POINTS",
        help="interfaces to capture at, separated by commas: client, up-bottleneck, down-bottleneck, server "
        "(default up-bottleneck,down-bottleneck)",
    )
    group.add_argument(
        "--pcap-snaplen",
        metavar="BYTES",
        type=whole_number,
        help="bytes kept of each frame, 96 to 262144 (default 128: all headers)",
    )


def check_capture(args: argparse.Namespace, runs: int) -> None:
    """Raise `ParamError` if the capture that was asked for cannot be made of so many runs."""
    if args.pcap is None:
        for name in ("pcap_at", "pcap_snaplen"):
            if getattr(args, name) is not None:
                option = name.replace("_", "-")
                raise refused(getattr(args, name), option, "means nothing without --pcap FILE")
        return
    if runs > 1:
        raise refused(str(args.pcap), "pcap", f"a capture is of one run, and repeat is {runs}")
    for name in ("store", "dask"):
        if getattr(args, name) is not None:
            raise refused(str(args.pcap), "pcap", f"a run with a capture is always made here: leave {name} out")
    check_target(args.pcap, "pcap", force=args.force)


def scenario_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what was asked for, as keywords of `sojourn.api.build`."""
    names = ("up", "down", "rate", "rtt", "cc", "stack", "duration", "seed", *_own_options())
    keywords = {name: getattr(args, name) for name in names}
    for name in ("qdisc", "qdisc_up", "qdisc_down"):
        value = getattr(args, name, None)
        if value is not None and not isinstance(value, list):
            keywords[name] = value
    return keywords


def command_line() -> str:
    """Return the command as it was typed, for reports, without what changes no result (`IN_PASSING`)."""
    import shlex
    import sys

    words, command = iter(sys.argv[1:]), ["sojourn"]
    for word in words:
        name, _, joined = word.partition("=")
        if name not in IN_PASSING:
            command.append(word)
        elif IN_PASSING[name] and not joined:
            next(words, None)
    return shlex.join(command)
