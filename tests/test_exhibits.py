"""Exhibits as data: what they name is there, and what was not run is left out."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.papers.kit.claims import load, stored
from sojourn.papers.kit.exhibits import recorded, said
from sojourn.papers.rural.evidence import CODEL, DEFAULT, DROPTAIL, EMULATION, NONE, NS2, RTTS_MS, Cell, Evidence
from sojourn.papers.rural.exhibits import GALLERY
from sojourn.stats import mean_interval
from tests.test_rural import seen

FILES = ("flusher", "good_bad_wifi", "rural", "wifi_next_steps", "wifi_stack")


def tables(paper: str) -> list[dict[str, Any]]:
    found = stored(paper, "exhibits")["exhibits"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("paper", FILES)
def test_every_claim_that_an_exhibit_names_is_there(paper: str) -> None:
    ids = [claim.id for claim in load(paper)]
    named = [prefix for one in tables(paper) for prefix in _claims(one)]
    assert [prefix for prefix in named if not any(each.startswith(prefix) for each in ids)] == []
    parts = {one["claims_of"] for one in tables(paper) if "claims_of" in one}
    assert parts <= {claim.part for claim in load(paper)}


@pytest.mark.parametrize("paper", FILES)
def test_an_exhibit_is_like_one_before_it(paper: str) -> None:
    before: set[str] = set()
    for one in tables(paper):
        assert "like" not in one or one["like"] in before
        before.add(one.get("id", one.get("name", "")))


def test_of_one_figure_and_no_cell_of_another_there_is_one_figure_and_the_table_of_cells() -> None:
    cells = [
        Cell(EMULATION, scheme, setting, rtt=rtt)
        for scheme, setting in ((DROPTAIL, NONE), (CODEL, DEFAULT))
        for rtt in RTTS_MS
    ]
    evidence = Evidence(cells={cell: (seen(), seen(seed=2)) for cell in (*cells, Cell(NS2, DROPTAIL))})
    found = GALLERY.exhibits(evidence)
    assert [one.name for one in found] == ["fig2", "cells"]
    assert [one.name for one in GALLERY.exhibits(Evidence(cells={Cell(NS2, DROPTAIL): (seen(),)}))] == ["cells"]
    table = found[-1].table
    assert table is not None
    assert len(table.rows) == len(evidence.cells)
    assert len(table.records) == 8 * len(evidence.cells)
    assert table.rows[0][:6] == ("emulation", "codel", "5/100", "low", "50", "2")


def test_a_quantity_that_no_run_has_is_a_dash_in_a_table() -> None:
    table = GALLERY.exhibits(Evidence(cells={Cell(NS2, DROPTAIL): (seen(fct_s=None),)}))[0].table
    assert table is not None
    assert dict(zip(table.headers, table.rows[0], strict=True))["FCT (s)"] == "-"
    record = next(one for one in table.records if one["quantity"] == "FCT (s)")
    assert (record["mean"], record["low"], record["runs"]) == (None, None, 0)


def test_a_mean_is_said_with_its_interval() -> None:
    assert said(mean_interval([1.0])) == "1.0"
    assert said(None) == "-"
    assert recorded(mean_interval([1.0, 3.0]), "mbit")["mbit"] == 2.0


def _claims(one: dict[str, Any]) -> list[str]:
    loops = [turn for values in one.get("for", {}).values() if isinstance(values, list) for turn in values]
    return [
        name for each in (one, *(turn for turn in loops if isinstance(turn, dict))) for name in each.get("claims", [])
    ]
