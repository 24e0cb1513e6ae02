"""The report is one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sojourn
from sojourn import report, web_build
from sojourn.frame_library import pl
from sojourn.report import result, zoom
from sojourn.stats import Interval
from sojourn.store.claims import JudgedClaim
from sojourn.store.index import Results


class Links(HTMLParser):
    """Collects whatever a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "data", "action"}]


@pytest.fixture(scope="module")
def page() -> str:
    """Return the report of a short comparison with claims whose words must be escaped."""
    comparison = sojourn.compare("rrul", qdiscs=["gbw:pfifo_fast", "gbw:fq_codel"], repeat=2, duration="3s")
    claims = tuple(
        JudgedClaim(
            id=f"x-{number}",
            section="5",
            says="a < b & c",
            verdict=verdict,
            value=value,
            low=value,
            high=None,
            unit="ms",
            reason="<script>alert(1)</script>",
            runs=[f"{name:032x}" for name in range(number)],
        )
        for number, (verdict, value) in enumerate([("holds", 1.25), ("fails", 2.0), ("cannot tell", None)])
    )
    results = Results(
        title="A report", comparison=comparison, command="sojourn compare", paper="A paper", claims=claims
    )
    return report.page(report.compared(results, report.all_figures(results)))


def test_report_loads_nothing(page: str) -> None:
    links = Links()
    links.feed(page)
    inner = [link for link in links.found if link.startswith("#")]
    assert inner == ["#claims", "#link-10_10", "#how", "#result", "#x-0", "#x-1", "#x-2"]
    assert all(page.count(f'id="{link[1:]}"') == 1 for link in inner)
    named = [f"runs/{name:032x}/run.json" for name in (0, 1)]
    images = [link for link in links.found if link not in (*inner, *named)]
    assert (len(images), len(links.found)) == (3, len(inner) + 6)
    assert all(link.startswith("data:image/svg+xml;base64,") for link in images)
    assert not {"link", "iframe", "object", "embed"} & set(links.tags)
    assert ("script" in links.tags) == (zoom.script() is not None)
    made = zoom.script()
    assert made is None or "fetch" not in made.text
    # The name space of SVG looks like an address, and is none.
    text = page.replace(made.text, "") if made is not None else page
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"https?://", text)


def test_report_shows_table_claims_scenario_and_versions(page: str) -> None:
    for word in (
        "gbw:fq_codel",
        "induced latency (ms)",
        "A paper",
        "sojourn compare",
        sojourn.__version__,
        "Python 3.",
    ):
        assert word in page
    for verdict in ("1 holds", "1 fails", "1 cannot tell"):
        assert verdict in page
    assert "a &lt; b &amp; c" in page
    assert "<script>alert" not in page
    assert "&#34;qdisc_up&#34;" in page
    assert re.search(r'<td>\d+\.\d\d <span class="ci">\[\d+\.\d\d, \d+\.\d\d\]</span></td>', page)


def test_report_begins_with_its_result_and_ends_with_how_it_was_made(page: str) -> None:
    body = page.partition("<main>")[2]
    told = re.search(r'<p class="result" id="result">(.*)</p>', body)
    assert told
    assert re.fullmatch(
        r"The induced latency is least with gbw:fq_codel, [\d.]+ \[[-\d.]+, [\d.]+\] ms, and most with gbw:pfifo_fast, "
        r"[\d.]+ \[[-\d.]+, [\d.]+\] ms; the goodput down there is [\d.]+ and [\d.]+ Mbit/s; "
        r"the goodput up there is [\d.]+ and [\d.]+ Mbit/s\.",
        told[1],
    )
    places = [body.index(words) for words in ("<h1>", told[0], "<figure", 'id="claims"', 'id="how"', "sojourn compare")]
    assert places == sorted(places)
    assert "prefers-color-scheme: dark" in page


def test_the_result_of_claims_has_their_verdicts_and_the_numbers_of_one_that_is_decided() -> None:
    def claim(verdict: str, value: float | None, **more: str) -> JudgedClaim:
        return JudgedClaim(
            id="x", section="", says="It is so.", verdict=verdict, value=value, low=1.0, high=2.0, unit="ms", reason="",
            **more,  # type: ignore[arg-type]
        )  # fmt: skip

    claims = [claim("cannot tell", None), claim("fails", 7.0, by_construction="arithmetic"), claim("holds", 1.5)]
    told = "Of 2 claims 1 holds, 0 fail and 1 cannot be told. \u201cIt is so\u201d holds: 1.5 [1, 2] ms."
    assert result.of_claims(claims, ()) == told


