"""The kernel of a commit, built in one folder that is kept, so that only what has changed is compiled.

The folder of a search:

| name        | what it is                                                                        |
|-------------|-----------------------------------------------------------------------------------|
| `tree`      | our repository with the files of the last commit, and what was compiled of them   |
| `kernels`   | each kernel that was built, by the hash of its recipe                             |
| `failed`    | why a commit does not build, by the same hash                                     |
| `building`  | there while a build goes on; as old as its beginning                              |
| `runs`      | the runs, unless another store was asked for                                      |

A compiler that is killed may leave half a file, which is newer than its source and so looks finished to make. If
`building` is there, all that was made since is removed before the next build.

A recipe names the source by git's hash of its files. So two commits with the same files have one kernel, and two
kernels with the same bytes have the same runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn import bounded
from sojourn.errors import SojournError, os_errors_as
from sojourn.files import write_file
from sojourn.kernel import assemble, cache, edits, make, source, tools
from sojourn.kernel.build import ROOM_RATIO_UNPACKED
from sojourn.kernel.cache import Built
from sojourn.kernel.verify import CheckError
from sojourn.regress.repository import Repository

#: What make's log has where the machine failed and not the commit.
_MACHINE = re.compile(rb"No space left on device|Killed signal|Cannot allocate memory|virtual memory exhausted")
#: The end of a log that is looked at, bytes.
_END = 65_536
_FORMAT = "sojourn-failed-build/1"
#: How the names of temporary folders begin.
_TEMPORARY = ".build-"


class UnusableError(SojournError):
    """A commit has no kernel that can be measured, so a search has to skip it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The kernel of a commit."""

    #: The kernel.
    built: Built
    #: Whether it was built now.
    anew: bool


@dataclass(frozen=True, kw_only=True)
class Builder:
    """Builds kernels of commits."""

    #: Where the commits are; its folder has the files.
    repository: Repository
    #: The folder of the search.
    work: Path
    #: Compilers at a time.
    jobs: int
    #: Ticks per second.
    hz: int
    #: Word before the progress bars; `None` shows none.
    describe: str | None = None

    def kernel_of(self, commit: str) -> Kernel:
        """Return the kernel of a commit; it is built if it is not there.

        Raises `UnusableError` if the commit cannot be built, or its kernel does not boot or does not keep what it must,
        and `SojournError` if the machine is to blame: no compiler, no room, no memory.
        """
        recipe = assemble.recipe_of(f"git {self.repository.tree_of(commit)}", self.hz)
        kernels = self.work / "kernels"
        there = assemble.is_there(kernels, recipe)
        if there is not None:
            return Kernel(built=there, anew=False)
        failed = self.work / "failed" / f"{recipe.key}.json"
        reason = _reason(failed)
        if reason is not None:
            raise UnusableError(reason)
        try:
            return Kernel(built=self._build(commit, recipe, kernels), anew=True)
        except CheckError as error:
            raise UnusableError(str(error)) from error
        except OSError as error:
            message = f"the kernel cannot be built in {self.work}: {error.strerror or error}"
            raise SojournError(message) from error
        except _DoesNotBuildError as error:
            failed.parent.mkdir(exist_ok=True)
            write_file(failed, json.dumps({"format": _FORMAT, "commit": commit, "reason": str(error)}) + "\n")
            raise UnusableError(str(error)) from error

    def _build(self, commit: str, recipe: cache.Recipe, kernels: Path) -> Built:
        tools.check_tools()
        kernels.mkdir(parents=True, exist_ok=True)
        self._check_room(commit)
        top = self.repository.top
        self._remove_unfinished()
        before = _dated(top)
        self.repository.check_out(commit)
        version = source.version(top, top)
        try:
            edits.apply(top, self.hz, assemble.edits_of(False))
        except SojournError as error:
            raise _DoesNotBuildError(str(error)) from error
        _keep_times(top, before)
        with _temporary(self.work) as below:
            self._building.touch()
            try:
                built = assemble.assemble(
                    source.Tree(folder=top, version=version),
                    recipe,
                    below,
                    kernels,
                    jobs=self.jobs,
                    describe=self.describe,
                    # Without it the release would end in "+", because our commits have no tag.
                    besides={"LOCALVERSION": ""},
                )
            except CheckError:
                self._building.unlink()
                raise
            except make.FailedError as error:
                log = assemble.failed_log(kernels / cache.kernel_name(version, recipe))
                if _MACHINE.search(_end_of(log)):
                    message = f"{error}: the machine has no room or no memory left; the same command goes on from there"
                    raise SojournError(message) from error
                self._building.unlink()
                raise _DoesNotBuildError(str(error)) from error
            except SojournError as error:  # an option that this commit's configuration does not have
                if isinstance(error.__cause__, OSError):
                    raise
                self._building.unlink()
                raise _DoesNotBuildError(str(error)) from error
        self._building.unlink()
        return built

    @property
    def _building(self) -> Path:
        return self.work / "building"

    def _remove_unfinished(self) -> None:
        """Remove what a build that did not come to its end has made in the tree."""
        if not self._building.exists():
            return
        began, top = self._building.stat().st_mtime_ns, self.repository.top
        for name in self.repository.untracked():
            path = top / name
            if not path.is_symlink() and path.is_file() and path.stat().st_mtime_ns >= began:
                path.unlink()
        self._building.unlink()

    def _check_room(self, commit: str) -> None:
        """Raise `SojournError` unless there is room for the first build; later ones take little."""
        if (self.repository.top / "Makefile").exists():
            return
        room, free = self.repository.size_bytes(commit) * ROOM_RATIO_UNPACKED, shutil.disk_usage(self.work).free
        if free < room:
            message = f"{self.work} has {free / 1e9:.1f} GB free, but the files of a commit need {room / 1e9:.1f} GB"
            raise SojournError(message)


class _DoesNotBuildError(SojournError):
    """A commit's own fault, which is the same each time."""


