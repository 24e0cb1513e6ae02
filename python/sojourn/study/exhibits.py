"""Figures and tables as data: how `exhibits.toml` of a paper says what is shown of its runs.

    [[exhibits]]
    name = "fig3"
    title = "Fig. 3: the interval"
    plot = "rural.curves"
    panels = [{ of = "utilisation", y = "Utilisation (%)" }, { of = "queueing", y = "Queuing delay (ms)" }]
    along = { interval = "LAMBDA" }
    lines = [{ for = { scheme = "CODELS", load = "LOADS" }, label = "{words}, {load} load" }]

Loops (`for`), cells (`at`) and quantities (`of`) are those of the claims (`sojourn.study.rules`); `[names]` adds
to their names, and `[words]` has variables of all exhibits. A key that a table lacks is that of the table around it, or
else the variable of that name. In texts `{...}` stands for a variable. The keys of an exhibit:

`name`, `title`, `section`, `says`, `claims`
    As `sojourn.report.exhibit.Exhibit` has them.
`like`
    The name of an exhibit before it, or its `id` if it has one: it has the keys of that, unless it has them itself.
`claims_of`
    Instead of `claims`: the part of the paper whose claims they are.
`for`
    An exhibit for each turn of the loop.
`parts`
    Parts of the paper, of which one must have been run.
`needs`
    Cells that must have been run: tables with `at` and `for`.
`paragraphs`
    A function of the paper's with its arguments.
`table`
    The same, or a table of means: `rows`, a loop of which each variable is a column, or without it a row for each cell;
    their `heads`; `columns` with `of`, `head`, `digits` and, if it is called otherwise in the records, `key`; `note`;
    `left`; whether means are shown with their `intervals`; `called`, the file's name.
`figures`
    Tables with `for` and the keys below, or these keys themselves for a single figure: `file`, `caption`, and `plot`, a
    function of `sojourn.plots` that takes `panels` or `data`, and `options` by name.
`panels`
    Tables with `for`, the words of the panel, and either `lines` or `curves`. A panel's title is its `heading`.
`lines`
    Tables with `for`, `label`, `look`, `dashed` and `hollow`: means of `of` with their intervals at the places of the
    loop `along`.
`curves`
    Tables with `for`, `label` and `dashed`: the array `up` over the array `across`. A curve whose cell was not run is
    left out, and a panel without curves.
`data`
    What the function takes, one after the other: a function of the paper's with its arguments, or a table with
    `levels`, a loop of which each variable is a level of a mapping, and in it the repeats' values of a quantity (`of`),
    of several, or an array (`array`). What was not run is left out.

A table that a loop steps through binds the variable of the loop's own name where that is a column, a level or a place.
A figure without data is left out, and so is an exhibit without a figure or table. More is not said in data: what needs
it is a function of the paper's (`exhibits.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from sojourn import tables
from sojourn.errors import SojournError
from sojourn.report.exhibit import Exhibit, Figure, draw
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval
from sojourn.study.cell import Cell
from sojourn.study.claims import load, reader_of, stored
from sojourn.study.evidence import BySeed, Evidence
from sojourn.study.rules import Reader, Variables, Vocabulary

Spec = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """What the exhibits of a paper may name besides what its claims do."""

    #: The name of its folder.
    paper: str
    #: That of its claims.
    vocabulary: Vocabulary
    #: Those of a run and of a cell that no claim speaks of.
    quantities: Mapping[str, Callable[..., float | None]] = field(default_factory=dict)
    series: Mapping[str, Callable[..., BySeed]] = field(default_factory=dict)
    #: By name, what is not said in data: evidence and arguments give data, a table or paragraphs.
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    #: By name, what a curve is drawn of: evidence, cell and arguments.
    arrays: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    #: Of all exhibits, from the evidence.
    variables: Callable[[Any], Variables] | None = None
    #: How the row of a cell begins in a table of all cells, by the name in the records.
    labels: Callable[[Cell], Mapping[str, str]] | None = None

    def exhibits(self, evidence: Any, parts: Sequence[str] | None = None) -> tuple[Exhibit, ...]:
        """Return every exhibit that there are runs for, in the file's order, of parts of the paper or of all."""
        plain = stored(self.paper, "exhibits", dict)
        words = {**plain.get("words", {}), **({} if self.variables is None else self.variables(evidence))}
        vocabulary = replace(
            self.vocabulary,
            quantities={**self.vocabulary.quantities, **self.quantities},
            series={**self.vocabulary.series, **self.series},
        )
        reader = reader_of(self.paper, vocabulary, evidence, plain.get("names"))
        drawing = _Drawing(gallery=self, evidence=evidence, reader=reader)
        found: list[Exhibit] = []
        specs: dict[str, Spec] = {}
        for one in plain["exhibits"]:
            spec = {**specs.get(one.get("like", ""), {}), **one}
            specs[one.get("id", spec["name"])] = spec
            if parts is None or set(spec.get("parts", words.get("parts", parts))) & set(parts):
                turns = reader.loops(spec.get("for", {}), words)
                found += [shown for turn in turns if (shown := drawing.exhibit(spec, turn)) is not None]
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table of means: its head, the repeats' values in a cell, decimals, and its name in the records."""

    head: str
    of: Callable[[Cell], list[float]]
    digits: int
    key: str = ""


