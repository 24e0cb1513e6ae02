"""A store of runs: a folder with one folder for each run, named by what it is a run of.

`ID/run.json` is the record without its series; `ID/series.parquet` holds the series in long form (schema
`sojourn.store.frames.SERIES_SCHEMA`). A run is written into a folder beside its place and then moved there, so it is
whole or not there, whenever the writer dies. `store.json` says which version of Sojourn made the store, and another
is refused, for it would find nothing in it.

`measured/NAME` is what was measured on the way to a run on a kernel in virtual time. Its name is of what the guest was
given (`sojourn.backends.linux.guest_inputs`), not of the version of Sojourn. A store that has such files is gone on
with by any version, which then writes itself into `store.json`: records are made anew from what was measured. The runs
of other versions stay in it, under names of their own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _native, bounded
from sojourn.errors import SojournError
from sojourn.files import make_folder, sync, write_file
from sojourn.record import Summary
from sojourn.store.head import load_head
from sojourn.store.run import voices_in
from sojourn.store.run_files import MEASURED, Measured, cannot_write, reason, remove_run, write_run
from sojourn.store.stored_run import StoredRun

if TYPE_CHECKING:
    from sojourn.plan import Job

STORE_FORMAT = "sojourn-store/1"

_MARK = "store.json"
_ID = re.compile(r"[0-9a-f]{32}")
_UNFINISHED = re.compile(r"\.(?:[0-9a-f]{32}|store\.json)\.(?P<pid>\d+)\.part")


class RunStore:
    """A store of runs.

    - `path`: its folder, which need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.measured = Measured(path)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store while runs are added to it; what an earlier writer left unfinished is removed.

        Raises `SojournError` if it cannot be used: it is no store, another version made it, or another process writes
        into it.
        """
        try:
            make_folder(self.path)
        except OSError as error:
            message = f"store {self.path} cannot be used: {reason(error)}"
            raise SojournError(message) from error
        with self._locked():
            try:
                self.clean()
                self._check_mark()
            except OSError as error:
                message = f"store {self.path} cannot be used: {reason(error)}"
                raise SojournError(message) from error
            try:
                yield
            finally:
                with suppress(OSError):
                    self.clean()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes out of the store, whose folder must be there."""
        import fcntl

        try:
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            message = f"store {self.path} cannot be used: {reason(error)}"
            raise SojournError(message) from error
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                message = f"store {self.path} is in use by another process: wait for its end, or name another folder"
                raise SojournError(message) from error
            yield
        finally:
            os.close(folder)

    def ids(self) -> set[str]:
        """Return the names of the runs that are there; raises `SojournError` if the store cannot be read."""
        try:
            return {path.name for path in self.path.iterdir() if _ID.fullmatch(path.name)}
        except OSError as error:
            message = f"store {self.path} cannot be read: {reason(error)}"
            raise SojournError(message) from error

    def get(self, run_id: str, scenario: str | None = None) -> StoredRun:
        """Return a run that is there.

        Raises `SojournError` if it is not whole, or not the run it should be.

        - `run_id`: its name.
        - `scenario`: the canonical scenario that it must be of; `None` takes any.
        """
        folder = self.path / run_id
        record = load_head(folder)
        if record.stored.id != run_id:
            message = f"run {folder} is not the run of its name, but {record.stored.id!r}: move it away"
            raise SojournError(message)
        if scenario is not None and json.loads(scenario) != record.scenario:
            message = f"run {folder} is not the run of its name, but of another scenario: move it away"
            raise SojournError(message)
        voiced = bool(voices_in(record))
        return StoredRun(folder=folder, summary=record.summary, seed=record.seed, voiced=voiced)

    def made(self, job: Job, summary: Summary) -> StoredRun:
        """Return the run of a job that was just written, of which so much is known."""
        # A quote inside a name is escaped in JSON, so this is found wherever there is such a probe.
        voiced = '"kind":"voip"' in job.text
        return StoredRun(folder=self.path / job.id, summary=summary, seed=job.seed, voiced=voiced)

    def add(self, run_id: str, head: bytes, series: bytes) -> None:
        """Write one run; raises `SojournError` if it cannot be written."""
        try:
            write_run(self.path, run_id, head, series)
        except OSError as error:
            raise SojournError(cannot_write(self.path, run_id, error)) from error

    def clean(self) -> None:
        """Remove what writers that are gone have left unfinished, and nothing else."""
        for path in [*self.path.iterdir(), *self._measured()]:
            match = _UNFINISHED.fullmatch(path.name)
            if match is not None and not _alive(int(match["pid"])):
                if path.is_dir() and not path.is_symlink():
                    remove_run(path)
                else:
                    path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove every run, and what was measured; what is not ours stays.

        Raises `SojournError` if another process writes into the store.
        """
        if (self.path / _MARK).is_file():
            with self._locked():
                self._remove()

    def _remove(self) -> None:
        self.clean()
        for path in list(self.path.iterdir()):
            if _ID.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                # Whoever is killed between its files leaves what is no run.
                unfinished = self.path / f".{path.name}.{os.getpid()}.part"
                path.rename(unfinished)
                remove_run(unfinished)
                if unfinished.is_dir():  # with something that is not ours
                    unfinished.rename(path)
        for path in self._measured():
            if _ID.fullmatch(path.name) and not path.is_dir():
                path.unlink()
        measured = self.path / MEASURED
        with suppress(OSError):  # what else is there stays
            measured.rmdir()
        if measured.is_dir() and not measured.is_symlink():
            # Without a mark nobody would remove from it what a power cut brings back.
            sync(measured)
        (self.path / _MARK).unlink()
        try:
            self.path.rmdir()
        except OSError:  # what else is there stays, in a store that is ours still
            write_file(self.path / _MARK, _mark())

    def _measured(self) -> list[Path]:
        """Return what is in the folder of measurements; nothing if it is none of ours."""
        folder = self.path / MEASURED
        return list(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []

    def _check_mark(self) -> None:
        """Check the mark of the store, or set it."""
        path = self.path / _MARK
        if not path.is_file():
            if list(self.path.iterdir()):
                message = (
                    f"store {self.path} cannot be used: no {_MARK} is in it, but other things: name another folder"
                )
                raise SojournError(message)
            write_file(path, _mark())
            return
        ours = json.loads(_mark())
        found = bounded.read_json(path)
        if not isinstance(found, dict) or found.get("format") != STORE_FORMAT:
            message = f"{path} has not the format {STORE_FORMAT!r}: another version of Sojourn made it"
            raise SojournError(message)
        if found != ours and any(_ID.fullmatch(path.name) for path in self._measured()):
            write_file(path, _mark())
        elif found != ours:
            message = (
                f"store {self.path} was made by another version of Sojourn ({found.get('code_version')}, build "
                f"{found.get('build')}; this is {ours['code_version']}, build {ours['build']}): name another folder"
            )
            raise SojournError(message)


def _mark() -> str:
    """Return what `store.json` of a store of this version says."""
    mark = {"format": STORE_FORMAT, "code_version": _native.__version__, "build": _native.__build__}
    return json.dumps(mark) + "\n"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