@contextmanager
def held(work: Path) -> Iterator[None]:
    """Make the folder of a search if need be, and hold it against other searches.

    Raises `SojournError` if it cannot be made, or another search goes on in it.
    """
    with os_errors_as(f"work is {str(work)!r}, which cannot be used"):
        work.mkdir(parents=True, exist_ok=True)
        lock = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = (
                f"work is {str(work)!r}, in which another bisect goes on: wait for its end, or name another folder"
            )
            raise SojournError(message) from error
        _end_left(work)
        for left in work.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(lock)


def _end_left(work: Path) -> None:
    """End what is left of a build whose search was killed: it would go on to write into the tree.

    Such a process has our temporary folder as its home, and no other process has.
    """
    mark = b"\0HOME=" + os.fsencode(work / _TEMPORARY)
    until = time.monotonic() + make.GRACE_S
    while time.monotonic() < until:
        found = False
        for environ in Path("/proc").glob("[0-9]*/environ"):
            # A process that ended meanwhile, or is another user's.
            with suppress(OSError):
                if mark in b"\0" + environ.read_bytes():
                    found = True
                    os.kill(int(environ.parent.name), signal.SIGKILL)
        if not found:
            return
        time.sleep(0.05)
    message = f"work is {str(work)!r}, in which a build of a search that was killed goes on and cannot be ended"
    raise SojournError(message)


def folder_of(top: Path) -> Path:
    """Return the folder of the searches in a repository, in the cache, unless a person names another."""
    place = top.resolve()
    name = re.sub(r"[^\w.-]", "_", place.name)[:40] or "root"
    return cache.cache_folder() / "bisect" / f"{name}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:12]}"


@contextmanager
def _temporary(work: Path) -> Iterator[Path]:
    below = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=work))
    try:
        yield below
    finally:
        shutil.rmtree(below, ignore_errors=True)


def _dated(top: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and time of change of the files that edits change, where they are there."""
    found = {}
    for edit in edits.EDITS:
        path = top / edit.file
        if path.is_file() and not path.is_symlink():
            found[edit.file] = (path.read_bytes(), path.stat().st_mtime_ns)
    return found


def _keep_times(top: Path, before: dict[str, tuple[bytes, int]]) -> None:
    """Give edited files that are as before the time that they had, so that make does not compile them again."""
    for file, (content, changed) in before.items():
        path = top / file
        if path.is_file() and path.read_bytes() == content:
            os.utime(path, ns=(changed, changed))


def _reason(failed: Path) -> str | None:
    """Return why a build failed before, if it did."""
    try:
        found = bounded.read_json(failed) if failed.is_file() else None
    except SojournError:
        return None
    if isinstance(found, dict) and found.get("format") == _FORMAT and isinstance(found.get("reason"), str):
        return str(found["reason"])
    return None


def _end_of(log: Path) -> bytes:
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _END))
            return file.read(_END)
    except OSError:
        return b""
