"""`sojourn kernel build | status | remove | drill | bugs | compare | bisect`: the Linux kernels that real runs use."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sojourn.cli import kernel_bisect, kernel_bugs, kernel_compare, kernel_drill
from sojourn.cli.options import whole_number

_ABOUT = """\
Manages the Linux kernel of the back end `linux`. It is User-Mode Linux in virtual time, built from the distribution's
source. A run on it needs no root, and depends only on its scenario and seed. Two kernels can be compared, and a search
finds the commit that made one worse.
"""

_BUILD = """\
Builds User-Mode Linux from the distribution's package of the kernel's source. Then it boots the kernel, checks that two
boots with one seed draw the same random numbers, and keeps the kernel in the cache: kernels/ in $SOJOURN_CACHE,
$XDG_CACHE_HOME/sojourn or ~/.cache/sojourn. This takes 4 minutes on two cores. It needs 2 GB of disk meanwhile, and
5 MB afterwards. First, on Debian and Ubuntu:

    apt-get install linux-source build-essential flex bison bc

--source names another source: a tarball, or a folder such as a checkout of net-next, of which a copy is built.

With --wifi it builds another kernel, for runs with a Wi-Fi cell: Linux 6.12 (the package linux-source-6.12) with its
Wi-Fi stack and Sojourn's driver, whose radios share a medium of their own. This compiles a sixth more files and needs
7 MB afterwards.

Only build from a source that you trust: its makefiles run on this machine.
"""

_STATUS = """\
Says which kernel a run would use, where Sojourn looked for others, and what is missing. Kernels are tried in this
order: the one that --kernel or SOJOURN_KERNEL names, the program that SOJOURN_UML_KERNEL names, Linux 6.1 if it was
built, the newest that was built, the package user-mode-linux, the kernel of this machine. A run with a Wi-Fi cell uses
a kernel that was built with --wifi, or one that is named and has radios. Both are shown. The exit status is 0 if some
kernel can run, and 1 if none can.
"""

_REMOVE = "Removes a kernel that was built; `sojourn kernel status` lists them."


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "kernel", help="build, show, remove, test, compare and bisect kernels of real runs", description=_ABOUT
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", dest="part", required=True)

    build = parts.add_parser("build", help="build the kernel from the distribution's source", description=_BUILD)
    build.add_argument(
        "--source",
        metavar="PATH",
        type=Path,
        help="tarball or folder of the kernel's source (default: the newest /usr/src/linux-source-*.tar.xz)",
    )
    build.add_argument(
        "--jobs", metavar="N", type=whole_number, help="number of compilers at a time (default: one for each core)"
    )
    build.add_argument(
        "--hz",
        metavar="N",
        type=whole_number,
        default=1000,
        help="ticks per second, which TCP's timers count: 100, 250, 300 or 1000 (default 1000)",
    )
    build.add_argument(
        "--wifi",
        action="store_true",
        help="build the kernel for Wi-Fi cells, from the package linux-source-6.12",
    )
    build.add_argument("--force", action="store_true", help="build the kernel again if it is in the cache")
    build.set_defaults(handler=_handle_build)

    status = parts.add_parser("status", help="say which kernel a run uses, and what is missing", description=_STATUS)
    status.add_argument("--json", action="store_true", help="print one JSON object")
    status.set_defaults(handler=_handle_status)

    remove = parts.add_parser("remove", help="remove a kernel that was built", description=_REMOVE)
    remove.add_argument("name", metavar="NAME", help="its name in the cache, such as 6.1.192-0123456789ab")
    remove.set_defaults(handler=_handle_remove)

    kernel_drill.add(parts)
    kernel_bugs.add(parts)
    kernel_compare.add(parts)
    kernel_bisect.add(parts)


def _handle_build(args: argparse.Namespace) -> int:
    """Build it, and print where it is."""
    from sojourn.kernel.build import build
    from sojourn.kernel.verify import CheckError

    try:
        outcome = build(args.source, jobs=args.jobs, hz=args.hz, wifi=args.wifi, force=args.force, describe="kernel")
    except CheckError as error:
        print(f"sojourn: {error}", file=sys.stderr)
        return 1
    built = outcome.built
    if outcome.anew:
        steps = ", ".join(f"{step} {took:.0f} s" for step, took in outcome.steps_s.items())
        print(f"Linux {built.release} was built and checked in {outcome.wall_s:.0f} s: {steps}", file=sys.stderr)
    else:
        print(f"Linux {built.release} is already in the cache; --force builds it again", file=sys.stderr)
    print(built.linux)
    return 0


def _handle_status(args: argparse.Namespace) -> int:
    """Print what there is."""
    from sojourn.kernel.status import status

    found = status()
    print(json.dumps(found.as_json()) if args.json else found.as_text())
    return 0 if found.chosen is not None else 1


def _handle_remove(args: argparse.Namespace) -> int:
    """Remove one."""
    from sojourn.kernel import cache

    freed = cache.remove(args.name)
    print(f"{args.name} is removed: {freed / 1e6:.1f} MB", file=sys.stderr)
    return 0
