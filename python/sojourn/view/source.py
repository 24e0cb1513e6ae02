"""What there is to see: the folders of results, and the stores of runs, at or below one path."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from sojourn import bounded
from sojourn.errors import SojournError
from sojourn.store import index
from sojourn.store.claims import JudgedClaim
from sojourn.store.claims import load as load_claims
from sojourn.store.folder import check_settled

#: Most folders of results below one folder.
MOST_FOLDERS = 200

#: In the place of a store that is not read.
_NOWHERE = Path(os.devnull)
_ID = re.compile(r"[0-9a-f]{32}")
#: Files that make a folder one of results, and the kind of results.
_KINDS = {
    "claims.json": "reproduction",
    "sweep.json": "sweep",
    "compare.json": "comparison",
    "validate.json": "validation",
    "map.json": "map",
    "tune.json": "tuning",
    "index.json": "results",
}


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What `index.json` says of the runs."""

    #: Of the results.
    title: str = ""
    command: str = ""
    #: Link and discipline of each run, as they were asked for: of each cell that it is in.
    of_run: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Source:
    """One folder of results, or one store.

    Attributes
    ----------
    path
        The folder.
    only
        The one run that is to be seen; `None` for all.
    opened, store
        The folder that the user named, and another one that the runs may be in: nothing outside is read.
    """

    path: Path
    only: str | None = None
    opened: Path
    store_named: Path | None = None
    _seen: tuple[object, Labels, Path, str | None] | None = None

    @property
    def kind(self) -> str:
        """What was made here: `comparison`, `sweep` and so on, `store`, `run`, or `unfinished`."""
        if self.only is not None:
            return "run"
        found = next((kind for name, kind in _KINDS.items() if (self.path / name).is_file()), None)
        if found is None:
            return "unfinished" if (self.path / "folder.json").is_file() else "store"
        return found

    @property
    def labels(self) -> Labels:
        """What `index.json` says."""
        return self._index()[0]

    @property
    def store(self) -> Path:
        """The folder of the runs."""
        return self._index()[1]

    @property
    def error(self) -> str | None:
        """Why `index.json` or the runs cannot be read; `None` if they can, or `index.json` is not there."""
        return self._index()[2]

    def _index(self) -> tuple[Labels, Path, str | None]:
        labels, store, error = self._named()
        try:
            check_settled(self.path)
            return labels, index.inside(store, self.opened, self.store_named), error
        except SojournError as refused:
            return labels, _NOWHERE, str(refused)

    def _named(self) -> tuple[Labels, Path, str | None]:
        path = self.path / "index.json"
        try:
            found = path.stat()
        except OSError:
            runs = self.path / "runs"
            return Labels(), runs if runs.is_dir() and not _is_store(self.path) else self.path, None
        tag = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._seen is None or self._seen[0] != tag:
            self._seen = (tag, *self._read(path))
        return self._seen[1:]

    def _read(self, path: Path) -> tuple[Labels, Path, str | None]:
        try:
            found = index.load_index(path)
        except SojournError as error:
            return Labels(), self.path / "runs", str(error)
        of_run: dict[str, list[tuple[str, str]]] = {}
        for cell in found.cells:
            for name in cell.runs:
                of_run.setdefault(name, []).append((cell.link, cell.qdisc))
        labels = Labels(title=found.title, command=found.command, of_run=of_run)
        return labels, self.path / found.store, None

    def claims(self) -> tuple[list[JudgedClaim], dict[str, str]]:
        """Return what `claims.json` says, and of each run the claims that are judged by it, a space behind each.

        Raises `SojournError` if it cannot be read.
        """
        path = self.path / "claims.json"
        changed = _changed(path)
        return _claims(path, changed) if changed else ([], {})

    def ids(self) -> list[str]:
        """Return the names of the runs that are there, sorted; none if the store cannot be read."""
        return [self.only] if self.only is not None else _ids(self.store)

    def made(self) -> int:
        """Return how many runs there are of what is made now: of new results, if they are to replace others."""
        new = self._beside() / "runs"
        there = new.is_dir() and not bounded.leads_out(new, self.opened)
        return len(_ids(new)) if there else len(self.ids())

    def tag(self) -> tuple[Any, ...]:
        """Return what differs once a run or a result came: times of the folders, which cost a look each."""
        files = (self.path / name for name in ("index.json", "claims.json"))
        return tuple(_changed(path) for path in (self.path, *files, self.store, self._beside()))

    def _beside(self) -> Path:
        """Return where results are written that are to replace these."""
        return self.path / ".new"


