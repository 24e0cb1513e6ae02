"""The map of CoDel's parameters: best target and interval over rate and RTT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from sojourn.plots import style

_PANELS = (("target_ms", "target"), ("interval_ms", "interval"))


def tuning_map(rows: Sequence[Mapping[str, Any]], *, title: str = "") -> Figure:
    """Draw the best target and interval of each discipline, in ms; the range of those nearly as good below.

    Parameters
    ----------
    rows
        What `sojourn.tune.map.rows` returns.
    title
        Above the figure.
    """
    qdiscs = list(dict.fromkeys(row["qdisc"] for row in rows))
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    rtts = sorted({row["rtt_ms"] for row in rows})
    with style.house_style():
        figure = Figure(
            figsize=(0.86 * len(rates) * len(_PANELS) + 2.2, (0.56 * len(rtts) + 1.1) * len(qdiscs) + 0.5),
            layout="constrained",
        )
        grids = figure.subplots(len(qdiscs), len(_PANELS), squeeze=False)
        for column, (key, name) in enumerate(_PANELS):
            values = [row[key] for row in rows if row["filled"]] or [1.0]
            norm = LogNorm(min(values), max(*values, min(values) * 2))
            for line, qdisc in zip(grids, qdiscs, strict=True):
                mine = {(row["rate"], row["rtt_ms"]): row for row in rows if row["qdisc"] == qdisc}
                _panel(line[column], mine, rates, rtts, key, name, norm)
                line[column].set_title(f"{qdisc}: best {name} (ms)", fontsize=10.5)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=12, weight="bold")
    return figure


def _panel(
    axis: Axes,
    cells: Mapping[tuple[str, float], Mapping[str, Any]],
    rates: Sequence[str],
    rtts: Sequence[float],
    key: str,
    name: str,
    norm: LogNorm,
) -> None:
    heights = np.ma.masked_invalid(
        [[cells[rate, rtt][key] if cells[rate, rtt]["filled"] else np.nan for rate in rates] for rtt in rtts]
    )
    axis.pcolormesh(heights, cmap="YlGnBu", norm=norm, edgecolors="white", linewidth=1.2)
    for y, rtt in enumerate(rtts):
        for x, rate in enumerate(rates):
            cell = cells[rate, rtt]
            dark = float(norm(cell[key])) > 0.55
            colour = "white" if dark else style.INK
            if not cell["filled"]:
                axis.text(x + 0.5, y + 0.5, "not filled", ha="center", va="center", fontsize=6.5, color=style.FAINT)
                continue
            axis.text(x + 0.5, y + 0.62, f"{cell[key]:g}", ha="center", va="center", fontsize=10, color=colour)
            low, high = cell[f"{name}_from_ms"], cell[f"{name}_to_ms"]
            if low != high:
                axis.text(x + 0.5, y + 0.25, f"{low:g}-{high:g}", ha="center", va="center", fontsize=6.5, color=colour)
    axis.set_xticks(
        [x + 0.5 for x in range(len(rates))],
        [rate.replace("kbit", "k").replace("mbit", "M").replace("gbit", "G") for rate in rates],
    )
    axis.set_yticks([y + 0.5 for y in range(len(rtts))], [f"{rtt:g}" for rtt in rtts])
    axis.set_xlabel("Rate (bit/s)")
    axis.set_ylabel("Base RTT (ms)")
    axis.grid(visible=False)
    axis.tick_params(length=0)
