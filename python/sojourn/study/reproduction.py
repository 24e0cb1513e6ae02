"""A paper as it is run again: what is asked for, and what its folder makes of it.

The module `reproduce` of each folder has a function `reproduction` from a `Request` to a `Reproduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from sojourn.backends import Backend
from sojourn.study.claims import Claim
from sojourn.study.paper import Paper, Profile
from sojourn.study.plan import Means, Planned

if TYPE_CHECKING:
    from sojourn.report import PaperReport
    from sojourn.report.exhibit import Exhibit
    from sojourn.store.folder import ResultFolder


class Ran(Protocol):
    """What came of a plan."""

    @property
    def runs(self) -> int:
        """How many runs."""


Outcome = TypeVar("Outcome", bound=Ran)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for, checked as far as a paper's data can tell.

    Attributes
    ----------
    paper, backend
        Which, and what makes the runs.
    profile
        How much is run.
    parts
        Those asked for; `None` for all that there are.
    seed
        Of the first repeat.
    tcp
        Whose loss recovery flows have; `stated_tcp` is what was typed.
    satellite
        Text of an option that only the rural study has.
    settings
        What else of the plan's bed is otherwise than declared: its fields, by name.
    """

    paper: Paper
    backend: Backend
    profile: Profile
    parts: tuple[str, ...] | None
    seed: int
    tcp: str
    stated_tcp: str | None
    satellite: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def declared(self) -> bool:
        """Whether this is the paper's declared world."""
        as_declared = self.paper.tcp_on("sim", None)
        return not (self.on_kernel or self.tcp != as_declared or self.satellite or self.settings)

    @property
    def on_kernel(self) -> bool:
        """Whether a real kernel makes the runs."""
        return self.backend.name != "sim"

    @property
    def run_parts(self) -> tuple[str, ...]:
        """The parts that are run."""
        return self.paper.parts_on(self.backend.name) if self.parts is None else self.parts

    def judged(self, claims: Iterable[Claim]) -> list[Claim]:
        """Return the claims that are judged: of the parts, and those that need all of them if all are run.

        What is known of the reason for which a claim fails is of the declared world, and left out in another.
        """
        found = [one for one in claims if one.part in self.run_parts or (not one.part and self.parts is None)]
        return found if self.declared else [replace(one, why="") for one in found]


@dataclass(frozen=True, kw_only=True)
class Reproduction(Generic[Outcome]):
    """A paper as the command runs it.

    Attributes
    ----------
    plan
        All runs.
    run
        Runs them.
    judge
        Returns claims in the form of `claims.json`.
    beside
        Returns the same for other worlds that the same runs are enough for, by name, from what became of the claims.
    exhibits
        Returns figures and tables, from the outcome, the claims and what became of them.
    facts
        What the head of the report also has, by name, from what became of the claims.
    paper
        The paper, if what it says of repeats and windows is not so of the parts that are run.
    keep
        Writes what the folder holds besides claims, figures, tables and the report.
    begin
        Returns what is printed before the exhibits' tables.
    """

    plan: Sequence[Planned[Any]]
    run: Callable[[Means], Outcome]
    judge: Callable[[list[Claim], Outcome], list[dict[str, Any]]]
    exhibits: Callable[[Outcome, list[Claim], list[dict[str, Any]]], Iterable[Exhibit]]
    beside: Callable[[list[Claim], Outcome, list[dict[str, Any]]], Mapping[str, list[dict[str, Any]]]] = field(
        default=lambda _claims, _outcome, _judged: {}
    )
    facts: Callable[[list[dict[str, Any]]], Mapping[str, str]] = field(default=lambda _judged: {})
    paper: Paper | None = None
    keep: Callable[[ResultFolder, PaperReport, Outcome], None] = field(default=lambda _folder, _report, _outcome: None)
    begin: Callable[[Outcome], list[str]] = field(default=lambda _outcome: [])


def gallery(folder: str, parts: Sequence[str] | None = None) -> Callable[..., Iterable[Exhibit]]:
    """Return what shows the exhibits of a paper of which all evidence is one; plots are loaded only then."""

    def exhibits(outcome: Any, _claims: list[Claim], _judged: list[dict[str, Any]]) -> Iterable[Exhibit]:
        module = import_module(f"sojourn.papers.{folder}.exhibits")
        return cast("Iterable[Exhibit]", module.GALLERY.exhibits(outcome.evidence, parts))

    return exhibits
