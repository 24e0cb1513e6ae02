"""Heat maps of numbers, side by side: what a test bed measured beside what was run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from sojourn.plots import style


@dataclass(frozen=True, slots=True, kw_only=True)
class Maps:
    """Maps with the same colours."""

    #: What the numbers are, with their unit.
    label: str
    #: Title and numbers, by row and column.
    panels: Sequence[tuple[str, Mapping[tuple[str, str], float]]]
    #: What the two ends of the colours are; `None`: the least and the largest number, logarithmic if all are above 0.
    bounds: tuple[float, float] | None = None
    #: The name of matplotlib's colours.
    colours: str = "YlGnBu"


def heat_maps(lines: Sequence[Maps], *, columns: Sequence[str], across: str, title: str) -> Figure:
    """Draw a line of panels for each of `lines`; rows of all panels are alike, in the order of the numbers.

    - `columns`: of all panels, in their order.
    - `across`: what the columns are, with their unit.
    """
    places = [place for maps in lines for _, numbers in maps.panels for place in numbers]
    rows = [*dict.fromkeys(row for row, _ in places)]
    wide = max(len(maps.panels) for maps in lines)
    with style.canvas((0.62 * len(columns) + 0.7) * wide + 3.0, (0.34 * len(rows) + 0.9) * len(lines) + 0.6) as figure:
        grid = figure.subplots(len(lines), wide, squeeze=False, sharey=True)
        for maps, axes in zip(lines, grid, strict=True):
            norm = _norm(maps)
            for axis, (name, numbers) in zip(axes, maps.panels, strict=False):
                _panel(axis, numbers, (rows, columns), norm, maps.colours)
                axis.set_title(name, fontsize=10.5)
                axis.set_xlabel(across)
            for axis in axes[len(maps.panels) :]:
                axis.set_visible(False)
            bar = figure.colorbar(ScalarMappable(norm, maps.colours), ax=axes, pad=0.01)
            bar.set_label(maps.label)
            bar.outline.set_visible(False)
            if isinstance(norm, LogNorm):
                style.log_ticks(bar.ax.yaxis)
        style.add_title(figure, title)
    return figure


def _norm(maps: Maps) -> Normalize:
    if maps.bounds is not None:
        return Normalize(*maps.bounds)
    values = [value for _, numbers in maps.panels for value in numbers.values()]
    least, most = min(values), max(values)
    return LogNorm(least, most) if 0 < least < most else Normalize(least, max(most, least + 1))


def cells(
    axis: Axes, values: npt.ArrayLike, names: tuple[Sequence[str], Sequence[str]], norm: Normalize, colours: str
) -> QuadMesh:
    """Draw coloured cells, with the names of their rows and columns at the axes; one that is not a number is blank."""
    mesh = axis.pcolormesh(np.ma.masked_invalid(values), cmap=colours, norm=norm, edgecolors="white", linewidth=1.2)
    for ticks, labels in zip((axis.set_yticks, axis.set_xticks), names, strict=True):
        ticks([place + 0.5 for place in range(len(labels))], labels)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    return mesh


def write(axis: Axes, x: float, y: float, text: str, size: float, colour: str) -> None:
    """Write in the middle of a place."""
    axis.text(x, y, text, ha="center", va="center", fontsize=size, color=colour)


def _panel(
    axis: Axes,
    numbers: Mapping[tuple[str, str], float],
    names: tuple[Sequence[str], Sequence[str]],
    norm: Normalize,
    colours: str,
) -> None:
    rows, columns = names
    values = np.array([[numbers.get((row, column), np.nan) for column in columns] for row in rows])
    mesh = cells(axis, values, names, norm, colours)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            red, green, blue, _ = mesh.cmap(norm(value))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            text = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
            write(axis, column + 0.5, row + 0.5, text, 8.5, "white" if dark else style.INK)
    axis.set_ylim(len(rows), 0)
