"""Runs of an earlier build that this build would make the same.

Every change of a Rust source makes another build, even one that changes no record, such as a new function. Some
simulations of a store are drawn and made again, and all that is stored of them but their cost is compared. If none
differs, all of the store's runs get names of this build. Runs on a kernel need no such check: what was measured there
is kept by any build.
"""

from __future__ import annotations

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

CARRIED, MARK, RUN = "carried.json", "store.json", "run.json"
#: Runs of a page that are made again.
SAMPLE = 40
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


def simulated(store: Path) -> list[Path]:
    """Return the folders of a store's simulations."""
    return [run for run in runs_of(store) if scenario_of(run)[0] == backends.SIMULATOR.name]


def draw(store: Path, sample: int) -> list[Path]:
    """Return some simulations of a store, the same each time for one build."""
    runs, old = simulated(store), store.name.rpartition("-")[2]
    return random.Random(f"{old} {_native.__build__}").sample(runs, min(sample, len(runs)))  # noqa: S311


def history(store: Path) -> list[Json]:
    """Return what is known of each time that the runs of a store were carried to another build."""
    path = store / CARRIED
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else []


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
            try:
                head, series, _ = backends.SIMULATOR.run_stored(scenario, name)
            except SojournError as error:
                raise Differs(f"run {run.name}: {error}") from error  # noqa: EM102, TRY003
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
    drawn, count = draw(store, sample), len(simulated(store))
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
    one = {"from": old, "to": _native.__build__, "runs": count, "sample": len(drawn)}
    (store / CARRIED).write_text(json.dumps([*history(store), one], indent=1) + "\n", encoding="utf-8")
    store.rename(new)
    return new
