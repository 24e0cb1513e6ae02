"""Figures: what is on them, and which way their axes run."""

from __future__ import annotations

import time
from io import BytesIO

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.text import Text
from PIL import Image

from sojourn import plots
from sojourn.plots import style, two_kernels
from sojourn.store import frames, metrics
from tests.records import record_of

SEVEN = [f"gbw:{name}" for name in ("pfifo_fast", "ared", "pie", "codel", "sfq", "fq_codel", "fq_nocodel")]


def runs(latencies: dict[str, list[float]]) -> pl.DataFrame:
    """Return a frame of runs of one link."""
    rows = [
        {
            "link": "10/1",
            "qdisc": qdisc,
            "seed": seed,
            "induced_latency_ms": value,
            "goodput_down_mbit": 9.0 + 0.01 * seed * (-1) ** seed,
            "goodput_up_mbit": 0.9 + 0.001 * seed,
        }
        for qdisc, values in latencies.items()
        for seed, value in enumerate(values, start=1)
    ]
    return pl.DataFrame(
        [{name: row.get(name) for name in metrics.RUN_SCHEMA} for row in rows], schema=metrics.RUN_SCHEMA
    )


def words(figure: Figure) -> str:
    """Return all text of a figure."""
    figure.draw_without_rendering()
    found = [text.get_text() for axis in figure.axes for text in (axis.xaxis.label, axis.yaxis.label, axis.title)]
    found += [getattr(axis, "_left_title").get_text() for axis in figure.axes]  # noqa: B009
    found += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return " | ".join(found)


WIDE = {"gbw:pfifo_fast": [230.0, 231.0, 235.0], "gbw:fq_codel": [0.4, 0.5, 0.45]}
NARROW = {"gbw:pie": [30.0, 31.0, 35.0], "gbw:codel": [20.0, 21.0, 19.0]}


@pytest.mark.parametrize("latencies", [WIDE, NARROW], ids=["wide", "narrow"])
def test_latency_axis_is_flipped_and_labelled(latencies: dict[str, list[float]]) -> None:
    figure = plots.latency_goodput(runs(latencies), title="rrul")
    (axis,) = figure.axes
    bottom, top = axis.get_ylim()
    assert bottom > max(sorted(values)[1] for values in latencies.values())
    assert top < min(sorted(values)[1] for values in latencies.values())
    assert axis.yaxis_inverted()
    assert not axis.xaxis_inverted()
    shown = words(figure)
    assert "Mean induced latency (ms), flipped" in shown
    assert "Mean TCP goodput, download (Mbit/s)" in shown
    assert "rrul" in shown
    assert all(style.kind(label) in shown for label in latencies)


