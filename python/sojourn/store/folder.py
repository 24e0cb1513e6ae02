"""Folders of results: what this program writes into them is listed in a mark, and nothing else is ever touched.

`folder.json` is the mark. It names each file that was written; a name is in it before its file is. `--force` replaces
what the mark names and leaves all else. The new results are written into the folder `.new` inside the old ones, with a
mark of their own, and take their place when they are complete: a run that fails or is killed costs nothing of what was
there. The exchange is written into the mark first, and whoever finds it half done does the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import weakref
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from sojourn import bounded, schema
from sojourn.errors import ParamError, SojournError
from sojourn.files import kind_of, make_folder, sync, write_file
from sojourn.store.run_files import MEASURED

if TYPE_CHECKING:
    from sojourn.frame_library import pl

__all__ = ["RUNS", "ResultFolder", "plan_name", "write_file"]

PLAN_FORMAT = "sojourn-plan/1"
FOLDER_MARK_FORMAT = "sojourn-folder-mark/1"
#: The store of a result folder, unless another was asked for.
RUNS = "runs"

_PLAN = "plan.json"
_MARK = "folder.json"
_NEW = ".new"
#: Files that show that a folder's results are complete.
_COMPLETE = ("index.json",)
#: What a file is called until it is whole.
_PART = re.compile(r"\.(?P<name>.+)\.\d+\.part")
#: What a mark may name: a file in the folder, or in one of these below it. A mark may be somebody else's work.
_NAME = re.compile(r"(?:(?:figures|tables)/)?(?!\.)[^/\0]{1,200}")
_FileName = Annotated[str, Meta(pattern=rf"^(?:{_NAME.pattern})\Z")]


class _Mark(Struct, omit_defaults=True):
    """The mark: its format, the files, and how far an exchange with earlier results has come, if one was begun."""

    format: str
    files: list[_FileName]
    exchange: str | None = None


class ResultFolder:
    """A folder that results are written into, held against other processes until `finish` or the end of the object.

    - `place`: the folder; made if need be.
    - `force`: whether earlier results in it are replaced, once the new ones are complete.
    - `plan`: what names the plan whose results go there. A folder in which the same plan was begun is gone on with.
    - `again`: whether it is gone on with even if the plan was finished.
    - `runs`: how many runs the plan has, if that is known: who looks on sees how far it has come.

    Attributes
    ----------
    place
        Where the results will be.
    path
        Where they are written: `place`, or a folder in it while earlier results are there.

    Raises
    ------
    ParamError
        If it is there already and `force` was not given, or holds other things and no mark, or is not a folder.
    SojournError
        If it cannot be made, or another process writes into it.
    """

    def __init__(
        self,
        place: Path,
        *,
        force: bool = False,
        plan: str | None = None,
        again: bool = False,
        runs: int | None = None,
    ) -> None:
        self.place = place
        if os.path.lexists(place) and not place.is_dir():
            message = f"out is {str(place)!r}, but must be a folder or not be there yet"
            raise ParamError(message)
        try:
            new = not place.is_dir()
            make_folder(place)
            self._release = weakref.finalize(self, os.close, _hold(place))
            try:
                self.path = self._begin(force=force or new, plan=plan, again=again)
                self._files = set(_marked(self.path) or ())
                if plan is not None:
                    known = {} if runs is None else {"runs": runs}
                    self.write(_PLAN, json.dumps({"format": PLAN_FORMAT, "plan": plan, **known}) + "\n")
            except BaseException:
                self._release()
                raise
        except OSError as error:
            message = f"out is {str(place)!r}, which cannot be used: {error.strerror or error}"
            raise SojournError(message) from error

    def write(self, name: str, data: str | bytes) -> Path:
        """Write one file, whole; `name` is relative to the folder. Return where it will be.

        Raises `SojournError` if it cannot be written, or a file of this name is there that this program has not
        written.
        """
        self.claim(name)
        write_file(self.path / name, data)
        return self.place / name

    def write_frame(self, name: str, frame: pl.DataFrame) -> Path:
        """Write a frame as Parquet."""
        buffer = BytesIO()
        frame.write_parquet(buffer, compression="zstd", statistics=False)
        return self.write(name, buffer.getvalue())

    def claim(self, name: str) -> Path:
        """List a file in the mark, before it is written. Return where it is to be written.

        Raises `SojournError` if a file of this name is there that this program has not written.
        """
        assert _NAME.fullmatch(name), name
        if name not in self._files:
            earlier = _marked(self.place) or ()
            for folder in {self.path, self.place}:
                if folder == self.place and self.path != self.place and name in earlier:
                    continue
                if os.path.lexists(folder / name):
                    message = f"{folder / name} is there, and Sojourn has not written it: move it away"
                    raise SojournError(message)
            self._files.add(name)
            self._mark()
        if "/" in name and kind_of((self.path / name).parent) not in {None, "a folder"}:
            message = f"{(self.path / name).parent} is {kind_of((self.path / name).parent)}, but must be a folder"
            raise SojournError(message)
        return self.path / name

    def finish(self) -> None:
        """Put the results in the place of earlier ones, if there are any, and let others use the folder.

        Raises `SojournError` if that cannot be done; the same command goes on from there.
        """
        try:
            if self.path != self.place:
                self._mark(exchange="remove")
                _exchange(self.place)
                self.path = self.place
        except OSError as error:
            message = f"{self.place} cannot be written: {error.strerror or error}"
            raise SojournError(message) from error
        finally:
            self._release()

    def _begin(self, *, force: bool, plan: str | None, again: bool) -> Path:
        """Return the folder to write into."""
        new = self.place / _NEW
        if _is_exchanging(new):
            _exchange(self.place)
        for name in (RUNS, "figures", "tables"):
            kind = kind_of(self.place / name) or ("a file" if (self.place / name).exists() else None)
            if kind not in {None, "a folder"}:
                message = f"out is {str(self.place)!r}, in which {name} is {kind}, but must be a folder or not be there"
                raise ParamError(message)
        if not (self.place / _MARK).exists():
            _remove_unfinished(self.place, {_MARK})
        others = [path for path in self.place.iterdir() if path.name != _NEW]
        if not others and force:
            _discard(new)
            return self.place
        marked = _marked(self.place) is not None
        if marked and not force:
            _refuse_another(self.place, plan, again=again)
            return self.place
        if not force:
            message = f"out is {str(self.place)!r}, which is there already: name another folder, or give --force"
            raise ParamError(message)
        if not marked:
            message = (
                f"out is {str(self.place)!r}, which holds {others[0].name!r} and no mark of Sojourn ({_MARK}): name "
                f"another folder"
            )
            raise ParamError(message)
        if plan is None or _plan_of(new) != plan:
            _discard(new)
        make_folder(new)
        return new

    def _mark(self, exchange: str | None = None) -> None:
        """Write the mark."""
        _write_mark(self.path, self._files, exchange)


def check_settled(place: Path) -> None:
    """Raise `SojournError` if new results are taking the place of those in a folder, and that is not done.

    A reader does not do the rest: the mark may be somebody else's work, and names what is removed.
    """
    if _is_exchanging(place / _NEW):
        message = (
            f"{place} holds files of old and of new results, because what replaces them is not done: wait for it, or "
            "give the command that wrote them again, which does the rest"
        )
        raise SojournError(message)


def _hold(place: Path) -> int:
    """Lock a folder; it is unlocked when the descriptor that is returned is closed."""
    import fcntl

    opened = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(opened)
        message = f"out is {str(place)!r}, which is in use by another process: wait for its end, or name another folder"
        raise SojournError(message) from error
    except OSError:
        os.close(opened)
        raise
    return opened


def _read_mark(folder: Path) -> _Mark | None:
    """Return the mark of a folder, or `None` if it has none, or none that can be trusted."""
    if kind_of(folder / _MARK) is not None or not (folder / _MARK).exists():
        return None
    with suppress(SojournError, schema.Misfit):
        path = folder / _MARK
        return schema.decode(bounded.read_text(path), _Mark, bounded.cannot(path), FOLDER_MARK_FORMAT)
    return None


def _is_exchanging(new: Path) -> bool:
    mark = _read_mark(new)
    return mark is not None and bool(mark.exchange)


def _marked(folder: Path) -> list[str] | None:
    """Return the files that the mark of a folder names, or `None` if it has no mark."""
    mark = _read_mark(folder)
    return None if mark is None else mark.files


def _write_mark(folder: Path, files: set[str], exchange: str | None) -> None:
    mark = _Mark(format=FOLDER_MARK_FORMAT, files=sorted(files), exchange=exchange)
    write_file(folder / _MARK, json.dumps(msgspec.to_builtins(mark)) + "\n")


def _plan_of(folder: Path) -> str | None:
    """Return the name of the plan that was begun in a folder."""
    with suppress(SojournError, AttributeError):
        found = bounded.read_json(folder / _PLAN).get("plan")
        return found if isinstance(found, str) else None
    return None


def _refuse_another(place: Path, plan: str | None, *, again: bool) -> None:
    """Raise unless this plan was begun here."""
    found = _plan_of(place)
    finished = any((place / name).exists() for name in _COMPLETE)
    if plan is not None and found == plan and (again or not finished):
        return
    what = "holds another plan" if again and found is not None else "is there already"
    message = f"out is {str(place)!r}, which {what}: name another folder, or give --force"
    raise ParamError(message)


def _remove_file(folder: Path, name: str) -> None:
    """Remove a regular file that a mark names; no link on the way is followed."""
    target = folder / name
    below = target.parent != folder
    if (below and kind_of(target.parent) != "a folder") or kind_of(target) is not None:
        return
    with suppress(FileNotFoundError):
        target.unlink()


def _remove_unfinished(folder: Path, files: set[str]) -> None:
    """Remove what killed writers of these files have left under other names."""
    for below in (".", "figures", "tables"):
        if kind_of(folder / below) == "a folder":
            for path in (folder / below).iterdir():
                match = _PART.fullmatch(path.name)
                if match is not None and (Path(below) / match["name"]).as_posix() in files and kind_of(path) is None:
                    path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    """Remove the folders for figures and tables, if nothing is in them."""
    for name in ("figures", "tables"):
        with suppress(OSError):
            (folder / name).rmdir()


def _remove_runs(folder: Path) -> None:
    """Remove the runs of a folder's own store."""
    from sojourn.store.run_store import RunStore

    if kind_of(folder / RUNS) == "a folder":
        RunStore(folder / RUNS).remove()


