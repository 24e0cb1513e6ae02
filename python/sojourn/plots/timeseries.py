"""Round-trip time and goodput over time."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.frame_library import pl
from sojourn.plots import style

DIRECTIONS = {"up": "upload", "down": "download"}


def rtt_and_goodput(series: Mapping[str, pl.DataFrame], *, title: str = "") -> Figure:
    """Draw the probes' round-trip time and each direction's total goodput over time, a line for each discipline.

    - `series`: for each discipline one frame of `sojourn.store.frames.SERIES_SCHEMA`.
    """
    labels = list(series)
    colours, dashes = style.colours(labels), style.dashes(labels)
    look = {label: {"color": colours[label], "linestyle": dashes[label], "linewidth": 1.1} for label in labels}
    with style.canvas(8.6, 6.4) as figure:
        axes = figure.subplots(3, 1, sharex=True, height_ratios=[1.5, 1, 1])
        for label, frame in series.items():
            rtt = _rtt(frame)
            axes[0].plot(rtt["t_s"], rtt["value"], **look[label])
            for axis, direction in zip(axes[1:], DIRECTIONS, strict=True):
                total = _goodput(frame, direction)
                axis.plot(total["t_s"], total["value"], **look[label])
        axes[0].set_ylabel("Round-trip\ntime (ms)")
        _rtt_axis(axes[0])
        for axis, word in zip(axes[1:], DIRECTIONS.values(), strict=True):
            axis.set_ylabel(f"Goodput,\n{word} (Mbit/s)")
            axis.set_ylim(bottom=0)
        axes[-1].set_xlabel("Time since the flows started (s)")
        figure.align_ylabels(axes)
        if title:
            axes[0].set_title(title)
        if len(labels) > 1:
            style.add_legend(figure, style.line_handles(labels))
    return figure


def _rtt_axis(axis: Axes) -> None:
    low, high = axis.dataLim.intervaly
    if low > 0 and high > style.WIDE_RATIO * low:
        axis.set_yscale("log")
        style.log_ticks(axis.yaxis)
    else:
        axis.set_ylim(bottom=0)


def _rtt(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the round-trip time in bins of one second: the mean over all probes; a bin of losses is a gap."""
    return (
        frame.filter(pl.col("metric") == "rtt_ms")
        .group_by(t_s=pl.col("t_s").floor() + 0.5)
        .agg(pl.col("value").mean())
        .sort("t_s")
    )


def _goodput(frame: pl.DataFrame, direction: str) -> pl.DataFrame:
    """Return the total goodput of a direction in bins of one second."""
    return (
        frame.filter((pl.col("metric") == "goodput_mbit") & (pl.col("direction") == direction))
        .group_by("t_s")
        .agg(pl.col("value").sum())
        .group_by(t_s=(pl.col("t_s") - 1e-6).floor() + 0.5)
        .agg(pl.col("value").mean())
        .sort("t_s")
    )
