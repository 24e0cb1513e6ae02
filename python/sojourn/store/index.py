"""A folder of results: what `compare` and `reproduce` write and `plot` and `report` read.

`index.json` (format `sojourn-folder/2`) names the runs of each cell and the store that holds them, which is `runs/`
in the folder unless another was asked for (`sojourn.store.run_store`).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from sojourn import bounded, schema
from sojourn.errors import SojournError
from sojourn.schema import Text, Words
from sojourn.store import folder as result_folder
from sojourn.store.cell import DisciplineRuns, label_of, link_name
from sojourn.store.claims import JudgedClaim
from sojourn.store.claims import load as load_claims
from sojourn.store.comparison import Comparison
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from sojourn.store.stored_run import StoredRun

FOLDER_FORMAT = "sojourn-folder/2"

#: Cells whose scenarios are the same share a run.
MOST_USES = 16

_RunName = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z", extra={"rule": "the name of a run"})]


class IndexCell(Struct, frozen=True, kw_only=True):
    """A cell: its link, its discipline, and the names of its runs."""

    link: Words
    qdisc: Words
    runs: Annotated[list[_RunName], Meta(min_length=1)]


class Index(Struct, frozen=True, kw_only=True):
    """What `index.json` holds."""

    format: Text = FOLDER_FORMAT
    title: Text
    experiment: Text
    paper: Text | None
    command: Text
    store: Words
    cells: Annotated[list[IndexCell], Meta(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class Results:
    """What a report is made of."""

    #: Of the report.
    title: str
    #: The runs.
    comparison: Comparison
    #: As it was typed.
    command: str
    #: The paper that is reproduced, or `None`.
    paper: str | None = None
    #: What became of its claims.
    claims: tuple[JudgedClaim, ...] = ()


def slug(text: str) -> str:
    """Return text as a part of a file name."""
    return re.sub(r"[^a-z0-9_.]+", "_", text.lower()).strip("_")


def write_index(folder: result_folder.ResultFolder, results: Results) -> None:
    """Write `index.json`, which makes the folder one that `load` reads. Every run must be in one store."""
    runs = [run for cell in results.comparison.cells for run in cell.runs if isinstance(run, StoredRun)]
    index = Index(
        title=results.title,
        experiment=results.comparison.experiment,
        paper=results.paper,
        command=results.command,
        store=store_beside(RunStore(runs[0].folder.parent), folder),
        cells=[
            IndexCell(
                link=cell.link, qdisc=cell.qdisc, runs=[run.id for run in cell.runs if isinstance(run, StoredRun)]
            )
            for cell in results.comparison.cells
        ],
    )
    folder.write("index.json", json.dumps(msgspec.to_builtins(index), indent=1) + "\n")


def store_beside(store: RunStore | None, folder: result_folder.ResultFolder) -> str:
    """Return the path of a store from a folder of results; without one, that of its own."""
    path = folder.path / "runs" if store is None else store.path
    return os.path.relpath(path, folder.path if path.is_relative_to(folder.path) else folder.place)


def load(path: Path, store: Path | None = None) -> Results:
    """Read a folder that `run`, `compare` or `reproduce` has written, or that of one run in a store.

    Raises `SojournError` if it holds no results, or they cannot be read.

    - `store`: a folder outside of it that the runs may be in, since the user named it.
    """
    if (path / "index.json").is_file():
        result_folder.check_settled(path)
        index = load_index(path / "index.json")
        runs = RunStore(inside(path / index.store, path, store))
        cells = tuple(
            DisciplineRuns(link=cell.link, qdisc=cell.qdisc, runs=tuple(runs.get(name) for name in cell.runs))
            for cell in index.cells
        )
        claims = path / "claims.json"
        return Results(
            title=index.title,
            comparison=Comparison(experiment=index.experiment, cells=cells),
            command=index.command,
            paper=index.paper,
            claims=tuple(load_claims(claims)) if claims.is_file() else (),
        )
    if (path / "run.json").is_file():
        cell = load_run(path / "run.json")
        comparison = Comparison(experiment=cell.runs[0].record.scenario["experiment"], cells=(cell,))
        return Results(title=comparison.experiment, comparison=comparison, command=f"sojourn run ({path}/run.json)")
    message = f"{path} holds no results: neither index.json nor run.json is there"
    raise SojournError(message)


def inside(runs: Path, *folders: Path | None) -> Path:
    """Return the store of runs that a file names, if it is in one of the folders that the user named.

    Raises `SojournError` if it is elsewhere.
    """
    if all(folder is None or bounded.leads_out(runs, folder) for folder in folders):
        message = f"the runs are in {bounded.shown(str(runs))}, which is outside of {folders[0]}: name it with --store"
        raise SojournError(message)
    return runs


def load_index(path: Path) -> Index:
    """Return what an `index.json` holds; raises `SojournError` if it cannot be read."""
    bounded.check_inside(path, path.parent)
    refuse = bounded.cannot(path)
    try:
        index = schema.decode(bounded.read_text(path), Index, refuse, FOLDER_FORMAT)
    except schema.Misfit as error:
        refuse(str(error))
    uses = Counter(name for cell in index.cells for name in cell.runs)
    for name, number in uses.most_common(1):
        if number > MOST_USES:
            refuse(f"it names the run {name} {number} times, but may at most {MOST_USES} times")
    return index


class _Head(Struct):
    """Whether a record is that of a stored run."""

    stored: Any = None


def load_run(path: Path) -> DisciplineRuns:
    """Read the record of one run, which is a cell of its own; of a stored run, its `run.json`.

    Raises `SojournError` if it is not a record, or cannot be read.
    """
    text = bounded.read_text(path)
    try:
        stored = schema.decode(text, _Head, bounded.cannot(path)).stored is not None
    except schema.Misfit:
        stored = False
    folder = path.resolve().parent
    run = RunStore(folder.parent).get(folder.name) if stored else Run.parse(text, str(path))
    scenario = run.record.scenario
    label = label_of(scenario["qdisc_up"], scenario["qdisc_down"])
    return DisciplineRuns(link=link_name(scenario["down"], scenario["up"]), qdisc=label, runs=(run,))
