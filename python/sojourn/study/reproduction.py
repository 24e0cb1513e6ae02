"""A paper as it is run again: what is asked for, and what its folder makes of it.

The module `reproduce` of each folder has a function `reproduction` from a `Request` to a `Reproduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from msgspec import structs

from sojourn.backends import Backend
from sojourn.cells import K, Means, Planned
from sojourn.store.claims import JudgedClaim
from sojourn.store.run import Run
from sojourn.study.cell import Observation
from sojourn.study.claims import Claim
from sojourn.study.paper import Paper, Profile
from sojourn.study.plan import Outcome, observed
from sojourn.study.worlds import Setting

if TYPE_CHECKING:
    from sojourn.report import Report
    from sojourn.report.exhibit import Exhibit
    from sojourn.store.folder import ResultFolder


#: What claims are judged by.
E = TypeVar("E")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for, checked as far as a paper's data can tell."""

    #: Which, and what makes the runs.
    paper: Paper
    backend: Backend
    #: How much is run.
    profile: Profile
    #: Those asked for; `None` for all that there are.
    parts: tuple[str, ...] | None
    #: Of the first repeat.
    seed: int
    #: Whose loss recovery flows have, and what was typed.
    tcp: str
    stated_tcp: str | None
    #: Text of an option that only the rural study has.
    satellite: str | None
    #: What else of the plan's bed is otherwise than declared: its fields, by name.
    settings: Mapping[str, Setting] = field(default_factory=dict)

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
        return found if self.declared else [structs.replace(one, why="") for one in found]


@dataclass(frozen=True, kw_only=True)
class Reproduction(Generic[K, E]):
    """A paper as the command runs it."""

    #: All runs.
    plan: Sequence[Planned[K]]
    #: Returns what is kept of a run in a cell.
    observe: Callable[[K, Run], Observation]
    #: Returns what the claims are judged by, from what was kept of each cell's repeats.
    evidence: Callable[[dict[K, tuple[Observation, ...]]], E]
    #: Returns what became of each claim.
    judge: Callable[[list[Claim], E], list[JudgedClaim]]
    #: Returns figures and tables.
    exhibits: Callable[[E], Iterable[Exhibit]]
    #: Returns verdicts in other worlds that the same runs are enough for, by world and claim, from what became of the
    #: claims.
    beside: Callable[[list[Claim], E, list[JudgedClaim]], Mapping[str, Mapping[str, str]]] = field(
        default=lambda _claims, _evidence, _judged: {}
    )
    #: What the head of the report also has, by name.
    facts: Mapping[str, str] = field(default_factory=dict)
    #: The paper, if what it says of repeats and windows is not so of the parts that are run.
    paper: Paper | None = None
    #: Writes what the folder holds besides claims, figures, tables and the report.
    keep: Callable[[ResultFolder, Report, E], None] = field(default=lambda _folder, _report, _evidence: None)
    #: Returns what is printed before the exhibits' tables.
    begin: Callable[[E], list[str]] = field(default=lambda _evidence: [])

    def run(self, means: Means) -> Outcome[E]:
        """Run the plan; raises as `sojourn.study.plan.observed`."""
        cells, runs = observed(self.plan, self.observe, means)
        return Outcome(evidence=self.evidence(cells), runs=runs)


def gallery(folder: str, parts: Sequence[str] | None = None) -> Callable[[Any], Iterable[Exhibit]]:
    """Return what shows the exhibits of a paper; plots are loaded only then."""

    def exhibits(evidence: Any) -> Iterable[Exhibit]:
        module = import_module(f"sojourn.papers.{folder}.exhibits")
        return cast("Iterable[Exhibit]", module.GALLERY.exhibits(evidence, parts))

    return exhibits
