"""A user's study as one file: cells, quantities, claims and exhibits. `docs/guides/study.md` says how it is written.

title = "Does FQ-PIE protect a call?"
experiment = "voip"
repeat = 5
quantities = ["mos", "goodput_up"]

[vary]
qdisc = ["fq_pie", "fq_codel"]
flows_up = [1, 8, 64]

[[claims]]
says = "FQ-PIE protects a call as well as FQ-CoDel."
for = ["flows_up"]
of = "mos"
at = { qdisc = "fq_pie" }
less = { qdisc = "fq_codel" }
is = "> -0.1"

[[exhibits]]
title = "The call beside uploads"
kind = "lines"
along = "flows_up"
lines = "qdisc"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from sojourn import bounded, schema
from sojourn.bounds import Plain
from sojourn.cells import Means, Planned, repeats
from sojourn.errors import ParamError, SojournError
from sojourn.schema import Number, Words
from sojourn.store.claims import JudgedClaim
from sojourn.study.cell import Axes, Cell, Observation
from sojourn.study.claims import Claim, by_rules, outcome
from sojourn.study.evidence import Evidence
from sojourn.study.plan import Outcome, observed
from sojourn.study.quantities import heading, quantity
from sojourn.study.rules import Reader, Rule, Vocabulary, check_relations
from sojourn.sweep.file import Sweep, sweep_of

Value = str | bool | int | Number
Place = dict[str, Value]


class RuleTable(Struct, forbid_unknown_fields=True):
    """What is compared with what, in a claim or an item of its `checks`; `sojourn.study.rules` says what keys mean."""

    of: str = ""
    at: Place = field(default_factory=dict)
    less: Place | None = None
    over: Place | None = None
    percent_above: Place | None = None
    percent_below: Place | None = None
    every: list[str] = field(name="for", default_factory=list)
    any: list[str] = field(default_factory=list)
    is_: str | list[str] = field(name="is", default_factory=list)
    within: str = ""

    def rule(self) -> Rule:
        """Return the rule. A loop steps through all values of an axis."""
        others = {name: getattr(self, name) for name in ("less", "over", "percent_above", "percent_below")}
        loops = {axis: axis for axis in self.every}, {axis: axis for axis in self.any}
        return Rule(of=self.of, at=self.at, for_=loops[0], any=loops[1], is_=self.is_, within=self.within, **others)


class ClaimTable(RuleTable, forbid_unknown_fields=True, kw_only=True):
    """A claim: one rule, or several in `checks`."""

    says: Words
    checks: list[RuleTable] = field(default_factory=list)


class ExhibitTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """A figure or a table."""

    #: Above it.
    title: Words
    #: `lines` along an axis, a `heat map` of two axes, or a `table` of cells.
    kind: Literal["lines", "heat map", "table"] = "table"
    #: What is shown (default: those of the study).
    quantities: list[str] = field(default_factory=list)
    #: The axis from left to right.
    along: str = ""
    #: The axis of which each value has a line; the axis from top to bottom of a heat map.
    lines: str = ""
    up: str = ""
    #: The axis of which each value has a panel.
    panels: str = ""
    #: Values of axes that are not shown.
    at: Place = field(default_factory=dict)


class Head(Struct, kw_only=True):
    """What a study's file holds besides its cells."""

    title: Words
    about: Words | None = None
    quantities: list[str]
    claims: list[ClaimTable] = field(default_factory=list)
    exhibits: list[ExhibitTable] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study that can be run."""

    #: Title, quantities, claims and exhibits.
    head: Head
    #: The cells with their scenarios, and how often each is run.
    sweep: Sweep
    #: What varies.
    axes: Axes

    @property
    def cells(self) -> list[Cell]:
        """The cells, in the order of the file."""
        return [self.axes(*cell.settings) for cell in self.sweep.cells]

    @property
    def values(self) -> dict[str, list[Any]]:
        """The values of each axis."""
        return {name: list(dict.fromkeys(getattr(cell, name) for cell in self.cells)) for name in self.axes.names}

    @property
    def quantities(self) -> list[str]:
        """Every quantity that the file names, each once."""
        rules = [rule for claim in self.head.claims for rule in (claim, *claim.checks) if rule.of]
        shown = [text for exhibit in self.head.exhibits for text in exhibit.quantities]
        return list(dict.fromkeys([*self.head.quantities, *(rule.of for rule in rules), *shown]))

    @property
    def claims(self) -> list[Claim]:
        """The claims, numbered in the order of the file."""
        return [
            Claim(
                id=f"claim-{number}",
                section="",
                says=table.says,
                checks=[one.rule() for one in table.checks or [table]],
            )
            for number, table in enumerate(self.head.claims, 1)
        ]

    def plan(self) -> Sequence[Planned[Cell]]:
        """Return all runs."""
        return repeats(
            (cell, one.scenario, self.sweep.repeat) for cell, one in zip(self.cells, self.sweep.cells, strict=True)
        )

    def run(self, means: Means) -> Outcome[Evidence]:
        """Run the plan, and keep the quantities of each run; raises as `sojourn.study.plan.observed`."""
        named = {text: quantity(text, "of") for text in self.quantities}

        def observe(_: Cell, run: Any) -> Observation:
            values = {text: known.read(run.record, *arguments) for text, (known, arguments) in named.items()}
            return Observation(seed=run.seed, **values)

        cells, runs = observed(self.plan(), observe, means)
        return Outcome(evidence=Evidence(cells=cells), runs=runs)

    def reader(self, evidence: Evidence) -> Reader:
        """Return what reads quantities and rules from what was run; an axis names the list of its values."""
        names = {text.split()[0] for text in self.quantities}
        by_name = {name: partial(_value, name) for name in names}
        vocabulary = Vocabulary(axes=self.axes, quantities=by_name, describe=_describe)
        return Reader(vocabulary=vocabulary, evidence=evidence, names=self.values)

    def judge(self, evidence: Evidence) -> list[JudgedClaim]:
        """Return what became of each claim."""
        reader = self.reader(evidence)
        return [outcome(one, evidence, partial(by_rules, one, reader, {}, {})) for one in self.claims]


def _value(name: str, run: Observation, *arguments: str) -> float | None:
    value: float | None = run.values[" ".join((name, *arguments))]
    return value


def _describe(of: str, at: Cell, word: str, other: Cell | None) -> str:
    return f"{heading(of)}, {at.words()}" + ("" if other is None else f", {word} that of {other.words()}")


def load(path: Path, *, repeat: int | None = None, backend: str = "sim") -> Study:
    """Read a study.

    Raises `SojournError` if the file cannot be read, and `ParamError` if it is not a study, has an unknown key, or a
    value is refused.

    - `path`: the file. An experiment that is a file itself is looked for beside it.
    - `repeat`: runs of each cell, instead of what the file says.
    - `backend`: what is to run it.
    """
    plain = bounded.read_toml(path, "a study")
    try:
        return _study(path, plain, repeat, backend)
    except (ParamError, schema.Misfit) as error:
        message = f"{path}: {error}"
        raise ParamError(message) from error


def _study(path: Path, plain: dict[str, Plain], repeat: int | None, backend: str) -> Study:
    own = {key: plain.pop(key) for key in Head.__struct_fields__ if key in plain}
    head = schema.convert(own, Head)
    sweep = sweep_of(path, plain, repeat, backend)
    if not sweep.keys:
        message = "vary is not given, but must be a table of at least one list: a study compares cells"
        raise ParamError(message)
    study = Study(head=head, sweep=sweep, axes=Axes(*sweep.keys, words=_words))
    if not head.quantities:
        message = "quantities is [], but must name at least one"
        raise ParamError(message)
    for text in study.quantities:
        quantity(text, "a quantity")
    for number, claim in enumerate(study.claims):
        _check(study, claim, f"claims[{number}]")
    from sojourn.study.shown import check

    for number, table in enumerate(head.exhibits):
        check(study, table, f"exhibits[{number}]")
    return study


def _words(cell: Cell) -> str:
    return ", ".join(
        f"{name} {value}" if isinstance(value, (int, float)) else str(value) for name, value in cell.settings.items()
    )


def _check(study: Study, claim: Claim, where: str) -> None:
    """Judge a claim on made-up runs of all cells, before there are any: whatever it cannot read is wrong in the file.

    Raises `ParamError` if it cannot be judged.
    """
    for rule in claim.checks:
        quantity(rule.of, f"{where}.of")
        check_relations(rule, where)
        for axis in (*rule.for_, *rule.any):
            if axis not in study.axes.names:
                message = f"{where}.for has {axis!r}, but must name axes: {', '.join(study.axes.names)}"
                raise ParamError(message)
    numbers = dict.fromkeys(study.quantities, 1.0)
    runs = tuple(Observation(seed=seed, **numbers) for seed in (1, 2))
    try:
        by_rules(claim, study.reader(Evidence(cells=dict.fromkeys(study.cells, runs))), {}, {})
    except (SojournError, TypeError, KeyError) as error:
        message = f"{where} cannot be judged: {error}"
        raise ParamError(message) from error
