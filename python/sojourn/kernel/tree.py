"""A kernel's source as a folder: which files are its source, what names them, and how a build gets a copy.

A build never writes into a folder that a person named.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NoReturn

from sojourn.bounded import shown
from sojourn.errors import SojournError, os_errors_as
from sojourn.kernel import source
from sojourn.progress import progress_bar

#: What a build in the folder leaves there; a second build elsewhere would use it.
_BUILT = (".config", "include/config", "include/generated", "arch/um/include/generated")
#: What a version control keeps beside the source.
_NOT_SOURCE = frozenset({".git", ".hg", ".svn"})
#: How many files make a step of the progress bar.
_STEP = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The source in a folder.

    Attributes
    ----------
    top
        The folder.
    files
        Paths below it of all files and symbolic links, in the order of their names.
    size_bytes
        Of all files.
    digest
        sha256 over the name, the kind and the content of each.
    """

    top: Path
    files: tuple[str, ...]
    size_bytes: int
    digest: str


def read(top: Path, describe: str | None = None) -> Folder:
    """Read all of the source in a folder.

    In a checkout of git these are the files that git knows or would take up, so what a build left there does not
    count. In any other folder these are all files, and a folder that was built in is refused.

    Parameters
    ----------
    top
        The folder.
    describe
        Word before the progress bar; `None` shows none.

    Raises
    ------
    SojournError
        If it is not the source of a kernel, was built in, or cannot be read.
    """
    source.version(top, top)
    try:
        files = _of_git(top)
        if files is None:
            _refuse_built(top)
            files = sorted(islice(_walk(top), source.MOST_ENTRIES + 1))
        if len(files) > source.MOST_ENTRIES:
            message = f"{top} has more than {source.MOST_ENTRIES:,} files, which no source of a kernel has"
            raise SojournError(message)
        whole, size = hashlib.sha256(), 0
        with progress_bar(-(-len(files) // _STEP), describe, unit="k files") as tick:
            for count, name in enumerate(files):
                if count % _STEP == 0:
                    tick()
                _check_depth(top, name)
                size += (top / name).lstat().st_size
                if size > source.MOST_BYTES:
                    message = f"{top} has more than {source.MOST_BYTES / 1e9:g} GB, which no source of a kernel has"
                    raise SojournError(message)
                kind, content = _content(top / name)
                whole.update(f"{kind} {content} {name}\0".encode("utf-8", "surrogateescape"))
    except OSError as error:
        message = f"source is {str(top)!r}, but {error.filename} cannot be read: {error.strerror or error}"
        raise SojournError(message) from error
    return Folder(top=top, files=tuple(files), size_bytes=size, digest=whole.hexdigest())


def copy(folder: Folder, target: Path, describe: str | None = None) -> source.Tree:
    """Copy the source into the new folder `target`, and read which version it is.

    Raises
    ------
    SojournError
        If it cannot be copied, or was changed since it was read.
    """
    with os_errors_as(f"{folder.top} cannot be copied"):
        target.mkdir()
        with progress_bar(-(-len(folder.files) // _STEP), describe, unit="k files") as tick:
            for count, name in enumerate(folder.files):
                if count % _STEP == 0:
                    tick()
                place = target / name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(folder.top / name, place, follow_symlinks=False)
    if read(target).digest != folder.digest:
        message = f"{folder.top} was changed while it was copied: begin again when it is at rest"
        raise SojournError(message)
    return source.Tree(folder=target, version=source.version(folder.top, target))


def _content(path: Path) -> tuple[str, str]:
    """Return the kind of a file, and what stands for its content."""
    if path.is_symlink():
        return "link", str(path.readlink())
    with path.open("rb") as file:
        facts = os.fstat(file.fileno())
        kind = "program" if facts.st_mode & 0o100 else "file"
        return kind, hashlib.file_digest(file, "sha256").hexdigest()


def _of_git(top: Path) -> list[str] | None:
    """Return the files of a checkout of git, in order; `None` if it is none, or there is no git."""
    if not (top / ".git").exists() or shutil.which("git") is None:
        return None
    command = ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False)
    if listed.returncode != 0:
        return None
    names = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    # One that was deleted and is still in the index, and a submodule, are no files.
    return sorted(name for name in names if (top / name).is_symlink() or (top / name).is_file())


def _check_depth(top: Path, name: str) -> None:
    deep = name.count("/") + 1
    if deep > source.MOST_DEPTH:
        message = f"{top} holds {shown(name)}, which lies {deep} deep, but must lie at most {source.MOST_DEPTH} deep"
        raise SojournError(message)


def _walk(top: Path) -> Iterator[str]:
    def refuse(error: OSError) -> NoReturn:
        raise error

    for here, folders, files in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if name not in _NOT_SOURCE]
        below = PurePosixPath(os.path.relpath(here, top))
        _check_depth(top, str(below))
        # os.walk follows no symbolic link to a folder, and names it among the folders.
        links = [name for name in folders if (Path(here) / name).is_symlink()]
        for name in (*files, *links):
            path = Path(here) / name
            if not path.is_symlink() and not path.is_file():
                message = f"source is {str(top)!r}, but {str(below / name)!r} is neither a file nor a symbolic link"
                raise SojournError(message)
            yield str(below / name)


def _refuse_built(top: Path) -> None:
    for name in _BUILT:
        if (top / name).exists():
            message = f"source is {str(top)!r}, but it was built in ({name} is there): run make ARCH=um mrproper there"
            raise SojournError(message)
