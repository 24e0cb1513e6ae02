"""Heat maps of coexistence: what an L4S flow has of what it and a classic one have together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from sojourn.plots import heat_maps, style

if TYPE_CHECKING:
    from sojourn.l4s.outcome import JudgedCell

#: From the classic side's colour over white at 50 % to the L4S side's; both can be told by colour-blind readers.
_COLOURS = "PuOr"
_COLUMNS = 3


def coexistence(
    panels: Sequence[tuple[str, Mapping[tuple[float, float], JudgedCell]]], axes: tuple[str, str], *, title: str
) -> Figure:
    """Draw a panel for each bottleneck: shares by colour and number, below it the waits of both sides, ms.

    - `panels`: title and cells, by their places along and up.
    - `axes`: what stands along and up, with units.
    """
    columns = min(_COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    width = max(len({x for x, _ in cells}) for _, cells in panels)
    height = max(len({y for _, y in cells}) for _, cells in panels)
    with style.canvas((0.82 * width + 0.9) * columns + 0.9, (0.56 * height + 0.9) * lines + 0.6) as figure:
        grid = figure.subplots(lines, columns, squeeze=False)
        norm = Normalize(0, 100)
        for axis, (name, cells) in zip(grid.flat, panels, strict=False):
            _panel(axis, cells, norm)
            axis.set_title(name, fontsize=10.5)
            axis.set(xlabel=axes[0], ylabel=axes[1])
        for axis in grid.flat[len(panels) :]:
            axis.set_visible(False)
        bar = figure.colorbar(ScalarMappable(norm, _COLOURS), ax=grid, shrink=0.8, pad=0.01)
        bar.set_label("Share of an L4S flow (%)\n50 is alike")
        bar.outline.set_visible(False)
        style.add_title(figure, title)
    return figure


def _panel(axis: Axes, cells: Mapping[tuple[float, float], JudgedCell], norm: Normalize) -> None:
    along, up = ([*dict.fromkeys(place[i] for place in cells)] for i in (0, 1))
    shares = np.array([[_share(cells[x, y]) for x in along] for y in up])
    names = [[f"{value:g}" for value in labels] for labels in (up, along)]
    heat_maps.cells(axis, shares, (names[0], names[1]), norm, _COLOURS)
    for row, y in enumerate(up):
        for column, x in enumerate(along):
            one = cells[x, y]
            if one.verdict == "not filled":
                heat_maps.write(axis, column + 0.5, row + 0.5, "not filled", 6.5, style.FAINT)
                continue
            colour = "white" if abs(shares[row, column] - 50) > 30 else style.INK
            heat_maps.write(axis, column + 0.5, row + 0.62, f"{shares[row, column]:.0f}", 10, colour)
            waits = [one.mean(name) for name in ("l4s_queue_ms", "classic_queue_ms")]
            text = " / ".join("-" if wait is None else f"{wait:.2g}" if wait < 10 else f"{wait:.0f}" for wait in waits)
            heat_maps.write(axis, column + 0.5, row + 0.24, text, 6.5, colour)


def _share(one: JudgedCell) -> float:
    return float("nan") if one.verdict == "not filled" else one.share.value
