"""The distribution of the probes' round-trip times."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from sojourn.frame_library import pl
from sojourn.plots import style
from sojourn.stats import cdf


def rtt_cdf(series: Mapping[str, pl.DataFrame], *, title: str = "", sides: bool = False) -> Figure:
    """Draw the cumulative distribution of all round-trip times of the measured window, a line for each discipline.

    - `series`: for each discipline the frames of its runs, put together (`sojourn.store.frames.SERIES_SCHEMA`).
    - `sides`: whether there are two sides in place of disciplines, such as kernels.
    """
    labels = list(series)
    colours, dashes = style.colours(labels), style.dashes(labels)
    if sides:
        colours, dashes = dict(zip(labels, style.SIDES, strict=True)), dict.fromkeys(labels, "-")
    with style.canvas(8.6, 4.6) as figure:
        axis = figure.subplots()
        values: list[float] = []
        for label, frame in series.items():
            samples = frame.filter((pl.col("metric") == "rtt_ms") & (pl.col("t_s") >= 0))["value"].drop_nulls()
            values.extend(samples)
            curve = cdf(samples)
            (line,) = axis.step(curve["value"], curve["fraction"], where="post", label=label)
            line.set(color=colours[label], linestyle=dashes[label])
        if values and min(values) > 0 and max(values) > style.WIDE_RATIO * min(values):
            axis.set_xscale("log")
            style.log_ticks(axis.xaxis)
        axis.set_ylim(0, 1.005)
        axis.set(xlabel="Round-trip time (ms)", ylabel="Share of probes not above")
        if title:
            axis.set_title(style.wrapped(title, 90) if sides else title)
        if sides:
            axis.legend(loc="lower right")
        elif len(labels) > 1:
            style.add_legend(figure, style.line_handles(labels))
    return figure
