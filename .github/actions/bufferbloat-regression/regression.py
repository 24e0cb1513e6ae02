"""regression.py EXPERIMENT: compares queue disciplines with Sojourn, and says whether a metric is within its limits.

The exit status is 0 if it is, 1 if it is not, and 2 if that could not be found out. The table of the comparison goes to
standard output, and to the summary of the job that GITHUB_STEP_SUMMARY names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def number(text: str) -> float | None:
    """Return the number of an option; an empty one is no limit."""
    return float(text) if text else None


def judge(comparison: dict[str, Any], metric: str, at_most: float | None, at_least: float | None) -> Iterator[str]:
    """Yield a sentence for each discipline whose mean is beyond a limit."""
    for one in comparison["disciplines"]:
        if metric not in one["summary"]:
            message = f"--metric is {metric}, but must be one of {', '.join(one['summary'])}"
            raise KeyError(message)
        mean = one["summary"][metric]["mean"]
        if mean is None:
            yield f"{one['qdisc']}: {metric} has no value"
        elif at_most is not None and mean > at_most:
            yield f"{one['qdisc']}: {metric} is {mean:.2f}, above {at_most:g}"
        elif at_least is not None and mean < at_least:
            yield f"{one['qdisc']}: {metric} is {mean:.2f}, below {at_least:g}"


def main(words: list[str]) -> int:
    """Compare and judge."""
    parser = argparse.ArgumentParser(prog="regression.py", description=__doc__)
    parser.add_argument("experiment", metavar="EXPERIMENT")
    parser.add_argument("--qdiscs", required=True, help="disciplines, one a line")
    parser.add_argument("--options", default="", help="more options of `sojourn compare`, one a line")
    parser.add_argument("--repeat", default="5", help="runs of each discipline")
    parser.add_argument("--metric", default="induced_latency_ms", help="a key of the summary in compare.json")
    parser.add_argument("--at-most", type=number, help="the largest mean that passes")
    parser.add_argument("--at-least", type=number, help="the smallest mean that passes")
    parser.add_argument("--out", type=Path, default=Path("bufferbloat"), help="folder of the report")
    args = parser.parse_args(words)
    if args.at_most is None and args.at_least is None:
        parser.error("one of --at-most and --at-least must be given")
    qdiscs = [f"--qdisc={line.strip()}" for line in args.qdiscs.splitlines() if line.strip()]
    options = [line.strip() for line in args.options.splitlines() if line.strip()]
    command = ["compare", args.experiment, *qdiscs, *options, f"--repeat={args.repeat}", f"--out={args.out}"]
    if subprocess.run([sys.executable, "-m", "sojourn", *command], check=False).returncode:
        return 2
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    try:
        wrong = list(
            judge(json.loads((args.out / "compare.json").read_text()), args.metric, args.at_most, args.at_least)
        )
    except KeyError as error:
        print(f"regression.py: {error.args[0]}", file=sys.stderr)
        return 2
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            verdict = "".join(f"- {sentence}\n" for sentence in wrong) or f"{args.metric} is within its limits.\n"
            file.write(f"## Bufferbloat: {args.experiment}\n\n{verdict}\n{(args.out / 'table.md').read_text()}\n")
    for sentence in wrong:
        print(f"::error::{sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
