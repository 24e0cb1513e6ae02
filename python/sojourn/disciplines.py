"""What the compiled part knows of the queue disciplines, as Python needs it: names, defaults, and values of a text."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from sojourn import _native


class Parameter(Struct, frozen=True):
    """A parameter of a kind, as `tc` spells it."""

    default: str | None
    help: str
    name: str
    unit: str


class Kind(Struct, frozen=True):
    """A kind of discipline."""

    kind: str
    parameters: list[Parameter]
    source: str
    summary: str


#: Every kind, with its parameters.
MODELLED = {one.kind: one for one in msgspec.json.decode(_native.list_qdiscs(), type=list[Kind])}

_VALUE = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<unit>us|ms|s)?")
_TO_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_ANY_RATE = 1_000_000


def number(text: str) -> float | None:
    """Return a number, of a time in ms; `None` of what is none."""
    match = _VALUE.fullmatch(text)
    return None if match is None else float(match["number"]) * _TO_MS[match["unit"] or "ms"]


def defaults(kind: str) -> dict[str, float]:
    """Return the numbers that hold where a modelled kind's text says nothing, times in ms; none of another kind."""
    parameters = MODELLED[kind].parameters if kind in MODELLED else []
    found = {one.name: number(one.default or "") for one in parameters}
    return {name: value for name, value in found.items() if value is not None}


def times_of_preset(name: str) -> dict[str, float]:
    """Return the times that a preset says, in ms."""
    words = _native.expand_qdisc(name, _ANY_RATE).split()
    pairs = zip(words, words[1:], strict=False)
    return {name: number(value) or 0.0 for name, value in pairs if value.endswith("s") and number(value) is not None}
