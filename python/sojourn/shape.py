"""What values of a file must look like: checks that are made of smaller ones.

A check is called with a value and with where it stands, and raises `Misfit` if the value is another than it should be.
The values have been read by `sojourn.bounded`, so they are finite, of bounded depth, and can be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

Check = Callable[[Any, str], None]

#: Most characters of a text that is shown; a discipline in full has a few hundred.
MOST_TEXT = 10_000
#: Largest number that is measured, in any unit; squares of such and their sums are finite.
MOST_NUMBER = 1e18
#: Largest count of anything: what a column of a frame holds.
MOST_WHOLE = 2**63 - 1
_NUMBER = f"a number of at most {MOST_NUMBER:g}"
#: What lines may hold besides printable characters.
_BREAKS = {ord("\n"): None, ord("\t"): None}
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Misfit(ValueError):
    """A value is another than it should be: a clause that names where it stands, the value and the rule."""


def number(value: Any, where: str) -> None:
    """Take any number."""
    if (type(value) is not float and type(value) is not int) or not -MOST_NUMBER <= value <= MOST_NUMBER:
        _misfit(value, where, _NUMBER)


def number_or_null(value: Any, where: str) -> None:
    """Take any number, or none."""
    if value is not None:
        number(value, where)


def whole(value: Any, where: str) -> None:
    """Take a count of anything: a whole number that fits into 64 bits with a sign."""
    if type(value) is not int or not 0 <= value <= MOST_WHOLE:
        _misfit(value, where, f"a whole number from 0 to {MOST_WHOLE}")


def whole_or_null(value: Any, where: str) -> None:
    """Take a count of anything, or none."""
    if value is not None:
        whole(value, where)


def integer(value: Any, where: str) -> None:
    """Take a whole number of either sign that fits into 64 bits."""
    if type(value) is not int or not -MOST_WHOLE <= value <= MOST_WHOLE:
        _misfit(value, where, f"a whole number from -{MOST_WHOLE} to {MOST_WHOLE}")


def seed(value: Any, where: str) -> None:
    """Take a seed: a whole number that fits into 64 bits without a sign."""
    if type(value) is not int or not 0 <= value < 2**64:
        _misfit(value, where, f"a whole number from 0 to {2**64 - 1}")


def flag(value: Any, where: str) -> None:
    """Take true or false."""
    if type(value) is not bool:
        _misfit(value, where, "true or false")


def flag_or_null(value: Any, where: str) -> None:
    """Take true, false, or none."""
    if value is not None:
        flag(value, where)


def text(value: Any, where: str) -> None:
    """Take a text of printable characters, which can be shown anywhere."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > MOST_TEXT:
        _misfit(value, where, f"a text of at most {MOST_TEXT} printable characters")


def lines(value: Any, where: str) -> None:
    """Take lines of printable characters and tabulators, such as a file of the kernel."""
    if not isinstance(value, str) or len(value) > MOST_TEXT or not value.translate(_BREAKS).isprintable():
        _misfit(value, where, f"lines of printable characters, at most {MOST_TEXT} in all")


def words(value: Any, where: str) -> None:
    """Take a printable text with a word in it."""
    text(value, where)
    if not value.strip():
        _misfit(value, where, "a text that is not blank")


def text_or_null(value: Any, where: str) -> None:
    """Take a text of printable characters, or none."""
    if value is not None:
        text(value, where)


def name(value: Any, where: str) -> None:
    """Take a name as a scenario's flows and probes have it."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        _misfit(value, where, "1 to 64 letters, digits, '_', '-' or '.'")


def anything(value: Any, where: str) -> None:
    """Take whatever can be read."""


def one_of(*known: Any) -> Check:
    """Return what takes one of these values."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str | int) or value not in known:
            _misfit(value, where, f"one of {', '.join(map(str, known))}")

    return check


def spelled(pattern: str, rule: str) -> Check:
    """Return what takes a text of a pattern."""
    compiled = re.compile(pattern)

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            _misfit(value, where, rule)

    return check


def list_of(inner: Check, least: int = 0, most: int = MOST_WHOLE) -> Check:
    """Return what takes a list, each of whose values is so."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) < least:
            _misfit(value, where, "a list" if least == 0 else f"a list of at least {least}")
        if len(value) > most:
            _misfit(value, where, f"a list of at most {most}")
        for place, one in enumerate(value):
            inner(one, f"{where}[{place}]")

    return check


def table_of(inner: Check, keys: Check = text) -> Check:
    """Return what takes an object with any keys, each of whose values is so."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _misfit(value, where, "an object")
        for key, one in value.items():
            keys(key, f"a key of {where}")
            inner(one, f"{where}.{key}")

    return check


def record(needed: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """Return what takes an object with these keys, and these others if it has them; further keys are passed over."""
    required = tuple(needed.items())
    optional = tuple((others or {}).items())

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _misfit(value, where, "an object")
        before = f"{where}." if where else ""
        for key, inner in required:
            if key not in value:
                message = f"{before}{key} is missing"
                raise Misfit(message)
            inner(value[key], f"{before}{key}")
        for key, inner in optional:
            if key in value:
                inner(value[key], f"{before}{key}")

    return check


def numbers(value: Any, where: str) -> None:
    """Take a list of numbers, of which some may be missing."""
    _numbers(value, where, {float, int, type(None)}, "a list of numbers or null")


def times(value: Any, where: str) -> None:
    """Take a list of numbers."""
    _numbers(value, where, {float, int}, "a list of numbers")


def counts(value: Any, where: str) -> None:
    """Take a list of whole numbers that are not negative."""
    _numbers(value, where, {int}, "a list of whole numbers of at least 0")
    if value and min(value) < 0:
        _misfit(value, where, "a list of whole numbers of at least 0")


def _numbers(value: Any, where: str, kinds: set[type], rule: str) -> None:
    if not isinstance(value, list) or set(map(type, value)) - kinds:
        _misfit(value, where, rule)
    there = [one for one in value if one is not None]
    if there and not -MOST_NUMBER <= min(there) <= max(there) <= MOST_NUMBER:
        _misfit(value, where, f"{rule}, of which none is above {MOST_NUMBER:g}")


def _misfit(value: Any, where: str, rule: str) -> NoReturn:
    message = f"{where or 'it'} is {shown(value)}, but must be {rule}"
    raise Misfit(message)


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
