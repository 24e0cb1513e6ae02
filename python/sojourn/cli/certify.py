"""`sojourn certify`: the test cases of a draft, run for a congestion control."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from sojourn import backends, tables
from sojourn.cli import options
from sojourn.errors import refused

_ABOUT = """\
Runs the 22 test cases of draft-ietf-ccwg-bbr, each with several seeds, in the simulator, on a kernel or live. A case
holds, fails, cannot be told, or is not runnable, and then it is said why. The exit status is 1 if a case fails.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("certify", help="run a draft's test cases", description=_ABOUT)
    parser.add_argument("draft", metavar="DRAFT", choices=["bbr"], help="whose cases: bbr")
    parser.add_argument("--cc", metavar="NAME", help="congestion control (default: bbr3; of a stack, its own)")
    parser.add_argument("--stack", metavar="NAME", help="transport that carries the flow in place of our TCP")
    options.add_backend(parser.add_argument_group("where it runs"))
    parser.add_argument("--repeat", metavar="N", type=int, default=5, help="seeds of each case, 1 to 100 (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(handler=_certify)


def _certify(args: argparse.Namespace) -> int:
    from sojourn.certify import certify
    from sojourn.scenario import Flow

    if not 1 <= args.repeat <= 100:
        raise refused(args.repeat, "repeat", "must be 1 to 100")
    own = {"kind": None, "stack": args.stack} if args.stack else {}
    control = args.cc or (None if args.stack else "bbr3")
    flow = Flow(name="flow", direction="up", congestion_control=control, **own)
    found = list(certify(args.draft, flow, range(1, args.repeat + 1), backends.named(options.backend_of(args))))
    if args.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        rows = [[one.section, one.title, one.verdict, one.reason] for one in found]
        print(tables.text(["section", "case", "verdict", "numbers"], rows, left=4))
    return 1 if any(one.verdict == "fails" for one in found) else 0
