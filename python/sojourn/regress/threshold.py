"""How large a difference must be to count: a share of the first value, or so much in the quantity's unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.errors import ParamError
from sojourn.validate.bars import Within


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Within):
    """A threshold: a share of the first kernel's mean, or so much in the quantity's unit."""

    #: As it was asked for.
    text: str


def threshold(text: str) -> Threshold:
    """Read `"10%"`, or `"2.5"` in the quantity's unit; raises `ParamError` if it is neither."""
    number, percent = text.removesuffix("%"), text.endswith("%")
    try:
        value = float(number) if number.strip() == number and "_" not in number else math.nan
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        message = (
            f"threshold is {text!r}, but must be a percentage above 0% such as 10%, or a number above 0 in the "
            "metric's unit such as 2.5"
        )
        raise ParamError(message)
    return Threshold(text=text, share=value / 100) if percent else Threshold(text=text, least=value)