def test_every_discipline_has_its_ellipse_and_its_median() -> None:
    figure = plots.latency_goodput(runs(WIDE))
    (axis,) = figure.axes
    assert sum(isinstance(patch, Polygon) for patch in axis.patches) == 2 * len(WIDE)
    medians = {(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axis.lines}  # type: ignore[arg-type,index]
    assert medians == {(8.99, 231.0), (8.99, 0.45)}


def test_both_directions_share_one_latency_axis() -> None:
    figure = plots.latency_goodput(runs(WIDE), directions=("up", "down"))
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim()
    assert left.yaxis_inverted()
    assert left.get_xlim()[1] < 1 < right.get_xlim()[0]
    assert "upload (Mbit/s)" in words(figure)
    assert "download (Mbit/s)" in words(figure)


def test_one_run_and_latency_below_zero_can_be_drawn() -> None:
    figure = plots.latency_goodput(runs({"fq_codel": [-0.01], "pfifo": [120.0]}))
    assert plots.to_bytes(figure, "png").startswith(b"\x89PNG")


def series(offset: float) -> pl.DataFrame:
    """Return the series of a short run with one lost probe."""
    record = {
        "flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "down"}],
        "probes": [{"name": "ping", "kind": "icmp"}],
        "series": {
            "t_s": [0.2 * (k + 1) for k in range(20)],
            "goodput_mbit": {"a": [4.0] * 20, "b": [5.0] * 20},
            "cwnd_segments": {"a": [10] * 20},
            "backlog_packets": {"up": [3] * 20, "down": [0] * 20},
            "drops": {"up": list(range(20)), "down": [0] * 20},
            "packets": {"up": list(range(20)), "down": [0] * 20},
            "rtt": {"ping": {"t_s": [-1.0, 0.5, 1.5, 2.5], "rtt_ms": [50.0, 52.0 + offset, None, 60.0 + offset]}},
            "voip": {},
        },
    }
    return frames.series(record_of(record))


def test_series_frame_has_its_schema_and_keeps_losses() -> None:
    frame = series(0)
    assert dict(frame.schema) == frames.SERIES_SCHEMA
    assert frame.filter(metric="rtt_ms")["value"].to_list() == [50.0, 52.0, None, 60.0]
    assert frame.filter(metric="goodput_mbit", direction="up")["value"].sum() == pytest.approx(80.0)
    assert frame.filter(metric="drops", direction="up").height == 20


def test_time_series_shows_rtt_and_goodput_with_units() -> None:
    figure = plots.rtt_and_goodput({"codel": series(0), "pfifo": series(20)}, title="rrul")
    shown = words(figure)
    for label in ("Round-trip\ntime (ms)", "upload (Mbit/s)", "download (Mbit/s)", "Time since the flows started (s)"):
        assert label in shown
    up = figure.axes[1].lines[0]
    assert up.get_ydata() == pytest.approx([4.0] * 4)


def test_cdf_leaves_out_what_was_sent_before_the_flows() -> None:
    figure = plots.rtt_cdf({"codel": series(0)})
    (axis,) = figure.axes
    assert axis.lines[0].get_xdata() == pytest.approx([52.0, 60.0])
    assert axis.get_ylim()[0] == 0
    assert "Round-trip time (ms)" in words(figure)


def test_figures_are_the_same_bytes_each_time() -> None:
    for file_format in plots.FORMATS:
        one, other = (plots.to_bytes(plots.latency_goodput(runs(WIDE)), file_format) for _ in range(2))
        assert one == other
    with pytest.raises(ValueError, match="gif"):
        plots.to_bytes(plots.latency_goodput(runs(WIDE)), "gif")


def test_what_is_long_in_the_input_is_cut_in_the_picture() -> None:
    frame = runs(WIDE).with_columns(pl.col("qdisc") + pl.lit(" limit 10240 flows 1024" * 400))
    figure = plots.latency_goodput(frame, title="t" * 9000)
    assert max(len(text.get_text()) for text in figure.findobj(Text)) > 8000
    began = time.monotonic()
    picture = Image.open(BytesIO(plots.to_bytes(figure, "png")))
    assert picture.width < 8000
    assert picture.height < 2000
    assert max(len(text.get_text()) for text in figure.findobj(Text)) == 160
    assert time.monotonic() - began < 10


def test_a_picture_of_many_lines_has_a_bounded_number_of_pixels() -> None:
    picture = Image.open(BytesIO(plots.to_bytes(Figure(figsize=(100, 200)), "png")))
    assert 10_000_000 < picture.width * picture.height < 41_000_000


def test_a_picture_of_a_page_is_small_and_keeps_its_colours() -> None:
    png = plots.to_bytes(
        plots.latency_goodput(runs({name: [10.0 * (n + 1), 12.0, 9.0] for n, name in enumerate(SEVEN)})), "png"
    )
    page = plots.for_page(png)
    one, other = (Image.open(BytesIO(data)).convert("RGB") for data in (png, page))
    assert (Image.open(BytesIO(page)).format, other.size) == ("WEBP", one.size)
    assert len(page) < 0.7 * len(png)
    for name in SEVEN:
        colour = tuple(int(style.colours([name])[name][place : place + 2], 16) for place in (1, 3, 5))
        drawn = (np.asarray(one, dtype=int) == colour).all(axis=2)
        assert drawn.any(), name
        assert np.abs(np.asarray(other, dtype=int)[drawn] - colour).max() < 64, name


def test_a_picture_of_many_colours_is_narrowed() -> None:
    gradient = Image.linear_gradient("L").resize((2560, 1440))
    colours = Image.merge(
        "RGB", (gradient, gradient.rotate(180), gradient.transpose(Image.Transpose.TRANSPOSE).resize((2560, 1440)))
    )
    buffer = BytesIO()
    colours.save(buffer, "PNG")
    assert Image.open(BytesIO(plots.for_page(buffer.getvalue()))).size == (1280, 720)


def test_each_discipline_has_its_own_colour_and_marker() -> None:
    assert len(set(style.colours(SEVEN).values())) == 7
    assert len(set(style.markers(SEVEN).values())) == 7
    assert style.colours(["gbw:codel"]) == {"gbw:codel": style.colours(["codel target 5ms"])["codel target 5ms"]}
    variants = ["codel", "codel target 10ms", "codel target 20ms"]
    assert len(set(style.colours(variants).values())) == 3
    assert style.short_names(variants) == {name: name for name in variants}
    assert style.short_names(["gbw:codel", "pie target 5ms"]) == {"gbw:codel": "codel", "pie target 5ms": "pie"}
    many = [f"codel target {k}ms" for k in range(20)]
    assert set(style.colours(many)) == set(many)


def test_drawing_changes_no_global_setting() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plots.to_bytes(plots.rtt_cdf({"codel": series(0)}), "svg")
    assert dict(mpl.rcParams) == before


def test_a_long_title_leaves_room_for_the_panels() -> None:
    """Matplotlib warns where it has no room left, and a warning is an error here."""
    panel = two_kernels.Panel(title="goodput\n" + "fq_codel limit 10240 " * 9, unit="ms", first=[1.0], second=[2.0])
    figure = two_kernels.paired([panel, panel], ("6.1", "7.3"), title="rrul")
    figure.savefig(BytesIO())
    assert figure.axes[0].get_position().width > 0.25
