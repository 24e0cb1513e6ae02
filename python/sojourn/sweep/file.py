"""The TOML file of a sweep: one experiment, what is the same in all its runs, and lists of what varies.

    experiment = "rrul"
    duration = "10s"
    repeat = 10

    [vary]
    link = ["100/100", "10/1"]
    qdisc = ["pfifo limit 1000", "fq_codel"]
    tcp.hystart = [true, false]

A key is an option of an experiment (`sojourn list`, and `qdisc`, `rate` and `link`, the rates down and
up), or a key of the scenario by its path: `lead`, `tcp.min_rto`, `flows.tcp_up_1.rtt`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from sojourn import api, bounded
from sojourn.bounds import Plain, check_plan, check_repeat
from sojourn.errors import ParamError
from sojourn.experiments import BUILT_IN, option_types
from sojourn.scenario import TRAFFIC, Scenario, Tcp

#: Runs of each cell where the file says nothing.
DEFAULT_REPEAT = 10
#: A sweep of more cells than this is taken for a slip.
MOST_CELLS = 100_000

Value = str | int | float | bool

_TYPES = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
#: Keys of the scenario that are no options. Lists of traffic are changed by the name of an element.
_PLAIN = {field.name for field in dataclasses.fields(Scenario)} - {"experiment", "tcp", *TRAFFIC}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """One combination."""

    #: What varies, as it is shown, in the order of `Sweep.keys`.
    values: tuple[str, ...]
    #: The same as the file has it.
    settings: tuple[Plain, ...]
    #: What is run, with the first seed.
    scenario: Scenario
    #: The same in full: the canonical scenario.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep."""

    #: Of its file.
    name: str
    #: What varies.
    keys: tuple[str, ...]
    #: The values of each key, as they are shown.
    vary: dict[str, list[str]]
    #: Every combination; the last key varies fastest.
    cells: tuple[SweepCell, ...]
    #: Runs of each cell.
    repeat: int


def load(path: Path, *, repeat: int | None = None, backend: str = "sim") -> Sweep:
    """Read a sweep.

    Raises `SojournError` if the file cannot be read, and `ParamError` if it is not a sweep, has an unknown key, or a
    value is refused.

    - `path`: the file. An experiment that is a file itself is looked for beside it.
    - `repeat`: runs of each cell, instead of what the file says.
    - `backend`: what is to run it.
    """
    plain = bounded.read_toml(path, "a sweep")
    try:
        return sweep_of(path, plain, repeat, backend)
    except ParamError as error:
        message = f"{path}: {error}"
        raise ParamError(message) from error


def sweep_of(path: Path, plain: dict[str, Plain], repeat: int | None, backend: str) -> Sweep:
    """Return the sweep of what a file holds; raises as `load`."""
    varied = plain.pop("vary", {})
    if not isinstance(varied, dict):
        message = f"vary is {varied!r}, but must be a table of lists"
        raise ParamError(message)
    fixed = _flat(plain)
    count = fixed.pop("repeat", DEFAULT_REPEAT) if repeat is None else repeat
    fixed.pop("repeat", None)
    check_repeat(count)
    assert isinstance(count, int)
    lists = {key: _checked_list(key, values, fixed) for key, values in _flat(varied).items()}
    if "experiment" not in fixed and "experiment" not in lists:
        message = f"experiment is not given, but must be one of {', '.join(BUILT_IN)} or the path of a TOML file"
        raise ParamError(message)
    number = math.prod(len(values) for values in lists.values())
    if number > MOST_CELLS:
        message = f"vary has {number} combinations, but must have at most {MOST_CELLS}"
        raise ParamError(message)
    check_plan(number * count)
    cells = []
    for values in product(*lists.values()):
        scenario = _scenario(path.parent, {**fixed, **dict(zip(lists, values, strict=True))}, backend)
        shown = tuple(_shown(value) for value in values)
        text = scenario.normalized(backend)
        cells.append(SweepCell(values=shown, settings=values, scenario=scenario, text=text))
    vary = {key: [_shown(value) for value in values] for key, values in lists.items()}
    return Sweep(name=path.stem, keys=tuple(lists), vary=vary, cells=tuple(cells), repeat=count)


