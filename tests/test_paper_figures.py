"""The figures of "The Good, the Bad and the WiFi": panels, order, axes, and what they show for nothing."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from sojourn import plots, stats
from sojourn.papers.good_bad_wifi import exhibits as shown
from sojourn.papers.good_bad_wifi.evidence import AXES, DISCIPLINES, LINKS, Evidence
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.plots import style
from sojourn.plots.fairness import flow_goodput_bars, jain_bars
from sojourn.plots.panels import in_order, spread
from sojourn.plots.transient import transient_lines
from sojourn.plots.voip import voip_delay_cdf
from sojourn.plots.web import page_fetch_bars
from sojourn.store import metrics
from sojourn.study.cell import Observation
from tests.makers import comparison
from tests.records import Json, run_of
from tests.studies import STUDIES
from tests.synthetic import DEFAULTS, record

STUDY = STUDIES["good_bad_wifi"]
VOICE = {"delay": 20.0, "loss": 1.0, "tail": 1.0, "tail_from": 0.0, "most": 0.0}


@pytest.fixture(scope="module")
def found() -> Evidence:
    evidence: Evidence = dataclasses.replace(STUDY.world(), comparison=comparison(STUDY))
    return evidence


def observed(stream: Json, series: Json) -> Observation:
    """Return what is observed of a run with another voice stream."""
    body = json.loads(record(1, {**DEFAULTS, "voice": VOICE}).text)
    body["probes"][1] |= stream
    body["series"]["voip"]["voip"] |= series
    return observe(run_of(body))


def titles(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [getattr(axis, "_left_title").get_text() for axis in figure.axes]  # noqa: B009


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for shown in figure.legends for text in shown.get_texts()]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def heights(axis: Any) -> list[float]:
    return [float(bar.get_height()) for group in axis.containers if isinstance(group, BarContainer) for bar in group]


def test_voice_delay_has_a_panel_for_each_link_and_cross_traffic(found: Evidence) -> None:
    figure = voip_delay_cdf(shown.delays(found))
    assert len(figure.axes) == 6
    assert titles(figure)[:3] == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert [axis.get_ylabel().split("\n")[0] for axis in figure.axes[::3]] == ["1 TCP stream", "RRUL"]
    assert legend(figure) == list(DISCIPLINES)
    assert all(axis.get_xscale() == "symlog" for axis in figure.axes)
    for axis in figure.axes:
        assert len(axis.lines) == 7
        assert not axis.xaxis_inverted()
    slow, quick = (figure.axes[0].lines[DISCIPLINES.index(name)] for name in ("pfifo_fast", "fq_codel"))
    assert np.median(np.asarray(slow.get_xdata())) > 20 * np.median(np.asarray(quick.get_xdata()))
    colours = style.colours(list(DISCIPLINES))
    assert [line.get_color() for line in figure.axes[5].lines] == [colours[name] for name in DISCIPLINES]


def test_a_distribution_runs_from_0_to_1_and_leaves_losses_out() -> None:
    figure = voip_delay_cdf({("10/1", "RRUL"): {"codel": [3.0, None, 0.0, float("nan"), 1.0]}})
    (line,) = figure.axes[0].lines
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 0.0, 1.0, 3.0]
    assert np.asarray(line.get_ydata()) == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_fetch_time_has_bars_with_deviations_and_the_unloaded_case() -> None:
    data = {("10/1", "RRUL"): {"gbw:pie": [1.0, 3.0, None]}, ("10/1", "1 stream"): {"gbw:pie": [5.0, 5.0]}}
    figure = page_fetch_bars(data, {"10/1": [0.4, 0.6]})
    upper, lower = figure.axes
    assert heights(upper) == [5.0, 0.5]
    assert heights(lower) == [2.0, 0.5]
    assert [label.get_text() for label in lower.get_xticklabels()] == ["pie", "unloaded"]
    (low, high) = lower.collections[0].get_segments()[0][:, 1]  # type: ignore[attr-defined]
    assert (low, high) == pytest.approx((2 - 2**0.5, 2 + 2**0.5))
    assert all(axis.get_ylim()[0] == 0 for axis in figure.axes)
    assert any(np.asarray(line.get_ydata()).tolist() == [0.5, 0.5] for line in lower.lines)


def test_fetch_time_of_both_pages_has_six_panels(found: Evidence) -> None:
    for page in ("google", "huffpost"):
        figure = page_fetch_bars(shown.fetches(found, page), shown.unloaded(found, page), title=page)
        assert len(figure.axes) == 6
        assert all(len(heights(axis)) == 8 for axis in figure.axes)
        assert "no data" not in texts(figure)


def test_fairness_has_a_group_for_each_link_and_a_bar_for_each_discipline(found: Evidence) -> None:
    figure = jain_bars(shown.indices(found))
    (axis,) = figure.axes
    assert len(heights(axis)) == 21
    assert [label.get_text() for label in axis.get_xticklabels()] == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert heights(axis)[0] == pytest.approx(
        np.mean([x for x in shown.indices(found)["10/1"]["pfifo_fast"] if x is not None])
    )
    assert axis.get_ylim()[0] == 0
    assert legend(figure) == list(DISCIPLINES)


def test_goodput_of_flows_has_a_panel_for_each_rate_and_four_bars_for_each_discipline(found: Evidence) -> None:
    figure = flow_goodput_bars(shown.flow_goodputs(found))
    assert titles(figure) == ["10/1 Mbit/s", "10/10 Mbit/s", "100/100 Mbit/s"]
    assert all(len(heights(axis)) == 28 for axis in figure.axes)
    assert legend(figure) == ["10 ms", "50 ms", "200 ms", "500 ms"]
    of_fifo = shown.flow_goodputs(found)["10/1"]["pfifo_fast"]
    assert heights(figure.axes[0])[:4] == pytest.approx([np.mean(values) for values in of_fifo.values()])


def test_transient_shows_the_point_wise_mean_from_before_the_start_to_25_s(found: Evidence) -> None:
    figure = transient_lines(shown.transients(found))
    assert titles(figure) == ["100/100 Mbit/s", "10/10 Mbit/s", "10/1 Mbit/s"]
    assert figure.axes[-1].get_xlim() == pytest.approx((-4.9, 25.0))
    for axis, link in zip(figure.axes, LINKS, strict=True):
        for line, name in zip(axis.lines, DISCIPLINES, strict=False):
            course = shown.transients(found)[link][name]
            early = course.t_s <= 25
            assert np.asarray(line.get_ydata()) == pytest.approx(course.mean_ms[early], nan_ok=True)
    assert figure.axes[2].get_yscale() == "linear"
    tall = {"10/1": {"pie": stats.course([{"ping": ([0.1, 0.3], [50.0, 5000.0])}])}}
    assert transient_lines(tall).axes[0].get_yscale() == "log"
    linear = transient_lines(shown.transients(found), scale="linear")
    assert linear.axes[2].get_ylim()[0] == 0
    assert legend(figure) == list(DISCIPLINES)


def test_figures_of_nothing_say_so() -> None:
    for figure in (
        voip_delay_cdf({}),
        page_fetch_bars({}, {}),
        jain_bars({}),
        flow_goodput_bars({}),
        transient_lines({}),
    ):
        assert texts(figure) == ["no data"]
        for file_format in plots.FORMATS:
            assert plots.to_bytes(figure, file_format)


def test_panels_and_bars_without_numbers_say_so() -> None:
    lost = stats.course([{"ping": ([0.1], [None])}])
    there = stats.course([{"ping": ([0.1, 0.3], [60.0, 70.0])}])
    voice = voip_delay_cdf({("10/1", "RRUL"): {"pie": [1.0], "ared": [None, None]}, ("10/10", "RRUL"): {"ared": []}})
    assert texts(voice) == ["no data: ared", "no data"]
    fetches = page_fetch_bars({("10/1", "RRUL"): {"pie": [1.0], "ared": [None]}}, {})
    assert texts(fetches) == ["no data", "no data"]
    index = jain_bars({"10/1": {"pie": [None], "ared": [0.5]}, "10/10": {"pie": [0.5]}})
    assert texts(index) == ["no data", "no data"]
    flows = flow_goodput_bars({"10/1": {"pie": {10.0: [1.0]}, "ared": {}}})
    assert texts(flows) == ["no data"]
    lines = transient_lines({"10/1": {"pie": lost, "ared": there}, "10/10": {"pie": lost}})
    assert texts(lines) == ["no data", "no data: pie"]
    runs = pl.DataFrame([{"link": "10/1", "qdisc": "codel", "seed": 1}], schema=metrics.RUN_SCHEMA)
    assert texts(plots.latency_goodput(runs, directions=("up", "down"))) == ["no data", "no data"]
    for figure in (voice, fetches, index, flows, lines):
        assert plots.to_bytes(figure, "png").startswith(b"\x89PNG")


def test_figures_are_the_same_bytes_each_time(found: Evidence) -> None:
    one, other = (plots.to_bytes(voip_delay_cdf(shown.delays(found)), "svg") for _ in range(2))
    assert one == other


def test_spread_is_the_sample_deviation_of_what_is_there() -> None:
    assert spread([1.0, None, 3.0, float("nan")]).deviation == pytest.approx(2**0.5)
    assert (spread([2.0]).mean, spread([2.0]).deviation) == (2.0, None)
    assert (spread([]).mean, spread([None]).mean) == (None, None)


def test_unknown_links_come_last() -> None:
    assert in_order(["5/5", "10/10", "10/1", "5/5"], ("10/1", "10/10")) == ["10/1", "10/10", "5/5"]


def test_voice_delay_is_less_that_of_the_empty_path_and_not_the_least_of_the_run() -> None:
    series = {"t_s": [0.2, 0.4, 0.6, 0.8], "delay_ms": [30.0, None, 28.0, 40.0], "max_ms": [31.0, None, 28.0, 40.0]}
    run, silent = observed({}, series), observed({}, {"t_s": [0.2], "delay_ms": [None], "max_ms": [None]})
    cell = AXES("voip", "10/1", "pie")
    evidence = Evidence(cells={cell: (run, silent, run)})
    assert shown.delays(evidence)["10/1", "1 stream"]["pie"].tolist() == [5.0, 3.0, 15.0] * 2
    assert shown.losses(evidence) == {("10/1", "1 stream"): {"pie": ([10_000] * 3, [1_000_000] * 3)}}
    assert shown.delays(evidence, "wifi_") == {}


def test_score_of_a_voice_stream_is_the_e_models() -> None:
    stream = {"sent": 100, "lost": 1, "delay_ms": {"mean": 80.0}, "ipdv_ms": 10.0}
    runs = tuple(
        observed({**stream, **other}, {})
        for other in ({}, {"lost": 100, "delay_ms": {"mean": None}, "ipdv_ms": None}, {"codec": "opus"})
    )
    found = shown.scores(Evidence(cells={AXES("voip", "10/1", "pie"): runs}))
    assert found["10/1", "1 stream"]["pie"] == [pytest.approx(3.7227, abs=1e-3), 1.0, None]


def test_what_was_not_run_with_cubic_or_is_an_ablation_is_not_shown(found: Evidence) -> None:
    assert list(shown.delays(found)) == [(link, load) for load in ("1 stream", "RRUL") for link in LINKS]
    assert list(shown.fetches(found, "huffpost", "wifi_")) == [("100/100", "1 stream"), ("100/100", "RRUL")]
    assert list(shown.unloaded(found, "google")) == list(LINKS)
    assert {len(values) for values in shown.indices(found)["10/10"].values()} == {6}
    assert shown.rrul(found, "10/1").height == 42
    assert shown.rrul(found, "10/1")["qdisc"].unique(maintain_order=True).to_list() == list(DISCIPLINES)


def test_a_run_in_which_nothing_arrives_has_no_index_and_no_fetch_time() -> None:
    cell = STUDY.cell("rtt_fairness", "10/1", "codel")
    (run, *_) = STUDY.world().of(cell)
    nothing = run.replaced(flows=tuple(dataclasses.replace(flow, goodput=0.0) for flow in run.flows))
    assert shown.indices(Evidence(cells={cell: (nothing,)})) == {"10/1": {"codel": [None]}}
    fetched = STUDY.cell("web:google", "10/1", "codel")
    (run, *_) = STUDY.world().of(fetched)
    none = run.replaced(pages=dataclasses.replace(run.pages, time_s=np.zeros(0)))
    found = shown.fetches(Evidence(cells={fetched: (run, none)}), "google")
    assert found == {("10/1", "1 stream"): {"codel": [run.pages.time_s.mean(), None]}}
