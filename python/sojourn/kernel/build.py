"""Builds the kernel for runs in virtual time: unpack, change, configure, compile, check, and only then keep."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError, os_errors_as
from sojourn.kernel import assemble, cache, config, driver, edits, make, source, tools, tree
from sojourn.kernel.cache import Built, Recipe

#: Room that a build needs while it goes on, in sizes of the packed source. Linux 6.12 takes 1.7e9 bytes unpacked and
#: 0.2e9 for its objects, which is 12.5 times its 1.52e8 as .tar.xz.
ROOM_RATIO = 16
#: The same in sizes of an unpacked source, for a folder.
ROOM_RATIO_UNPACKED = 1.5

_UNFINISHED = ".build-"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltKernel:
    """What a build came to.

    Attributes
    ----------
    built
        The kernel.
    anew
        `False`: it was there already.
    wall_s
        How long it took.
    steps_s
        How long its steps took, by their names; empty if it was there already.
    """

    built: Built
    anew: bool
    wall_s: float
    steps_s: Mapping[str, float]


def build(
    origin: Path | None = None,
    *,
    jobs: int | None = None,
    hz: int = config.DEFAULT_HZ,
    wifi: bool = False,
    force: bool = False,
    describe: str | None = None,
) -> BuiltKernel:
    """Build the kernel and put it into the cache, or find it there.

    Parameters
    ----------
    origin
        The kernel's source, a tarball or a folder, which stays as it is; `None` for the newest package of the
        distribution.
    jobs
        Compilers at a time; `None` for one for each core.
    hz
        Ticks per second.
    wifi
        With mac80211 and our driver, for cells.
    force
        Build it though it is there.
    describe
        Word before the progress bars; `None` shows none.

    Raises
    ------
    ParamError
        If a value is refused.
    CheckError
        If the kernel is built and does not keep what it must.
    SojournError
        If something is missing, or the build fails; its log is named.
    """
    began = time.monotonic()
    jobs = len(os.sched_getaffinity(0)) if jobs is None else jobs
    assemble.check(jobs, hz)
    kernels = cache.kernels_folder()
    assemble.check_folder(kernels, "cache", "set SOJOURN_CACHE")
    tools.check_tools()
    origin = source.choose(origin, series=driver.SERIES if wifi else None)
    words = (lambda step: None) if describe is None else (lambda step: f"{describe}: {step}")
    folder = None
    if origin.is_dir():
        source.version(origin, origin)
        edits.check(origin, edits=assemble.edits_of(wifi))
        folder = tree.read(origin, words("read"))
    recipe = assemble.recipe_of(_digest(origin) if folder is None else folder.digest, hz, wifi=wifi)
    if not force:
        kept = assemble.is_there(kernels, recipe)
        if kept is not None:
            return BuiltKernel(built=kept, anew=False, wall_s=time.monotonic() - began, steps_s={})
    steps_s: dict[str, float] = {}
    with (
        os_errors_as(f"the kernel cannot be built in {kernels}"),
        make.ended_like_ctrl_c(),
        _alone(kernels),
        _unfinished(kernels, _room(origin, folder)) as work,
    ):
        step, table = "unpack" if folder is None else "copy", assemble.edits_of(wifi)
        with assemble.timed(steps_s, step):
            if folder is None:
                there = source.unpack(
                    origin, work / "source", words(step), lambda top, file: edits.check(top, file, table)
                )
            else:
                there = tree.copy(folder, work / "source", words(step))
        built = _make(there, recipe, work, kernels, jobs, words("compile"), steps_s)
    return BuiltKernel(built=built, anew=True, wall_s=time.monotonic() - began, steps_s=steps_s)


def _digest(tarball: Path) -> str:
    with os_errors_as(f"{tarball} cannot be read"):
        return cache.sha256_of(tarball)


@contextmanager
def _alone(kernels: Path) -> Iterator[None]:
    """Let one build go on at a time, and remove what one that was killed has left."""
    with os_errors_as(f"the cache {kernels} cannot be written"):
        kernels.mkdir(parents=True, exist_ok=True)
        # The folder itself is locked, so that no file is left for it.
        lock = os.open(kernels, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"another build is going on in {kernels}; wait for its end"
            raise SojournError(message) from error
        for left in kernels.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(lock)


@contextmanager
def _unfinished(kernels: Path, room: float) -> Iterator[Path]:
    """Yield a new folder in the cache's file system, which is removed however this ends."""
    free = shutil.disk_usage(kernels).free
    if free < room:
        message = f"{kernels} has {free / 1e9:.1f} GB free, but a build needs {room / 1e9:.1f} GB for a while"
        raise SojournError(message)
    with os_errors_as(f"the cache {kernels} cannot be written"):
        work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=kernels))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _room(origin: Path, folder: tree.Folder | None) -> float:
    """Return how many bytes a build needs for a while."""
    return origin.stat().st_size * ROOM_RATIO if folder is None else folder.size_bytes * ROOM_RATIO_UNPACKED


def _make(
    unpacked: source.Tree,
    recipe: Recipe,
    work: Path,
    kernels: Path,
    jobs: int,
    describe: str | None,
    steps_s: dict[str, float],
) -> Built:
    wifi = bool(recipe.driver)
    if wifi:
        driver.check_version(unpacked.version)
        driver.copy(unpacked.folder)
    edits.apply(unpacked.folder, recipe.hz, assemble.edits_of(wifi))
    return assemble.assemble(unpacked, recipe, work, kernels, jobs=jobs, describe=describe, steps_s=steps_s)
