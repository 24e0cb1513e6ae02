"""The figures of "Bufferbloat mitigation in the WiFi stack" (seed 002), each by what it shows.

| figure | function          | shows                                                                     |
|--------|-------------------|---------------------------------------------------------------------------|
| Fig. 2 | `ping_cdf`        | distribution of ping round-trip times, fast and slow station, by scheme   |
| Fig. 3 | `airtime_shares`  | shares of the airtime, stacked, by scheme                                 |
| Fig. 4 | `throughput_bars` | throughput of each station and their mean, by scheme                      |

All take plain numbers and return matplotlib figures. Where there are no numbers, the panel says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.typing import LineStyleType

from sojourn.plots import style
from sojourn.plots.panels import Values, finite, say_no_data, spread, whisker

#: How schemes are called in the paper.
NAMES = {"fifo": "FIFO", "fq_codel": "FQ-CoDel", "fq_mac": "FQ-MAC", "airtime": "Airtime fair FQ"}
#: Stations from the fastest on, blue to red, and what they have together.
_STATION_COLOURS = ("#0072B2", "#56B4E9", "#D55E00")
_MEAN_COLOUR = "#8b949e"
MEAN = "mean"


def ping_cdf(samples: Mapping[str, Mapping[str, Values]]) -> Figure:
    """Draw the distribution of ping round-trip times.

    - `samples`: for each scheme and class of stations, `"fast"` and `"slow"`, all round-trip times (ms).
    """
    schemes = list(samples)
    colours = style.colours(schemes)
    with style.canvas(8.2, 4.3) as figure:
        axis = figure.subplots()
        axis.set(xlabel="Ping round-trip time (ms)", ylabel="Share of pings not above")
        handles: list[Line2D] = []
        for scheme in schemes:
            for name, values in samples[scheme].items():
                times = np.sort(finite(values))
                if not len(times):
                    continue
                colour = colours[scheme]
                dashes: LineStyleType = "-" if name == "fast" else (0, (4.0, 2.0))
                share = np.arange(1, len(times) + 1) / len(times)
                axis.step(times, share, where="post", color=colour, linestyle=dashes)
                label = f"{NAMES.get(scheme, scheme)}, {name}"
                handles.append(Line2D([], [], label=label, linewidth=2.5, color=colour, linestyle=dashes))
        if not handles:
            say_no_data(axis)
            return figure
        axis.set_xscale("log")
        style.log_ticks(axis.xaxis)
        axis.set_ylim(0, 1.01)
        style.add_legend(figure, handles)
    return figure


def airtime_shares(shares: Mapping[str, Mapping[str, Values]]) -> Figure:
    """Draw the shares of the airtime, stacked.

    - `shares`: for each scheme and station its share in each run.
    """
    stations = _stations(shares)
    with style.canvas(7.6, 4.1) as figure:
        axis = figure.subplots()
        axis.set_ylabel("Share of the airtime")
        if not stations:
            say_no_data(axis)
            return figure
        colours = _colours(stations)
        for place, found in enumerate(shares.values()):
            below = 0.0
            for name in stations:
                mean = spread(found.get(name, ())).mean
                if mean is None:
                    continue
                axis.bar(place, mean, bottom=below, width=0.62, color=colours[name], edgecolor="white", zorder=2)
                if mean > 0.04:
                    axis.text(
                        place,
                        below + mean / 2,
                        f"{100 * mean:.0f} %",
                        ha="center",
                        va="center",
                        color="white",
                        fontsize=9,
                        zorder=3,
                    )
                below += mean
        for third in (1 / 3, 2 / 3):
            axis.axhline(third, color=style.FAINT, linestyle=(0, (5, 3)), linewidth=1.0, zorder=1.5)
        _scheme_axis(axis, list(shares))
        axis.set_ylim(0, 1)
        # As in the stack, from the top.
        style.add_legend(figure, [Patch(color=colours[name], label=name) for name in reversed(stations)])
    return figure


def throughput_bars(rates: Mapping[str, Mapping[str, Values]]) -> Figure:
    """Draw the throughput of each station and the mean of them all.

    - `rates`: for each scheme and station its throughput in each run (Mbit/s).
    """
    stations = _stations(rates)
    with style.canvas(8.6, 4.1) as figure:
        axis = figure.subplots()
        axis.set_ylabel("TCP goodput (Mbit/s)")
        if not stations:
            say_no_data(axis)
            return figure
        colours = {**_colours(stations), MEAN: _MEAN_COLOUR}
        bars = [*stations, MEAN]
        width = 0.84 / len(bars)
        for place, found in enumerate(rates.values()):
            runs = list(zip(*(found.get(name, ()) for name in stations), strict=False))
            means = [float(np.mean([value for value in run if value is not None])) for run in runs if any(run)]
            for number, name in enumerate(bars):
                one = spread(means if name == MEAN else found.get(name, ()))
                if one.mean is None:
                    continue
                at = place + (number - (len(bars) - 1) / 2) * width
                axis.bar(at, one.mean, width=width * 0.92, color=colours[name], zorder=2)
                whisker(axis, at, one)
        _scheme_axis(axis, list(rates))
        style.add_legend(figure, [Patch(color=colours[name], label=name) for name in bars])
    return figure


def _scheme_axis(axis: Any, schemes: Sequence[str]) -> None:
    axis.set_xticks(range(len(schemes)), [NAMES.get(scheme, scheme) for scheme in schemes])
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")


def _stations(found: Mapping[str, Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for each in found.values() for name in each))


def _colours(stations: Sequence[str]) -> dict[str, str]:
    return {name: _STATION_COLOURS[place % len(_STATION_COLOURS)] for place, name in enumerate(stations)}