def _discard(new: Path) -> None:
    """Remove results that were begun beside others and are not wanted any more."""
    files = _marked(new) if kind_of(new) == "a folder" else None
    if files is None:
        # Whoever was writing the first mark was killed.
        _remove_unfinished(new, {_MARK})
        if os.path.lexists(new) and (kind_of(new) != "a folder" or any(new.iterdir())):
            message = f"{new} is in the way, and Sojourn has not written it: move it away"
            raise SojournError(message)
        return
    _remove_runs(new)
    _remove_unfinished(new, {*files, _MARK})
    for name in files:
        _remove_file(new, name)
    _remove_empty(new)
    _remove_file(new, _MARK)
    with suppress(OSError):
        new.rmdir()


def _exchange(place: Path) -> None:
    """Put complete results in the place of earlier ones; done again after a kill, it does what is left."""
    new = place / _NEW
    mark = _read_mark(new)
    assert mark is not None
    files = set(mark.files)
    if mark.exchange == "remove":
        _remove_runs(place)
        for name in set(_marked(place) or ()) - files:
            _remove_file(place, name)
        _sync_all(place)
        _write_mark(place, files, None)
        _write_mark(new, files, "move")
    _move(new / RUNS, place / RUNS)
    for name in sorted(files):
        if os.path.lexists(new / name):
            make_folder((place / name).parent)
            (new / name).replace(place / name)
    _sync_all(place)
    for folder in (new, place):
        _remove_unfinished(folder, {*files, _MARK})
        _remove_empty(folder)
    _remove_file(new, _MARK)
    with suppress(OSError):
        new.rmdir()


def _sync_all(place: Path) -> None:
    """Force the names in a folder of results to the disk."""
    for name in (".", "figures", "tables", RUNS, f"{RUNS}/{MEASURED}"):
        if kind_of(place / name) == "a folder":
            sync(place / name)


def _move(source: Path, target: Path) -> None:
    """Move a folder into the place of one that may be there still, because it holds foreign files."""
    if kind_of(source) != "a folder":
        return
    if not os.path.lexists(target):
        source.rename(target)
        return
    for entry in source.iterdir():
        there = target / entry.name
        if kind_of(entry) == "a folder" and kind_of(there) == "a folder":
            _move(entry, there)
        else:
            entry.replace(there)
    source.rmdir()


def plan_name(*parts: object) -> str:
    """Return a name for a plan that is made of these."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
