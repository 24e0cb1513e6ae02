"""Where built kernels are kept: one folder each with `linux` and `kernel.json`, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from sojourn import bounded
from sojourn.errors import SojournError, refused

FORMAT = "sojourn-kernel/1"
LINUX, FACTS = "linux", "kernel.json"

_NAME = re.compile(r"\d+\.\d+(\.\d+)?-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that the bytes of a kernel are a function of.

    Attributes
    ----------
    source_sha256
        Digest of the tarball, or of all files of a folder.
    edits, config
        What is changed in the source, and the fragment of the configuration, both as text.
    hz
        Ticks per second.
    compiler, linker
        First lines of `gcc --version` and `ld --version`.
    driver
        Digest of the sources of the Wi-Fi driver; empty for a kernel without it.
    """

    source_sha256: str
    edits: str
    config: str
    hz: int
    compiler: str
    linker: str
    driver: str = ""

    @property
    def key(self) -> str:
        """Twelve digits of the hash of all of it."""
        facts = asdict(self)
        if not self.driver:
            # The names of kernels from before there was a driver stay as they are.
            del facts["driver"]
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A kernel in the cache.

    Attributes
    ----------
    folder
        Where it is.
    version, release
        Version of the source, and what `uname -r` says in it.
    sha256, size_bytes
        Of the file `linux`, when it was built.
    built
        When, seconds since 1970.
    recipe
        What it was made from.
    verified
        What `sojourn.kernel.verify` measured.
    """

    folder: Path
    version: str
    release: str
    sha256: str
    size_bytes: int
    built: int
    recipe: Recipe
    verified: Mapping[str, Any]

    @property
    def linux(self) -> Path:
        """The kernel itself, an executable file."""
        return self.folder / LINUX

    @property
    def wifi(self) -> bool:
        """Whether it has the Wi-Fi driver."""
        return bool(self.recipe.driver)

    @property
    def name(self) -> str:
        """Its name in the cache."""
        return self.folder.name

    def flaw(self) -> str | None:
        """Return what is wrong with the file, or `None`; this reads it all (5 MB: 5 ms)."""
        try:
            found = sha256_of(self.linux)
        except OSError as error:
            return f"{self.linux} cannot be read: {error.strerror or error}"
        if found != self.sha256:
            return f"{self.linux} is not what was built: its sha256 is {found[:12]}..., not {self.sha256[:12]}..."
        return None if os.access(self.linux, os.X_OK) else f"{self.linux} is not executable"


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of all that Sojourn keeps between runs; it need not exist.

    Raises
    ------
    ParamError
        If the environment names one that is not absolute.
    """
    environment = os.environ if environment is None else environment
    for variable, below in (("SOJOURN_CACHE", "."), ("XDG_CACHE_HOME", "sojourn")):
        value = environment.get(variable)
        if value:
            if not Path(value).is_absolute():
                raise refused(value, variable, "must be an absolute path")
            return Path(value) / below
    return Path(environment.get("HOME") or Path.home()) / ".cache" / "sojourn"


def kernels_folder() -> Path:
    """Return the folder that holds the kernels."""
    return cache_folder() / "kernels"


def kernel_name(version: str, recipe: Recipe) -> str:
    """Return the name of a kernel in the cache: its version and the hash of its recipe."""
    return f"{version}-{recipe.key}"


def built_kernels(folder: Path | None = None) -> tuple[tuple[Built, ...], tuple[str, ...]]:
    """Return the kernels of a folder, the newest version first and of each the last built, and what is broken."""
    folder = kernels_folder() if folder is None else folder
    whole: list[Built] = []
    broken: list[str] = []
    for path in sorted(folder.glob("*-*")) if folder.is_dir() else ():
        if not _NAME.fullmatch(path.name) or not path.is_dir():
            continue
        try:
            whole.append(read(path))
        except SojournError as error:
            broken.append(str(error))
    whole.sort(key=lambda one: (version_key(one.version), one.built, one.name), reverse=True)
    return tuple(whole), tuple(broken)


def version_key(version: str) -> tuple[int, ...]:
    """Return what versions are ordered by: 6.12 comes after 6.2."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def read(folder: Path) -> Built:
    """Read what is told about a kernel of the cache.

    Raises
    ------
    SojournError
        If it cannot be read, or is not in the format.
    """
    path = folder / FACTS
    try:
        facts = bounded.parse_json(path.read_bytes(), _refuse)
        if facts["format"] != FORMAT:
            message = f"{path}: format is {facts['format']!r}, but must be {FORMAT}"
            raise SojournError(message)
        return Built(
            folder=folder,
            version=str(facts["version"]),
            release=str(facts["release"]),
            sha256=str(facts["sha256"]),
            size_bytes=int(facts["size_bytes"]),
            built=int(facts["built"]),
            recipe=Recipe(**facts["recipe"]),
            verified=dict(facts["verified"]),
        )
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}; `sojourn kernel build --force` makes it anew"
        raise SojournError(message) from error
    except (ValueError, KeyError, TypeError) as error:
        message = f"{path} is not a {FORMAT} file; `sojourn kernel build --force` makes it anew"
        raise SojournError(message) from error


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)


def write(built: Built, folder: Path) -> None:
    """Write what is told about a kernel into `folder`."""
    facts = {
        "format": FORMAT,
        "version": built.version,
        "release": built.release,
        "sha256": built.sha256,
        "size_bytes": built.size_bytes,
        "built": built.built,
        "recipe": asdict(built.recipe),
        "verified": dict(built.verified),
    }
    (folder / FACTS).write_text(json.dumps(facts, indent=2) + "\n")


def put(unfinished: Path, folder: Path) -> None:
    """Move a finished kernel to its place, and take away the one that is there."""
    if folder.exists():
        # Two renames: a reader in between finds no kernel, never half of one.
        old = unfinished.parent / f"{unfinished.name}.old"
        folder.rename(old)
        unfinished.rename(folder)
        shutil.rmtree(old)
    else:
        unfinished.rename(folder)


def remove(name: str) -> int:
    """Remove a kernel and return how many bytes it had.

    Raises
    ------
    ParamError
        If there is none of that name.
    """
    folder = kernels_folder() / name
    if not _NAME.fullmatch(name) or not folder.is_dir():
        there = ", ".join(one.name for one in built_kernels()[0]) or "none"
        raise refused(name, "kernel", f"must be one of those in {kernels_folder()}: {there}")
    size = sum(path.stat().st_size for path in folder.iterdir())
    shutil.rmtree(folder)
    return size


def sha256_of(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
