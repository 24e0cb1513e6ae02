"""The modules that a stock kernel needs, in the order in which they are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sojourn.errors import SojournError
from sojourn.kernel.needs import ALL

#: Where Debian's package user-mode-linux puts them, in a folder for each release.
MODULES = Path("/usr/lib/uml/modules")

_COMPRESSED = (".ko.xz", ".ko.zst", ".ko.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """What a kernel can be given.

    Attributes
    ----------
    paths
        Modules, each after those that it needs.
    lacks
        What is neither a module nor built in.
    """

    paths: tuple[Path, ...]
    lacks: tuple[str, ...]


def needed(folder: Path, names: Sequence[str] = ALL) -> Modules:
    """Return the modules for `names` and those that they need.

    Parameters
    ----------
    folder
        That of a release, with `modules.dep` and `modules.builtin`.
    names
        Modules that are wanted; a kernel may have them built in.

    Raises
    ------
    SojournError
        If the lists cannot be read or are broken, a file is missing, or one is compressed.
    """
    needs = _dependencies(folder)
    by_name = {_name(path): path for path in needs}
    built_in = {_name(line.strip()) for line in _lines(folder / "modules.builtin")}
    ordered: list[str] = []
    lacks = tuple(name for name in names if name not in by_name and name not in built_in)
    for name in names:
        if name in by_name and name not in built_in:
            _add(by_name[name], needs, ordered, ())
    for path in ordered:
        if path.endswith(_COMPRESSED):
            message = f"{folder / path} is compressed, but modules are loaded as they are; sojourn kernel build"
            raise SojournError(message)
        if not (folder / path).is_file():
            message = f"{folder}/modules.dep names {path}, but there is no such file"
            raise SojournError(message)
    return Modules(paths=tuple(folder / path for path in ordered), lacks=lacks)


def _add(path: str, needs: dict[str, tuple[str, ...]], ordered: list[str], below: tuple[str, ...]) -> None:
    if path in ordered:
        return
    if path in below:
        message = f"modules.dep goes round in a circle: {' needs '.join((*below, path))}"
        raise SojournError(message)
    # What is named last must be loaded first.
    for needed_path in reversed(needs.get(path, ())):
        _add(needed_path, needs, ordered, (*below, path))
    ordered.append(path)


def _dependencies(folder: Path) -> dict[str, tuple[str, ...]]:
    needs: dict[str, tuple[str, ...]] = {}
    for line in _lines(folder / "modules.dep"):
        path, colon, rest = line.partition(":")
        if not colon:
            message = f"{folder / 'modules.dep'} has the line {line!r}, but must have `MODULE: MODULE ...`"
            raise SojournError(message)
        for one in (path, *rest.split()):
            if PurePosixPath(one).is_absolute() or ".." in PurePosixPath(one).parts:
                message = f"{folder / 'modules.dep'} names {one!r}, but must name files below its folder"
                raise SojournError(message)
        needs[path] = tuple(rest.split())
    return needs


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise SojournError(message) from error


def _name(path: str) -> str:
    return PurePosixPath(path).name.partition(".ko")[0].replace("-", "_")
