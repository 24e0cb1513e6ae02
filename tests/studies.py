"""Claims on made-up runs: the worlds and cases of each paper are data, `tests/cases/PAPER.toml`.

A world is a list of changes, which are made one after the other to the values of every cell:

    [[world]]
    at = { scheme = ["codel", "pie"], if = "rtt > 50" }
    let = { level = "= rtt / 50" }
    set = { queueing_ms = "= 10 + 15 * level", voice = { loss = 0.5 } }

`at`
    Which cells: fields and their values, a list for any of them, the name of one of `names`; `if` is a formula. A
    list has the values of a single cell's fields, in their order. `is` names one of `[places]`, which the rest changes.
`let`
    Numbers that later formulas may name.
`set`
    Values of these cells. A table changes those of the table before it. A formula instead stands for such a table.

A text that begins with `=` is a formula of Python: it may name fields of the cell, its values so far, `cell`, `like`
(the values of the cell with other fields), `np`, what the paper's claims may name, `[names]` of the file and what
`Study.names` has. A formula that is a function gives a value for each seed.

`[evidence]` is what the evidence has besides runs, and `[variables]` what the judges are called with. `[holds]`,
`[fails]` and `[cannot_tell]` are cases of the claims: changes to the world (one or a list), to the evidence
(`evidence`), or to what the judges call (`patch`: by its path below the paper's folder; `usual` is what it was). A
claim without a case in `[holds]` holds in the world itself. `ID, WORDS` is one more case of a claim. `because` is what
the reason must have, and `across` what the interval is around. `never_decided` has the claims that nothing decides,
`without_runs` those that need no runs, and `by_one_run` those that one repeat of each cell decides.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import resolve_name
from types import CodeType
from typing import Any

import numpy as np
import pytest

from sojourn import papers
from sojourn.flusher_parameters import Parameters
from sojourn.papers import by_hand
from sojourn.store.claims import JudgedClaim
from sojourn.study.cell import Cell, Observation
from sojourn.study.claims import Claim, Judges, claim_file, load
from sojourn.study.evidence import Evidence
from tests import makers
from tests.records import Json

__all__ = ["STUDIES", "Claim", "Study", "by_hand", "claim_file", "load"]

CASES = Path(__file__).parent / "cases"
Values = Json


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """A paper, its claims and the worlds that they are judged in."""

    #: Of the paper, and the name of the file of cases.
    folder: str
    #: Makes the observation of a run from its cell, its seed and its values.
    make: Callable[[Cell, int, Values], Observation]
    #: Of the world; `None` if they are in the file: `[[cells]]`, each field with a list.
    cells: Callable[[], Iterable[Cell]] | None = None
    #: What formulas may name besides.
    names: Json = field(default_factory=dict)

    @functools.cached_property
    def data(self) -> Json:
        """The file of cases."""
        return tomllib.loads((CASES / f"{self.folder}.toml").read_text(encoding="utf-8"))

    @functools.cached_property
    def judges(self) -> Judges:
        """The judges of the paper."""
        judges: Judges = import_module(f"sojourn.papers.{self.folder}.judges").JUDGES
        return judges

    @functools.cached_property
    def claims(self) -> dict[str, Claim]:
        """The claims by id, without those that nothing decides."""
        return {claim.id: claim for claim in load(self.folder) if claim.id not in self.data.get("never_decided", {})}

    def cell(self, *values: Any, **fields: Any) -> Cell:
        """Return a cell by its fields, in their order or by name."""
        return self.judges.vocabulary.axes(*values, **fields)

    def evidence(self, cells: Mapping[Cell, tuple[Observation, ...]], **more: Any) -> Any:
        """Return evidence of these runs."""
        kind = getattr(import_module(f"sojourn.papers.{self.folder}.evidence"), "Evidence", Evidence)
        return kind(cells=cells, **more)

    def judged(self, name: str, evidence: Any) -> JudgedClaim:
        """Return what becomes of a claim."""
        (answer,) = self.judges.judge([self.claims[name]], evidence, self._of_file("variables"))
        return answer

    @functools.cache  # noqa: B019  there is one of each paper
    def values(self, cell: Cell) -> Values:
        """Return the values of a cell in the world."""
        return self.changed(cell, self.data.get("world", ()))

    def changed(self, cell: Cell, changes: Iterable[Json], values: Values | None = None) -> Values:
        """Return the values of a cell after changes, of those that are made to it."""
        values = dict(values or {})
        names = {**self._names, **cell.settings, "cell": cell}
        names["like"] = lambda **fields: self.values(cell.replaced(**fields))
        for change in changes:
            if self._matches(cell, change.get("at", {}), {**names, **values}):
                for name, value in change.get("let", {}).items():
                    names[name] = evaluated(value, {**names, **values})
                values = overlaid(values, change.get("set", {}), names)
        return values

    def runs(self, cell: Cell, values: Values) -> tuple[Observation, ...]:
        """Return the repeats of a cell with these values."""
        seeds = range(1, 1 + self.data.get("repeats", 4))
        return tuple(self.make(cell, seed, of_seed(values, seed)) for seed in seeds)

    @functools.cached_property
    def usual(self) -> dict[Cell, tuple[Observation, ...]]:
        """The runs of the world by cell."""
        return {cell: self.runs(cell, self.values(cell)) for cell in self._cells()}

    def world(self, *changes: Json) -> Any:
        """Return the evidence of the world, or of one that is changed."""
        values: dict[Cell, Values] = {}
        for change in changes:
            if "set" in change:
                chosen = [cell for cell in self.usual if self._matches(cell, change.get("at", {}), self._names)]
                assert chosen, f"no cell is {change['at']}"
                values |= {
                    cell: self.changed(cell, [{**change, "at": {}}], values.get(cell) or self.values(cell))
                    for cell in chosen
                }
        more = {name: one for change in changes for name, one in change.get("evidence", {}).items()}
        return self.evidence(
            self.usual | {cell: self.runs(cell, one) for cell, one in values.items()},
            **self._of_file("evidence") | evaluated(more, self._names),
        )

    def case(self, verdict: str, name: str, patch: pytest.MonkeyPatch) -> JudgedClaim:
        """Return what becomes of a claim in one of its cases."""
        changes = self.changes(verdict, name)
        for change in changes:
            for place, value in change.get("patch", {}).items():
                where, _, attribute = f"sojourn.papers.{self.folder}.{place}".rpartition(".")
                target = resolve_name(where)
                names = {**self._names, "usual": getattr(target, attribute)}
                patch.setattr(target, attribute, evaluated(value, names))
        return self.judged(name.partition(",")[0], self.world(*changes))

    def changes(self, verdict: str, name: str) -> list[Json]:
        """Return what a case changes."""
        changes = self.data.get(verdict, {}).get(name, [])
        return changes if isinstance(changes, list) else [changes]

    def cases(self, verdict: str) -> list[str]:
        """Return the cases of the claims that have this verdict: of each claim that can have it, and further ones."""
        stated = list(self.data.get(verdict, {}))
        return list(dict.fromkeys([*self.claims, *stated])) if verdict == "holds" else stated

    @functools.cached_property
    def _names(self) -> Values:
        names: Values = {"np": np, "times": times, **self.judges.vocabulary.names, **claim_file(self.folder).names}
        names |= {"study": self, **self.names}
        for name, value in self.data.get("names", {}).items():
            names[name] = evaluated(value, names)
        return names

    def _of_file(self, table: str) -> Values:
        return dict(evaluated(self.data.get(table, {}), self._names))

    def _cells(self) -> Iterator[Cell]:
        if self.cells is not None:
            yield from self.cells()
            return
        for one in self.data["cells"]:
            lists = [[value] if isinstance(value, str) else value for value in self._named(one).values()]
            yield from (self.cell(**dict(zip(one, fields, strict=True))) for fields in product(*lists))

    def _named(self, fields: Json) -> Values:
        return {
            name: self._names.get(value, value) if isinstance(value, str) else value for name, value in fields.items()
        }

    def _matches(self, cell: Cell, at: Json | Sequence[Any], names: Json) -> bool:
        if not isinstance(at, Mapping):
            return bool(cell == self.cell(*at))
        fields = {**self.data.get("places", {}).get(at.get("is"), {}), **at}
        fields.pop("is", None)
        for name, value in self._named(fields).items():
            if name == "if":
                own = cell.settings
                if not evaluated(f"={value}", {**names, **own, "cell": cell}):
                    return False
            elif getattr(cell, name) not in (value if type(value) in (list, tuple) else [value]):
                return False
        return True


def of_seed(value: Any, seed: int) -> Any:
    """Return a value, of a formula that is a function that of a seed."""
    if isinstance(value, Mapping):
        return {name: of_seed(one, seed) for name, one in value.items()}
    return value(seed) if callable(value) else value


@functools.cache
def _compiled(formula: str) -> CodeType:
    return compile(formula.strip(), formula, "eval")


def evaluated(value: Any, names: Json) -> Any:
    """Return a value of the file with its formulas worked out; lists become tuples."""
    if isinstance(value, str) and value.startswith("="):
        return eval(_compiled(value[1:]), dict(names))
    if isinstance(value, Mapping):
        return {name: evaluated(one, names) for name, one in value.items()}
    return tuple(evaluated(one, names) for one in value) if isinstance(value, list) else value


def overlaid(values: Values, changes: Any, names: Json) -> Values:
    """Return values with changes; a formula may name those before it."""
    found = dict(values)
    for name, value in evaluated(changes, {**names, **found}).items() if isinstance(changes, str) else changes.items():
        new = evaluated(value, {**names, **found})
        old = found.get(name)
        found[name] = overlaid(old, new, names) if isinstance(old, dict) and isinstance(new, dict) else new
    return found


def times(table: Mapping[str, float], factor: float, *names: str) -> dict[str, float]:
    """Return a table with its numbers, or some of them, times a factor."""
    return {name: value * factor if name in (names or table) else value for name, value in table.items()}


def _plan(folder: str) -> Callable[[], Iterable[Cell]]:
    return lambda: import_module(f"sojourn.papers.{folder}.plan").cells()


def _next_steps() -> Iterable[Cell]:
    plan = import_module("sojourn.papers.wifi_next_steps.plan")
    return [cell for cell, _ in plan.StepsBed(profile=papers.paper("wifi-next-steps").profiles["quick"]).cells()]


STUDIES = {
    study.folder: study
    for study in (
        Study(folder="good_bad_wifi", make=makers.of_good_bad_wifi, names=makers.OF_GOOD_BAD_WIFI),
        Study(folder="rural", make=makers.of_rural, cells=_plan("rural")),
        Study(folder="wifi_stack", make=makers.of_wifi_stack, cells=_plan("wifi_stack")),
        Study(folder="wifi_next_steps", make=makers.of_next_steps, cells=_next_steps),
        Study(
            folder="flusher",
            make=makers.of_flusher,
            cells=lambda: [cell for cell in _plan("flusher")() if cell.reading == "as_described"],
            names={"Parameters": Parameters},
        ),
        Study(
            folder="l4s_pam2025",
            make=makers.of_l4s,
            cells=lambda: dict.fromkeys([*_plan("l4s_pam2025")(), *makers.measured()]),
            names={"measured": makers.measured},
        ),
        Study(folder="cake", make=makers.of_cake, cells=_plan("cake")),
    )
}
