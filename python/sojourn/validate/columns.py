"""Parts of several kernels side by side: a column for each kernel."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import tables
from sojourn.validate import words
from sojourn.validate.part import Part


def kernels(parts: Sequence[Part]) -> list[str]:
    """Return the kernels of the parts, by their releases, each once, in the order of the parts."""
    return list(dict.fromkeys(_kernel(part) for part in parts))


def counts_table(parts: Sequence[Part]) -> str:
    """Return how many cells of each metric are within the bar, of how many, and surely: a column for each kernel."""
    columns = kernels(parts)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for part in parts:
        for title, one in part.counts().items():
            cell = f"{one.agrees} of {one.cells} ({one.surely})"
            rows.setdefault((part.subject, title), {})[_kernel(part)] = cell
    table = [[*row, *(there.get(column, "-") for column in columns)] for row, there in rows.items()]
    return tables.markdown(["", "metric", *columns], table, left=2)


def quantiles_table(parts: Sequence[Part]) -> str:
    """Return the quantiles of the relative errors of one population: a column for each kernel."""
    columns = kernels(parts)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for part in parts:
        for title, value, itself, bar, verdict in map(words.quantile_cells, words.quantiles(part)):
            rows.setdefault((title, bar), {})[_kernel(part)] = f"{value} ({itself}) {verdict}"
    heads = ["relative error, % [95 % interval] (of itself)", "bar", *columns]
    return tables.markdown(
        heads, [[*row, *(there.get(column, "-") for column in columns)] for row, there in rows.items()]
    )


def _kernel(part: Part) -> str:
    return part.facts.get("kernel", "-")