def test_a_quantity_without_values_is_not_told() -> None:
    latency = {"a": Interval(value=2.0, low=None, high=None, n=1)}
    assert result.extremes(("latency", {}, "ms"), ("delay", latency, "ms")) == "The delay is 2 ms with a."
    assert result.extremes(("latency", {}, "ms")) == ""


def test_report_has_a_figure_with_words_for_those_who_cannot_see_it(page: str) -> None:
    assert re.search(r'<img alt="Goodput against induced latency', page)


HOSTILE = '</script><!--<script>alert(1)</script>&\u2028"'


class Scripts(HTMLParser):
    """Collects scripts as a browser tells them apart, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script"
        if self._inside:
            self.found.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            attributes, text = self.found[-1]
            self.found[-1] = attributes, text + data


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return a script that stands in the place of the one that is built."""
    (tmp_path / "report").mkdir()
    text = "console.log('<\\/script>');"
    (tmp_path / "report/report.js").write_text("console.log('</script>');")
    monkeypatch.setattr(web_build, "_INSTALLED", tmp_path)
    zoom.script.cache_clear()
    yield text
    zoom.script.cache_clear()


def test_plots_hold_their_data_whatever_the_names_are(script: str) -> None:
    comparison = sojourn.compare("rrul", qdiscs=["pfifo_fast", "fq_codel"], repeat=2, duration="2s")
    results = Results(title=HOSTILE, comparison=comparison, command=HOSTILE)
    drawn = report.all_figures(results)
    for figures in drawn.values():
        for figure in figures:
            for chart in figure.charts:
                chart.title = HOSTILE
    page = report.page(report.compared(results, drawn))
    found = Scripts()
    found.feed(page)
    data = [(attributes["id"], json.loads(text)) for attributes, text in found.found if "type" in attributes]
    assert [name for name, _ in data] == ["plot-ellipse-rtt-cdf", "plot-ellipse-timeseries"]
    assert all(chart["title"] == HOSTILE for _, charts in data for chart in charts)
    assert all(f'<figure data-plot="{name}"><img' in page for name, _ in data)
    [text] = [text for attributes, text in found.found if "type" not in attributes]
    assert text == script
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in page


def test_a_plot_has_the_values_of_the_runs() -> None:
    comparison = sojourn.compare("rrul", qdiscs=["pfifo_fast", "fq_codel"], repeat=1, duration="2s")
    series = {cell.qdisc: cell.runs[0].series for cell in comparison.cells}
    rtt, up, down = zoom.over_time(series, title="t", group="g")
    for number, (label, frame) in enumerate(series.items()):
        probes = frame.filter(pl.col("metric") == "rtt_ms").sort("t_s")
        assert rtt.lines[number].label == label
        drawn = pl.Series(rtt.lines[number].y, dtype=pl.Float64)
        assert drawn.is_null().to_list() == probes["value"].is_null().to_list()
        assert drawn.drop_nulls().to_list() == pytest.approx(probes["value"].drop_nulls().to_list(), rel=1e-6)
        for chart, direction in ((up, "up"), (down, "down")):
            total = frame.filter((pl.col("metric") == "goodput_mbit") & (pl.col("direction") == direction))[
                "value"
            ].sum()
            assert sum(chart.lines[number].y) == pytest.approx(total, rel=1e-6)
    [curve] = zoom.distribution(series, title="t")
    assert all(line.y[-1] == 1 and sorted(line.x) == line.x for line in curve.lines)


def test_without_the_script_the_report_has_pictures_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_INSTALLED", "_CHECKOUT"):
        monkeypatch.setattr(web_build, name, tmp_path)
    zoom.script.cache_clear()
    try:
        comparison = sojourn.compare("rrul", qdiscs=["pfifo_fast"], repeat=1, duration="1s")
        results = Results(title="t", comparison=comparison, command="c")
        page = report.page(report.compared(results, report.all_figures(results)))
    finally:
        zoom.script.cache_clear()
    assert page.count("<img") == 3
    assert "<script" not in page
    assert "data-plot=" not in page.partition("</style>")[2]
