"""`sojourn kernel drill`: packetdrill scripts on a kernel in virtual time, or on Sojourn's own TCP."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import SojournError, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from sojourn.drill import ScriptOutcome

_ABOUT = """\
Runs packetdrill scripts, the conformance suite of Linux's TCP, on a kernel in virtual time. Each script gets a guest of
its own, which boots in 0.2 s and needs no root. A script says which segments arrive and which calls an application
makes, and which segments must leave and when. The scripts of a kernel are in tools/testing/selftests/net/packetdrill of
its source.

A line is printed for each script: passed; failed, with the line of the script, what it expects and what came; damaged,
if it is no script; or not applicable, with what it needs. The exit status is 1 if a script failed or is damaged. Before
it stands what print in the script's Python wrote. Assignments, print, assert and expressions are known of Python.

Only IPv4 is tested. Commands of scripts are done without a shell: settings of net, the discipline, MTU and features of
tun0, nstat and grep.
"""


def add(parts: Any) -> None:
    """Add the command to the parser."""
    parser = parts.add_parser("drill", help="run packetdrill scripts on a kernel", description=_ABOUT)
    parser.add_argument(
        "scripts",
        metavar="SCRIPT",
        type=Path,
        nargs="+",
        help="a script, or a folder: the files ending in .pkt in it and in the folders below it are run",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--kernel",
        metavar="NAME",
        help="a kernel that was built, or the first numbers of its version, such as 7.3 (default: as a run chooses)",
    )
    where.add_argument("--ours", action="store_true", help="run them against Sojourn's own TCP in place of a kernel")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(handler=_handle)


def _handle(args: argparse.Namespace) -> int:
    """Run them, and print what became of each."""
    from sojourn import drill
    from sojourn.progress import progress_bar

    scripts = drill.scripts(args.scripts)
    drill.program()
    tested, run = _target(args)
    outcomes: list[ScriptOutcome] = []
    # Lines tell how far it has come; one JSON object does not.
    with progress_bar(len(scripts), "drill" if args.json else None, unit="script") as move:
        for script in scripts:
            outcome = run(script)
            outcomes.append(outcome)
            if not args.json:
                lines = [f"{script}:{one.line}: printed {one.text}" for one in outcome.printed]
                print("\n".join(map(_printable, [*lines, outcome.sentence()])), flush=True)
            move()
    count = Counter(outcome.outcome for outcome in outcomes)
    if args.json:
        counts = {word.replace(" ", "_"): count[word] for word in drill.WORDS}
        found = {
            "format": "sojourn-kernel-drill/1",
            "tested": tested,
            **counts,
            "scripts": [outcome.as_json() for outcome in outcomes],
        }
        print(json.dumps(found, indent=1))
    else:
        print(f"{tested}: {', '.join(f'{count[word]} {word}' for word in drill.WORDS)}")
    return 1 if any(outcome.is_bad for outcome in outcomes) else 0


def _target(args: argparse.Namespace) -> tuple[str, Callable[[Path], ScriptOutcome]]:
    """Return what is tested, and what runs a script on it."""
    from sojourn import drill
    from sojourn.kernel.find import find

    if args.ours:
        return "Sojourn's TCP", drill.on_ours
    kernel = find(args.kernel)
    if not kernel.virtual_time:
        message = "scripts need a kernel in virtual time, because they say when segments leave: run scripts/kernels"
        if args.kernel is not None:
            raise refused(args.kernel, "kernel", message)
        raise SojournError(message)
    return f"Linux {kernel.release}", partial(drill.on_kernel, kernel=kernel)


def _printable(sentence: str) -> str:
    """Return a sentence in which nothing of a script steers a terminal."""
    from sojourn.cli.options import one_line

    return one_line(sentence)