def means(
    name: str,
    rows: Mapping[tuple[str, ...], Cell],
    columns: Sequence[Column],
    *,
    heads: Sequence[str],
    note: str,
    keys: Sequence[str] = (),
    runs: Callable[[Cell], int] | None = None,
    intervals: bool = False,
    left: int = 2,
) -> Table:
    """Return the means of quantities in cells; the records have their intervals.

    - `name`, `note`, `left`: as `Table` has them.
    - `rows`: the cells, by how their rows begin.
    - `heads`, `keys`: of how rows begin: the columns' heads, and their names in the records (default: the same).
    - `runs`: the number of runs of a cell, for a column of its own; `None` for none.
    - `intervals`: whether intervals are shown too.
    """
    shown, records = [], []
    for labels, cell in rows.items():
        row = [*labels, *([] if runs is None else [str(runs(cell))])]
        for column in columns:
            values = column.of(cell)
            found = mean_interval(values) if values else None
            row.append(
                interval_text(found, column.digits)
                if intervals
                else tables.number(None if found is None else found.value, column.digits)
            )
            named = dict(zip(keys or heads, labels, strict=True))
            records.append(named | {"quantity": column.key or column.head} | recorded(found))
        shown.append(tuple(row))
    return Table(
        name=name,
        headers=(*heads, *([] if runs is None else ["runs"]), *(column.head for column in columns)),
        rows=tuple(shown),
        records=tuple(records),
        note=note,
        left=left,
    )


def interval_text(found: Interval | None, digits: int = 1) -> str:
    """Return a mean with its interval, or a dash."""
    return "-" if found is None else tables.interval(found.value, found.low, found.high, digits)


def recorded(found: Interval | None, name: str = "mean") -> dict[str, float | int | None]:
    """Return a mean with its interval for the records of a table."""
    if found is None:
        return {name: None, "low": None, "high": None, "runs": 0}
    return {name: found.value, "low": found.low, "high": found.high, "runs": found.n}


