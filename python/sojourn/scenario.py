"""A scenario: everything that is needed to do a run again, as frozen values.

The fields are those of the scenario that the compiled part reads, so each carries its unit in its text, in the
spelling of `tc`: `"10mbit"`, `"50ms"`, `"3028b"`. Nothing is checked here: the compiled part is the one
validator, and `Scenario.normalized` or a run raises `ParamError` with one sentence.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from sojourn import _native, bounded, scenario_keys
from sojourn.bounds import check_integers
from sojourn.errors import ParamError
from sojourn.scenario_keys import *  # noqa: F403 -- the generated classes are this module's, too

__all__ = ["Scenario"]
__all__ += scenario_keys.__all__

#: The measured window where none is given.
DEFAULT_DURATION = "60s"


def _stated(value: Any) -> Any:
    """Return a value of a scenario as JSON has it, without the fields that were not given: `None` is the default."""
    if isinstance(value, tuple):
        return [_stated(one) for one in value]
    if not dataclasses.is_dataclass(value):
        return value
    items = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {name: _stated(item) for name, item in items.items() if item is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(scenario_keys.Keys):
    """One run, in full. `None` leaves the default of the compiled part; `normalized` writes every default out."""

    def to_json(self) -> str:
        """Return the scenario as one line of JSON with sorted keys, defaults left out.

        Raises
        ------
        ParamError
            If a value has no place in JSON, such as a number of thousands of digits.
        """
        return _json(_stated(self), sort_keys=True, separators=(",", ":"))

    def normalized(self, backend: str = "sim") -> str:
        """Return the canonical JSON: every default written out, keys sorted.

        Parameters
        ----------
        backend
            What is to run it: `"sim"`; `"linux"`, which has disciplines of its own and no variants; or `"live"`.

        Raises
        ------
        ParamError
            If a value is refused, or the back end cannot do what is asked.
        """
        return _native.normalize(self.to_json(), backend)

    @classmethod
    def from_json(cls, text: str, backend: str = "sim") -> Self:
        """Read a scenario from JSON, canonical or not; it must be one that `backend` can run.

        Raises
        ------
        ParamError
            If the text is not a scenario, has an unknown key, or a value is refused.
        """
        _native.normalize(text, backend)
        found = _thing(cls, json.loads(text))
        assert isinstance(found, cls)
        return found

    @classmethod
    def from_toml(cls, path: Path, backend: str = "sim") -> Self:
        """Read a scenario that `backend` can run from a TOML file with the keys of the JSON.

        The experiment's name defaults to the file's, and the duration to 60 s.

        Raises
        ------
        SojournError
            If the file cannot be read.
        ParamError
            If it is not TOML, has an unknown key, or a value is refused.
        """
        plain = bounded.read_toml(path, "an experiment file")
        plain = {"experiment": path.stem, "duration": DEFAULT_DURATION, **plain}
        try:
            return cls.from_json(_json(plain, default=str), backend)
        except ParamError as error:
            message = f"{path}: {error}"
            raise ParamError(message) from error


def _thing(hint: Any, value: Any) -> Any:
    """Return what a plain value stands for where a type is hinted: an object of the scenario, a tuple, or itself."""
    of = [one for one in get_args(hint) or (hint,) if one is not type(None)]
    if isinstance(value, dict):
        kinds = [one for one in of if isinstance(one, type)]
        kind = next(one for one in kinds if dataclasses.is_dataclass(one) or issubclass(one, dict))
        if not dataclasses.is_dataclass(kind):
            return kind(value)
        hints = _hints(kind)
        fields = {key: _thing(hints[key], part) for key, part in value.items()}
        # A flow of UDP, or of somebody else's transport, has no kind.
        other = fields.get("protocol") == "udp" or "stack" in fields
        return kind(**({"kind": None, **fields} if other else fields))
    if isinstance(value, list):
        inner = next((get_args(one)[0] for one in (hint, *of) if get_origin(one) is tuple), None)
        return tuple(_thing(inner, part) for part in value)
    return value


_hints = functools.cache(get_type_hints)


def _json(plain: Any, **keywords: Any) -> str:
    """Return plain values as JSON."""
    check_integers(plain)
    try:
        return json.dumps(plain, **keywords)
    except TypeError as error:
        message = f"the scenario has a value that is no text, number, list or table: {error}"
        raise ParamError(message) from error
