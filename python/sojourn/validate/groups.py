"""The errors of drawn scenarios for each discipline and each congestion control, judged by the usual bars.

A group has the scenarios of one discipline or one control. A scenario with two controls is in the groups of both. Its
errors are those of the population: the divisor of a latency's error is the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sojourn import tables
from sojourn.validate import bars
from sojourn.validate.entry import Group, GroupQuantile
from sojourn.validate.errors import QUANTILES, USUAL, Bars, Error, Itself, Quantile, linear, quantiles
from sojourn.validate.grid import PlannedCell
from sojourn.validate.judge import finite
from sojourn.validate.part import Part


def groups_of(found: Mapping[str, Sequence[Error]], itself: Itself) -> list[Group]:
    """Return the groups of scenarios by name, with the errors of each metric and of the simulator against itself."""
    usual = Bars(least_ms=0, latency=USUAL, goodput=USUAL, worst=0)
    names = sorted({name for errors in found.values() for error in errors for name in names_of(error.row.cell)})
    groups = []
    for name in names:
        errors = {
            metric: [error for error in each if name in names_of(error.row.cell)] for metric, each in found.items()
        }
        floors = {
            metric: {
                error.row.cell.name: itself[metric][error.row.cell.name]
                for error in each
                if error.row.cell.name in itself.get(metric, {})
            }
            for metric, each in errors.items()
        }
        groups.append(Group(name=name, quantiles=[_quantile(one) for one in quantiles(errors, usual, floors)]))
    return groups


def _quantile(one: Quantile) -> GroupQuantile:
    return GroupQuantile(
        metric=one.metric,
        title=one.title,
        name=one.name,
        scenarios=one.n,
        value=finite(one.value),
        itself=finite(one.itself),
        verdict=one.judged.verdict,
    )


def names_of(cell: PlannedCell) -> tuple[str, ...]:
    """Return the groups of a scenario: its discipline and its controls."""
    return (cell.qdisc, *sorted({flow.congestion_control for flow in cell.scenario.flows if flow.congestion_control}))


def blocks(part: Part, level: int) -> list[str]:
    """Return the groups of a part as Markdown: a heading of a level, what is counted, and a table.

    Metrics without a bar have their errors in it, too, but no verdict.
    """
    judged = {(group.name, one.metric, one.name): one for group in part.groups for one in group.quantiles}
    median, high = (f"{100 * bar:g} %" for bar in USUAL)
    each = _errors(part)
    titles = {metric: title for metrics in each.values() for metric, (title, _) in metrics.items()}
    said = Counter(
        _verdict(of_metric)
        for group in each
        for metric in titles
        if (of_metric := [judged[key] for _, name in QUANTILES if (key := (group, metric, name)) in judged])
    )
    rows = [
        [
            group,
            str(max(len(errors) for _, errors in metrics.values())),
            *(
                _cell(metrics[metric][1], [judged.get((group, metric, name)) for _, name in QUANTILES])
                if metric in metrics
                else "-"
                for metric in titles
            ),
        ]
        for group, metrics in sorted(each.items())
    ]
    counted = (
        f"\nOf {said.total()} pairs of quantiles {said[bars.AGREES]} agree, {said[bars.DIFFERS]} differ, and of "
        f"{said[bars.CANNOT_TELL]} one cannot tell."
        if said
        else ""
    )
    return [
        f"{'#' * level} {part.name}: errors of each discipline and control",
        "Median and 90th percentile, and in brackets the same of the simulator against itself. The bars are\n"
        f"{median} and {high}. A verdict is there where one of them is missed. Marks are not judged.\n"
        f"A scenario with two controls counts for both.{counted}",
        tables.markdown(["of", "scenarios", *(f"{title}, %" for title in titles.values())], rows),
    ]


#: A metric's title and its errors, fractions.
_Of = tuple[str, list[float]]


def _errors(part: Part) -> dict[str, dict[str, _Of]]:
    """Return the errors of each group and metric."""
    groups: dict[str, dict[str, _Of]] = {}
    for entry in part.errors:
        for group in (entry.qdisc, *part.scenario(entry.scenario).controls):
            groups.setdefault(group, {}).setdefault(entry.metric, (entry.title, []))[1].append(entry.error)
    return groups


def _cell(errors: Sequence[float], judged: Sequence[GroupQuantile | None]) -> str:
    values = _pair(float(linear(np.array(errors), share)) for share, _ in QUANTILES)
    there = [one for one in judged if one is not None]
    if not there:
        return values
    verdict = _verdict(there)
    floors = [one.itself for one in there if one.itself is not None]
    itself = "" if len(floors) < len(there) else f" ({_pair(floors)})"
    return f"{values}{itself}{'' if verdict == bars.AGREES else f' {verdict}'}"


def _pair(shares: Iterable[float]) -> str:
    return " / ".join("infinite" if math.isinf(one) else f"{100 * one:.1f}" for one in shares)


def _verdict(quantiles_of: Iterable[GroupQuantile]) -> str:
    """Return one verdict for both quantiles, the worse."""
    found = {one.verdict for one in quantiles_of}
    return next(one for one in (bars.DIFFERS, bars.CANNOT_TELL, bars.AGREES) if one in found)
