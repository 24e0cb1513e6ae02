"""The figures and tables of a user's study, by their kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sojourn.errors import ParamError, SojournError
from sojourn.stats import mean_interval
from sojourn.study.cell import Cell
from sojourn.study.evidence import Evidence
from sojourn.study.quantities import heading, quantity
from sojourn.study.rules import Value
from sojourn.units import bits_per_s, seconds

if TYPE_CHECKING:
    from sojourn.report.exhibit import Exhibit
    from sojourn.study.file import ExhibitTable, Study

#: The axes that each kind needs and may have.
NEEDED = {"lines": ("along", "lines"), "heat map": ("along", "up"), "table": ()}
ALLOWED = {"lines": ("along", "lines", "panels"), "heat map": ("along", "up", "panels"), "table": ()}


def check(study: Study, table: ExhibitTable, where: str) -> None:
    """Check an exhibit before anything is run; `where` it stands begins the sentence.

    Raises `ParamError` if it names no axis or quantity of the study, or leaves out an axis of several values.
    """
    for text in table.quantities:
        quantity(text, f"{where}.quantities")
    named = {key: getattr(table, key) for key in ("along", "lines", "up", "panels") if getattr(table, key)}
    for key in NEEDED[table.kind]:
        if key not in named:
            message = f"{where}.{key} is missing, but kind {table.kind!r} needs one of {', '.join(study.axes.names)}"
            raise ParamError(message)
    for key, axis in named.items():
        if key not in ALLOWED[table.kind]:
            message = f"{where}.{key} is {axis!r}, but kind {table.kind!r} has none: leave it out"
            raise ParamError(message)
        if axis not in study.axes.names or list(named.values()).count(axis) > 1:
            message = f"{where}.{key} is {axis!r}, but must be one of {', '.join(study.axes.names)}, each once"
            raise ParamError(message)
    for axis, value in table.at.items():
        if axis not in study.axes.names or value not in study.values[axis] or axis in named.values():
            message = f"{where}.at has {axis} {value!r}, but must have values of axes that are not shown"
            raise ParamError(message)
    if table.kind == "table":
        return
    for axis, values in study.values.items():
        if axis not in named.values() and axis not in table.at and len(values) > 1:
            message = f"{where} leaves out the axis {axis}, which has {len(values)} values: name it, or one value in at"
            raise ParamError(message)
    if table.kind == "lines":
        for value in study.values[table.along]:
            _number(value, f"{where}.along")


def _number(value: Any, where: str = "along") -> float:
    """Return where a value stands on an axis of numbers: Mbit/s of a rate or of a link's download, ms of a time."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    text = str(value).partition("/")[0]
    for read, scale in ((float, 1.0), (seconds, 1e3), (bits_per_s, 1e-6)):
        try:
            return float(read(text)) * scale
        except ValueError:
            continue
    message = f'{where} has the value {value!r}, but lines need numbers, rates or times: kind = "table" needs none'
    raise ParamError(message)


def exhibits(study: Study, evidence: Evidence) -> list[Exhibit]:
    """Return what is shown of a study's runs: its exhibits, and a table of all cells."""
    from sojourn.report.exhibit import Exhibit, Figure, draw

    shown = []
    for number, table in enumerate(study.head.exhibits, 1):
        name, texts = f"exhibit-{number}", table.quantities or study.head.quantities
        if table.kind == "table":
            cells = [cell for cell in study.cells if all(getattr(cell, k) == v for k, v in table.at.items())]
            shown.append(
                Exhibit(
                    name=name, title=table.title, section="", says="", table=_table(study, evidence, cells, texts, name)
                )
            )
            continue
        drawn: list[Figure] = []
        if table.kind == "lines":
            drawn.append(draw(name, _CAPTION, _lines(study, evidence, table, texts)))
        else:
            for place, text in enumerate(texts, 1):
                drawing = _heat_map(study, evidence, table, text)
                drawn += [] if drawing is None else [draw(f"{name}-{place}", f"Means of {heading(text)}.", drawing)]
        shown.append(Exhibit(name=name, title=table.title, section="", says="", figures=tuple(drawn)))
    everything = _table(study, evidence, study.cells, study.quantities, "cells")
    shown.append(Exhibit(name="cells", title="All cells", section="", says="", table=everything))
    return shown


_CAPTION = "Means over the runs of each cell, with their 95 % intervals."


def _table(study: Study, evidence: Evidence, cells: list[Cell], texts: list[str], name: str) -> Any:
    from sojourn.study.exhibits import Column, means

    columns = [
        Column(
            head=heading(text),
            of=partial(_of, study, evidence, text),
            digits=quantity(text, "")[0].digits,
        )
        for text in texts
    ]
    rows = {tuple(str(value) for value in cell.values): cell for cell in cells}
    note = "Means over the runs of a cell and their 95 % intervals; a dash is a quantity that no run has."
    heads = study.axes.names
    return means(name, rows, columns, heads=heads, note=note, intervals=True, left=len(heads))


def _of(study: Study, evidence: Evidence, text: str, cell: Cell) -> list[float]:
    return _values(study, evidence, cell, text)


def _values(study: Study, evidence: Evidence, cell: Cell, text: str) -> list[float]:
    try:
        return list(study.reader(evidence).quantity(text, cell.settings, {}).values())
    except SojournError:
        return []


def _panels(study: Study, table: ExhibitTable) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield the title of each panel, and the settings of its cells that are the same."""
    for value in study.values[table.panels] if table.panels else [None]:
        settings = {axis: values[0] for axis, values in study.values.items()} | table.at
        yield ("", settings) if value is None else (f"{table.panels} {value}", {**settings, table.panels: value})


def _lines(study: Study, evidence: Evidence, table: ExhibitTable, texts: list[str]) -> Any:
    from sojourn.plots.rural import Line, Panel, curves

    panels = []
    for text in texts:
        for title, settings in _panels(study, table):
            lines = []
            for value in study.values[table.lines]:
                points = {}
                for place in study.values[table.along]:
                    cell = study.axes(**{**settings, table.lines: value, table.along: place})
                    if values := _values(study, evidence, cell, text):
                        points[_number(place)] = mean_interval(values)
                lines.append(Line(scheme=str(value), label=str(value), points=points))
            y = heading(text) + (f"\n{title}" if title else "")
            panels.append(Panel(x=table.along, y=y, lines=lines))
    return curves(panels, title=table.title)


def _heat_map(study: Study, evidence: Evidence, table: ExhibitTable, text: str) -> Any:
    from sojourn.plots.heat_maps import Maps, heat_maps

    panels = []
    for title, settings in _panels(study, table):
        numbers = {}
        for up in study.values[table.up]:
            for along in study.values[table.along]:
                cell = study.axes(**{**settings, table.up: up, table.along: along})
                if values := _values(study, evidence, cell, text):
                    numbers[str(up), str(along)] = mean_interval(values).value
        panels.append((title, numbers))
    if not any(numbers for _, numbers in panels):
        return None
    columns = [str(value) for value in study.values[table.along]]
    maps = Maps(label=heading(text), panels=panels)
    return heat_maps([maps], columns=columns, across=table.along, title=table.title)
