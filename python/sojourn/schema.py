"""What is read from files that anyone may have written: types with bounds, and a sentence for what does not fit.

Structs of these types are decoded by msgspec, which passes over keys that it does not know. Whatever was decoded can be
shown, drawn and written again: its texts are printable and of bounded length, its numbers are finite.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, UnsetType

from sojourn import bounded
from sojourn.bounded import shown
from sojourn.errors import SojournError

if TYPE_CHECKING:
    from msgspec import inspect

T = TypeVar("T")

#: Most characters of a text that is shown; a discipline in full has a few hundred.
MOST_TEXT = 10_000
#: Largest number that is measured, in any unit; squares of such and their sums are finite.
MOST_NUMBER = 1e18
#: Largest count of anything: what a column of a frame holds.
MOST_WHOLE = 2**63 - 1

#: What steers a terminal, hides or turns text, or is no character: C0 and C1, soft hyphens, marks of direction and of
#: width zero, ends of lines and paragraphs, private use.
_HIDDEN = "\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\ue000-\uf8ff"
_HIDDEN += "\ufeff\ufff0-\ufffb\U000e0000-\U0010ffff"

Text = Annotated[
    str,
    Meta(
        pattern=rf"^[^\x00-\x1f{_HIDDEN}]*\Z",
        max_length=MOST_TEXT,
        extra={"rule": f"a text of at most {MOST_TEXT} printable characters"},
    ),
]
Words = Annotated[
    str,
    Meta(
        pattern=rf"^(?=.*\S)[^\x00-\x1f{_HIDDEN}]*\Z",
        max_length=MOST_TEXT,
        extra={"rule": f"a text of at most {MOST_TEXT} printable characters that is not blank"},
    ),
]
#: Printable characters, tabulators and ends of lines, such as a file of the kernel.
Lines = Annotated[
    str,
    Meta(
        pattern=rf"^[^\x00-\x08\x0b-\x1f{_HIDDEN}]*\Z",
        max_length=MOST_TEXT,
        extra={"rule": f"lines of printable characters, at most {MOST_TEXT} in all"},
    ),
]
#: A name as a scenario's flows and probes have it.
Name = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z", extra={"rule": "1 to 64 letters, digits, '_', '-' or '.'"}),
]
Number = Annotated[float, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER, extra={"rule": f"a number of at most {MOST_NUMBER:g}"})]
Whole = Annotated[int, Meta(ge=0, le=MOST_WHOLE, extra={"rule": f"a whole number from 0 to {MOST_WHOLE}"})]
Integer = Annotated[
    int, Meta(ge=-MOST_WHOLE, le=MOST_WHOLE, extra={"rule": f"a whole number from -{MOST_WHOLE} to {MOST_WHOLE}"})
]
Seed = Annotated[int, Meta(ge=0, extra={"rule": f"a whole number from 0 to {2**64 - 1}"})]
_DIGITS = r"^\d{1,15}(\.\d{1,15})?"
Time = Annotated[str, Meta(pattern=rf"{_DIGITS}(ns|us|ms|s)\Z", extra={"rule": "a time such as 50ms"})]
Rate = Annotated[str, Meta(pattern=rf"{_DIGITS}(bit|kbit|mbit|gbit)\Z", extra={"rule": "a rate such as 10mbit"})]


class Misfit(ValueError):
    """A value is another than it should be: a clause that names where it stands, the value and the rule."""


def decode(text: str, kind: type[T], refuse: bounded.Refuse, file_format: str | None = None) -> T:
    """Return what a JSON text holds, as a value of a type.

    Raises `Misfit` if it holds something else.

    - `refuse`: raises, with why the text cannot be read.
    - `file_format`: what its key `format` must be.
    """
    bounded.check_count(text, refuse)
    try:
        value = decoder(kind).decode(text)
    except (ValueError, RecursionError):
        # What is wrong is named by the slow way: values are at hand there.
        plain = bounded.parse_json(text, refuse)
        if isinstance(plain, dict):
            _check_format(plain.get("format"), file_format)
        value = convert(plain, kind)
    _check_format(getattr(value, "format", None), file_format)
    return value


_DECODERS = threading.Lock()


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return what decodes a type, safe in any thread.

    msgspec 0.22 describes a struct when it is first met, and another thread that meets it meanwhile reads a description
    of which half is written, and ends the process. So types are first met one at a time.
    """
    with _DECODERS:
        return _decoder(kind)  # type: ignore[arg-type]


@cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)


def _check_format(value: Any, file_format: str | None) -> None:
    if file_format is not None and value != file_format:
        message = f"format is {shown(value)}, but must be {file_format!r}"
        raise Misfit(message)


