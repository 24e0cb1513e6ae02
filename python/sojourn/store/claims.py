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
    """A claim and what became of it.

    Attributes
    ----------
    id, section, says
        Of the claim.
    settled, by_construction
        As the claim has them; empty if it has not.
    verdict
        Whether it holds, fails or cannot be told.
    value, low, high, unit
        Of the comparison that decides, with its interval; `None` if the runs do not tell.
    reason
        Why, in words.
    readings
        Verdicts in readings of the paper, by their names.
    worlds
        Verdicts in worlds beside the declared one, by their names.
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
    readings: dict[Text, Text] = {}
    worlds: dict[Text, Text] = {}


class _Claims(Struct):
    claims: Annotated[list[JudgedClaim], Meta(max_length=MOST_CLAIMS)]


def to_json(claims: Iterable[JudgedClaim]) -> str:
    """Return claims as `claims.json` has them."""
    return json.dumps(msgspec.to_builtins(list(claims)), indent=1)


def load(path: Path) -> list[JudgedClaim]:
    """Return what a `claims.json` holds.

    Raises
    ------
    SojournError
        If it cannot be read.
    """
    bounded.check_inside(path, path.parent)
    # A number that JSON has not stands for a value that is not there.
    plain = bounded.read_json(path, _CLAIMS_BYTES, missing=True)
    try:
        return schema.convert({"claims": plain}, _Claims).claims
    except schema.Misfit as error:
        bounded.cannot(path)(str(error))
