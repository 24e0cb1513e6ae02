"""Reading what may come from anyone: a file may be of any size, of any kind and hold anything.

Whatever is read is bounded before memory or time is spent on it: bytes of a file and of what is packed in it, depth and
number of the values of a text, digits of a number. What is refused is refused in one sentence, which names the file
and what is wrong with it. What the values mean is for the reader to check (`sojourn.schema`).
"""

from __future__ import annotations

import bz2
import errno
import gc
import gzip
import json
import math
import os
import re
import resource
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Never, NoReturn

from sojourn.bounds import Plain, check_integers, loads_toml
from sojourn.errors import ParamError, SojournError

#: Most bytes of a text, unless its reader says otherwise: the record of a run with its series is the largest.
MOST_TEXT = 256 << 20
#: Most bytes of a TOML file: a scenario of many thousand flows has less.
MOST_TOML = 1 << 20
#: Most values of a JSON text. Each takes up to a hundred bytes of memory.
MOST_VALUES = 20_000_000
#: Most characters of one text in JSON: a scenario of ten thousand flows has a few millions.
MOST_CHARACTERS = 16 << 20
#: How deep values may lie in one another; ours lie less than ten deep.
MOST_DEPTH = 64
#: Numbers that count must be below this.
_WHOLE_END = 2**64
#: Share of the free memory that one file may fill.
_SHARE = 0.5

#: Says that a file is refused, and why.
Refuse = Callable[[str], Never]


def read_bytes(path: str | Path, most: int = MOST_TEXT) -> bytes:
    """Return what a file holds.

    Raises `SojournError` if it cannot be read, is no regular file, or is larger than `most` bytes.
    """
    refuse = cannot(path)
    try:
        # Without O_NONBLOCK a pipe without a writer would hold us up.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:  # noqa: PTH123
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                refuse(os.strerror(21) if stat.S_ISDIR(found.st_mode) else "it is no regular file")
            if found.st_size > most:
                refuse(f"it has {found.st_size} bytes, but must have at most {most}")
            data = file.read(most + 1)
    except OSError as error:
        refuse(error.strerror or str(error))
    except ValueError as error:  # a name with a zero byte
        refuse(str(error))
    except MemoryError:
        refuse("there is not enough memory for it")
    if len(data) > most:
        refuse(f"it has more than {most} bytes")
    return data


def check_stream(path: Path) -> None:
    """Raise `SojournError` if a file that is read piece by piece is a pipe with a name, or no file at all.

    A pipe of the shell (`<(zcat ...)`) is fine; one with a name would hold us up until someone writes into it.
    """
    try:
        found = path.resolve()
        named = found.is_fifo() or found.is_socket()
    except (OSError, RuntimeError, ValueError) as error:
        cannot(path)(getattr(error, "strerror", None) or str(error))
    if named:
        cannot(path)("it is a pipe with a name, and no regular file")


def leads_out(path: Path, folder: Path) -> bool:
    """Tell whether a path that a foreign file names, or a symbolic link on it, leads out of a folder."""
    try:
        os.stat(path)  # noqa: PTH116
    except OSError as error:
        # More links, one after the other, than the system follows; to follow them here takes a call for each.
        if error.errno == errno.ELOOP:
            return True
    except ValueError:
        return True
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_inside(path: Path, folder: Path) -> None:
    """Raise `SojournError` if a path leads out of a folder."""
    if leads_out(path, folder):
        cannot(path)(f"it leads out of {folder}, the folder that was opened")


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a file; raises `SojournError` as `read_bytes`, and if it is not UTF-8."""
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError:
        cannot(path)("it is not text in UTF-8")


def read_json(path: Path, most: int = MOST_TEXT, *, missing: bool = False) -> Any:
    """Return what a JSON file holds.

    Raises `SojournError` as `read_text`, and if it is not JSON, or holds more, deeper or larger values than are taken.

    - `most`: its most bytes.
    - `missing`: whether `NaN` and `Infinity`, which JSON has not, stand for a value that is not there.
    """
    return parse_json(read_text(path, most), cannot(path), missing=missing)


def parse_json(text: str | bytes, refuse: Refuse, *, missing: bool = False, checked: bool = True) -> Any:
    """Return what a JSON text holds.

    - `refuse`: raises, with what is wrong.
    - `missing`: as `read_json`.
    - `checked`: whether `check_values` is done here; else it is for the caller to do, who can name the field.
    """

    def constant(name: str) -> None:
        if not missing:
            refuse(f"it holds {name}, which is no number of JSON")

    with _no_collections():
        return _parse(text, refuse, constant, checked=checked)


def _parse(text: str | bytes, refuse: Refuse, constant: Callable[[str], None], *, checked: bool) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        check_count(text, refuse)
        found = json.loads(text, parse_constant=constant)
    except RecursionError:
        refuse(_DEEP)
    except json.JSONDecodeError as error:
        refuse(f"it is not JSON ({_first_small(str(error))})")
    except UnicodeDecodeError:
        refuse("it is not JSON (it is not text)")
    except ValueError:
        # The interpreter's own bound, a few thousand digits: to read more takes the square of their number.
        refuse("it is not JSON that can be read: it holds a number of too many digits")
    except MemoryError:
        refuse("there is not enough memory for it")
    if checked:
        check_values(found, refuse)
    elif depth(found) > MOST_DEPTH:
        refuse(_DEEP)
    return found


def check_count(text: str, refuse: Refuse) -> None:
    """Refuse a JSON text of more values than are taken."""
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        refuse(f"it holds more than {MOST_VALUES} values")


_DEEP = f"it is nested more than {MOST_DEPTH} deep"


@contextmanager
def _no_collections() -> Iterator[None]:
    """Keep the collector away: it would look again and again at values of which none is garbage, for twice the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def check_values(found: Any, refuse: Refuse, longest: int = MOST_CHARACTERS) -> None:
    """Refuse values that lie too deep, or cannot be written again: numbers without end, halves of characters.

    A text has at most `longest` characters.
    """
    level: list[Any] = [[found]]
    deep = -1
    while level:
        deep += 1
        if deep > MOST_DEPTH:
            refuse(_DEEP)
        inner: list[Any] = []
        for group in level:
            values = group
            if isinstance(group, dict):
                _check_texts(list(group), refuse, longest)
                values = list(group.values())
            kinds = set(map(type, values))
            if kinds & {dict, list}:
                inner += [value for value in values if isinstance(value, dict | list)]
            if float in kinds and not all(math.isfinite(value) for value in values if type(value) is float):
                refuse("it holds a number that is too large")
            if int in kinds and any(abs(value) >= _WHOLE_END for value in values if type(value) is int):
                refuse("it holds a number that is too large")
            if str in kinds:
                _check_texts([value for value in values if type(value) is str], refuse, longest)
        level = inner


