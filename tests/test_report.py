"""The report is one file that needs nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import sojourn
from sojourn import report
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
        {
            "id": f"x-{number}",
            "section": "5",
            "says": "a < b & c",
            "verdict": verdict,
            "value": value,
            "low": value,
            "high": None,
            "unit": "ms",
            "reason": "<script>alert(1)</script>",
        }
        for number, (verdict, value) in enumerate([("holds", 1.25), ("fails", 2.0), ("cannot tell", None)])
    )
    results = Results(
        title="A report", comparison=comparison, command="sojourn compare", paper="A paper", claims=claims
    )
    return report.page(results, report.all_figures(results))


def test_report_loads_nothing(page: str) -> None:
    links = Links()
    links.feed(page)
    inner = [link for link in links.found if link.startswith("#")]
    assert inner == ["#claims", "#x-0", "#x-1", "#x-2"]
    assert all(page.count(f'id="{link[1:]}"') == 1 for link in inner)
    images = [link for link in links.found if link not in inner]
    assert len(images) == 3
    assert all(link.startswith("data:image/svg+xml;base64,") for link in images)
    assert not {"script", "link", "iframe", "object", "embed"} & set(links.tags)
    assert "url(" not in page
    assert "@import" not in page
    assert not re.search(r"https?://", page)


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
    assert "<script>" not in page
    assert "&#34;qdisc_up&#34;" in page
    assert re.search(r'<td>\d+\.\d\d <span class="ci">\[\d+\.\d\d, \d+\.\d\d\]</span></td>', page)


def test_report_has_a_figure_with_words_for_those_who_cannot_see_it(page: str) -> None:
    assert re.search(r'<img alt="Goodput against induced latency', page)
