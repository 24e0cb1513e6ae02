"""Made-up records, and runs of them: to read a key that a test has not made up is an `AttributeError`."""

from __future__ import annotations

import json
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from sojourn.record import Record
from sojourn.store.run import Run

#: What JSON holds, where a test looks into it by the names of its keys.
Json = dict[str, Any]
S = TypeVar("S", bound=Struct)


def record(seed: int = 1, **parts: Any) -> Json:
    """Return a record with what every record has, empty, and these parts."""
    head = {"format": "sojourn-run/1", "experiment": "made up", "backend": "sim", "seed": seed, "scenario": {}}
    nothing = {"flows": [], "probes": [], "web": [], "series": {"t_s": [], "rtt": {}}, "cost": {"sim_s": 60.0}}
    return {**head, **nothing, **parts}


def flow(name: str, direction: str, goodput: float, **more: Any) -> Json:
    """Return a flow of a record, with its goodput (Mbit/s)."""
    return {"name": name, "direction": direction, "goodput_mbit": goodput, **more}


def run_of(body: Json) -> Run:
    """Return the run of a record of which so much is there."""
    run = Run(text=json.dumps(body))
    run.__dict__["_record"] = record_of(body)
    return run


def record_of(body: Json) -> Record:
    """Return a record of which so much is there."""
    return struct_of(Record, body)


def struct_of(kind: type[S], body: Json) -> S:
    """Return a part of a record of which so much is there."""
    made: S = _value(kind, body)
    return made


def _value(kind: Any, plain: Any) -> Any:
    if kind is Any:
        return plain
    if get_origin(kind) in {Union, UnionType}:
        kind = next((one for one in get_args(kind) if get_origin(one) or issubclass(one, Struct)), kind)
    if kind is Any:
        return plain
    if isinstance(plain, list):
        return [_value(get_args(kind)[0], one) for one in plain]
    if isinstance(plain, dict) and get_origin(kind) is dict:
        return {key: _value(get_args(kind)[1], one) for key, one in plain.items()}
    return _struct(kind, plain) if isinstance(plain, dict) else plain


def _struct(kind: type[Struct], plain: Json) -> Any:
    kinds, known = _fields(kind)
    found = kind(**{name: _value(kinds[name], plain[name]) if name in plain else known[name] for name in known})
    for name in known.keys() - plain.keys():
        if known[name] is NODEFAULT:
            kind.__dict__[name].__delete__(found)
    return found


@cache
def _fields(kind: type[Struct]) -> tuple[Json, Json]:
    return get_type_hints(kind), {field.name: field.default for field in fields(kind)}