def convert(plain: Any, kind: type[T], where: str = "") -> T:
    """Return a value that was read, as one of a type; `where` it stands begins the clause of an error.

    Raises `Misfit` if it is something else.
    """
    decoder(kind)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise Misfit(_clause(str(error), plain, kind, where)) from error


def or_null(value: T | UnsetType | None) -> T | None:
    """Return a value; `None` if its key is absent."""
    return None if isinstance(value, UnsetType) else value


def required(value: T | None, key: str) -> T:
    """Return what a record may lack where it has it; raises `SojournError` if the record lacks it."""
    if value is None:
        message = f"the record of a run has no {key}"
        raise SojournError(message)
    return value


_STEP = re.compile(r"\.(?P<key>[^.\[\]`]+)|\[(?P<index>\d+)\]|\[\.\.\.\]")


def _clause(message: str, plain: Any, kind: Any, where: str) -> str:
    """Return what msgspec says of a value as a clause that names where it stands, the value and the rule."""
    from msgspec import inspect

    what, _, path = message.partition(" - at ")
    value, expected = plain, _bare(inspect.type_info(kind))
    for step in _STEP.finditer(path.replace("`key` in ", "")):
        if step["index"]:
            where += f"[{step['index']}]"
            value, expected = value[int(step["index"])], _inner(expected, value)
            continue
        key = step["key"] or _culprit(value, lambda: _fails(plain, kind, message))
        where += f".{key}" if where else key
        value, expected = value[key], _inner(expected, value, key)
    missing = re.search(r"missing required field `(.+)`", what)
    if missing is not None:
        return f"{where}{'.' if where else ''}{missing[1]} is missing"
    unknown = re.search(r"unknown field `(.+)`", what)
    if unknown is not None:
        return f"{where}{'.' if where else ''}{unknown[1]} is not known: leave it out"
    if path.startswith("`key`"):
        key = _culprit(value, lambda: _fails(plain, kind, message))
        return f"a key of {where or 'it'} is {shown(key)}, but must be {_rule(_keys(expected))}"
    return f"{where or 'it'} is {shown(value)}, but must be {_rule(expected)}"


def _culprit(table: dict[str, object], fails: Callable[[], bool]) -> str:
    """Return the first key of a table that fails, and leave nothing else in it."""
    items = list(table.items())
    while len(items) > 1:
        half = items[: len(items) // 2]
        table.clear()
        table.update(half)
        items = half if fails() else items[len(half) :]
    table.clear()
    table.update(items)
    return items[0][0]


def _fails(plain: Any, kind: Any, message: str) -> bool:
    try:
        msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _bare(kind: inspect.Type) -> inspect.Type:
    """Return a type that may be absent without saying so."""
    from msgspec import inspect

    if isinstance(kind, inspect.UnionType):
        types = tuple(one for one in kind.types if type(one).__name__ != "UnsetType")
        return types[0] if len(types) == 1 else inspect.UnionType(types)
    return kind


def _inner(kind: inspect.Type, value: Any, key: str = "") -> inspect.Type:
    """Return the type of what lies in a value of a type: under a key of an object, or in a list."""
    from msgspec import inspect

    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        one = one.type if isinstance(one, inspect.Metadata) else one
        if isinstance(value, list) and isinstance(one, inspect.ListType | inspect.VarTupleType):
            return _bare(one.item_type)
        if isinstance(value, dict) and isinstance(one, inspect.DictType):
            return _bare(one.value_type)
        if isinstance(value, dict) and isinstance(one, inspect.StructType):
            return next((_bare(field.type) for field in one.fields if field.encode_name == key), inspect.AnyType())
    return inspect.AnyType()


def _keys(kind: inspect.Type) -> inspect.Type:
    from msgspec import inspect

    types = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return next((one.key_type for one in types if isinstance(one, inspect.DictType)), inspect.AnyType())


def _rule(kind: inspect.Type) -> str:
    """Return what a value of a type must be, in words."""
    from msgspec import inspect

    match kind:
        case inspect.Metadata():
            return str((kind.extra or {}).get("rule") or _rule(kind.type))
        case inspect.UnionType():
            return " or ".join(_rule(one) for one in kind.types)
        case inspect.NoneType():
            return "null"
        case inspect.LiteralType():
            return f"one of {', '.join(map(str, kind.values))}"
        case inspect.ListType() | inspect.VarTupleType():
            least = f" of at least {kind.min_length}" if kind.min_length else ""
            return f"a list{least}" + (f" of at most {kind.max_length}" if kind.max_length else "")
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.StrType():
            return "a text"
    return "an object"
