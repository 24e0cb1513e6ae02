"""The errors Sojourn raises: each message is one sentence for the person who reads it.

| exception      | when                                                                        |
|----------------|-----------------------------------------------------------------------------|
| `ParamError`   | a value is refused (a `ValueError`); names the field, the value and the rule |
| `SojournError` | a file cannot be read or written, a back end is not there, a worker died     |
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sojourn._native import ParamError

__all__ = ["ParamError", "SojournError", "os_errors_as", "refused"]


class SojournError(Exception):
    """Something outside the scenario went wrong: a file, a folder, a worker, a back end."""


def refused(value: object, field: str, rule: str) -> ParamError:
    """Return the error of a value that is refused: which field has it, and what it must be instead."""
    return ParamError(f"{field} is {value!r}, but {rule}")


@contextmanager
def os_errors_as(what: str) -> Iterator[None]:
    """Have an error of the operating system raise `SojournError`: what cannot be done, and why."""
    try:
        yield
    except OSError as error:
        message = f"{what}: {error.strerror or error}"
        raise SojournError(message) from error
