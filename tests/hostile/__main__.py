"""`python -m tests.hostile --seed N --count N`: run so many hostile inputs, and say how they ended."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.hostile import cases, judge


def main() -> int:
    """Run them; return 1 if any ended otherwise than it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (default 1)")
    parser.add_argument("--count", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--only", type=int, help="only the input of this number, whose folder is kept")
    parser.add_argument("--kind", choices=[kind.__name__ for kind, _ in cases.KINDS], help="only inputs of one kind")
    args = parser.parse_args()
    if args.kind is not None:
        cases.KINDS = tuple((kind, often) for kind, often in cases.KINDS if kind.__name__ == args.kind)
    began = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        faults = _run_all(args, work)
    finally:
        if args.only is None:
            shutil.rmtree(work, ignore_errors=True)
    for fault in faults:
        print(f"\n{fault.number} ({fault.case}): {fault.what}\n  {' '.join(_short(word) for word in fault.words)}")
        print(
            "".join(f"  | {line}\n" for line in ascii(fault.output)[1:-1].replace("\\n", "\n").splitlines()[-12:]),
            end="",
        )
    counts = Counter(fault.what for fault in faults)
    summary = ", ".join(f"{counts[what]} {what}" for what in judge.FAULTS)
    number = 1 if args.only is not None else args.count
    print(f"hostile: seed {args.seed}, {number} inputs in {time.monotonic() - began:.0f} s: {summary}")
    if args.only is not None:
        print(f"hostile: the folder is {work}")
    return 1 if faults else 0


def _run_all(args: argparse.Namespace, work: Path) -> list[judge.Fault]:
    # No kernel, no settings and no caches of the one who calls: a case depends on its seed alone.
    (work / "home").mkdir()
    (work / "bin").mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        os.environ[name] = str(work / "home")
    os.environ |= {"PATH": str(work / "bin"), "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    for name in [name for name in os.environ if name.startswith("SOJOURN_")]:
        del os.environ[name]
    material = work / "material"
    material.mkdir()
    _make(material)
    _load()
    numbers = iter(range(args.count) if args.only is None else [args.only])
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    running: list[judge.Running] = []
    faults: list[judge.Fault] = []
    ended = 0
    while True:
        while len(running) < most and (number := next(numbers, None)) is not None:
            running.append(judge.start(args.seed, number, material, work / str(number)))
        if not running:
            return faults
        time.sleep(0.002)
        for one in list(running):
            pid, status = os.waitpid(one.pid, os.WNOHANG)
            if pid == 0 and not judge.hangs(one, time.monotonic()):
                continue
            running.remove(one)
            faults += judge.finished(one, status if pid else None)
            if args.only is None:
                shutil.rmtree(one.folder, ignore_errors=True)
            ended += 1
            if ended % 100 == 0:
                print(f"{ended} inputs, {len(faults)} faults", file=sys.stderr)


def _make(material: Path) -> None:
    """Make the material in a child: libraries that have started threads do not survive a fork."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            with Path(os.devnull).open("w", encoding="utf-8") as nothing:
                os.dup2(nothing.fileno(), 1)
            judge.make_material(material)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("hostile: the inputs could not be made")


def _load() -> None:
    """Load what every child needs, once."""
    for name in ("matplotlib.figure", "polars", "sojourn.cli", "sojourn.report", "sojourn.store.index"):
        importlib.import_module(name)


def _short(word: str) -> str:
    shown = ascii(word)
    return shown if len(shown) <= 60 else f"{shown[:50]}...({len(word)})"


if __name__ == "__main__":
    sys.exit(main())
