"""Section 7 of "The Good, the Bad and the WiFi": pairs of devices, and what hangs on them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest
from msgspec import structs

from sojourn import runner
from sojourn.papers.good_bad_wifi import pairs
from sojourn.papers.good_bad_wifi.devices import (
    EVEN,
    LONG_FADES,
    MECHANISMS,
    SHORT_FADES,
    UNEVEN,
    UNSTATED,
    Pair,
    over_wifi,
)
from sojourn.papers.good_bad_wifi.evidence import AXES, DISCIPLINES, FIFO, VOIP_RRUL, Evidence
from sojourn.papers.good_bad_wifi.exhibits import GALLERY
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.papers.good_bad_wifi.plan import WiredBed, plan
from sojourn.papers.good_bad_wifi.section7 import TABLE_3, WIFI_RRUL, WIFI_VOIP_RRUL, in_pair, of_pair
from sojourn.study import worlds
from sojourn.study.claims import load
from sojourn.study.paper import Profile
from tests.studies import STUDIES

STUDY = STUDIES["good_bad_wifi"]
BED = WiredBed(
    profile=Profile(duration="20s", long_duration="20s", repeat=2, other_repeat=1), parts=("wifi",), whole=False
)
EVEN_PICTURE = {"up": 45.0, "down": 50.0}


def two_pairs() -> Evidence:
    """Return evidence that bears all claims out with the uneven pair; with the even, RRUL's directions are alike."""
    wifi = [cell for cell in STUDY.world().cells if cell.experiment.startswith("wifi_")]
    alike = [cell for cell in wifi if cell.experiment in (WIFI_RRUL, WIFI_VOIP_RRUL) and cell.link == "100/100"]
    other = {
        cell.replaced(experiment=in_pair("even", cell.experiment)): STUDY.runs(
            cell, {**STUDY.values(cell), **(EVEN_PICTURE if cell in alike else {})}
        )
        for cell in wifi
    }
    return dataclasses.replace(STUDY.world(), cells=STUDY.world().cells | other)


def test_a_claim_is_judged_with_another_pair_by_that_pairs_runs() -> None:
    claims = load("good_bad_wifi", "gbw-wifi-07") + load("good_bad_wifi", "gbw-wifi-09")
    evidence = two_pairs()
    assert [one.verdict for one in JUDGES.judge(claims, evidence)] == ["holds", "holds"]
    assert [one.verdict for one in JUDGES.judge(claims, of_pair(evidence, "even"))] == ["fails", "holds"]
    # What was not run with a pair is not taken from another.
    assert [one.verdict for one in JUDGES.judge(claims, of_pair(evidence, "odd"))] == ["cannot tell"] * 2


def test_pairs_differ_in_what_they_say_they_do() -> None:
    scenario = BED.scenario(VOIP_RRUL, "100/100", "codel")
    uneven, even = over_wifi(scenario), over_wifi(scenario, EVEN)
    assert uneven.wifi is not None
    assert even.wifi is not None
    (laptop,) = uneven.wifi.stations
    assert laptop.aggregate_frames == 1
    again = dataclasses.replace(laptop, aggregate_frames=None)
    assert dataclasses.replace(uneven.wifi, stations=(again,)) == even.wifi
    assert uneven.wifi.aggregate_frames is None, "the access point sends aggregates"
    every = [*MECHANISMS, *UNSTATED]
    assert len({pair.name for pair in every}) == len({pair.says for pair in every}) == len(every)
    settings = [structs.replace(pair, name="", says="") for pair in every]
    assert all(one not in settings[:place] for place, one in enumerate(settings))


def test_only_the_pairs_that_say_so_have_a_link_that_fades() -> None:
    scenario = BED.scenario(VOIP_RRUL, "100/100", "codel")
    for pair in (*MECHANISMS, *UNSTATED):
        wifi = over_wifi(scenario, pair).wifi
        assert wifi is not None
        (laptop,) = wifi.stations
        assert (laptop.fade, laptop.fade_gap) == (pair.fade, pair.fade_gap)
        assert (laptop.fade is not None) == (pair in (SHORT_FADES, LONG_FADES))


