"""`sojourn validate calls`: disciplines of the simulator against those of the kernel, call by call."""

from __future__ import annotations

import argparse
import json
import sys

from sojourn.cli import options
from sojourn.errors import ParamError, SojournError, refused

NAME = "calls"
#: Options of other validations, which mean nothing here.
_OTHERS = (
    *("links", "rtt", "cc", "duration", "page", "flows_up", "flows_down", "count", "only", "backend", "repeat"),
    *("sim_repeat", "workers", "store", "out", "document", "earlier"),
)
DEFAULT_SEQUENCES = 200


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.kernel.find import find
    from sojourn.validate.calls import compare, draw, kinds, shares, words

    _check(args)
    sequences = DEFAULT_SEQUENCES if args.sequences is None else args.sequences
    seed = 1 if args.seed is None else args.seed
    named = args.qdisc or []
    # Texts are read before the kernel is looked for.
    random = {text: kinds.is_random(draw.sequence(text, seed, 0).text) for text in named}
    kernel = find(options.one_kernel(args))
    if not kernel.virtual_time:
        message = "calls need a kernel in virtual time, because they are compared to a microsecond: run scripts/kernels"
        raise SojournError(message)
    texts = named or compare.all_texts(kernel)
    random |= {text: kinds.is_random(draw.sequence(text, seed, 0).text) for text in texts}
    results: list[compare.Result] = []
    averages: list[shares.Result] = []
    for text in texts:
        print(f"{text}: {sequences} sequences", file=sys.stderr)
        if random[text]:
            averages.append(compare.compare_shares(text, sequences, seed, kernel))
        else:
            results.append(compare.compare(text, sequences, seed, kernel))
    if args.json:
        plain = [result.to_plain() for result in results] + [result.to_plain() for result in averages]
        print(json.dumps(plain, indent=1, allow_nan=False))
    else:
        print(words.terminal(results, averages))
    differs = any(result.first is not None for result in results) or any(result.differs for result in averages)
    return 1 if differs else 0


def _check(args: argparse.Namespace) -> None:
    for option, value in options.explicit(args, _OTHERS):
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        message = f"{option} is {shown}, but calls are sequences of packets, to which it means nothing: leave it out"
        raise ParamError(message)
    if args.sequences is not None and args.sequences < 1:
        raise refused(args.sequences, "sequences", "must be at least 1")
