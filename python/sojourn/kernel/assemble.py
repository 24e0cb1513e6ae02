"""From a source that is there and changed to a kernel in a folder: configure, compile, strip, check, and then keep."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sojourn.errors import refused
from sojourn.kernel import cache, config, driver, edits, make, tools, verify
from sojourn.kernel.cache import Built, Recipe
from sojourn.kernel.source import Tree

#: Files that are compiled: 602 for Linux 6.1, 625 for 6.12; with Wi-Fi 722.
_COMPILED, _COMPILED_WIFI = 610, 720


def edits_of(wifi: bool) -> tuple[edits.Edit, ...]:  # noqa: FBT001 - which of two kernels
    """Return what is changed in the source."""
    return (*edits.EDITS, *edits.WIFI_EDITS) if wifi else edits.EDITS


def groups_of(wifi: bool) -> tuple[config.Group, ...]:  # noqa: FBT001 - which of two kernels
    """Return what is switched on."""
    return config.WIFI_GROUPS if wifi else config.GROUPS


def recipe_of(digest: str, hz: int, *, wifi: bool = False) -> Recipe:
    """Return all that a kernel's bytes are a function of, on this machine.

    Parameters
    ----------
    digest
        What names the source.
    hz
        Ticks per second.
    wifi
        With mac80211 and our driver.

    Raises
    ------
    SojournError
        If the compiler or the driver's sources are not there.
    """
    return Recipe(
        source_sha256=digest,
        edits=edits.as_text(edits_of(wifi)),
        config=config.fragment(config.asked_for(groups_of(wifi))),
        hz=hz,
        compiler=tools.version_line("gcc"),
        linker=tools.version_line("ld"),
        driver=driver.digest() if wifi else "",
    )


def check(jobs: int, hz: int) -> None:
    """Check what a person asked for.

    Raises
    ------
    ParamError
        If a value is refused.
    """
    if not 1 <= jobs <= 1024:
        raise refused(jobs, "jobs", "must be from 1 to 1024")
    if hz not in config.TICKS:
        raise refused(hz, "hz", f"must be one of {', '.join(map(str, config.TICKS))}")


def check_folder(folder: Path, what: str, how: str) -> None:
    """Check that make takes the path of a folder.

    Parameters
    ----------
    folder
        The path.
    what
        What it is, for the sentence.
    how
        How a person sets another one.

    Raises
    ------
    ParamError
        If the path has blanks or colons.
    """
    if re.search(r"[\s:]", str(folder)):
        raise refused(str(folder), f"the {what}", f"make takes no path with blanks or colons: {how}")


def is_there(kernels: Path, recipe: Recipe) -> Built | None:
    """Return the whole kernel of this recipe; its version is known only when the source is unpacked."""
    for one in cache.built_kernels(kernels)[0]:
        if one.recipe == recipe and one.flaw() is None:
            return one
    return None


def assemble(
    tree: Tree,
    recipe: Recipe,
    work: Path,
    kernels: Path,
    *,
    jobs: int,
    describe: str | None,
    besides: Mapping[str, str] | None = None,
    steps_s: dict[str, float] | None = None,
) -> Built:
    """Compile a kernel, check it, and put it into the folder of the kernels.

    Parameters
    ----------
    tree
        The source, with its edits made. What an earlier build left in it is used.
    recipe
        What the kernel is made from.
    work
        A new folder in the file system of `kernels`, which the caller removes.
    kernels
        Where the kernel goes, in a folder of its own. The log of a build that fails stays there.
    jobs
        Compilers at a time.
    describe
        Word before the progress bar; `None` shows none.
    besides
        More of the environment of make.
    steps_s
        Gets how long the steps `compile` and `check` took.

    Raises
    ------
    CheckError
        If the kernel does not keep what it must.
    SojournError
        If it cannot be configured or compiled.
    """
    wifi = bool(recipe.driver)
    folder = kernels / cache.kernel_name(tree.version, recipe)
    log = work / "log"
    surroundings = {**environment(work), **(besides or {})}
    steps_s = {} if steps_s is None else steps_s
    try:
        with timed(steps_s, "compile"):
            _compile(tree.folder, work, log, recipe, jobs, describe, surroundings)
        result = work / "result"
        result.mkdir()
        linux = result / cache.LINUX
        make.run(["strip", "-o", str(linux), str(tree.folder / "linux")], work, surroundings, log)
    except make.FailedError as error:
        saved_log = failed_log(folder)
        log.rename(saved_log)
        message = f"Linux {tree.version} cannot be built: {error}; the log is {saved_log}"
        raise make.FailedError(message) from error
    linux.chmod(0o755)
    (work / "boots").mkdir()
    with timed(steps_s, "check"):
        verified = verify.verify(linux, work / "boots", wifi=wifi)
    built = Built(
        folder=folder,
        version=tree.version,
        release=verified.release,
        sha256=cache.sha256_of(linux),
        size_bytes=linux.stat().st_size,
        built=int(time.time()),
        recipe=recipe,
        verified=verified.as_json(),
    )
    cache.write(built, result)
    cache.put(result, folder)
    failed_log(folder).unlink(missing_ok=True)
    return built


@contextmanager
def timed(steps_s: dict[str, float], step: str) -> Iterator[None]:
    """Note how long a step takes, in seconds."""
    began = time.monotonic()
    yield
    steps_s[step] = time.monotonic() - began


def failed_log(folder: Path) -> Path:
    """Return where the log of a build that failed is kept, of the kernel whose folder this would be."""
    return folder.with_name(f"failed-{folder.name}.log")


def _compile(
    tree: Path,
    work: Path,
    log: Path,
    recipe: Recipe,
    jobs: int,
    describe: str | None,
    surroundings: Mapping[str, str],
) -> None:
    wifi = bool(recipe.driver)
    options = config.required_options(groups_of(wifi))
    fragment = work / "fragment"
    fragment.write_text(recipe.config)
    make.run(["make", "ARCH=um", "allnoconfig"], tree, {**surroundings, "KCONFIG_ALLCONFIG": str(fragment)}, log)
    config.check(tree / ".config", recipe.hz, options)
    make.run(
        ["make", "ARCH=um", f"-j{jobs}", "linux"],
        tree,
        surroundings,
        log,
        expect=_COMPILED_WIFI if wifi else _COMPILED,
        describe=describe,
    )
    # Once more: make reads the configuration again, and may have changed it.
    config.check(tree / ".config", recipe.hz, options)


def environment(work: Path) -> dict[str, str]:
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
