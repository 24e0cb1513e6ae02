"""overhead: what a sweep of short runs spends outside the simulator: 1 - simulator time / (workers x elapsed).

Simulator time is the sum of `cost.wall_s` of the runs: from the scenario to the finished record, before a byte of it
is written. Elapsed is that of the whole command `sojourn sweep`: starting Python and the workers, planning, handing
over, writing every run, the intervals and the tables. On a machine where other work runs beside it the share means
little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from tools.bench import head, row, spent

KINDS = {
    "rrul 10/10, 10 s": 'experiment = "rrul"\nlink = "10/10"\nduration = "10s"\n',
    "rrul 10/10, 60 s (the defaults)": 'experiment = "rrul"\n',
    "rrul 100/100, 10 s": 'experiment = "rrul"\nlink = "100/100"\nduration = "10s"\n',
    "rrul 16/16, 60 s": 'experiment = "rrul"\nup = "16mbit"\ndown = "16mbit"\n',
    "bulk 10/10, 60 s": 'experiment = "bulk"\n',
}
VARY = '[vary]\nqdisc = ["gbw:pfifo_fast", "gbw:pie", "gbw:codel", "gbw:fq_codel"]\n'


def main() -> None:
    """Measure each kind and print a row for it."""
    parser = argparse.ArgumentParser(prog="overhead", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="runs of each sweep (default 1000)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: one for each core)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="which (default: all)")
    args = parser.parse_args()
    head(f"{args.runs} runs, {args.workers} workers", "ms a run", "elapsed, s", "outside, %")
    for kind in args.kind or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "sweep.toml")
            file.write_text(f"{KINDS[kind]}repeat = {args.runs // 4}\n{VARY}")
            words = ["-m", "sojourn", "sweep", str(file), "--out", f"{folder}/out", "--workers", str(args.workers)]
            elapsed = spent([sys.executable, *words]).elapsed
            costs = [
                json.loads(path.read_text())["cost"]["wall_s"] for path in Path(folder).glob("out/runs/*/run.json")
            ]
        outside = 1 - sum(costs) / (args.workers * elapsed)
        row(kind, f"{1e3 * sum(costs) / len(costs):.1f}", f"{elapsed:.2f}", f"{100 * outside:.1f}")


if __name__ == "__main__":
    main()
