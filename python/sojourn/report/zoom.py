"""Plots of a report that can be zoomed: their data, and how data and script are written into the page.

The script is a part of `web/` and may not have been built; the pictures of the report are there all the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt
from markupsafe import Markup
from msgspec import Struct

from sojourn import web_build
from sojourn.frame_library import pl
from sojourn.plots import style
from sojourn.stats import cdf
from sojourn.view.thin import quantile_places, short, thinned

#: Values of one line of a plot over time. A screen has a few thousand columns.
_POINTS = 2000
_QUANTILES = 501
_DIRECTIONS = {"up": "upload", "down": "download"}
_DASH = (8, 4)


class Curve(Struct, frozen=True, kw_only=True):
    """A line of a chart."""

    label: str
    colour: str
    dash: tuple[int, ...]
    x: Sequence[float | None]
    y: Sequence[float | None]


class Chart(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """A plot that can be zoomed; charts of a `group` are looked at together."""

    title: str
    x_label: str
    y_label: str
    lines: list[Curve]
    height: int
    group: str = ""
    stepped: bool = False
    log_y: bool = False
    y_from: int | None = None
    log_x: bool = False


@dataclass(frozen=True, kw_only=True)
class Script:
    """What makes the plots."""

    #: To be written into the page.
    text: Markup
    #: What the page may do: this script, its own styles and pictures, and nothing else.
    policy: str


@lru_cache(maxsize=1)
def script() -> Script | None:
    """Return the script; `None` if it was not built."""
    path = web_build.built("report/report.js")
    if path is None:
        return None
    text = path.read_text(encoding="utf-8").replace("</script", "<\\/script").replace("<!--", "<\\!--")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return Script(text=Markup(text), policy=policy)  # noqa: S704


def inlined(charts: list[Chart]) -> Markup:
    """Return charts as JSON that can stand in a page, whatever the names in it are."""
    text = json.dumps(msgspec.to_builtins(charts), separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def over_time(series: Mapping[str, pl.DataFrame], *, title: str, group: str) -> list[Chart]:
    """Return charts of the round-trip time and of each direction's total goodput, a line for each discipline.

    - `series`: for each discipline one frame of `sojourn.store.frames.SERIES_SCHEMA`.
    - `group`: charts of a group are looked at together.
    """
    rtt = {label: frame.filter(pl.col("metric") == "rtt_ms").sort("t_s") for label, frame in series.items()}
    charts = [_chart(f"Round-trip time, {title}", "Round-trip time (ms)", rtt, group)]
    for direction, word in _DIRECTIONS.items():
        totals = {
            label: frame.filter((pl.col("metric") == "goodput_mbit") & (pl.col("direction") == direction))
            .group_by("t_s")
            .agg(pl.col("value").sum())
            .sort("t_s")
            for label, frame in series.items()
        }
        if any(total.height for total in totals.values()):
            charts.append(_chart(f"Goodput, {word}, {title}", f"Goodput, {word} (Mbit/s)", totals, group))
    return charts


def _chart(title: str, y_label: str, frames: Mapping[str, pl.DataFrame], group: str) -> Chart:
    curves = {}
    for label, frame in frames.items():
        times, values = frame["t_s"].to_numpy(), frame["value"].to_numpy()
        kept = thinned(values, _POINTS)
        curves[label] = [round(float(each), 4) for each in times[kept]], [short(each) for each in values[kept]]
    found = [value for _, y in curves.values() for value in y if value is not None]
    wide = bool(found) and min(found) > 0 and max(found) > style.WIDE_RATIO * min(found)
    # A rate is seen from zero on; a time over a wide range is not.
    logarithmic = wide and "time" in y_label
    return Chart(
        title=title,
        x_label="Time since the flows started (s)",
        y_label=y_label,
        lines=_lines(curves),
        height=260,
        group=group,
        log_y=logarithmic,
        y_from=None if logarithmic else 0,
    )


def distribution(series: Mapping[str, pl.DataFrame], *, title: str) -> list[Chart]:
    """Return a chart of the distribution of all round-trip times of the measured window, a line for each discipline.

    - `series`: for each discipline the frames of its runs, put together.
    """
    curves, ends = {}, list[float]()
    for label, whole in series.items():
        frame = whole.filter((pl.col("metric") == "rtt_ms") & (pl.col("t_s") >= 0))
        curve = cdf(frame["value"].drop_nulls())
        places: npt.NDArray[np.intp] = quantile_places(curve.height, _QUANTILES)
        x, y = (curve[name].to_numpy()[places] for name in ("value", "fraction"))
        ends += [float(each) for each in x[[0, -1]]] if x.size else []
        curves[label] = [short(each) for each in x], [short(each) for each in y]
    wide = bool(ends) and min(ends) > 0 and max(ends) > style.WIDE_RATIO * min(ends)
    chart = Chart(
        title=f"Distribution of the round-trip time, {title}",
        x_label="Round-trip time (ms)",
        y_label="Share not above",
        lines=_lines(curves),
        height=300,
        stepped=True,
        y_from=0,
        log_x=wide and math.isfinite(max(ends)),
    )
    return [chart]


def _lines(curves: Mapping[str, tuple[Sequence[float | None], Sequence[float | None]]]) -> list[Curve]:
    """Return lines, each with the name, the colour and the dash of its label."""
    labels = list(curves)
    colours, dashes, names = style.colours(labels), style.dashes(labels), style.short_names(labels)
    return [
        Curve(label=names[label], colour=colours[label], dash=() if dashes[label] == "-" else _DASH, x=x, y=y)
        for label, (x, y) in curves.items()
    ]
