"""`sojourn reproduce good-bad-wifi`, with runs much shorter than the paper's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

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
        assert sorted(claim) == sorted(FIELDS)
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
    page = (folder / "report.html").read_text()
    assert all(claim["id"] in page for claim in claims)
    cli("plot", "ellipse", "o", "--link", "10/1", "--out", "x.svg")
    assert (tmp_path / "x.svg").read_bytes() == (folder / "figures/fig2c.svg").read_bytes()
    assert "link" in cli("plot", "ellipse", "o", "--out", "y.svg", status=2).stderr
    assert "5/5" in cli("plot", "ellipse", "o", "--link", "5/5", "--out", "y.svg", status=2).stderr
