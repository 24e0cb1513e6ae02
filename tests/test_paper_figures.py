"""The figures of "The Good, the Bad and the WiFi": panels, order, axes, and what they show for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from sojourn import plots, stats
from sojourn.errors import ParamError
from sojourn.papers.good_bad_wifi.measured import Measured, mean_fetch_s, measure, voip_counts, voip_delay_ms, voip_mos
from sojourn.plots import good_bad_wifi, style
from sojourn.plots.panels import in_order, spread
from sojourn.store import metrics
from tests.synthetic_paper import LINKS, SEVEN, body, experiments, rrul, rtt_fairness, voip, web


@pytest.fixture(scope="module")
def found() -> Measured:
    return measure(experiments(n=3))


def titles(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [getattr(axis, "_left_title").get_text() for axis in figure.axes]  # noqa: B009


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for shown in figure.legends for text in shown.get_texts()]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def heights(axis: Any) -> list[float]:
    return [float(bar.get_height()) for group in axis.containers if isinstance(group, BarContainer) for bar in group]


def test_voice_delay_has_a_panel_for_each_link_and_cross_traffic(found: Measured) -> None:
    figure = good_bad_wifi.voip_delay_cdf(found.voip_delay_ms)
    assert len(figure.axes) == 6
    assert titles(figure)[:3] == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert [axis.get_ylabel().split("\n")[0] for axis in figure.axes[::3]] == ["1 TCP stream", "RRUL"]
    assert legend(figure) == list(SEVEN)
    assert all(axis.get_xscale() == "symlog" for axis in figure.axes)
    for axis in figure.axes:
        assert len(axis.lines) == 7
        assert not axis.xaxis_inverted()
    slow, quick = (figure.axes[0].lines[SEVEN.index(name)] for name in ("pfifo_fast", "fq_codel"))
    assert np.median(np.asarray(slow.get_xdata())) > 20 * np.median(np.asarray(quick.get_xdata()))
    colours = style.colours(list(SEVEN))
    assert [line.get_color() for line in figure.axes[5].lines] == [colours[name] for name in SEVEN]


def test_a_distribution_runs_from_0_to_1_and_leaves_losses_out() -> None:
    figure = good_bad_wifi.voip_delay_cdf({("10/1", "RRUL"): {"codel": [3.0, None, 0.0, float("nan"), 1.0]}})
    (line,) = figure.axes[0].lines
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 0.0, 1.0, 3.0]
    assert np.asarray(line.get_ydata()) == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_fetch_time_has_bars_with_deviations_and_the_unloaded_case() -> None:
    data = {("10/1", "RRUL"): {"gbw:pie": [1.0, 3.0, None]}, ("10/1", "1 stream"): {"gbw:pie": [5.0, 5.0]}}
    figure = good_bad_wifi.page_fetch_bars(data, {"10/1": [0.4, 0.6]})
    upper, lower = figure.axes
    assert heights(upper) == [5.0, 0.5]
    assert heights(lower) == [2.0, 0.5]
    assert [label.get_text() for label in lower.get_xticklabels()] == ["pie", "unloaded"]
    (low, high) = lower.collections[0].get_segments()[0][:, 1]  # type: ignore[attr-defined]
    assert (low, high) == pytest.approx((2 - 2**0.5, 2 + 2**0.5))
    assert all(axis.get_ylim()[0] == 0 for axis in figure.axes)
    assert any(np.asarray(line.get_ydata()).tolist() == [0.5, 0.5] for line in lower.lines)


def test_fetch_time_of_both_pages_has_six_panels(found: Measured) -> None:
    for page in ("google", "huffpost"):
        figure = good_bad_wifi.page_fetch_bars(found.page_s[page], found.page_unloaded_s[page], title=page)
        assert len(figure.axes) == 6
        assert all(len(heights(axis)) == 8 for axis in figure.axes)
        assert "no data" not in texts(figure)


def test_fairness_has_a_group_for_each_link_and_a_bar_for_each_discipline(found: Measured) -> None:
    figure = good_bad_wifi.jain_bars(found.jain)
    (axis,) = figure.axes
    assert len(heights(axis)) == 21
    assert [label.get_text() for label in axis.get_xticklabels()] == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert heights(axis)[0] == pytest.approx(np.mean([x for x in found.jain["10/1"]["pfifo_fast"] if x is not None]))
    assert axis.get_ylim()[0] == 0
    assert legend(figure) == list(SEVEN)


def test_goodput_of_flows_has_a_panel_for_each_rate_and_four_bars_for_each_discipline(found: Measured) -> None:
    figure = good_bad_wifi.flow_goodput_bars(found.flow_goodput_mbit)
    assert titles(figure) == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert all(len(heights(axis)) == 28 for axis in figure.axes)
    assert legend(figure) == ["10 ms", "50 ms", "200 ms", "500 ms"]
    first = heights(figure.axes[0])[:4]
    assert first == sorted(first, reverse=True)


def test_transient_shows_the_point_wise_mean_from_before_the_start_to_25_s(found: Measured) -> None:
    figure = good_bad_wifi.transient_lines(found.transient)
    assert titles(figure) == ["100/100 Mbit/s", "10/10 Mbit/s", "10/1 Mbit/s"]
    assert figure.axes[-1].get_xlim() == pytest.approx((-4.9, 25.0))
    for axis, link in zip(figure.axes, LINKS, strict=True):
        for line, name in zip(axis.lines, SEVEN, strict=False):
            course = found.transient[link][name]
            shown = course.t_s <= 25
            assert np.asarray(line.get_ydata()) == pytest.approx(course.mean_ms[shown], nan_ok=True)
    assert figure.axes[2].get_yscale() == "log"
    linear = good_bad_wifi.transient_lines(found.transient, scale="linear")
    assert linear.axes[2].get_ylim()[0] == 0
    assert legend(figure) == list(SEVEN)


def test_figures_of_nothing_say_so() -> None:
    for figure in (
        good_bad_wifi.voip_delay_cdf({}),
        good_bad_wifi.page_fetch_bars({}, {}),
        good_bad_wifi.jain_bars({}),
        good_bad_wifi.flow_goodput_bars({}),
        good_bad_wifi.transient_lines({}),
    ):
        assert texts(figure) == ["no data"]
        for file_format in plots.FORMATS:
            assert plots.to_bytes(figure, file_format)


def test_panels_and_bars_without_numbers_say_so() -> None:
    lost = stats.course([{"ping": ([0.1], [None])}])
    there = stats.course([{"ping": ([0.1, 0.3], [60.0, 70.0])}])
    voice = good_bad_wifi.voip_delay_cdf(
        {("10/1", "RRUL"): {"pie": [1.0], "ared": [None, None]}, ("10/10", "RRUL"): {"ared": []}}
    )
    assert texts(voice) == ["no data: ared", "no data"]
    fetches = good_bad_wifi.page_fetch_bars({("10/1", "RRUL"): {"pie": [1.0], "ared": [None]}}, {})
    assert texts(fetches) == ["no data", "no data"]
    index = good_bad_wifi.jain_bars({"10/1": {"pie": [None], "ared": [0.5]}, "10/10": {"pie": [0.5]}})
    assert texts(index) == ["no data", "no data"]
    flows = good_bad_wifi.flow_goodput_bars({"10/1": {"pie": {10.0: [1.0]}, "ared": {}}})
    assert texts(flows) == ["no data"]
    lines = good_bad_wifi.transient_lines({"10/1": {"pie": lost, "ared": there}, "10/10": {"pie": lost}})
    assert texts(lines) == ["no data", "no data: pie"]
    runs = pl.DataFrame([{"link": "10/1", "qdisc": "codel", "seed": 1}], schema=metrics.RUN_SCHEMA)
    assert texts(plots.latency_goodput(runs, directions=("up", "down"))) == ["no data", "no data"]
    for figure in (voice, fetches, index, flows, lines):
        assert plots.to_bytes(figure, "png").startswith(b"\x89PNG")


def test_figures_are_the_same_bytes_each_time(found: Measured) -> None:
    one, other = (plots.to_bytes(good_bad_wifi.voip_delay_cdf(found.voip_delay_ms), "svg") for _ in range(2))
    assert one == other


def test_spread_is_the_sample_deviation_of_what_is_there() -> None:
    assert spread([1.0, None, 3.0, float("nan")]).deviation == pytest.approx(2**0.5)
    assert (spread([2.0]).mean, spread([2.0]).deviation) == (2.0, None)
    assert (spread([]).mean, spread([None]).mean) == (None, None)


def test_unknown_links_come_last() -> None:
    assert in_order(["5/5", "10/10", "10/1", "5/5"], ("10/1", "10/10")) == ["10/1", "10/10", "5/5"]


def test_induced_voice_delay_is_less_the_least_of_each_run() -> None:
    record = body(1, series={"voip": {"voip": {"delay_ms": [30.0, None, 25.0, 40.0]}}})
    assert voip_delay_ms(record).tolist() == [5.0, 0.0, 15.0]
    silent = body(1, series={"voip": {"voip": {"delay_ms": [None]}}})
    assert voip_delay_ms(silent).tolist() == []
    made = voip("10/1", "pie", 1)
    lost, sent = voip_counts(made)
    assert 0 < lost < sent == 3000


def test_score_of_a_voice_stream_is_the_e_models() -> None:
    stream = {"kind": "voip", "codec": "g711", "sent": 100, "lost": 1, "delay_ms": {"mean": 80.0}, "ipdv_ms": 10.0}
    assert voip_mos(body(1, probes=[stream])) == pytest.approx(3.7227, abs=1e-3)
    assert voip_mos(body(1, probes=[{**stream, "lost": 100, "delay_ms": {"mean": None}, "ipdv_ms": None}])) == 1.0
    assert voip_mos(body(1, probes=[{**stream, "codec": "opus"}])) is None
    assert voip_mos(body(1, probes=[{"kind": "icmp"}])) is None


def test_mean_fetch_time_of_no_fetch_is_none() -> None:
    some, none = body(1, web=[{"fetches": [{"time_s": 1.0}, {"time_s": 2.0}]}, {"fetches": []}]).web
    assert mean_fetch_s(some) == 1.5
    assert mean_fetch_s(none) is None


def test_measured_keeps_experiments_apart() -> None:
    cell = ("10/1", "codel")
    found = measure(
        {
            "voip": {cell: [voip(*cell, seed) for seed in (1, 2)]},
            "web_rrul": {cell: [web(*cell, 1), web(*cell, 1, page="huffpost")]},
            "web_idle": {cell: [web(*cell, 1, share=0.0)]},
            "rtt_fairness": {cell: [rtt_fairness(*cell, 1)]},
        }
    )
    assert list(found.voip_delay_ms) == list(found.voip_loss) == [("10/1", "1 stream")]
    assert len(found.voip_delay_ms["10/1", "1 stream"]["codel"]) == 600
    assert [len(part) for part in found.voip_loss["10/1", "1 stream"]["codel"]] == [2, 2]
    assert set(found.page_s) == {"google", "huffpost"}
    assert list(found.page_unloaded_s) == ["google"]
    flows = found.flow_goodput_mbit["10/1"]["codel"]
    assert list(flows) == [10.0, 50.0, 200.0, 500.0]
    assert found.jain["10/1"]["codel"] == [pytest.approx(stats.jain([values[0] or 0.0 for values in flows.values()]))]
    assert found.rrul.is_empty()
    assert found.transient == {}


def test_a_flow_test_in_which_nothing_arrives_has_no_index() -> None:
    record = rtt_fairness("10/1", "codel", 1, share=0.0)
    assert measure({"rtt_fairness": {("10/1", "codel"): [record]}}).jain["10/1"]["codel"] == [None]


def test_transients_come_from_rrul_unless_they_were_run_apart() -> None:
    cell = ("10/1", "pie")
    both = measure({"rrul": {cell: [rrul(*cell, 1)]}, "transient": {cell: [rrul(*cell, 2), rrul(*cell, 3)]}})
    assert len(both.transient["10/1"]["pie"].runs_ms) == 2
    assert both.rrul["seed"].to_list() == [1]
    alone = measure({"rrul": {cell: [rrul(*cell, 1)]}})
    assert len(alone.transient["10/1"]["pie"].runs_ms) == 1
    with pytest.raises(ParamError, match="experiment is 'tcp'"):
        measure({"tcp": {}})
