"""Builds the kernel for runs in virtual time: unpack, change, configure, compile, check, and only then keep."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import ParamError, SojournError
from sojourn.kernel import cache, config, driver, edits, make, source, tools, tree, verify
from sojourn.kernel.cache import Built, Recipe

#: Room that a build needs while it goes on, in sizes of the packed source. Linux 6.12 takes 1.7e9 bytes unpacked and
#: 0.2e9 for its objects, which is 12.5 times its 1.52e8 as .tar.xz.
ROOM_RATIO = 16
#: The same in sizes of an unpacked source, for a folder.
ROOM_RATIO_UNPACKED = 1.5

#: Files that are compiled: 602 for Linux 6.1, 625 for 6.12; with Wi-Fi 722.
_COMPILED, _COMPILED_WIFI = 610, 720

_UNFINISHED = ".build-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a build came to.

    Attributes
    ----------
    built
        The kernel.
    anew
        `False`: it was there already.
    wall_s
        How long it took.
    """

    built: Built
    anew: bool
    wall_s: float


def build(
    origin: Path | None = None,
    *,
    jobs: int | None = None,
    hz: int = config.DEFAULT_HZ,
    wifi: bool = False,
    force: bool = False,
    describe: str | None = None,
) -> Outcome:
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
    _check(jobs, hz)
    kernels = cache.kernels_folder()
    if re.search(r"[\s:]", str(kernels)):
        message = f"the cache is {str(kernels)!r}, but make takes no path with blanks or colons: set SOJOURN_CACHE"
        raise ParamError(message)
    tools.check_tools()
    origin = source.choose(origin, series=driver.SERIES if wifi else None)
    words = (lambda step: None) if describe is None else (lambda step: f"{describe}: {step}")
    folder = tree.read(origin, words("read")) if origin.is_dir() else None
    recipe = Recipe(
        source_sha256=_digest(origin) if folder is None else folder.digest,
        edits=edits.as_text(_edits(wifi)),
        config=config.fragment(config.asked_for(_groups(wifi))),
        hz=hz,
        compiler=tools.version_line("gcc"),
        linker=tools.version_line("ld"),
        driver=driver.digest() if wifi else "",
    )
    if not force:
        kept = _is_there(kernels, recipe)
        if kept is not None:
            return Outcome(built=kept, anew=False, wall_s=time.monotonic() - began)
    try:
        with make.ended_like_ctrl_c(), _alone(kernels), _unfinished(kernels, _room(origin, folder)) as work:
            if folder is None:
                there = source.unpack(origin, work / "source", words("unpack"))
            else:
                there = tree.copy(folder, work / "source", words("copy"))
            built = _make(there, recipe, work, kernels, jobs, words("compile"))
    except OSError as error:
        message = f"the kernel cannot be built in {kernels}: {error.strerror or error}"
        raise SojournError(message) from error
    return Outcome(built=built, anew=True, wall_s=time.monotonic() - began)


def _edits(wifi: bool) -> tuple[edits.Edit, ...]:  # noqa: FBT001 - which of two kernels
    return (*edits.EDITS, *edits.WIFI_EDITS) if wifi else edits.EDITS


def _groups(wifi: bool) -> tuple[config.Group, ...]:  # noqa: FBT001 - which of two kernels
    return config.WIFI_GROUPS if wifi else config.GROUPS


def _check(jobs: int, hz: int) -> None:
    if not 1 <= jobs <= 1024:
        message = f"jobs is {jobs}, but must be from 1 to 1024"
        raise ParamError(message)
    if hz not in config.TICKS:
        message = f"hz is {hz}, but must be one of {', '.join(map(str, config.TICKS))}"
        raise ParamError(message)


def _digest(tarball: Path) -> str:
    try:
        return cache.sha256_of(tarball)
    except OSError as error:
        message = f"{tarball} cannot be read: {error.strerror or error}"
        raise SojournError(message) from error


