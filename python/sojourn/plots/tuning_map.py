"""The map of CoDel's parameters: best target and interval over rate and RTT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from sojourn.plots import heat_maps, style

if TYPE_CHECKING:
    from sojourn.tune.map import MapCell

_PANELS = ("target", "interval")


def tuning_map(cells: Sequence[MapCell]) -> Figure:
    """Draw the best target and interval of each discipline, in ms; the range of those nearly as good below."""
    qdiscs = list(dict.fromkeys(cell.qdisc for cell in cells))
    rates = list(dict.fromkeys(cell.rate for cell in cells))
    rtts = sorted({cell.rtt_ms for cell in cells})
    with style.canvas(0.86 * len(rates) * len(_PANELS) + 2.2, (0.56 * len(rtts) + 1.1) * len(qdiscs) + 0.5) as figure:
        grids = figure.subplots(len(qdiscs), len(_PANELS), squeeze=False)
        for column, name in enumerate(_PANELS):
            values = [cell.best[name] for cell in cells if cell.filled] or [1.0]
            norm = LogNorm(min(values), max(*values, min(values) * 2))
            for line, qdisc in zip(grids, qdiscs, strict=True):
                mine = {(cell.rate, cell.rtt_ms): cell for cell in cells if cell.qdisc == qdisc}
                _panel(line[column], mine, rates, rtts, name, norm)
                line[column].set_title(f"{qdisc}: best {name} (ms)", fontsize=10.5)
    return figure


def _panel(
    axis: Axes,
    cells: Mapping[tuple[str, float], MapCell],
    rates: Sequence[str],
    rtts: Sequence[float],
    name: str,
    norm: LogNorm,
) -> None:
    heights = [[cells[rate, rtt].best[name] if cells[rate, rtt].filled else np.nan for rate in rates] for rtt in rtts]
    short = [rate.replace("kbit", "k").replace("mbit", "M").replace("gbit", "G") for rate in rates]
    heat_maps.cells(axis, heights, ([f"{rtt:g}" for rtt in rtts], short), norm, "YlGnBu")
    for y, rtt in enumerate(rtts):
        for x, rate in enumerate(rates):
            cell = cells[rate, rtt]
            colour = "white" if float(norm(cell.best[name])) > 0.55 else style.INK
            if not cell.filled:
                heat_maps.write(axis, x + 0.5, y + 0.5, "not filled", 6.5, style.FAINT)
                continue
            heat_maps.write(axis, x + 0.5, y + 0.62, f"{cell.best[name]:g}", 10, colour)
            low, high = cell.near[name]
            if low != high:
                heat_maps.write(axis, x + 0.5, y + 0.25, f"{low:g}-{high:g}", 6.5, colour)
    axis.set(xlabel="Rate (bit/s)", ylabel="Base RTT (ms)")
