"""`sojourn kernel bugs`: known bugs of the kernel, each played and judged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.kernel.find import Kernel
    from sojourn.regress.bugs.cases import Bug
    from sojourn.regress.bugs.judge import Finding

_ABOUT = """\
Looks for known bugs of Linux in a kernel in virtual time. Each bug is a case: packets that are offered to a queue
discipline, or a packetdrill script. The case says which reading shows the bug, what is right, and what says so: a
standard, the manual, or the code itself. The simulator's reading stands beside it. A case takes a few seconds.

For each bug a line is printed for each kernel: the reading, and present, absent or cannot tell. --report prints a text
for the maintainers with the values that were measured. The exit status is 1 if a bug is present.

docs/kernel-bugs.md has all of them, and in which versions they are.
"""


def add(parts: Any) -> None:
    """Add the command to those of `sojourn kernel`."""
    parser = parts.add_parser("bugs", help="look for known bugs in a kernel", description=_ABOUT)
    parser.add_argument("names", metavar="NAME", nargs="*", help="bugs to look for, such as red-idle (default: all)")
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        action="append",
        help="a kernel that was built, or the first numbers of its version, such as 7.3; repeat the option for several "
        "(default: as a run chooses)",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--report", metavar="NAME", help="print a text about this bug for the maintainers, and look for no other"
    )
    output.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(handler=_handle)


def _handle(args: argparse.Namespace) -> int:
    """Look for them, and print what was found."""
    from sojourn import drill
    from sojourn.backends.linux import guest
    from sojourn.errors import refused
    from sojourn.progress import progress_bar
    from sojourn.regress.bugs import cases, judge, words

    if args.report is not None and args.names:
        raise refused(args.report, "report", "must stand without other names, because it looks for one bug")
    wanted = cases.named(args.names if args.report is None else [args.report])
    guest.agent()
    drill.program()
    kernels = judge.kernels(args.kernel or ())
    results: list[tuple[Bug, list[Finding], list[Finding]]] = []
    # Lines tell how far it has come; one JSON object and a text for the maintainers do not.
    lines = not args.json and args.report is None
    with progress_bar(len(wanted) * len(kernels), None if lines else "bugs", unit="case") as move:
        for bug in wanted:
            there = [_on(bug, kernel, move) for kernel in kernels]
            here = judge.in_simulator(bug)
            results.append((bug, there, here))
            if lines:
                print(_printable(words.block(bug, there, here)), flush=True)
    if args.json:
        print(judge.as_json(results))
    elif args.report is not None:
        [(bug, there, _)] = results
        print(_printable(words.report(bug, there)))
    else:
        for place, kernel in enumerate(kernels):
            print(words.summary(f"Linux {kernel.release}", [there[place] for _, there, _ in results]))
    return 1 if any(one.verdict == cases.PRESENT for _, there, _ in results for one in there) else 0


def _on(bug: Bug, kernel: Kernel, move: Any) -> Finding:
    from sojourn.regress.bugs import judge

    found = judge.on_kernel(bug, kernel)
    move()
    return found


def _printable(text: str) -> str:
    """Return a text in which nothing that a guest said steers a terminal."""
    from sojourn.cli.options import one_line

    lines = text.split("\n")
    return "\n".join(" " * (len(line) - len(line.lstrip(" "))) + one_line(line) for line in lines)