@lru_cache(maxsize=64)
def _claims(path: Path, changed: int) -> tuple[list[JudgedClaim], dict[str, str]]:
    del changed  # it tells one file from the next
    claims, of_run = load_claims(path), dict[str, str]()
    for claim in claims:
        for name in claim.runs:
            of_run[name] = f"{of_run.get(name, '')}{claim.id} "
    return claims, of_run


def _ids(store: Path) -> list[str]:
    try:
        with os.scandir(store) as entries:
            return sorted(entry.name for entry in entries if _ID.fullmatch(entry.name))
    except OSError:
        return []


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_store(path: Path) -> bool:
    return (path / "store.json").is_file()


def _has_results(path: Path) -> bool:
    return any((path / name).is_file() for name in (*_KINDS, "folder.json")) or _is_store(path)


def find(path: Path, store: Path | None = None) -> list[Source]:
    """Return what there is to see at a path; links that lead out of it are passed over.

    Raises `SojournError` if there is nothing.

    - `store`: another one that the runs may be in.
    """
    if not path.is_dir():
        message = f"DIR is {str(path)!r}, but must be a folder"
        raise SojournError(message)
    path = path.resolve()
    if (path / "run.json").is_file() and _ID.fullmatch(path.name):
        return [Source(path=path.parent, only=path.name, opened=path.parent)]
    if (path / "run.json").is_file():
        message = (
            f"{path} holds one run that is in no store: give the command that made it once more with --store DIR, and "
            "view DIR"
        )
        raise SojournError(message)
    if _has_results(path):
        return [Source(path=path, opened=path, store_named=store)]
    below = []
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
        names = [name for name in names if not bounded.leads_out(path / name, path)]
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise SojournError(message) from error
    if any(_ID.fullmatch(name) for name in names):
        return [Source(path=path, opened=path, store_named=store)]
    for name in names:
        if (path / name / "run.json").is_file():
            continue
        if _has_results(path / name) or (path / name / "runs").is_dir():
            below.append(Source(path=path / name, opened=path, store_named=store))
    if not below:
        message = f"{path} holds no results: neither a store of runs nor a folder written with --out is there"
        raise SojournError(message)
    if len(below) > MOST_FOLDERS:
        message = (
            f"{path} holds {len(below)} folders of results, but at most {MOST_FOLDERS} are shown: name one of them"
        )
        raise SojournError(message)
    return below


def later(sources: list[Source]) -> list[Source]:
    """Return the folders of results that have come below the one that was opened, since these were found."""
    first = sources[0]
    if first.path == first.opened:
        return []
    try:
        found = find(first.opened, first.store_named)
    except SojournError:
        return []
    known = {first.opened, *(source.path for source in sources)}
    return [source for source in found if source.path not in known]


def planned(source: Source) -> int | None:
    """Return how many runs the plan has that is carried out in a folder; `None` if that is not known."""
    for folder in (source.path / ".new", source.path):
        try:
            bounded.check_inside(folder / "plan.json", source.path)
            found = bounded.read_json(folder / "plan.json", 1 << 16)
        except SojournError:
            continue
        number = found.get("runs") if isinstance(found, dict) else None
        return number if type(number) is int and 0 < number < 2**53 else None
    return None
