"""Files: each is whole or not there, forced to the disk, and takes the place of a regular file only.

A file is written beside its place under another name and then moved onto it, so that neither Ctrl-C nor a full disk
leaves half a file. Before it is moved its bytes are forced to the disk, and after it its folder is: a power cut leaves
the old file or the new one. `SOJOURN_NO_SYNC` (the option `--no-sync`) leaves the forcing out.

A worker process loads this module, and little beside it, at its start: so no pathlib in what it calls.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from sojourn.errors import ParamError, SojournError, os_errors_as

#: An environment variable, which worker processes inherit: set and not empty, nothing is forced to the disk.
NO_SYNC = "SOJOURN_NO_SYNC"


def syncs() -> bool:
    """Return whether what is written is forced to the disk."""
    return not os.environ.get(NO_SYNC)


def sync(path: str | os.PathLike[str]) -> None:
    """Force a file's bytes, or the names in a folder, to the disk; raises `OSError` if that cannot be done."""
    if not syncs():
        return
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those on the way to it, and force their names to the disk; one that is there is left alone.

    Raises `OSError` if it cannot be made, or something else than a folder is there.
    """
    place = path = os.path.normpath(path)
    missing = []
    while place and not _is_there(place):
        missing.append(place)
        place = os.path.dirname(place)  # noqa: PTH120
    if not missing and not os.path.isdir(path):  # noqa: PTH112
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder)  # noqa: PTH102
        except FileExistsError:
            if not os.path.isdir(folder):  # noqa: PTH112
                raise
        sync(os.path.dirname(folder) or ".")  # noqa: PTH120


def _is_there(path: str) -> bool:
    """Return whether something has this name; raises `OSError` if nothing can have it, as one that is too long."""
    try:
        os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return False
    return True


def write_new(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that is not there yet, and force its bytes to the disk; three system calls beside that.

    Raises `OSError` if it cannot be written, or is there.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        written = os.write(file, data)
        while written < len(data):
            written += os.write(file, data[written:])
        if syncs():
            os.fsync(file)
    finally:
        os.close(file)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return what is at a path, in words, if it is no regular file; `None` if it is one, or nothing is there."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe with a name",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode))


def check_target(path: Path, option: str, *, force: bool) -> None:
    """Check that a file may be written where an option says.

    Raises `ParamError` if something else than a regular file is there, or a regular file without `force`.

    - `option`: what the sentence begins with, such as `pcap`.
    - `force`: whether a regular file that is there may be replaced.
    """
    kind = kind_of(path)
    if kind is not None:
        message = f"{option} is {str(path)!r}, which is {kind}, but must be a regular file or not be there yet"
        raise ParamError(message)
    if os.path.lexists(path) and not force:
        message = f"{option} is {str(path)!r}, which is there already: name another file, or give --force"
        raise ParamError(message)


def write_file(target: Path, data: str | bytes) -> None:
    """Write one file, whole, over a regular file that may be there; folders on the way are made.

    Raises `SojournError` if it cannot be written, or something else than a regular file is there.
    """
    kind = kind_of(target)
    if kind is not None:
        message = f"{target} cannot be written: it is {kind}"
        raise SojournError(message)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    with os_errors_as(f"{target} cannot be written"):
        make_folder(target.parent)
        try:
            # Of an earlier process with this number.
            with suppress(FileNotFoundError):
                partial.unlink()
            write_new(partial, data.encode() if isinstance(data, str) else data)
            partial.replace(target)
            sync(target.parent)
        finally:
            partial.unlink(missing_ok=True)