def _flat(table: Mapping[str, Plain], prefix: str = "") -> dict[str, Plain]:
    """Return a table with the keys of inner tables joined by dots."""
    flat: dict[str, Plain] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _checked_list(key: str, values: Plain, fixed: Mapping[str, Plain]) -> Sequence[Plain]:
    if key in {"seed", "repeat"}:
        message = f"vary.{key} is given, but {key} cannot vary: repeat makes runs with one seed after the other"
        raise ParamError(message)
    if not isinstance(values, list) or not values:
        message = f"vary.{key} is {values!r}, but must be a list of at least one value"
        raise ParamError(message)
    if key in fixed:
        message = f"vary.{key} is given, but must not be together with {key}"
        raise ParamError(message)
    earlier: set[str] = set()
    for one in map(_shown, values):
        if one in earlier:
            message = f"vary.{key} holds {one!r} twice, but must hold each value once"
            raise ParamError(message)
        earlier.add(one)
    return values


def _shown(value: Plain) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scenario(folder: Path, settings: dict[str, Plain], backend: str) -> Scenario:
    experiment = _text("experiment", settings.pop("experiment"))
    if experiment not in BUILT_IN and not Path(experiment).is_absolute():
        beside = folder / experiment
        experiment = str(beside) if beside.is_file() else experiment
    options: dict[str, Any] = {}
    others: dict[str, Plain] = {}
    types = option_types()
    for key, value in settings.items():
        if key in {"qdisc", "rate", "link"}:
            options[key] = _text(key, value)
        elif key in types:
            _check_type(key, value, types[key])
            options[key] = value
        else:
            others[key] = value
    if "link" in options:
        options |= _rates(options.pop("link"), options.keys())
    scenario = api.build(experiment, backend=backend, **options)
    if others:
        plain = json.loads(scenario.to_json())
        for key, value in others.items():
            _set(plain, key, value)
        scenario = Scenario.from_json(json.dumps(plain), backend)
    return scenario


def _text(key: str, value: Plain) -> str:
    _check_type(key, value, (str,))
    return str(value)


def _check_type(key: str, value: Plain, types: tuple[type, ...]) -> None:
    if type(value) not in types:
        expected = " or ".join(words for name, words in _TYPES.items() if name in {one.__name__ for one in types})
        message = f"{key} is {value!r}, but must be {expected}"
        raise ParamError(message)


def _rates(link: str, options: Collection[str]) -> dict[str, str]:
    """Return the rates of a link such as `10/1`, down before up; a rate without a unit is in Mbit/s."""
    for key in ("rate", "up", "down"):
        if key in options:
            message = f"link is {link!r}, but must not be given together with {key}"
            raise ParamError(message)
    rates = [rate.strip() for rate in link.split("/")]
    if len(rates) != 2 or not all(rates):
        message = f"link is {link!r}, but must be two rates, down before up, such as 10/1 (Mbit/s) or 10mbit/768kbit"
        raise ParamError(message)
    down, up = (f"{rate}mbit" if rate.replace(".", "", 1).isdigit() else rate for rate in rates)
    return {"down": down, "up": up}


def _set(plain: Any, key: str, value: Plain) -> None:
    """Set one key of a scenario, by its path."""
    if isinstance(value, list) or type(value).__name__ not in _TYPES:
        message = f"{key} is {value!r}, but must be text, a number, true or false"
        raise ParamError(message)
    match key.split("."):
        case [name] if name in _PLAIN:
            plain[name] = value
        case ["tcp", name] if name in {field.name for field in dataclasses.fields(Tcp)}:
            plain.setdefault("tcp", {})[name] = value
        case [group, name, last] if group in TRAFFIC and last in {
            field.name for field in dataclasses.fields(TRAFFIC[group])
        }:
            there = [one["name"] for one in plain.get(group, [])]
            if name not in there:
                message = f"{key} names {name!r}, but must name one of {', '.join(there) or 'none: there are none'}"
                raise ParamError(message)
            plain[group][there.index(name)][last] = value
        case _:
            options = ["link", "rate", "qdisc", *option_types()]
            message = (
                f"{key} is not known: a key must be experiment, repeat, an option ({', '.join(options)}) or a key of "
                "the scenario, such as lead, tcp.min_rto or flows.NAME.rtt"
            )
            raise ParamError(message)
