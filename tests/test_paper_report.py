"""Tables, report and page of a reproduced paper."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import tomllib
from pathlib import Path

import pytest

from sojourn import report
from sojourn.papers.good_bad_wifi import tables
from sojourn.papers.good_bad_wifi.evidence import Evidence
from sojourn.papers.good_bad_wifi.exhibits import GALLERY, losses, scores, transients
from sojourn.stats.transient import STEADY_S, course
from sojourn.store.claims import JudgedClaim
from sojourn.study import page as pages
from tests.makers import comparison
from tests.studies import STUDIES
from tests.test_report import Links

CLAIMS = (
    JudgedClaim(
        id="gbw-voip-02",
        section="5.2.1",
        says="Delay of a | b <c>.",
        verdict="holds",
        value=1.25,
        low=1.0,
        high=1.5,
        unit="ms",
        reason="<script>alert(1)</script> of_x",
    ),
    JudgedClaim(
        id="gbw-tran-01",
        section="6.2.1",
        says="It spikes.",
        verdict="cannot tell",
        value=None,
        low=None,
        high=None,
        unit="",
        reason="too short",
    ),
)


@pytest.fixture(scope="module")
def found() -> Evidence:
    study = STUDIES["good_bad_wifi"]
    evidence: Evidence = dataclasses.replace(study.world(), comparison=comparison(study))
    return evidence


@pytest.fixture(scope="module")
def paper_report(found: Evidence) -> report.Report:
    return report.Report(
        title="A paper",
        reference="Authors, 2015",
        command="sojourn reproduce good-bad-wifi",
        facts=(("profile", "quick: 60 s, 6 repeats"),),
        setup="Five nodes in a row.",
        exhibits=GALLERY.exhibits(found, ("rrul", "voip", "web", "fairness", "transient")),
        claims=CLAIMS,
    )


def test_the_presets_are_table_1() -> None:
    table = tables.table1()
    assert len(table.records) == 16 * 3
    stated = [record for record in table.records if record["paper"] is not None]
    assert len(stated) == 46
    assert all(record["same"] for record in stated)
    ared = {record["rate_mbit"]: record["ours"] for record in table.records if record["parameter"] == "max"}
    assert ared == {1: 3028.0, 10: 37500.0, 100: 375000.0}
    assert "differs" not in table.markdown()
    assert table.markdown().count("not given") == 2


def test_a_preset_that_strays_from_table_1_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_preset_value", lambda *_: 7.0)
    table = tables.table1()
    assert table.markdown().count("(differs)") == 46
    assert not any(record["same"] for record in table.records)


def loss(load: str, qdisc: str, link: str, lost: list[int], sent: list[int]) -> tables.LossCell:
    cells = tables.loss_cells({(link, load): {f"gbw:{qdisc}": (lost, sent)}})
    return next(cell for cell in cells if (cell.load, cell.qdisc, cell.link) == (load, qdisc, link))


@pytest.mark.parametrize(
    ("load", "qdisc", "link", "percent", "agreement"),
    [
        ("RRUL", "pie", "10/1", 14.03 * 1.99, "agrees"),
        ("RRUL", "pie", "10/1", 14.03 / 1.99, "agrees"),
        ("RRUL", "pie", "10/1", 14.03 * 2.01, "differs"),
        ("RRUL", "pie", "10/1", 14.03 / 2.01, "differs"),
        ("RRUL", "fq_codel", "10/1", 0.04 * 9.9, "agrees"),
        ("RRUL", "fq_codel", "10/1", 0.04 / 10.1, "differs"),
        ("RRUL", "sfq", "10/10", 0.0, "agrees"),
        ("RRUL", "sfq", "10/10", 0.001, "differs"),
        ("RRUL", "sfq", "10/1", 0.0, "differs"),
    ],
)
def test_loss_agrees_within_the_stated_factors(
    load: str, qdisc: str, link: str, percent: float, agreement: str
) -> None:
    sent = 10_000_000
    cell = loss(load, qdisc, link, [round(percent / 100 * sent)] * 7, [sent] * 7)
    assert cell.agreement == agreement
    assert cell.ours is not None
    assert cell.ours.value == pytest.approx(percent, abs=1e-4)


def test_loss_that_was_not_seen_has_an_upper_end() -> None:
    cell = loss("RRUL", "fq_nocodel", "10/1", [0] * 10, [3000] * 10)
    assert cell.ours is not None
    assert (cell.ours.low, cell.ratio) == (0.0, None)
    assert cell.ours.high == pytest.approx(100 * 3 / 30_000, rel=5e-3)


def test_table_2_has_the_papers_numbers(found: Evidence) -> None:
    """Three numbers of each half, as printed."""
    rows = {(row[0], row[1]): row[2::3] for row in tables.table2(losses(found)).rows}
    assert len(rows) == 14
    assert rows["1 stream", "pfifo_fast"] == ("0.88", "0.1", "-")
    assert rows["1 stream", "codel"] == ("6.46", "0.02", "0.002")
    assert rows["RRUL", "ared"] == ("26.33", "0.61", "0.019")
    assert rows["RRUL", "fq_codel"] == ("0.04", "-", "-")
    assert rows["RRUL", "sfq"] == ("0.42", "-", "-")


def test_table_2_shows_interval_ratio_and_mark() -> None:
    table = tables.table2({("10/1", "RRUL"): {"codel": ([100, 120, 90, 80, 111, 99, 70], [1000] * 7)}})
    row = next(row for row in table.rows if row[:2] == ("RRUL", "codel"))
    assert re.fullmatch(r"9\.57 \[[\d.]+, [\d.]+\]", row[3])
    assert row[4] == "0.903 ✓"
    assert row[6:8] == ("no data", "-")
    assert "1 of 1 cells agree" in table.note


def test_csv_holds_every_value_unrounded(found: Evidence) -> None:
    table = tables.table2(losses(found))
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert len(rows) == 42
    assert {row["agreement"] for row in rows} <= {"agrees", "differs", "no data"}
    pie = next(row for row in rows if (row["cross_traffic"], row["qdisc"], row["link"]) == ("RRUL", "pie", "10/1"))
    lost, sent = losses(found)["10/1", "RRUL"]["pie"]
    assert float(pie["ours_percent"]) == pytest.approx(100 * sum(lost) / sum(sent))


def test_the_stored_tables_are_complete() -> None:
    path = Path(tables.__file__).with_name("tables.toml")
    stored = tomllib.loads(path.read_text(encoding="utf-8"))
    assert sorted(stored["table2"]) == ["1 stream", "RRUL"]
    for rows in stored["table2"].values():
        assert len(rows) == 7
        assert all(list(row) == ["1", "10", "100"] for row in rows.values())


def test_transient_numbers_are_shown_with_intervals(found: Evidence) -> None:
    table = tables.transient_table(transients(found))
    assert [row[0] for row in table.rows[::7]] == ["100/100", "10/10", "10/1"]
    pie = next(row for row in table.rows if row[:2] == ("10/1", "pie"))
    assert all(re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", cell) for cell in pie[2:])
    fifo = next(row for row in table.rows if row[:2] == ("10/1", "pfifo_fast"))
    assert float(pie[5].split()[0]) > 5 > float(fifo[5].split()[0])


def test_scores_follow_delay_and_loss(found: Evidence) -> None:
    rows = {row[:2]: row[2:] for row in tables.mos_table(scores(found)).rows}
    assert len(rows) == 14
    score = {cell: float(values[0].split()[0]) for cell, values in rows.items()}
    assert score["RRUL", "pfifo_fast"] < score["1 stream", "pfifo_fast"] < score["1 stream", "fq_codel"]
    assert score["RRUL", "fq_nocodel"] > 4.3
    few = tables.mos_table({("10/1", "RRUL"): {"pie": [None], "codel": [2.0]}})
    assert few.rows == (("RRUL", "pie", "-"), ("RRUL", "codel", "2.00"))


def test_runs_too_short_for_a_steady_level_have_dashes() -> None:
    short = course([{"ping": ([0.1 * k for k in range(250)], [60.0] * 250)}], end_s=STEADY_S[1])
    assert tables.transient_table({"10/1": {"pie": short}}).rows == (("10/1", "pie", "-", "-", "-", "-", "-"),)


def test_exhibits_are_in_the_order_of_the_paper(paper_report: report.Report) -> None:
    names = [exhibit.name for exhibit in paper_report.exhibits]
    assert names == ["table1", "fig2", "fig3", "table2", "voip-mos", "fig4", "fig5", "fig6", "fig7"]
    drawn = [figure.name for exhibit in paper_report.exhibits for figure in exhibit.figures]
    assert drawn == ["fig2a", "fig2b", "fig2c", "fig3", "fig4", "fig5", "fig6a", "fig6bcd", "fig7"]


def test_without_runs_there_is_table_1_alone() -> None:
    assert [exhibit.name for exhibit in GALLERY.exhibits(Evidence(cells={}))] == ["table1"]


def test_report_is_one_file_with_an_anchor_for_each_claim(paper_report: report.Report) -> None:
    page = report.page(paper_report)
    links = Links()
    links.feed(page)
    inner = [link for link in links.found if link.startswith("#")]
    assert all(link.startswith("data:image/svg+xml;base64,") for link in links.found if link not in inner)
    assert len(links.found) - len(inner) == 9
    assert page.index('id="result"') < page.index("data:image") < page.index('id="fig2"') < page.index('id="how"')
    for link in inner:
        assert page.count(f'id="{link[1:]}"') == 1, link
    assert {"#gbw-voip-02", "#gbw-tran-01", "#fig3", "#table2", "#claims"} <= set(inner)
    assert not {"script", "link", "iframe", "object", "embed"} & set(links.tags)
    assert not re.search(r"https?://|url\(|@import", page)
    assert "&lt;script&gt;" in page
    for words in (
        "section 5.2.1",
        "section 6.2.1",
        "holds (1)",
        "fails (0)",
        "cannot tell (1)",
        "A paper",
        "Five nodes",
    ):
        assert words in page


def test_claims_can_be_filtered_by_verdict(paper_report: report.Report) -> None:
    page = report.page(paper_report)
    for word in ("holds", "fails", "cannot-tell"):
        assert f'id="show-{word}"' in page
        assert f".filtered:has(#show-{word}:checked) tbody tr:not(.is-{word})" in page
    assert '<tr id="gbw-tran-01" class="is-cannot-tell">' in page


def test_report_without_claims_has_no_claims_table(paper_report: report.Report) -> None:
    bare = report.Report(
        title="A", reference="B", command="C", facts=(), setup="D", exhibits=paper_report.exhibits[:1], claims=()
    )
    assert 'id="claims"' not in report.page(bare)
    assert "## Claims" not in pages.document(bare, images="x")


def test_page_names_every_figure_table_and_claim(paper_report: report.Report, tmp_path: Path) -> None:
    page = tmp_path / "good-bad-wifi.md"
    written = pages.write(paper_report, page)
    text = page.read_text(encoding="utf-8")
    images = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert [tmp_path / image for image in images] == written[1:]
    assert all((tmp_path / image).read_bytes().startswith(b"RIFF") for image in images)
    assert "    sojourn reproduce good-bad-wifi\n" in text
    assert "| profile | quick: 60 s, 6 repeats |" in text
    assert "| `gbw-voip-02` | 5.2.1 | Delay of a \\| b &lt;c>. | 1.25 [1, 1.5] ms | holds |" in text
    assert "| `gbw-tran-01` | 6.2.1 | It spikes. | - | cannot tell |" in text
    assert "\n- `gbw-tran-01`: too short\n" in text
    assert "<script>" not in text
    assert "of\\_x" in text
    assert "Claims: 1 holds, 0 fails, 1 cannot tell" in text
    assert "| RRUL | fq_codel | 0.04 |" in text
    assert pages.write(paper_report, page) == written
