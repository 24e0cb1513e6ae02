"""`sojourn reproduce`, with runs much shorter than the paper's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from sojourn import papers
from tests.conftest import Cli

FIELDS = ["id", "section", "says", "verdict", "value", "low", "high", "unit", "reason"]


@pytest.mark.slow
def test_reproduce_writes_claims_figures_tables_and_report(cli: Cli, tmp_path: Path) -> None:
    words = ("reproduce", "good-bad-wifi", "--only", "rrul", "--duration", "12s", "--repeat", "2")
    done = cli(*words, "--out", "o")
    folder = tmp_path / "o"
    claims = json.loads((folder / "claims.json").read_text())
    assert [claim["id"] for claim in claims] == [f"gbw-rrul-{number:02}" for number in range(1, 24)]
    for claim in claims:
        assert sorted(set(claim) - {"settled", "by_construction", "runs"}) == sorted(FIELDS)
        # But one is about the algorithm alone.
        assert ("runs" in claim) == (claim["id"] != "gbw-rrul-14")
        assert all((folder / "runs" / name / "run.json").is_file() for name in claim.get("runs", ()))
        assert claim["verdict"] in {"holds", "fails", "cannot tell"}
        assert claim["reason"]
        assert re.search(r"\d", claim["reason"])
        if claim["low"] is not None:
            assert claim["low"] <= claim["value"] <= claim["high"]
    # What two runs of 12 s suffice for.
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert verdicts["gbw-rrul-21"] == "holds"
    assert verdicts["gbw-rrul-14"] == "holds"
    for name in ("fig2a", "fig2b", "fig2c"):
        assert (folder / f"figures/{name}.svg").read_bytes().startswith(b"<?xml")
        assert (folder / f"figures/{name}.png").read_bytes().startswith(b"\x89PNG")
    runs = pl.read_parquet(folder / "runs.parquet")
    assert runs.height == 3 * 7 * 2
    assert runs["link"].unique(maintain_order=True).to_list() == ["100/100", "10/10", "10/1"]
    assert runs["qdisc"].n_unique() == 7
    assert (runs.filter(pl.col("link") == "10/1")["goodput_up_mbit"] < 1).all()
    assert (runs.filter(pl.col("link") == "10/1")["goodput_down_mbit"] > 2).all()
    assert "gbw:fq_codel" in (folder / "table.md").read_text()
    assert "gbw:fq_codel" in (folder / "table.csv").read_text()
    assert done.stdout.rstrip().endswith("report: o/report.html")
    assert "10/1 Mbit/s" in done.stdout
    assert json.loads((folder / "claims.json").read_text()) == claims
    assert sorted(path.name for path in (folder / "tables").iterdir()) == ["table1.csv", "table1.md"]
    page = (folder / "report.html").read_text()
    assert all(claim["id"] in page for claim in claims)
    (tmp_path / "elsewhere").mkdir()
    cli("report", "o", "--out", "elsewhere/again.html")
    links = re.findall(r'href="([^"#]+/run\.json)"', (tmp_path / "elsewhere/again.html").read_text())
    assert links
    assert all((tmp_path / "elsewhere" / link).is_file() for link in links)
    cli("plot", "ellipse", "o", "--link", "10/1", "--out", "x.svg")
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert "link" in cli("plot", "ellipse", "o", "--out", "y.svg", status=2).stderr
    assert "5/5" in cli("plot", "ellipse", "o", "--link", "5/5", "--out", "y.svg", status=2).stderr


@pytest.mark.slow
def test_every_experiment_is_run_shown_and_judged(cli: Cli, tmp_path: Path) -> None:
    words = ("reproduce", "good-bad-wifi", "--duration", "2s", "--repeat", "1", "--out", "o")
    cli(*words, "--document", "docs/page.md")
    folder = tmp_path / "o"
    claims = json.loads((folder / "claims.json").read_text())
    assert len({claim["id"] for claim in claims}) == len(claims) == 130
    # Identities need no runs; a second of traffic is no evidence for the rest.
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert [verdicts[f"gbw-cfg-{number:02}"] for number in (4, 5, 7)] == ["holds"] * 3
    figures = {path.stem for path in (folder / "figures").glob("*.png")}
    assert figures == {"fig2a", "fig2b", "fig2c", "fig3", "fig4", "fig5", "fig6a", "fig6bcd", "fig7"} | {
        "fig9",
        "fig10",
        "fig11-google",
        "fig11-huffpost",
    }
    tables = {path.stem for path in (folder / "tables").glob("*.csv")}
    assert tables == {"table1", "table2", "table3", "voip-mos", "fig7-numbers"}
    page = (tmp_path / "docs/page.md").read_text()
    assert all(claim["id"] in page for claim in claims)
    assert {path.stem for path in (tmp_path / "docs/page").glob("*.webp")} == figures
    experiments = {json.loads(path.read_text())["experiment"] for path in folder.glob("runs/*/run.json")}
    assert experiments == {"rrul", "voip", "voip_rrul", "web", "web_rrul", "web_idle", "rtt_fairness"}
    variants = {json.loads(path.read_text())["scenario"]["tcp"]["variant"] for path in folder.glob("runs/*/run.json")}
    assert variants == {"linux-3.14"}


def test_a_part_has_its_own_claims_and_tcp_can_be_todays(cli: Cli, tmp_path: Path) -> None:
    words = ("--only", "fairness", "--duration", "1s", "--repeat", "1", "--tcp", "linux-6.1", "--json", "--out", "o")
    claims = json.loads(cli("reproduce", "good-bad-wifi", *words).stdout)
    assert {claim["id"][:9] for claim in claims} == {"gbw-fair-"}
    run = json.loads(next((tmp_path / "o").glob("runs/*/run.json")).read_text())
    assert run["scenario"]["tcp"]["variant"] == "linux-6.1"


@pytest.mark.slow
def test_section_7_has_the_disciplines_at_both_ends_of_the_link(cli: Cli, tmp_path: Path) -> None:
    words = ("--only", "wifi", "--duration", "1s", "--repeat", "1", "--json", "--out", "o")
    claims = json.loads(cli("reproduce", "good-bad-wifi", *words).stdout)
    assert {claim["id"][:8] for claim in claims} == {
        "gbw-wifi",
        "gbw-con-",
        "gbw-t3-p",
        "gbw-t3-a",
        "gbw-t3-c",
        "gbw-t3-s",
        "gbw-t3-f",
    }
    runs = [json.loads(path.read_text())["scenario"] for path in (tmp_path / "o").glob("runs/*/run.json")]
    cells = [one for one in runs if "wifi" in one]
    assert 0 < len(cells) < len(runs)
    # The paper's laptop sends no aggregates; others do, and one access point does not.
    frames = {(one["wifi"]["aggregate_frames"], one["wifi"]["stations"][0].get("aggregate_frames")) for one in cells}
    assert frames == {(32, 1), (32, None), (1, None), (1, 32)}
    tables = {path.stem for path in (tmp_path / "o" / "tables").glob("*.csv")}
    assert tables == {"table3", "wifi-pairs", "wifi-unstated", "worlds"}
    for one in cells:
        (laptop,) = one["wifi"]["stations"]
        assert one["wifi"]["scheme"] == laptop["scheme"] == "fifo"
        assert (one["wifi"]["driver_frames"], laptop["driver_frames"]) in {(123, 256), (123, 224), (32, 32)}
        assert laptop["qdisc"] == one["qdisc_up"]
        assert one["wifi"]["qdisc"] == one["qdisc_down"]


KERNELS = '"linux-6.1", "linux-6.12", "linux-7.3", "linux-5.15" or "linux-3.14"'


@pytest.mark.parametrize("name", papers.NAMES)
def test_bad_input_of_reproduce_is_one_sentence(name: str, inside: Cli) -> None:
    tcp = f'tcp.variant is "linux-2.6", but must be {KERNELS}'
    if name == "wifi-next-steps":
        tcp = f"tcp is 'linux-2.6', but {name} has no kernel of a paper to be like: leave it out"
    for words, sentence in (
        (("--tcp", "linux-2.6"), tcp),
        (("--only", "wired"), f"only is 'wired', but must be one of {', '.join(papers.paper(name).parts)}"),
        (("--profile", "huge"), "profile is 'huge', but must be one of quick, paper"),
        (("--document", "."), "document is '.', which is a folder, but must be a regular file or not be there yet"),
    ):
        assert inside("reproduce", name, *words, "--out", "o", status=2).stderr.strip().endswith(sentence)
