"""The claims that fail, with what they were judged by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A claim that fails.

    Attributes
    ----------
    id, section, says
        The claim.
    value, low, high, unit
        What decides, and its 95 % interval.
    reason
        What was compared, and what is known of the mechanism.
    """

    id: str
    section: str
    says: str
    value: float
    low: float | None
    high: float | None
    unit: str
    reason: str

    def markdown(self) -> str:
        """Return the failure as an item of a list."""
        return f"- **{self.id}** (section {self.section}): {self.says}\n  {self.reason}"


def failures(judged: Iterable[dict[str, Any]]) -> list[Failure]:
    """Return the claims that fail, of those that `Judges.judge` returned or `claims.json` holds, in their order."""
    return [
        Failure(**{one.name: claim[one.name] for one in fields(Failure)})
        for claim in judged
        if claim["verdict"] == "fails"
    ]
