"""The errors Sojourn raises: each message is one sentence for the person who reads it.

| exception      | when                                                                        |
|----------------|-----------------------------------------------------------------------------|
| `ParamError`   | a value is refused (a `ValueError`); names the field, the value and the rule |
| `SojournError` | a file cannot be read or written, a back end is not there, a worker died     |
"""

from sojourn._native import ParamError

__all__ = ["ParamError", "SojournError"]


class SojournError(Exception):
    """Something outside the scenario went wrong: a file, a folder, a worker, a back end."""
