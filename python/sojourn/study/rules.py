"""Comparisons as data: how `claims.toml` says what must be above what, and how the runs answer.

A rule is a quantity in a cell, perhaps against the same in another cell, and a relation to a bound:

    { for = { tcp = "TCPS", base = [50, 100] }, of = "mean", less = "passive", is = "< 0 ms", what = "..., {tcp}" }

It is read as: for each `tcp` of the names' list and each `base`, the mean of the cell less the mean of the same cell
changed as the named cell `passive` says, seed by seed, must be below 0 ms. The keys:

`for`
    Variables and their values, all combinations, the last fastest. A value is a list, or the name of one. A value that
    is itself a table binds its keys, so that a list of tables steps several variables together. A variable that is a
    field of the paper's cells is set in the cell. A claim has a `for` around all of its rules.
`any`
    The same, but one of these suffices: the one that speaks most for the claim is the check.
`of`
    The quantity: of a run, of a cell (a series of the paper's), or derived: a name of `[derived]`, which is a rule
    without a relation. Words after its name are its arguments.
`at`
    What is different in the cell: the name of one of `[cells]`, a table of fields, or a list of both. A name or value
    `"$name"` is that of a variable. `{ highest = LIST }` and `{ lowest = LIST }` are the value with which the mean of
    the quantity is the highest or the lowest.
`less`, `over`, `lacks`, `percent_above`, `percent_below`
    The other cell, as changes to that of `at`: the difference, the ratio, 1 - ratio, 100 (ratio - 1), 100 (1 - ratio).
`other_of`
    The quantity of the other cell, if it is another one.
`scale`
    A factor of the result.
`total`
    `"sum"`, `"max"`, `"min"` or `"mean"` over the repeats: a number without an interval.
`is`, `within`
    `"> 0 ms"` or a list of such: relation, bound (a number, a variable or a name), unit; `"10 to 50 ms"`.
`rises`
    Instead of a relation: variables with lists, along which the quantity rises: from end to end, and no step clearly
    falls by more than 1 % of the value. `unit` is its unit.
`orders`, `as_in`
    Instead of a relation: a field with a list of its values, whose order by the quantity is the same in the cell of
    `at` and in that of `as_in`, which are changes to it (`sojourn.study.orders`).
`what`
    What is compared, with `{...}` for variables, `{at}` and `{other}` for the cells and `{at.FIELD}` for their fields;
    along a curve `{at}` is the later cell of a step and `{other}` the earlier one.

More is not said in data: what needs it is a function of the paper's (`judges.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from statistics import fmean
from typing import Any, cast

import msgspec
from msgspec import Struct

from sojourn.errors import ParamError, SojournError
from sojourn.stats import mean_interval
from sojourn.study.cell import Axes, Cell
from sojourn.study.evidence import BySeed, Evidence
from sojourn.study.orders import NOTICEABLE, Agreement, agreement
from sojourn.study.redraw import Drawn, drawn_interval
from sojourn.study.verdict import Check, Relation, above, best_of, exact, not_below

#: What a file says that a field, a variable or a name is.
Value = str | bool | int | float | None | Sequence[Any] | Mapping[str, Any]
Variables = Mapping[str, Value]
#: The name of a cell or what is different in it, or a list of both.
Changes = str | Variables | Sequence[str | Variables]
#: A number of drawn repeats, and how many can be drawn.
Statistic = tuple[Callable[[Drawn], float], int]

_TOTALS: dict[str, Callable[[list[float]], float]] = {"sum": sum, "max": max, "min": min, "mean": fmean}
_AGAINST: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "less": ("less", lambda a, b: a - b),
    "over": ("over", lambda a, b: a / b),
    "lacks": ("less", lambda a, b: 1 - a / b),
    "percent_above": ("above", lambda a, b: 100 * (a / b - 1)),
    "percent_below": ("below", lambda a, b: 100 * (1 - a / b)),
}
_IS = re.compile(r"(>=|<=|>|<|=) *(\S+) *(.*)")
_WITHIN = re.compile(r"(\S+) to (\S+) *(.*)")


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison as the file has it; what its keys mean is said above."""

    of: str
    what: str = ""
    for_: Variables = msgspec.field(name="for", default_factory=dict)
    any: Variables = {}
    at: Changes = []
    less: Changes | None = None
    over: Changes | None = None
    lacks: Changes | None = None
    percent_above: Changes | None = None
    percent_below: Changes | None = None
    other_of: str = ""
    scale: float = 1.0
    total: str = ""
    is_: str | list[str] = msgspec.field(name="is", default_factory=list)
    within: str = ""
    rises: Variables = {}
    orders: Variables = {}
    as_in: Changes = []
    unit: str = ""

    @property
    def relations(self) -> list[str]:
        """The relations of `is`."""
        return [self.is_] if isinstance(self.is_, str) else self.is_

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that it is about, without the numbers that follow their names."""
        return tuple(text.partition(" ")[0] for text in (self.of, self.other_of) if text)

    @property
    def takes_for_none(self) -> bool:
        """Whether differences below `sojourn.study.orders.NOTICEABLE` are none to it."""
        return bool(self.rises or self.orders)

    @property
    def against(self) -> tuple[str, Changes, Callable[[float, float], float]] | None:
        """How the cell is compared with another, that other cell, and what is made of the two; `None` if it is not."""
        for key, (word, combine) in _AGAINST.items():
            if (other := getattr(self, key)) is not None:
                return word, other, combine
        return None


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What the rules of a paper may speak of."""

    #: Of the cells.
    axes: Axes
    #: Of a run, by name: the run and the arguments that follow the name; `None` if the run has no such number.
    quantities: Mapping[str, Callable[..., float | None]]
    #: Of a cell, by name: evidence, cell and arguments.
    series: Mapping[str, Callable[..., BySeed]] = field(default_factory=dict)
    #: Of the mean over all repeats of a cell, by name: evidence, cell and arguments give the statistic of drawn
    #: repeats, and how many there are. Its interval comes from drawing them again.
    curves: Mapping[str, Callable[..., Statistic]] = field(default_factory=dict)
    #: What the rules may name besides the names of their file: what the plan ranges over.
    names: Variables = field(default_factory=dict)
    #: What is compared if a rule does not say: quantity, cell, how it is compared, and the other cell.
    describe: Callable[[str, Cell, str, Cell | None], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads the rules of a paper from what was run."""

    #: Of the paper.
    vocabulary: Vocabulary
    #: What was run.
    evidence: Evidence
    #: The tables `[names]`, `[cells]` and `[derived]` of the file.
    names: Variables = field(default_factory=dict)
    cells: Mapping[str, Changes] = field(default_factory=dict)
    derived: Mapping[str, Rule] = field(default_factory=dict)

    def checks(self, rule: Rule, fields: Variables, variables: Variables) -> Iterator[Check]:
        """Yield the checks of a rule, in the cell of the fields and within the loops that set the variables.

        Raises `SojournError` if the runs do not tell.
        """
        for turn in self.loops(rule.for_, variables):
            if rule.any:
                yield best_of([one for inner in self.loops(rule.any, turn) for one in self._here(rule, fields, inner)])
            elif rule.rises:
                yield from self._rising(rule, fields, turn)
            else:
                yield from self._here(rule, fields, turn)

    def loops(self, over: Variables, variables: Variables) -> Iterator[Variables]:
        """Yield the variables of each turn of a loop."""
        lists = [self.value(values, variables) for values in over.values()]
        for turn in product(*lists):
            found = dict(variables)
            for name, value in zip(over, turn, strict=True):
                found.update(value if isinstance(value, Mapping) else {name: value})
            yield found

    def fields(self, fields: Variables, changes: Changes, variables: Variables, of: str = "") -> dict[str, Value]:
        """Return the fields of a cell with changes laid over them; `of` is the quantity that a choice is made by."""
        found = dict(fields)
        for part in [changes] if isinstance(changes, (str, Mapping)) else changes:
            if isinstance(part, str):
                name = str(variables[part[1:]]) if part.startswith("$") else part
                found = self.fields(found, self.cells[name], variables, of)
                continue
            found.update(
                {name: self.value(value, variables) for name, value in part.items() if not isinstance(value, Mapping)}
            )
            for name, choice in part.items():
                if isinstance(choice, Mapping):
                    found[name] = self._chosen(found, name, choice, variables, of)
        return found

    def values(self, rule: Rule, fields: Variables, variables: Variables) -> tuple[BySeed, Cell, Cell | None]:
        """Return the values of a rule by seed, its cell, and the other one."""
        of = rule.of.format(**variables)
        other_of = rule.other_of.format(**variables) or of
        own = self.fields(fields, rule.at, variables, of)
        found, cell = self.quantity(of, own, variables), self.vocabulary.axes(**own)
        if rule.against is None:
            return {seed: rule.scale * value for seed, value in found.items()}, cell, None
        _, changes, combine = rule.against
        different = self.fields(own, changes, variables, other_of)
        other, others = self.vocabulary.axes(**different), self.quantity(other_of, different, variables)
        if rule.less is None and 0 in others.values():
            message = "a ratio cannot be formed: what it is a share of is 0 in one of the runs"
            raise SojournError(message)
        both = _shared(found, others, cell, other)
        return {seed: rule.scale * combine(found[seed], others[seed]) for seed in both}, cell, other

    def agreement(self, rule: Rule, fields: Variables, variables: Variables) -> Iterator[Agreement]:
        """Yield how far the order of a field's values is the same in two places, for a rule with `orders`."""
        ((name, among),) = rule.orders.items()
        for turn in self.loops(rule.for_, variables):
            of, here = rule.of.format(**turn), self.fields(self.placed(fields, turn), rule.at, turn)
            there, other_of = self.fields(here, rule.as_in, turn), rule.other_of.format(**turn) or of
            first, second = (
                {
                    value: list(self.quantity(quantity, {**place, name: value}, turn).values())
                    for value in self.value(among, turn)
                }
                for quantity, place in ((of, here), (other_of, there))
            )
            yield agreement(rule.what.format(**turn), first, second)

    def _here(self, rule: Rule, fields: Variables, variables: Variables) -> Iterator[Check]:
        if rule.of.split()[0] in self.vocabulary.curves:
            yield from self._of_curves(rule, self.placed(fields, variables), variables)
            return
        by_seed, cell, other = self.values(rule, self.placed(fields, variables), variables)
        what, values = self._what(rule, cell, other, variables), list(by_seed.values())
        for relation, bound, unit in self._relations(rule, variables):
            if rule.total:
                yield exact(what, _TOTALS[rule.total](values), relation, bound, unit)
            else:
                yield Check(what=what, interval=mean_interval(values), relation=relation, bound=bound, unit=unit)

    def _of_curves(self, rule: Rule, fields: Variables, variables: Variables) -> Iterator[Check]:
        def statistic(of: str, cell: Cell) -> Statistic:
            name, *arguments = of.format(**variables).split()
            return self.vocabulary.curves[name](self.evidence, cell, *arguments)

        own = self.fields(fields, rule.at, variables)
        cell, other = self.vocabulary.axes(**own), None
        of_drawn, repeats = statistic(rule.of, cell)
        if rule.against is not None:
            _, changes, combine = rule.against
            other = self.vocabulary.axes(**self.fields(own, changes, variables))
            first, (second, others) = of_drawn, statistic(rule.other_of or rule.of, other)
            of_drawn, repeats = (lambda drawn: combine(first(drawn), second(drawn))), min(repeats, others)
        what, found = self._what(rule, cell, other, variables), drawn_interval(of_drawn, repeats)
        for relation, bound, unit in self._relations(rule, variables):
            yield Check(what=what, interval=found, relation=relation, bound=bound, unit=unit)

    def _rising(self, rule: Rule, fields: Variables, variables: Variables) -> Iterator[Check]:
        along = [self.values(rule, self.placed(fields, one), one) for one in self.loops(rule.rises, variables)]
        steps = [(along[0], along[-1]), *pairwise(along)]
        for number, ((before, one, _), (after, other, _)) in enumerate(steps):
            what = self._what(rule, other, one, variables)
            gains = [after[seed] - before[seed] for seed in _shared(before, after, one, other)]
            if number == 0:
                yield above(what, gains, 0.0, rule.unit)
            else:
                yield not_below(what, gains, round(-NOTICEABLE * abs(fmean(before.values())), 4), rule.unit)

    def quantity(self, of: str, fields: Variables, variables: Variables) -> BySeed:
        """Return a quantity, of a run, of a cell or derived, by seed; raises `SojournError` if no run has it."""
        name, *arguments = of.split()
        if name in self.derived:
            return self.values(self.derived[name], fields, variables)[0]
        cell = self.vocabulary.axes(**fields)
        if name in self.vocabulary.series:
            found = self.vocabulary.series[name](self.evidence, cell, *arguments)
            if not found:
                message = f"no seed has a run in every cell that {name} of {cell.words()} is made of"
                raise SojournError(message)
            return found
        quantity = self.vocabulary.quantities[name]
        return self.evidence.by_seed(cell, lambda run: quantity(run, *arguments))

    def _chosen(self, fields: Variables, name: str, choice: Variables, variables: Variables, of: str) -> Any:
        ((word, among),) = choice.items()
        means = {
            value: fmean(self.quantity(of, {**fields, name: value}, variables).values())
            for value in self.value(among, variables)
        }
        return {"highest": max, "lowest": min}[word](means, key=lambda value: means[value])

    def placed(self, fields: Variables, variables: Variables) -> dict[str, Value]:
        """Return the fields with the variables that are fields of a cell."""
        return {**fields, **{name: value for name, value in variables.items() if name in self.vocabulary.axes.names}}

    def value(self, value: Value, variables: Variables) -> Any:
        """Return what a value of the file stands for: a variable (`$name`), a name, or itself."""
        if not isinstance(value, str):
            return value
        if value.startswith("$"):
            return self.value(variables[value[1:]], variables)
        return self.names.get(value, value)

    def _relations(self, rule: Rule, variables: Variables) -> Iterator[tuple[Relation, float, str]]:
        def number(text: str) -> float:
            bound: Any = variables.get(text, self.names.get(text, text))
            return float(bound)

        for text in rule.relations:
            relation, bound, unit = cast("re.Match[str]", _IS.fullmatch(text)).groups()
            yield cast("Relation", relation), number(bound), unit
        if rule.within:
            low, high, unit = cast("re.Match[str]", _WITHIN.fullmatch(rule.within)).groups()
            yield ">", number(low), unit
            yield "<", number(high), unit

    def _what(self, rule: Rule, cell: Cell, other: Cell | None, variables: Variables) -> str:
        if not rule.what and self.vocabulary.describe is not None:
            word = rule.against[0] if rule.against is not None else ""
            return self.vocabulary.describe(rule.of.format(**variables), cell, word, other)
        return rule.what.format(**{**variables, "at": _Named(cell), "other": _Named(other)})


def _shared(one: BySeed, other: BySeed, cell: Cell, other_cell: Cell) -> list[int]:
    both = [seed for seed in one if seed in other]
    if not both:
        message = f"no seed gives the quantity both for {cell.words()} and for {other_cell.words()}"
        raise SojournError(message)
    return both


class _Named:
    """A cell in a text: its words, or one of its fields."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __str__(self) -> str:
        return str(self._cell.words())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cell, name)


def check_relations(rule: Rule, where: str) -> None:
    """Check what a rule must be; `where` it stands begins the sentence.

    Raises `ParamError` if it has no relation, or one that cannot be read.
    """
    if not rule.relations and not rule.within:
        message = f'{where}.is is missing: a claim needs a relation and a bound, such as "> 0 ms", or within'
        raise ParamError(message)
    matches = [("is", text, _IS.fullmatch(text)) for text in rule.relations]
    matches += [("within", rule.within, _WITHIN.fullmatch(rule.within))] if rule.within else []
    for key, text, match in matches:
        try:
            bounds = (
                [] if match is None else [float(bound) for bound in match.groups()[key == "is" :][: 2 - (key == "is")]]
            )
        except ValueError:
            bounds = []
        if not all(map(math.isfinite, bounds)) or not bounds:
            example = '"> 0 ms"' if key == "is" else '"-1 to 1 ms"'
            message = f"{where}.{key} is {text!r}, but must be such as {example}"
            raise ParamError(message)
