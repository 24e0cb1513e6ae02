"""carry-runs [PAGE...]: has the runs of pages that an earlier build made count as runs of this build.

Every change of a Rust source makes another build, even one that changes no record, such as a new function. This draws
some of the simulations of a page's store, makes them again, and compares all that is stored of them but their cost. If
one differs, the store stays as it is. Otherwise all of them get names of this build, and `tools.pages` makes the page
from them. The page's head says so. Runs on a kernel need no such check: what was measured there is kept by any build.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn import _native, backends, plan
from sojourn.errors import SojournError
from sojourn.store.run_files import write_run

ROOT = Path(__file__).resolve().parents[1]
OUT, CARRIED, MARK, RUN = "out/pages", "carried.json", "store.json", "run.json"
_ID = re.compile(r"[0-9a-f]{32}")
#: What differs between two makings of a run: its cost, and its name, which stands in `stored`.
_PASSING = ("cost", "stored")

Json = dict[str, Any]


class Differs(Exception):
    """One sentence about a store that cannot be carried."""


def runs_of(store: Path) -> list[Path]:
    """Return the folders of a store's runs."""
    return sorted(path for path in store.iterdir() if _ID.fullmatch(path.name))


def scenario_of(run: Path) -> tuple[str, str]:
    """Return a stored run's back end and its scenario, as it is written."""
    text = (run / RUN).read_text(encoding="utf-8")
    begin = text.index('"scenario":') + len('"scenario":')
    _, end = json.JSONDecoder().raw_decode(text, begin)
    return json.loads(text)["backend"], text[begin:end]


def essence(run: Path) -> tuple[Json, dict[str, bytes]]:
    """Return what is stored of a run, without what differs from one making to the next."""
    head = json.loads((run / RUN).read_text(encoding="utf-8"))
    others = {path.name: path.read_bytes() for path in sorted(run.iterdir()) if path.name != RUN}
    return {key: value for key, value in head.items() if key not in _PASSING}, others


def check(runs: Sequence[Path]) -> None:
    """Make runs again and compare them.

    Raises
    ------
    Differs
        If one differs.
    """
    with tempfile.TemporaryDirectory() as folder:
        for done, run in enumerate(runs, start=1):
            _, scenario = scenario_of(run)
            name = plan.run_id(scenario)
            head, series, _ = backends.SIMULATOR.run_stored(scenario, name)
            write_run(folder, name, head, series)
            if essence(Path(folder, name)) != essence(run):
                message = f"run {run.name} differs when this build makes it: make the page anew"
                raise Differs(message)
            shutil.rmtree(Path(folder, name))
            print(f"\r{run.parent.name}: {done} of {len(runs)} are the same", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def carry(store: Path, sample: int) -> Path:
    """Check a store and give its runs names of this build; return where it is now.

    Raises
    ------
    Differs
        If a run differs.
    """
    page, _, old = store.name.rpartition("-")
    new = store.with_name(f"{page}-{_native.__build__}")
    if new.exists():
        message = f"{new} is there already: remove it, or {store}"
        raise Differs(message)
    simulated = [run for run in runs_of(store) if scenario_of(run)[0] == backends.SIMULATOR.name]
    drawn = random.Random(f"{old} {_native.__build__}").sample(simulated, min(sample, len(simulated)))  # noqa: S311
    check(drawn)
    for run in runs_of(store):
        backend, scenario = scenario_of(run)
        if backend != backends.SIMULATOR.name:
            shutil.rmtree(run)  # it is made again of what was measured
            continue
        name = plan.run_id(scenario)
        text = (run / RUN).read_text(encoding="utf-8")
        (run / RUN).write_text(text.replace(run.name, name), encoding="utf-8")
        run.rename(store / name)
    mark = json.loads((store / MARK).read_text(encoding="utf-8"))
    (store / MARK).write_text(json.dumps(mark | {"build": _native.__build__}) + "\n", encoding="utf-8")
    path = store / CARRIED
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    one = {"from": old, "to": _native.__build__, "runs": len(simulated), "sample": len(drawn)}
    path.write_text(json.dumps([*before, one], indent=1) + "\n", encoding="utf-8")
    store.rename(new)
    return new


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="those of docs/pages.toml (default: all with runs)")
    parser.add_argument("--sample", metavar="N", type=int, default=40, help="runs to make again, a page (default 40)")
    args = parser.parse_args(arguments)
    if args.sample < 1:
        print(f"carry-runs: sample is {args.sample}, but must be at least 1", file=sys.stderr)
        return 2
    status = 0
    for store in sorted((root / OUT / "runs").glob("*-????????????????")):
        page, _, build = store.name.rpartition("-")
        if build == _native.__build__ or (args.pages and page not in args.pages):
            continue
        spent = root / OUT / f"{page}.json"
        if not spent.is_file():
            print(f"{page}: {spent} is missing, so its commands are not known: make the page anew", file=sys.stderr)
            status = 1
            continue
        try:
            carry(store, args.sample)
        except (Differs, SojournError) as error:
            print(f"\n{page}: {error}", file=sys.stderr)
            status = 1
            continue
        known = json.loads(spent.read_text(encoding="utf-8"))
        spent.write_text(
            json.dumps(known | {"of": [_native.__build__, known["of"][1]]}, indent=1, sort_keys=True) + "\n",
            encoding="utf-8",
        )
        print(f"{page}: its runs count as this build's; tools/pages.py {page} makes the page of them")
    return status


if __name__ == "__main__":
    sys.exit(main())
