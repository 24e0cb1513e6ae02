"""Exhibits, cells and notes as data: what they name is there, and what was not run is left out."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn import schema
from sojourn.papers.rural.evidence import AXES, CODEL, DEFAULT, DROPTAIL, EMULATION, NONE, NS2, RTTS_MS, Evidence
from sojourn.papers.rural.exhibits import GALLERY
from sojourn.papers.rural.judges import JUDGES
from sojourn.papers.wifi_stack import quantities as wifi_stack
from sojourn.stats import mean_interval
from sojourn.study.cell import Observation
from sojourn.study.claims import Claim, load, stored
from sojourn.study.exhibits import interval_text, recorded
from sojourn.study.plan import cells_of
from tests.records import Json
from tests.studies import STUDIES

FILES = ("flusher", "good_bad_wifi", "rural", "wifi_next_steps", "wifi_stack")


def observation(**changes: Any) -> Observation:
    usual = STUDIES["rural"].usual[AXES(NS2, DROPTAIL)][0]
    return usual.replaced(**{"seed": 1, **changes})


def tables(paper: str) -> list[Json]:
    found = stored(paper, "exhibits", dict)["exhibits"]
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
        AXES(EMULATION, scheme, setting, rtt=rtt)
        for scheme, setting in ((DROPTAIL, NONE), (CODEL, DEFAULT))
        for rtt in RTTS_MS
    ]
    evidence = Evidence(cells={cell: (observation(), observation(seed=2)) for cell in (*cells, AXES(NS2, DROPTAIL))})
    found = GALLERY.exhibits(evidence)
    assert [one.name for one in found] == ["fig2", "cells"]
    assert [one.name for one in GALLERY.exhibits(Evidence(cells={AXES(NS2, DROPTAIL): (observation(),)}))] == ["cells"]
    table = found[-1].table
    assert table is not None
    assert len(table.rows) == len(evidence.cells)
    assert len(table.records) == 8 * len(evidence.cells)
    assert table.rows[0][:6] == ("emulation", "codel", "5/100", "low", "50", "2")


def test_a_quantity_that_no_run_has_is_a_dash_in_a_table() -> None:
    table = GALLERY.exhibits(Evidence(cells={AXES(NS2, DROPTAIL): (observation(fct_s=None),)}))[0].table
    assert table is not None
    assert dict(zip(table.headers, table.rows[0], strict=True))["FCT (s)"] == "-"
    record = next(one for one in table.records if one["quantity"] == "FCT (s)")
    assert (record["mean"], record["low"], record["runs"]) == (None, None, 0)


def test_a_mean_is_said_with_its_interval() -> None:
    assert interval_text(mean_interval([1.0])) == "1.0"
    assert interval_text(None) == "-"
    assert recorded(mean_interval([1.0, 3.0]), "mbit")["mbit"] == 2.0


def test_a_note_has_the_means_of_its_numbers() -> None:
    """10 and 20 ms under two disciplines: each, their mean, and how far they are apart, by hand."""
    waits = {CODEL: 10.0, DROPTAIL: 20.0}
    cells = {
        AXES(NS2, scheme): (observation(queueing_ms=ms), observation(seed=2, queueing_ms=ms))
        for scheme, ms in waits.items()
    }
    claim = schema.convert(
        {
            "id": "x-1",
            "section": "1",
            "says": "It waits.",
            "cell": {"experiment": NS2, "scheme": CODEL},
            "checks": [{"of": "queueing", "is": "> 5 ms", "what": "waiting"}],
            "note": "{each}; mean {mean:.1f} ms, apart {apart:.0f} ms",
            "numbers": {
                "each": {"for": {"scheme": list(waits)}, "of": "queueing", "each": "{scheme} {value:.0f}"},
                "mean": {"for": {"scheme": list(waits)}, "of": "queueing"},
                "apart": {"of": "queueing", "at": {"scheme": DROPTAIL}, "less": {"scheme": CODEL}},
            },
        },
        Claim,
    )
    found = JUDGES.judged(claim, Evidence(cells=cells))
    assert found.verdict == "holds"
    assert found.reason.endswith("codel 10, droptail 20; mean 15.0 ms, apart 10 ms")
    del cells[AXES(NS2, DROPTAIL)]
    assert JUDGES.judged(claim, Evidence(cells=cells)).verdict == "cannot tell"


def test_cells_of_parts_are_each_there_once_in_the_order_of_the_file() -> None:
    of_air = cells_of("wifi_stack", wifi_stack.VOCABULARY, ("airtime",))
    assert [one.words() for one in of_air] == [
        f"wifi_udp under {scheme}" for scheme in ("fifo", "fq_codel", "fq_mac", "airtime")
    ]
    both = cells_of("wifi_stack", wifi_stack.VOCABULARY, ("throughput", "airtime"))
    assert both == cells_of("wifi_stack", wifi_stack.VOCABULARY, ("throughput",))
    assert [one.experiment for one in both[:3]] == ["wifi_tcp", "wifi_udp", "wifi_tcp"]


def _claims(one: Json) -> list[str]:
    loops = [turn for values in one.get("for", {}).values() if isinstance(values, list) for turn in values]
    return [
        name for each in (one, *(turn for turn in loops if isinstance(turn, dict))) for name in each.get("claims", [])
    ]