@dataclass(frozen=True, kw_only=True)
class _Drawing:
    """Draws the exhibits of a paper of what was run."""

    gallery: Gallery
    evidence: Evidence
    reader: Reader

    def exhibit(self, spec: Spec, turn: Variables) -> Exhibit | None:
        """Return an exhibit; `None` if there is nothing to show."""
        cells = [
            self.cell({**spec, **each}, inner) for each in spec.get("needs", ()) for inner in self._loop(each, turn)
        ]
        if not all(cell in self.evidence.cells for cell in cells):
            return None
        parts = spec.get("figures", [spec] if "plot" in spec else [])
        turns = [(part, inner) for part in parts for inner in ([turn] if part is spec else self._loop(part, turn))]
        figures = [self._figure({**spec, **part}, inner) for part, inner in turns]
        there = tuple(figure for figure in figures if figure is not None)
        table = self._table(spec, turn)
        if not there and table is None:
            return None
        words = {key: _get(spec, turn, key) for key in ("name", "title", "section", "says")}
        claims = tuple(_get(spec, turn, "claims", ()))
        if "claims_of" in spec:
            claims = tuple(claim.id for claim in load(self.gallery.paper, parts=(spec["claims_of"],)))
        paragraphs = self._call(spec["paragraphs"], turn) if "paragraphs" in spec else ()
        return Exhibit(**words, figures=there, table=table, claims=claims, paragraphs=paragraphs)

    def cell(self, spec: Spec, turn: Variables) -> Cell:
        """Return the cell of a table."""
        return self.gallery.vocabulary.axes(**self._fields(spec, turn))

    def _figure(self, spec: Spec, turn: Variables) -> Figure | None:
        module, _, function = spec["plot"].partition(".")
        plots = import_module(f"sojourn.plots.{module}")
        items = spec["data"] if isinstance(spec.get("data"), list) else [spec.get("data")]
        arguments = (
            [self._data(one, spec, turn) for one in items]
            if "data" in spec
            else [list(self._panels(spec, turn, plots))]
        )
        if arguments[0] is None or not len(arguments[0]):
            return None
        options = {key: self.reader.value(value, turn) for key, value in spec.get("options", {}).items()}
        name = _get(spec, turn, "file" if "file" in spec else "name")
        return draw(name, _get(spec, turn, "caption"), getattr(plots, function)(*arguments, **options))

    def _panels(self, spec: Spec, turn: Variables, plots: Any) -> Iterator[Any]:
        for one in spec["panels"]:
            panel = {**spec, **one}
            for inner in self._loop(one, turn):
                words = _words(panel, inner, "x", "y", "level")
                if "lines" in panel:
                    lines = [
                        self._line({**panel, **each}, last, plots) for each, last in self._each(panel["lines"], inner)
                    ]
                    yield plots.Panel(lines=lines, **words, **_words(panel, inner, "logarithmic"))
                    continue
                curves = [
                    self._curve({**panel, **each}, last, plots) for each, last in self._each(panel["curves"], inner)
                ]
                if any(curves):
                    there = [curve for curve in curves if curve is not None]
                    yield plots.Panel(curves=there, **words, title=_get(panel, inner, "heading", ""))

    def _line(self, spec: Spec, turn: Variables, plots: Any) -> Any:
        ((along, places),) = spec["along"].items()
        found = {one[along]: self._values(spec, one) for one in self.reader.loops({along: places}, turn)}
        points = {place: mean_interval(values) for place, values in found.items() if values}
        looks = _words(spec, turn, "label", "dashed", "hollow")
        return plots.Line(scheme=_get(spec, turn, "look"), points=points, **looks)

    def _curve(self, spec: Spec, turn: Variables, plots: Any) -> Any | None:
        try:
            x, y = (self._array(_get(spec, turn, key), spec, turn) for key in ("across", "up"))
        except SojournError:
            return None
        return plots.Curve(x=x, y=y, **_words(spec, turn, "label", "dashed"))

    def _data(self, item: Any, spec: Spec, turn: Variables) -> Any:
        """Return what a plot takes; nothing, or `None`, if nothing of it was run."""
        if isinstance(item, str):
            return self._call(item, turn)
        return self._levels(list(item["levels"].items()), {**spec, **item}, turn)

    def _levels(self, levels: list[tuple[str, Any]], spec: Spec, turn: Variables) -> Any:
        """Return a mapping of mappings, or at their end what they lead to; `None` if nothing of it was run."""
        if levels:
            (name, values), *rest = levels
            turns = [(one[name], self._levels(rest, spec, one)) for one in self.reader.loops({name: values}, turn)]
            return {key: below for key, below in turns if below is not None} or None
        if self.cell(spec, turn) not in self.evidence.cells:
            return None
        if "array" in spec:
            return self._array(_get(spec, turn, "array"), spec, turn)
        if isinstance(spec["of"], list):
            return tuple(self._values({**spec, "of": of}, turn) for of in spec["of"])
        return self._values(spec, turn)

    def _table(self, spec: Spec, turn: Variables) -> Table | None:
        table = _get(spec, turn, "table")
        if table is None or isinstance(table, str):
            return None if table is None else self._call(table, turn)
        labels = self.gallery.labels
        rows: dict[tuple[str, ...], Cell] = {}
        keys: Sequence[str] = ()
        if "rows" in table:
            turns = self.reader.loops(table["rows"], turn)
            rows = {tuple(str(one[name]) for name in table["rows"]): self.cell({**spec, **table}, one) for one in turns}
        elif labels is not None:
            for cell in sorted(self.evidence.cells):
                keys, shown = zip(*labels(cell).items(), strict=True)
                rows[shown] = cell
        if not rows:
            return None
        return means(
            _get(table, turn, "called", _get(spec, turn, "name")),
            rows,
            [
                Column(head=one["head"], of=self._of(one["of"], turn), digits=one["digits"], key=one.get("key", ""))
                for one in table["columns"]
            ],
            heads=table["heads"],
            keys=keys,
            note=_get(table, turn, "note"),
            runs=None if "rows" in table else lambda cell: len(self.evidence.of(cell)),
            intervals=table.get("intervals", False),
            left=table["left"],
        )

    def _of(self, of: str, turn: Variables) -> Callable[[Cell], list[float]]:
        return lambda cell: self._numbers(of, cell.settings, turn)

    def _values(self, spec: Spec, turn: Variables) -> list[float]:
        return self._numbers(_get(spec, turn, "of"), self._fields(spec, turn), turn)

    def _numbers(self, of: str, fields: Variables, turn: Variables) -> list[float]:
        """Return a quantity of each repeat that has it; nothing if none has, or there is none."""
        try:
            return list(self.reader.quantity(of, fields, turn).values())
        except SojournError:
            return []

    def _array(self, name: str, spec: Spec, turn: Variables) -> Any:
        word, *arguments = name.split()
        return self.gallery.arrays[word](self.evidence, self.cell(spec, turn), *arguments)

    def _call(self, text: str, turn: Variables) -> Any:
        name, *arguments = text.format(**turn).split()
        return self.gallery.functions[name](self.evidence, *arguments)

    def _fields(self, spec: Spec, turn: Variables) -> dict[str, Any]:
        fields = self.reader.placed(self.reader.fields({}, spec.get("cell", ()), turn), turn)
        return self.reader.fields(fields, _get(spec, turn, "at", ()), turn)

    def _loop(self, spec: Spec, turn: Variables) -> Iterator[Variables]:
        return self.reader.loops(spec.get("for", {}), turn)

    def _each(self, specs: Sequence[Spec], turn: Variables) -> Iterator[tuple[Spec, Variables]]:
        return ((spec, inner) for spec in specs for inner in self._loop(spec, turn))


def _get(spec: Spec, turn: Variables, key: str, default: Any = None) -> Any:
    """Return what a table has of a key, or else the variable of that name, with its variables filled in."""
    value = spec[key] if key in spec else turn.get(key, default)
    return value.format(**turn) if isinstance(value, str) else value


def _words(spec: Spec, turn: Variables, *keys: str) -> dict[str, Any]:
    found = {key: _get(spec, turn, key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}
