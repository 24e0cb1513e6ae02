"""What the plans of papers can have otherwise than the declared world: fields of their beds."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from sojourn import papers
from sojourn.papers.good_bad_wifi import plan as wired
from sojourn.papers.rural import plan as rural
from sojourn.papers.rural.evidence import AXES, CODEL, EMULATION, NS2, RURAL, TWO_RTT
from tests.records import Json

WIRED = wired.WiredBed(profile=papers.paper("good-bad-wifi").profiles["quick"])
STUDY = rural.RuralBed(profile=papers.paper("rural").profiles["quick"])


def _wired(link: str, qdisc: str, experiment: str = "rrul", page: str | None = None, **settings: Any) -> Json:
    bed = dataclasses.replace(WIRED, **settings)
    found = json.loads(bed.scenario(experiment, link, qdisc, page=page).normalized())
    assert isinstance(found, dict)
    return found


# By hand: (2 min + max) / (3 avpkt), rounded down, with min and max of Table 1 and its section 4.2.
@pytest.mark.parametrize(("link", "up", "down"), [("10/1", 1, 13), ("10/10", 13, 13), ("100/100", 137, 137)])
def test_an_average_over_larger_packets_has_the_burst_of_tc(link: str, up: int, down: int) -> None:
    declared, other = _wired(link, "ared"), _wired(link, "ared", avpkt=1514)
    assert {key for key in declared if declared[key] != other[key]} == {"qdisc_up", "qdisc_down"}
    for side, burst in (("qdisc_up", up), ("qdisc_down", down)):
        before, after = declared[side].split(), other[side].split()
        changed = [(word, a, b) for word, a, b in zip(before, before[1:], after[1:], strict=False) if a != b]
        assert [(word, after) for word, _, after in changed] == [("avpkt", "1514"), ("burst", str(burst))]
    assert _wired(link, "pie", avpkt=1514) == _wired(link, "pie")


def test_the_delay_box_has_a_tick_and_a_page_one_look_up_if_that_is_asked_for() -> None:
    assert _wired("10/10", "codel")["delay_tick"] == "0s"
    assert _wired("10/10", "codel", delay_tick="4.00008ms")["delay_tick"] == "4.00008ms"
    page = {"experiment": "web", "page": "google"}
    assert "look_ups" not in _wired("10/10", "codel", **page)["web"][0]
    assert _wired("10/10", "codel", **page, look_ups="page")["web"][0]["look_ups"] == "page"


def test_the_simulations_have_one_agent_a_flow_and_the_bed_has_not() -> None:
    ours = dataclasses.replace(STUDY, one_agent=True)
    for cell in (AXES(NS2, CODEL, RURAL, "high"), AXES(TWO_RTT, CODEL, RURAL, "low", 50, 550)):
        found = json.loads(ours.scenario(cell).normalized())
        assert [each["persistent"] for each in found["downloads"]] == [True, True]
        assert found["tcp"]["delayed_ack"] is False
    bed = AXES(EMULATION, CODEL, RURAL)
    assert ours.scenario(bed) == STUDY.scenario(bed)
