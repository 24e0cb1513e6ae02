"""How much may be asked for at once: the numbers of runs, trials and workers, and what is said to who asks for more.

What one run may need is bounded in Rust (`crates/sojourn-scenario/src/limits.rs`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.errors import ParamError

#: What JSON and TOML hold.
Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]
#: Runs of one plan. The summaries of so many take a few GB of memory, and their folders the better part of a disk.
MOST_RUNS = 1_000_000
#: Runs of a plan whose records stay in memory because no store takes them: most of them have 0.1 to 1 MB.
MOST_UNSTORED = 10_000
#: Settings that a search tries. What proposes the next takes time for each that there was.
MOST_TRIALS = 10_000
#: Processes. Each takes some 40 MB, and beyond the number of cores they only wait for each other.
MOST_WORKERS = 256
#: The longest whole number that is shown digit by digit.
DIGITS_SHOWN = 40
#: A whole number in TOML with more digits than any that is read, and what marks it while the rest is read.
_LONG = re.compile(r"(?<![\w.+\-\"'])[+-]?\d[\d_]{999,}(?![\w.])")
_MARK = "sojourn: a long number "


def check(field: str, value: object, most: int, why: str) -> None:
    """Raise `ParamError` unless a number is from 1 to `most`; `why` says why it may not be more."""
    if type(value) is not int:
        message = f"{field} is {shown(value)}, but must be a whole number of at least 1"
        raise ParamError(message)
    if value < 1:
        message = f"{field} is {shown(value)}, but must be at least 1"
        raise ParamError(message)
    if value > most:
        message = f"{field} is {shown(value)}, but must be at most {most}: {why}"
        raise ParamError(message)


def check_repeat(value: object, field: str = "repeat") -> None:
    """Raise `ParamError` unless it is a number of runs of one scenario."""
    check(field, value, MOST_RUNS, "a plan of more runs would not fit into memory")


def check_trials(value: object) -> None:
    """Raise `ParamError` unless it is a number of trials."""
    check("trials", value, MOST_TRIALS, "each proposal looks at all trials before it")


def check_workers(value: object) -> None:
    """Raise `ParamError` unless it is a number of workers; `None` is for as many as there are cores."""
    if value is not None:
        check("workers", value, MOST_WORKERS, "each is a process of its own")


def check_plan(runs: int, *, stored: bool = True) -> None:
    """Raise `ParamError` if a plan has more runs than may be asked for at once.

    - `stored`: whether a store takes their records.
    """
    if runs > MOST_RUNS:
        message = f"the plan has {shown(runs)} runs, but must have at most {MOST_RUNS}: lower repeat"
        raise ParamError(message)
    if not stored and runs > MOST_UNSTORED:
        message = (
            f"the plan has {runs} runs, but must have at most {MOST_UNSTORED} where their records stay in memory: name "
            "a folder for them (--out or --store)"
        )
        raise ParamError(message)


def whole(text: str) -> int:
    """Read a whole number of any length; one of thousands of digits as another with as many.

    Raises `ValueError` if it is none.
    """
    digits = text.strip().lstrip("+-").replace("_", "")
    if len(digits) <= DIGITS_SHOWN or not digits.isdecimal():
        return int(text)
    size: int = 10 ** (len(digits) - 1)
    return -size if text.strip().startswith("-") else size


def loads_toml(text: str) -> dict[str, Plain]:
    """Read TOML; a whole number with more digits than Python reads becomes another with as many.

    Raises `tomllib.TOMLDecodeError` if it is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # too many digits, and it does not say where
        marked = _LONG.sub(lambda found: f'"{_MARK}{found[0]}"', text)
        return {key: _unmarked(value) for key, value in tomllib.loads(marked).items()}


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    return whole(value.removeprefix(_MARK)) if isinstance(value, str) and value.startswith(_MARK) else value


def check_integers(plain: object, where: str = "") -> None:
    """Raise `ParamError` for a whole number, anywhere in plain values, that has more digits than Python writes."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            check_integers(value, f"{where}.{key}" if where else str(key))
    elif isinstance(plain, list | tuple):
        for place, value in enumerate(plain):
            check_integers(value, f"{where}[{place}]")
    elif isinstance(plain, int) and abs(plain) >= 10**DIGITS_SHOWN:
        message = f"{where} is {shown(plain)}, but must be one of at most 20 digits"
        raise ParamError(message)


def shown(value: object) -> str:
    """Return a value as a sentence shows it: a number of very many digits by how many it has."""
    if isinstance(value, int) and abs(value) >= 10**DIGITS_SHOWN:
        return f"a number of about {value.bit_length() * 30103 // 100_000 + 1} digits"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