def _is_there(kernels: Path, recipe: Recipe) -> Built | None:
    """Return the whole kernel of this recipe; its version is known only when the source is unpacked."""
    for one in cache.built_kernels(kernels)[0]:
        if one.recipe == recipe and one.flaw() is None:
            return one
    return None


@contextmanager
def _alone(kernels: Path) -> Iterator[None]:
    """Let one build go on at a time, and remove what one that was killed has left."""
    try:
        kernels.mkdir(parents=True, exist_ok=True)
        # The folder itself is locked, so that no file is left for it.
        lock = os.open(kernels, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        message = f"the cache {kernels} cannot be written: {error.strerror or error}"
        raise SojournError(message) from error
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
    try:
        work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=kernels))
    except OSError as error:
        message = f"the cache {kernels} cannot be written: {error.strerror or error}"
        raise SojournError(message) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _room(origin: Path, folder: tree.Folder | None) -> float:
    """Return how many bytes a build needs for a while."""
    return origin.stat().st_size * ROOM_RATIO if folder is None else folder.size_bytes * ROOM_RATIO_UNPACKED


def _make(unpacked: source.Tree, recipe: Recipe, work: Path, kernels: Path, jobs: int, describe: str | None) -> Built:
    wifi = bool(recipe.driver)
    if wifi:
        driver.check_version(unpacked.version)
        driver.copy(unpacked.folder)
    edits.apply(unpacked.folder, recipe.hz, _edits(wifi))
    folder = kernels / cache.kernel_name(unpacked.version, recipe)
    log = work / "log"
    try:
        _compile(unpacked.folder, work, log, recipe, jobs, describe)
        result = work / "result"
        result.mkdir()
        linux = result / cache.LINUX
        make.run(["strip", "-o", str(linux), str(unpacked.folder / "linux")], work, _environment(work), log)
    except make.FailedError as error:
        saved_log = kernels / f"failed-{folder.name}.log"
        log.rename(saved_log)
        message = f"Linux {unpacked.version} cannot be built: {error}; the log is {saved_log}"
        raise SojournError(message) from error
    linux.chmod(0o755)
    (work / "boots").mkdir()
    verified = verify.verify(linux, work / "boots", wifi=wifi)
    built = Built(
        folder=folder,
        version=unpacked.version,
        release=verified.release,
        sha256=cache.sha256_of(linux),
        size_bytes=linux.stat().st_size,
        built=int(time.time()),
        recipe=recipe,
        verified=verified.as_json(),
    )
    cache.write(built, result)
    cache.put(result, folder)
    (kernels / f"failed-{folder.name}.log").unlink(missing_ok=True)
    return built


def _compile(tree: Path, work: Path, log: Path, recipe: Recipe, jobs: int, describe: str | None) -> None:
    wifi = bool(recipe.driver)
    options = config.required_options(_groups(wifi))
    fragment = work / "fragment"
    fragment.write_text(recipe.config)
    environment = {**_environment(work), "KCONFIG_ALLCONFIG": str(fragment)}
    make.run(["make", "ARCH=um", "allnoconfig"], tree, environment, log)
    config.check(tree / ".config", recipe.hz, options)
    make.run(
        ["make", "ARCH=um", f"-j{jobs}", "linux"],
        tree,
        _environment(work),
        log,
        expect=_COMPILED_WIFI if wifi else _COMPILED,
        describe=describe,
    )
    # Once more: make reads the configuration again, and may have changed it.
    config.check(tree / ".config", recipe.hz, options)


def _environment(work: Path) -> dict[str, str]:
    """Return all of the environment: nothing of the caller's but its path gets into the kernel or into make."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(work),
        "TMPDIR": str(work),
        "LC_ALL": "C",
        "TZ": "UTC",
        # The same source gives the same bytes, whoever builds it, when and where.
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
        "KBUILD_BUILD_USER": "sojourn",
        "KBUILD_BUILD_HOST": "sojourn",
        "KBUILD_BUILD_VERSION": "1",
        "SOURCE_DATE_EPOCH": "0",
    }