def _check_texts(texts: list[str], refuse: Refuse, longest: int) -> None:
    characters = max(map(len, texts), default=0)
    if characters > longest:
        refuse(f"it holds a text of {characters} characters, but each must have at most {longest}")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        refuse("it holds half a character")


def read_toml(path: Path, what: str) -> dict[str, Plain]:
    """Return what a TOML file holds; `what` it is goes into the message if it is none.

    Numbers may be without end: the validator names their field. Raises `SojournError` if the file cannot be read, and
    `ParamError` if it is not TOML, or is nested too deeply.
    """

    def refuse(why: str) -> NoReturn:
        message = f"{path} {why}"
        raise ParamError(message)

    try:
        text = read_bytes(path, MOST_TOML).decode()
        found = tomllib.loads(text)
    except UnicodeDecodeError:
        refuse(f"is not text in UTF-8, but {what} must be TOML")
    except tomllib.TOMLDecodeError as error:
        refuse(f"is not TOML: {_first_small(str(error))}")
    except RecursionError:
        refuse(f"is nested more than {MOST_DEPTH} deep")
    except ValueError:
        try:
            check_integers(loads_toml(text))
        except ParamError as error:  # whose class is a ValueError, too
            refuse(f"holds a number of too many digits: {error}")
        except (ValueError, RecursionError):
            pass
        refuse("holds a number of too many digits, or a date that there is not")
    if depth(found) > MOST_DEPTH:
        refuse(f"is nested more than {MOST_DEPTH} deep")
    return found


def depth(found: Any) -> int:
    """Return how deep values lie, up to one more than is taken."""
    deep = 0
    level: list[Any] = [[found]]
    while level and deep <= MOST_DEPTH:
        inner: list[Any] = []
        for group in level:
            values = group.values() if isinstance(group, dict) else group
            if values:
                inner += [value for value in values if isinstance(value, dict | list)]
        level = inner
        deep += 1
    return deep


def shown(value: Any) -> str:
    """Return a value in a few words, for messages."""
    match value:
        case dict():
            return "an object"
        case list():
            return f"a list of {len(value)}"
        case None:
            return "null"
        case bool():
            return str(value).lower()
    plain = repr(value)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."


def unpack_zlib(data: bytes, most: int) -> bytes | None:
    """Return what a whole zlib stream holds; `None` if it is damaged or holds more than `most` bytes."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, most + 1)
    except (zlib.error, MemoryError):
        return None
    whole = stream.eof and not stream.unused_data and len(found) <= most
    return found if whole else None


def unpack(data: bytes, most: int, refuse: Refuse) -> bytes:
    """Return what a file holds that is packed with gzip, with bzip2, or not at all; `refuse` raises."""
    file = BytesIO(data)
    read_some = file.read
    if data.startswith(b"\x1f\x8b"):
        read_some = gzip.GzipFile(fileobj=file).read
    elif data.startswith(b"BZh"):
        read_some = bz2.BZ2File(file).read
    content = BytesIO()
    try:
        while content.tell() <= most and (piece := read_some(1 << 20)):
            content.write(piece)
    except (EOFError, zlib.error, OSError) as error:
        refuse(f"it cannot be unpacked ({error})")
    except MemoryError:
        refuse("there is not enough memory for it")
    if content.tell() > most:
        refuse(f"it is larger than {most >> 20} MiB when unpacked")
    return content.getvalue()


def check_memory(path: Path, need: int) -> None:
    """Raise `SojournError` if a file that needs so many bytes of memory would take more than half of what is free."""
    free = free_memory()
    if need > free * _SHARE:
        cannot(path)(
            f"that takes {need / 1e6:.0f} MB of memory, more than half of the {free / 1e6:.0f} MB that are free"
        )


def free_memory() -> float:
    """Return the bytes of memory that this process may still take."""
    free = math.inf
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            match = re.search(r"^MemAvailable:\s*(\d+) kB$", file.read(), re.MULTILINE)
        if match is not None:
            free = int(match[1]) * 1024.0
    except OSError:
        pass
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return free if soft == resource.RLIM_INFINITY else min(free, float(soft))


def cannot(path: str | Path) -> Refuse:
    """Return what raises `SojournError`: a file cannot be read, and why."""

    def refuse(why: str) -> NoReturn:
        message = f"{path} cannot be read: {why}"
        raise SojournError(message)

    return refuse


def _first_small(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
