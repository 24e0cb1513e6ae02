"""Plots of a report that can be zoomed: their data, and how data and script are written into the page.

The script is a part of `web/` and may not have been built; the pictures of the report are there all the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

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

Chart = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Script:
    """What makes the plots.

    Attributes
    ----------
    text
        To be written into the page.
    policy
        What the page may do: this script, its own styles and pictures, and nothing else.
    """

    text: Markup
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
    text = json.dumps(charts, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def over_time(series: Mapping[str, pl.DataFrame], *, title: str, group: str) -> list[Chart]:
    """Return charts of the round-trip time and of each direction's total goodput, a line for each discipline.

    Parameters
    ----------
    series
        For each discipline one frame of `sojourn.store.frames.SERIES_SCHEMA`.
    title
        What was run.
    group
        Charts of a group are looked at together.
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
    lines = []
    for label, look in _looks(list(frames)).items():
        times, values = frames[label]["t_s"].to_numpy(), frames[label]["value"].to_numpy()
        kept = thinned(values, _POINTS)
        x, y = [round(float(each), 4) for each in times[kept]], [short(each) for each in values[kept]]
        lines.append({**look, "x": x, "y": y})
    found = [value for line in lines for value in line["y"] if value is not None]
    wide = bool(found) and min(found) > 0 and max(found) > style.WIDE_RATIO * min(found)
    chart: Chart = {"title": title, "xLabel": "Time since the flows started (s)", "yLabel": y_label}
    chart |= {"lines": lines, "height": 260, "group": group}
    # A rate is seen from zero on; a time over a wide range is not.
    return chart | ({"logY": True} if wide and "time" in y_label else {"yFrom": 0})


def distribution(series: Mapping[str, pl.DataFrame], *, title: str) -> list[Chart]:
    """Return a chart of the distribution of all round-trip times of the measured window, a line for each discipline.

    Parameters
    ----------
    series
        For each discipline the frames of its runs, put together.
    title
        What was run.
    """
    lines: list[dict[str, Any]] = []
    ends: list[float] = []
    for label, look in _looks(list(series)).items():
        frame = series[label].filter((pl.col("metric") == "rtt_ms") & (pl.col("t_s") >= 0))
        curve = cdf(frame["value"].drop_nulls())
        places: npt.NDArray[np.intp] = quantile_places(curve.height, _QUANTILES)
        x, y = (curve[name].to_numpy()[places] for name in ("value", "fraction"))
        ends += [float(each) for each in x[[0, -1]]] if x.size else []
        lines.append({**look, "x": [short(each) for each in x], "y": [short(each) for each in y]})
    wide = bool(ends) and min(ends) > 0 and max(ends) > style.WIDE_RATIO * min(ends)
    chart: Chart = {"title": f"Distribution of the round-trip time, {title}", "xLabel": "Round-trip time (ms)"}
    chart |= {"yLabel": "Share not above", "lines": lines, "height": 300, "stepped": True, "yFrom": 0}
    return [chart | ({"logX": True} if wide and math.isfinite(max(ends)) else {})]


def _looks(labels: list[str]) -> dict[str, dict[str, Any]]:
    """Return name, colour and dash of the line of each label."""
    colours, dashes, names = style.colours(labels), style.dashes(labels), style.short_names(labels)
    return {
        label: {"label": names[label], "colour": colours[label], "dash": [] if dashes[label] == "-" else list(_DASH)}
        for label in labels
    }