@pytest.mark.parametrize(
    ("pair", "least", "most"),
    [(UNEVEN, 0.0, 0.5), (EVEN, 0.5, 2.0), (next(one for one in MECHANISMS if one.name == "mirrored"), 2.0, 1000.0)],
)
def test_who_sends_no_aggregates_is_starved(pair: Pair, least: float, most: float) -> None:
    scenarios = [over_wifi(BED.scenario(VOIP_RRUL, "100/100", qdisc), pair) for qdisc in (FIFO, "fq_codel")]
    for run in runner.run_all(scenarios, workers=1):
        observation = observe(run)
        assert least < observation.goodput_up / observation.goodput_down < most
        (laptop,) = run.record.wifi.stations
        frames = {side: getattr(laptop, side).aggregate_frames for side in ("up", "down")}
        assert (frames["up"] == 1, frames["down"] == 1) == (pair is UNEVEN, pair.point_aggregate == 1)


def test_every_cell_of_section_7_has_the_repeats_that_were_asked_for() -> None:
    cells = Counter(one.cell for one in plan(BED))
    assert set(cells.values()) == {2}
    for experiment in (WIFI_RRUL, in_pair("even", WIFI_RRUL)):
        for link in ("100/100", "10/10", "10/1"):
            assert all(AXES(experiment, link, qdisc) in cells for qdisc in DISCIPLINES)
    for pair in MECHANISMS[1:]:
        name = WIFI_VOIP_RRUL if pair is UNEVEN else in_pair(pair.name, WIFI_VOIP_RRUL)
        assert AXES(name, "100/100", "fq_codel") in cells


def rows(table: Any) -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in table.rows}


def test_tables_of_pairs_show_means_and_what_is_missing() -> None:
    found = rows(pairs.mechanisms(two_pairs()))
    assert list(found) == [pair.name for pair in MECHANISMS]
    assert found["uneven"][2:5] == ("50.0", "2.0", "300")
    assert found["even"][2:4] == ("50.0", "45.0")
    assert found["uneven"][7] == f"{TABLE_3[FIFO][1]:.2f}"
    assert set(found["mirrored"][2:]) == {"no data"}


def test_table_of_unstated_values_marks_what_is_not_near_the_papers() -> None:
    cell = AXES(WIFI_VOIP_RRUL, "100/100", "pie")
    far = STUDY.runs(cell, {**STUDY.values(cell), "voice": {**STUDY.values(cell)["voice"], "loss": 3.0}})
    evidence = two_pairs()
    table = pairs.unstated(dataclasses.replace(evidence, cells=evidence.cells | {cell: far}))
    uneven = rows(table)["uneven"]
    assert uneven[2:4] == ("4 to 4", "100")
    losses = dict(zip(table.headers[4:], uneven[4:], strict=True))
    assert losses["lost, pie"] == "3.00 (!)"
    assert losses["lost, codel"] == f"{TABLE_3['codel'][1]:.2f}"
    assert set(rows(table)["uneven, 300"][2:]) == {"no data"}


def test_verdicts_with_either_pair_stand_side_by_side() -> None:
    claims = load("good_bad_wifi", "gbw-wifi-")
    evidence = two_pairs()
    judged = JUDGES.judge(claims, evidence)
    for name, others in pairs.in_other_pairs(evidence, claims).items():
        worlds.beside(judged, name, others)
    found = {claim.id: (claim.verdict, claim.worlds) for claim in judged}
    untold = dict.fromkeys(("uneven, 300", "uneven, short fades", "uneven, long fades"), "cannot tell")
    assert found["gbw-wifi-07"] == ("holds", {**untold, "even": "fails"})
    assert found["gbw-wifi-09"] == ("holds", {**untold, "even": "holds"})
    assert rows(worlds.table(judged, "uneven"))["even"][1:6] == (str(len(claims)), "0", "13", "1", "0")
    assert pairs.in_other_pairs(Evidence(cells={}), claims) == {}


def test_exhibits_about_pairs_need_runs() -> None:
    assert GALLERY.exhibits(Evidence(cells={}), ("wifi",)) == ()
    shown = GALLERY.exhibits(two_pairs(), ("wifi",))
    assert [one.name for one in shown] == ["fig9", "fig10", "table3", "fig11", "wifi-pairs", "wifi-unstated"]
    assert all(one.table is not None and one.table.csv().count("\n") > len(one.table.rows) for one in shown[-2:])
