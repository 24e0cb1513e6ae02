"""What `claims.json` of a folder of results says: each claim with its verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from sojourn import bounded, schema
from sojourn.schema import Name, Number, Text, Words

#: Most claims of one folder, and bytes of their file: a paper has some hundreds.
MOST_CLAIMS = 10_000
_CLAIMS_BYTES = 16 << 20


class JudgedClaim(Struct, kw_only=True, omit_defaults=True):
    """A claim and what became of it, also in readings of the paper and in worlds beside the declared one, by name.

    The value is that of the comparison that decides, with its interval; `None` if the runs do not tell. `runs` are the
    names of the stored runs that it was judged by.
    """

    id: Name
    section: Text
    says: Text
    settled: Text = ""
    by_construction: Text = ""
    verdict: Words
    value: Number | None
    low: Number | None
    high: Number | None
    unit: Text
    reason: Text
    runs: list[Name] = []
    readings: dict[Text, Text] = {}
    worlds: dict[Text, Text] = {}

    @property
    def numbers(self) -> str:
        """Value, interval and unit as a table has them."""
        if self.value is None:
            return "-"
        low, high = self.low, self.high
        ends = "" if low is None or high is None or low == high else f" [{low:.4g}, {high:.4g}]"
        return f"{self.value:.4g}{ends}{f' {self.unit}' if self.unit else ''}"


class _Claims(Struct):
    claims: Annotated[list[JudgedClaim], Meta(max_length=MOST_CLAIMS)]


def to_json(claims: Iterable[JudgedClaim]) -> str:
    """Return claims as `claims.json` has them."""
    return json.dumps(msgspec.to_builtins(list(claims)), indent=1)


def load(path: Path) -> list[JudgedClaim]:
    """Return what a `claims.json` holds; raises `SojournError` if it cannot be read."""
    bounded.check_inside(path, path.parent)
    # A number that JSON has not stands for a value that is not there.
    plain = bounded.read_json(path, _CLAIMS_BYTES, missing=True)
    try:
        return schema.convert({"claims": plain}, _Claims).claims
    except schema.Misfit as error:
        bounded.cannot(path)(str(error))
