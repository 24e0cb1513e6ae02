"""The distribution's package of the kernel's source: found, read, and unpacked as if it were hostile.

What is unpacked stays below one folder. That protects this machine from a damaged or made-up archive, not from a
source that is meant ill: a build runs the makefiles that are in it.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn

from sojourn import bounded
from sojourn.bounded import shown
from sojourn.errors import SojournError, refused
from sojourn.kernel.cache import version_key
from sojourn.progress import progress_bar

#: Where Debian and Ubuntu put the packages `linux-source-*`.
SOURCES = Path("/usr/src")

#: The largest source that is unpacked, bytes; Linux 6.12 has 1.5e9.
MOST_BYTES = 4_000_000_000
#: The most entries that are unpacked; Linux 6.12 has 92,000.
MOST_ENTRIES = 1_000_000
#: The longest header that an entry may have: names and attributes. A path has at most 4,096 bytes.
MOST_HEADER = 1 << 16
#: How deep folders may lie in one another; Linux 6.12 has 12.
MOST_DEPTH = 64
#: The end of the times that a file may have, seconds since 1970: what every file system holds.
_TIME_END = 2**33
#: Most bytes of a file that is read whole, such as a Makefile.
MOST_FILE = 16 << 20

_PACKAGE = re.compile(r"linux-source-(\d+(?:\.\d+)+)\.tar\.(?:xz|bz2|gz)")
_COMPRESSIONS = ((b"\xfd7zXZ\0", "lzma"), (b"BZh", "bz2"), (b"\x1f\x8b", "gzip"))
_MIB = 1 << 20

#: Folders of drivers and of other architectures, of which a kernel of User-Mode Linux compiles nothing: 7 of 10 bytes.
#: What configures them (`Kconfig`, `Makefile`) is unpacked, since the files that are compiled are found through it.
UNNEEDED = tuple(
    tuple(folder.split("/"))
    for folder in (
        *("Documentation", "LICENSES", "samples", "sound", "tools/perf", "tools/testing"),
        *("drivers/accel", "drivers/gpu", "drivers/iio", "drivers/infiniband", "drivers/media", "drivers/mtd"),
        *("drivers/net/ethernet", "drivers/net/wireless", "drivers/pinctrl", "drivers/scsi", "drivers/staging"),
    )
)
#: The architectures that it does compile parts of.
ARCHITECTURES = ("um", "x86")
_CONFIGURES = re.compile(r"(Kconfig|Makefile|Kbuild)\b.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A source that was unpacked.

    Attributes
    ----------
    folder
        Its top.
    version
        From its Makefile, such as 6.1.192.
    """

    folder: Path
    version: str


def packages(folder: Path = SOURCES) -> tuple[Path, ...]:
    """Return the tarballs of the packages `linux-source-*`, the newest version first."""
    named = [(match[1], path) for path in folder.glob("linux-source-*") if (match := _PACKAGE.fullmatch(path.name))]
    named.sort(key=lambda one: (version_key(one[0]), one[1].name), reverse=True)
    return tuple(path for _, path in named if path.is_file())


def choose(path: Path | None = None, folder: Path = SOURCES, series: str | None = None) -> Path:
    """Return the tarball or the folder to build from.

    Parameters
    ----------
    path
        The one that a user named; `None` for the newest package.
    folder
        Where packages are looked for.
    series
        Only a package of this version, such as 6.12; `None` for any.

    Raises
    ------
    ParamError
        If the one that was named is neither a file nor a folder.
    SojournError
        If there is no package.
    """
    if path is not None:
        if not path.is_file() and not path.is_dir():
            raise refused(str(path), "source", "must be the tarball or the folder of a kernel's source")
        return path
    found = packages(folder)
    package = "linux-source" if series is None else f"linux-source-{series}"
    if series is not None:
        found = tuple(path for path in found if path.name.startswith(f"{package}."))
    if not found:
        message = (
            f"the kernel's source is missing: there is no {folder}/{'linux-source-*' if series is None else package}"
            f".tar.xz; apt-get install {package} (or name a tarball or a folder with --source)"
        )
        raise SojournError(message)
    return found[0]


