"""What results say: comparisons with their intervals, claims with their verdicts, and how far a plan has come."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from sojourn import bounded, schema
from sojourn.errors import SojournError
from sojourn.schema import Number, Text
from sojourn.tables import Value
from sojourn.view.settings import differences
from sojourn.view.source import Source, planned
from sojourn.view.table import Row

#: Most cells (a link and a discipline) of which all pairs are compared: there are half their square.
MOST_PAIRED = 24
#: Most cells of one folder that are summarised at all.
MOST_CELLS = 500
#: Most cells of a map, and bytes of its file.
MOST_MAP_CELLS = 20_000
_MAP_BYTES = 16 << 20


def comparison(
    rows: list[Row], of_run: Mapping[str, Sequence[tuple[str, str]]]
) -> dict[str, list[Mapping[str, Value]]]:
    """Return mean, median and 95 % interval of each metric of each cell, and the paired differences.

    A cell is all that its runs have in common but the seed; two that differ in anything else never share a row.

    - `rows`: the runs of one folder, of the table.
    - `of_run`: link and discipline of the cells that each run is in, as `index.json` says. What it does not name is
      left out.
    """
    from sojourn import stats
    from sojourn.frame_library import pl
    from sojourn.store.metrics import RUN_SCHEMA

    found: dict[str, list[Mapping[str, Value]]] = {"summary": [], "differences": [], "left_out": []}
    order = {cell: place for place, cell in enumerate(dict.fromkeys(cell for of in of_run.values() for cell in of))}
    groups: dict[str, list[Row]] = {}
    beside: Counter[str] = Counter()
    for row in rows:
        if "error" not in row:
            uses = of_run.get(row["id"], []) if of_run else [(row["link"], row["qdisc"])]
            named = [{**row, "link": link, "qdisc": qdisc} for link, qdisc in uses]
            groups.setdefault(row["experiment"], []).extend(named)
            beside[row["experiment"]] += not named
    for experiment, group in groups.items():
        where = {"experiment": experiment}
        # In the order of the command that wrote them, seed by seed.
        places = {cell: order.get(cell, len(order)) for cell in ((row["link"], row["qdisc"]) for row in group)}
        group.sort(key=lambda row: (places[row["link"], row["qdisc"]], int(row["seed"])))
        group = _told_apart(group)
        cells = Counter((row["link"], row["qdisc"]) for row in group)
        if number := beside[experiment]:
            found["left_out"].append({**where, "why": f"{number} runs that are in no cell of index.json"})
        if len(cells) > MOST_CELLS:
            why = f"{len(cells)} cells, but at most {MOST_CELLS} are summarised"
            found["left_out"].append({**where, "why": why})
            continue
        frame = pl.DataFrame(
            [{name: int(row[name]) if name == "seed" else row.get(name) for name in RUN_SCHEMA} for row in group],
            schema=RUN_SCHEMA,
        ).unique(["link", "qdisc", "seed"], keep="first", maintain_order=True)
        if number := len(group) - len(frame):
            found["left_out"].append({**where, "why": f"{number} runs of a cell and a seed that another build has run"})
        found["summary"] += [{**where, **row} for row in stats.summarise(frame).to_dicts()]
        if len(cells) <= MOST_PAIRED:
            found["differences"] += [{**where, **row} for row in stats.compare_pairs(frame).to_dicts()]
        else:
            why = f"differences of {len(cells)} cells; at most {MOST_PAIRED} are compared with each other"
            found["left_out"].append({**where, "why": why})
    return found


def side_by_side(
    folders: Sequence[tuple[list[Row], Mapping[str, Sequence[tuple[str, str]]]]], names: Sequence[str]
) -> tuple[list[Row], dict[str, list[tuple[str, str]]]]:
    """Return the runs of two folders as those of one, with the folder in the name of the discipline.

    So a discipline of one folder is compared with the same of the other, seed by seed.

    - `folders`: runs and cells of each, as `comparison` takes them.
    - `names`: of the folders; if they are the same, they have numbers.
    """
    rows: list[Row] = []
    cells: dict[str, list[tuple[str, str]]] = {}
    for number, ((of_folder, of_run), name) in enumerate(zip(folders, names, strict=True), 1):
        where = name if len(set(names)) == len(names) else f"{name} {number}"
        for row in of_folder:
            # A run may be in both folders.
            key = f"{number}/{row['id']}"
            rows.append({**row, "id": key})
            if "error" not in row:
                uses = of_run.get(row["id"], []) if of_run else [(row["link"], row["qdisc"])]
                cells[key] = [(link, f"{qdisc} ({where})") for link, qdisc in uses]
    return rows, cells


def _told_apart(group: list[Row]) -> list[Row]:
    """Return the runs with the rest of their setting in the name of the link: under the same, disciplines compare."""
    named = [{**row, "link": ", ".join(filter(None, (row["link"], row["setting"])))} for row in group]
    cells: dict[tuple[str, str], set[str]] = {}
    for row in named:
        cells.setdefault((row["link"], row["qdisc"]), set()).add(row["cell"])
    more = {name: differences(dict.fromkeys(of)) for name, of in cells.items() if len(of) > 1}
    return [
        {**row, "qdisc": f"{row['qdisc']}, {more[name][row['cell']]}"} if name in more else row
        for row in named
        for name in [(row["link"], row["qdisc"])]
    ]


#: What the page shows of a claim as it is.
_CLAIM = ("id", "section", "says", "verdict", "value", "low", "high", "unit", "reason")


class FolderClaims(Struct):
    """The claims of a folder, or why they cannot be read."""

    source: int
    folder: str
    title: str
    claims: list[dict[str, Value | dict[str, str]]]
    error: str | None = None


def claims(sources: list[Source]) -> list[FolderClaims]:
    """Return the claims of each folder that has some."""
    found = []
    for number, source in enumerate(sources):
        if not (source.path / "claims.json").is_file():
            continue
        here = FolderClaims(number, source.path.name, source.labels.title, [])
        try:
            for claim in source.claims()[0]:
                shown = {key: getattr(claim, key) for key in _CLAIM}
                shown |= {"by_construction": bool(claim.by_construction), "runs": len(claim.runs)}
                here.claims.append({**shown, "worlds": claim.worlds})
        except SojournError as error:
            here.error = str(error)
        found.append(here)
    return found


class _Map(Struct):
    """A table: its cells by column."""

    cells: Annotated[list[dict[Text, Text | Number | bool | None]], Meta(min_length=1, max_length=MOST_MAP_CELLS)]


def map_of(source: Source) -> dict[str, list[str] | list[list[Value]]]:
    """Return the table that a map has come to: its columns, and a row for each cell.

    Raises `SojournError` if there is none, or it cannot be read.
    """
    path = source.path / "map.json"
    bounded.check_inside(path, source.path)
    plain = bounded.read_json(path, _MAP_BYTES)
    try:
        schema.convert(plain, _Map)
    except schema.Misfit as error:
        message = f"{path} cannot be read: {error}"
        raise SojournError(message) from error
    columns = list(dict.fromkeys(name for cell in plain["cells"] for name in cell))
    return {"columns": columns, "rows": [[cell.get(name) for name in columns] for cell in plain["cells"]]}


def progress(sources: list[Source]) -> list[dict[str, Value]]:
    """Return how far each folder has come."""
    held = _held()
    found: list[dict[str, Value]] = []
    for number, source in enumerate(sources):
        folders = [source.path, source.store, source.path / ".new", source.path / ".new" / "runs"]
        writing = any(_number(folder) in held for folder in folders)
        newest = max((_changed(folder) for folder in folders), default=0.0)
        found.append(
            {
                "source": number,
                "folder": source.path.name,
                "kind": source.kind,
                "runs": source.made(),
                "planned": planned(source) if writing or source.kind == "unfinished" else None,
                "writing": writing,
                "newest_s": round(max(0.0, time.time() - newest), 1) if newest else None,
            }
        )
    return found


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _number(folder: Path) -> str | None:
    """Return how `/proc/locks` names a folder."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"


def _held() -> set[str]:
    """Return what is locked by some process. To try a lock would be in the way of a writer that begins just then."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    words = [line.split() for line in lines]
    return {each[5] for each in words if len(each) > 5 and each[1] == "FLOCK"}
