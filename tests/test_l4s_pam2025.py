"""The study of L4S: what cannot be run says so, and the rest is run."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from sojourn import api, papers
from sojourn.papers.l4s_pam2025 import bars, exhibits
from sojourn.papers.l4s_pam2025 import plan as l4s
from sojourn.papers.l4s_pam2025.evidence import AXES, SENDERS, claimed, measured, observe, share
from sojourn.papers.l4s_pam2025.plan import CONTROL, MANY, PAIR, PARTS, L4sBed, cells, lacks
from sojourn.study.cell import Observation
from tests.conftest import Cli
from tests.records import Json
from tests.studies import STUDIES

STUDY = STUDIES["l4s_pam2025"]
BED = L4sBed(profile=papers.paper("l4s-pam2025").profiles["quick"])


def test_what_cannot_be_run_says_what_it_waits_for() -> None:
    nothing = STUDY.evidence({}, lacks=lacks)
    for claim in STUDY.claims.values():
        found = STUDY.judged(claim.id, nothing)
        assert found.verdict == "cannot tell"
        assert found.reason.startswith(("there are no runs of", "it needs ")), found.reason
    assert STUDY.judged("l4s-15", nothing).reason.startswith("there are no runs of TCP Prague")


def test_what_the_simulator_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn._native.congestion_controls", lambda: ["cubic"])
    nothing = STUDY.evidence({}, lacks=lacks)
    assert "it needs TCP Prague and BBRv3 with ECN, which the back end lacks" in STUDY.judged("l4s-16", nothing).reason


def test_a_cell_can_be_run_once_the_simulator_knows_its_senders(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = AXES("prague", "bbr3", "one_queue_fq", 1)
    monkeypatch.setattr("sojourn._native.congestion_controls", lambda: ["cubic"])
    assert set(lacks(cell)) == {"TCP Prague", "BBRv3 without ECN"}
    monkeypatch.setattr("sojourn._native.congestion_controls", lambda: ["cubic", "prague", "bbr3"])
    assert lacks(cell) == ()


def test_what_can_be_run_is_a_scenario_of_the_bed() -> None:
    there = [cell for cell in cells(others=True) if not lacks(cell)]
    assert {cell.part for cell in there} == set(PARTS)
    for cell in there:
        found = json.loads(BED.scenario(cell).normalized())
        rtt = f"{cell.base_ms:g}ms"
        assert (found["up"], found["rtt"], found["lead"], found["duration"]) == ("100mbit", rtt, "0s", "60s")
        scalable = {"prague", "bbr2-l4s"}
        ecn = ["accecn" if f["congestion_control"] in scalable else found["tcp"]["ecn"] for f in found["flows"]]
        sides = ((cell.l4s, cell.l4s_flows), (cell.classic, cell.classic_flows))
        assert ecn == [SENDERS[side].ecn or False for side, number in sides for _ in range(number)]
        assert found["tcp"].get("prague_fallback", False) == (cell.l4s == "prague_fallback")
    # 2 BDP are 250,000 bytes: 166 packets of 1500 and one more.
    assert l4s.qdisc(AXES("cubic", "cubic", "fifo")) == "bfifo limit 250000"
    assert l4s.qdisc(AXES("cubic", "cubic", "codel")).startswith("codel limit 167 ")


def test_a_kernel_takes_the_cells_of_its_controls() -> None:
    bed = dataclasses.replace(BED, backend="linux")
    there = [cell for cell in cells(others=True) if not bed.lacks(cell)]
    assert {side for cell in there for side in (cell.l4s, cell.classic)} == {"prague", "cubic", "cubic_ecn", "bbr"}
    for cell in there:
        assert bed.scenario(cell).normalized("linux") == bed.scenario(cell).normalized("sim")


def test_a_run_is_observed_by_sides() -> None:
    cell = AXES("cubic", "cubic", "fifo", 2, 1, 2)
    run = api.run(dataclasses.replace(BED.scenario(cell), duration="5s"))
    found, flows = observe(run, cell), run.record.flows
    assert [one.name for one in flows] == ["l4s_1", "classic_1", "classic_2"]
    assert found.l4s_mbit == flows[0].goodput_mbit
    assert found.classic_mbit == flows[1].goodput_mbit + flows[2].goodput_mbit
    # The smoothed RTT is that of the base and the queue, and of what the receiver waits with its acknowledgements.
    assert found.l4s_ms == pytest.approx(10 + flows[0].sojourn_ms.mean, abs=0.5)
    assert 0 < share(found) < 100


def test_parts_are_those_of_the_cells() -> None:
    assert {cell.part for cell in cells()} == set(PARTS) == set(papers.paper("l4s-pam2025").parts)
    assert {claim.part for claim in STUDY.claims.values()} == set(PARTS)
    assert {cell.part for cell in cells((PAIR, MANY))} == {PAIR, MANY}


def test_the_command_runs_what_can_be_run_and_counts_the_rest(cli: Cli, tmp_path: Path) -> None:
    done = cli("reproduce", "l4s-pam2025", "--duration", "2s", "--repeat", "2", "--out", "o", "--document", "page.md")
    lines = done.stdout.splitlines()
    assert lines[0] == "93 of 93 cells can be run."
    found = json.loads((tmp_path / "o/claims.json").read_text())
    verdicts = {one["id"]: one["verdict"] for one in found}
    assert set(verdicts.values()) <= {"holds", "fails", "cannot tell"}
    page = (tmp_path / "page.md").read_text()
    assert re.search(r"\| TCP Prague / BBRv3 with ECN \| 1:1 \| DualPI2, 2 BDP \| 4\.3 / \d", page)
    assert re.search(r"\| TCP Prague / CUBIC with ECN \| 1:1 \| DualPI2, 2 BDP \| 42\.7 / \d", page)


def test_the_quick_profile_has_the_cells_of_the_claims_and_the_other_all_that_were_measured() -> None:
    quick, paper = (L4sBed(profile=papers.paper("l4s-pam2025").profiles[name]) for name in ("quick", "paper"))
    assert set(quick.cells()) == set(cells())
    assert set(paper.cells()) == {*cells((CONTROL,)), *measured()}
    other = next(cell for cell in measured() if cell not in claimed())
    claim = next(iter(claimed()))
    assert (paper.repeat(claim), paper.repeat(other), quick.repeat(claim)) == (10, 10, 3)


def test_thresholds_follow_the_base_rtt_and_buffers_the_product() -> None:
    # With 2 ms, 2 BDP are 50,000 bytes: 33 packets of 1500 and one more.
    near = AXES("prague", "bbr3_low", "codel", 2, 1, 1, 2.0)
    assert l4s.qdisc(near) == "codel limit 34 target 1ms interval 100ms ecn"
    assert l4s.qdisc(near.replaced(aqm="dualpi2")) == "dualpi2 target 1ms"
    # The study leaves cells out whose buffer is shorter than the threshold.
    assert all(cell.bdp * cell.base_ms >= l4s.THRESHOLD_MS[cell.base_ms] for cell in measured())


#: A cell of 40 % with RTTs of 10 and 30 ms.
STATED = Observation(seed=0, l4s_mbit=40.0, classic_mbit=60.0, l4s_ms=10.0, classic_ms=30.0)


@pytest.mark.parametrize(
    ("run", "within"),
    [
        ({}, (True, True)),
        # 5 points are within, and more is not.
        ({"l4s_mbit": 45.0, "classic_mbit": 55.0}, (True, True)),
        ({"l4s_mbit": 34.9, "classic_mbit": 65.1}, (False, True)),
        # 2 ms are more than 15 % of 10 ms, and less than 15 % of 30 ms.
        ({"l4s_ms": 12.0, "classic_ms": 34.5}, (True, True)),
        ({"l4s_ms": 7.9}, (True, False)),
        ({"classic_ms": 25.4}, (True, False)),
        ({"classic_ms": None}, (True, False)),
    ],
)
def test_a_cell_is_within_the_bars_by_share_and_by_both_round_trip_times(
    run: Json, within: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = AXES("prague", "cubic", "fifo")
    monkeypatch.setattr(bars, "measured", lambda: {cell: STATED})
    (found,) = bars.compared(STUDY.evidence({cell: (STATED.replaced(**run),)}))
    assert (found.share_within, found.rtt_within) == within
    assert found.within == all(within)


def test_what_was_not_measured_cannot_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = AXES("prague", "cubic", "fifo")
    monkeypatch.setattr(bars, "measured", lambda: {cell: STATED.replaced(l4s_ms=None, classic_ms=None)})
    (found,) = bars.compared(STUDY.evidence({cell: (STATED,)}))
    assert found.within


def test_the_exhibits_count_cells_name_the_worst_and_draw_both_beds() -> None:
    off = AXES("prague", "cubic_ecn", "fifo", 8)
    pair = ("prague", "cubic_ecn"), ("prague", "bbr3_low")
    stated = {
        cell: STUDY.usual[cell] for cell, run in measured().items() if cell.values[:2] in pair and cell.part == "pair"
    }
    evidence = STUDY.evidence({**stated, off: (measured()[off].replaced(l4s_mbit=95.0, classic_mbit=0.5),)})
    shown = {one.name: one for one in exhibits.exhibits([*stated], evidence)}
    assert shown["bars"].paragraphs[0].startswith(f"Of {len(stated)} cells of one flow each {len(stated) - 1} ")
    assert [row[0] for row in shown["worst"].table.rows] == [off.words()]  # type: ignore[union-attr]
    figure = shown["pair_prague_cubic_ecn"].figures[0]
    assert figure.svg.count(b"the bed") == 3
    assert "pair_prague_bbr3_low_2ms" in shown