def unpack(
    tarball: Path,
    target: Path,
    describe: str | None = "unpack",
    check: Callable[[Path, PurePosixPath], None] = lambda _top, _file: None,
) -> Tree:
    """Unpack a tarball into the new folder `target`, and read which version it is.

    Accepted are regular files, folders and symbolic links, all below one top folder. Links are made last, so that
    no file is ever written through one, and each must lead to a place below the top.

    Parameters
    ----------
    tarball
        A tar archive, compressed by xz, bzip2 or gzip, or plain.
    target
        A folder that does not exist yet, for what is in the archive.
    describe
        Word before the progress bar; `None` shows none.
    check
        Called with the top and each file below it when it is there: raises `SojournError` to end all.

    Raises
    ------
    SojournError
        If the archive is damaged, holds what is not accepted, or is not the source of a kernel.
    """
    target.mkdir()
    links: list[tuple[PurePosixPath, str]] = []
    try:
        with tarball.open("rb") as file:
            total = -(-os.fstat(file.fileno()).st_size // _MIB)
            with progress_bar(total, describe, unit="MiB") as tick, _opened(file, tick) as archive:
                top = _unpack_all(archive, target, links, check)
        _make_links(target, links)
    except RecursionError as error:
        message = f"{tarball} is not unpacked: an entry has too many headers"
        raise SojournError(message) from error
    except (tarfile.TarError, UnicodeError, ValueError) as error:
        message = f"{tarball} is not a tar archive that can be read: {error}"
        raise SojournError(message) from error
    except _damage() as error:
        message = f"{tarball} is damaged: {error}"
        raise SojournError(message) from error
    except _RefusedError as error:
        message = f"{tarball} is not unpacked: {error}"
        raise SojournError(message) from error
    except OSError as error:
        message = f"{tarball} cannot be unpacked: {error.strerror or error}"
        raise SojournError(message) from error
    if top is None:
        message = f"{tarball} is not the source of a kernel: it is empty"
        raise SojournError(message)
    return Tree(folder=target / top, version=version(tarball, target / top))


class _RefusedError(Exception):
    """Something in the archive that is not unpacked."""


class _Header(tarfile.TarInfo):
    """A header whose length is bounded before what it announces is read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        """Read it."""
        found = super().frombuf(buf, encoding, errors)
        if found.type in _LONG_HEADERS and not 0 <= found.size <= MOST_HEADER:
            message = f"a header of {found.size} bytes is in it, but each must have at most {MOST_HEADER}"
            raise _RefusedError(message)
        if found.type == tarfile.GNUTYPE_SPARSE:
            cls._proc_gnusparse_10()
        return found

    @staticmethod
    def _proc_gnusparse_10(*_: object) -> NoReturn:
        """Refuse a file with holes, whose list of holes tarfile would read as long as the file says that it is."""
        message = "a file with holes (sparse) is in it, which no source of a kernel has"
        raise _RefusedError(message)


_LONG_HEADERS = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


class _Counting(io.RawIOBase):
    """A file that tells when another MiB of it was read."""

    def __init__(self, file: IO[bytes], tick: Callable[[], None]) -> None:
        self.file, self.tick = file, tick
        self.bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """Read, and count."""
        data = self.file.read(size)
        before, self.bytes = self.bytes, self.bytes + len(data)
        for _ in range(-(-self.bytes // _MIB) - -(-before // _MIB)):
            self.tick()
        return data


@contextmanager
def _opened(file: IO[bytes], tick: Callable[[], None]) -> Iterator[tarfile.TarFile]:
    """Open an archive as a stream: it is read once, from front to back.

    The bytes are unpacked here and not by tarfile, which copies all that it holds for each entry.
    """
    begin = file.read(6)
    file.seek(0)
    for magic, module in _COMPRESSIONS:
        if begin.startswith(magic):
            try:
                plain = importlib.import_module(module).open(_Counting(file, tick))
            except ImportError as error:
                message = f"this Python lacks its module {module}, which unpacks it; install Python with it"
                raise _RefusedError(message) from error
            break
    else:
        plain = _Counting(file, tick)
    with plain, tarfile.open(fileobj=plain, mode="r|", bufsize=_MIB, tarinfo=_Header) as archive:
        yield archive


def _damage() -> tuple[type[Exception], ...]:
    """Return what the modules raise that unpack bytes, beside OSError."""
    try:
        from lzma import LZMAError
    except ImportError:
        return (zlib.error, EOFError)
    return (LZMAError, zlib.error, EOFError)


def _unpack_all(
    archive: tarfile.TarFile,
    target: Path,
    links: list[tuple[PurePosixPath, str]],
    check: Callable[[Path, PurePosixPath], None],
) -> str | None:
    top: str | None = None
    entries, size = 0, 0
    for member in archive:
        path = _place(member.name)
        entries += 1
        size += max(0, member.size)
        if entries > MOST_ENTRIES or size > MOST_BYTES:
            message = f"it has more than {MOST_ENTRIES:,} entries or {MOST_BYTES / 1e9:g} GB"
            raise _RefusedError(message)
        if path is None:
            continue
        if top is None:
            top = path.parts[0]
        elif path.parts[0] != top:
            message = f"it has {shown(path.parts[0])} beside {shown(top)}, but all must be in one folder"
            raise _RefusedError(message)
        place = target / path
        if not _is_needed(path):
            continue
        if member.isdir():
            place.mkdir(parents=True, exist_ok=True)
        elif member.isreg():
            _write(archive, member, place)
            check(target / top, path.relative_to(top))
        elif member.issym():
            links.append((path, member.linkname))
        else:
            message = f"{shown(member.name)} is neither a file, a folder nor a symbolic link"
            raise _RefusedError(message)
    return top


def _place(name: str) -> PurePosixPath | None:
    """Return where an entry goes, or `None` for the archive's own folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        message = f"{shown(name)} leads out of the folder"
        raise _RefusedError(message)
    if len(path.parts) > MOST_DEPTH:
        message = f"{shown(name)} lies {len(path.parts)} deep, but must lie at most {MOST_DEPTH} deep"
        raise _RefusedError(message)
    return path if path.parts else None


def _is_needed(path: PurePosixPath) -> bool:
    """Return whether a build needs what is at a path below the archive's one folder."""
    folders = path.parts[1:-1]
    if _CONFIGURES.fullmatch(path.name):
        return True
    if folders[:1] == ("arch",) and len(folders) > 1:
        return folders[1] in ARCHITECTURES
    return not any(folders[: len(unneeded)] == unneeded for unneeded in UNNEEDED)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    data = archive.extractfile(member)
    assert data is not None, "a regular file has data"
    if not 0 <= member.mtime < _TIME_END:
        message = f"{shown(member.name)} is of {member.mtime:g} s after 1970, but must be from 0 to {_TIME_END}"
        raise _RefusedError(message)
    mode = 0o755 if member.mode & 0o100 else 0o644
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    except FileExistsError:
        message = f"{shown(member.name)} is in it twice"
        raise _RefusedError(message) from None
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(data, file, _MIB)
    # make compares times: generated files of a package must not look older than what they are made from.
    os.utime(place, (member.mtime, member.mtime))


def _make_links(target: Path, links: Sequence[tuple[PurePosixPath, str]]) -> None:
    names = {path for path, _ in links}
    for path, leads_to in links:
        if not names.isdisjoint(path.parents):
            message = f"{shown(str(path))} lies below a symbolic link"
            raise _RefusedError(message)
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.symlink_to(leads_to)
        except FileExistsError:
            message = f"{shown(str(path))} is in it twice"
            raise _RefusedError(message) from None
    # Judged when all are there: a link may lead through another one.
    for path, leads_to in links:
        if len(path.parts) == 1 or bounded.leads_out(target / path, target / path.parts[0]):
            message = f"the symbolic link {shown(str(path))} leads out of the folder, to {shown(leads_to)}"
            raise _RefusedError(message)


def version(named: Path, folder: Path) -> str:
    """Return the version of the source in a folder, by its Makefile.

    Parameters
    ----------
    named
        What the source is called in an error.
    folder
        Its top.

    Raises
    ------
    SojournError
        If it is not the source of a kernel.
    """
    begin = ""
    with suppress(SojournError):
        begin = bounded.read_bytes(folder / "Makefile", MOST_FILE)[:4096].decode(errors="replace")
    found = {
        name: match[1]
        for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
        if (match := re.search(rf"^{name}\s*=\s*(\d{{1,4}})\s*$", begin, re.MULTILINE))
    }
    if len(found) < 3 or not (folder / "arch" / "um" / "Kconfig").is_file():
        message = (
            f"{named} is not the source of a kernel: there must be a Makefile with VERSION, PATCHLEVEL and SUBLEVEL, "
            "and arch/um"
        )
        raise SojournError(message)
    return ".".join(found[name] for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
