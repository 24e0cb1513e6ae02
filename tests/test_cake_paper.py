"""CAKE's paper: its cells, what is observed of a run, and what cannot be run says why."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from sojourn import api, papers
from sojourn.papers.cake import plan as cake
from sojourn.papers.cake.evidence import AXES, HOSTS, PARTS, observe
from sojourn.papers.cake.exhibits import GALLERY
from sojourn.papers.cake.judges import of_host, share
from sojourn.papers.cake.plan import (
    NEEDS_CAKE,
    NEEDS_HOSTS,
    NEEDS_MARKS,
    CakeBed,
    cells,
    lacks,
    qdisc,
    rate,
)
from sojourn.scenario import Flow, Probe, Scenario
from tests.conftest import Cli
from tests.studies import STUDIES

STUDY = STUDIES["cake"]
BED = CakeBed(profile=papers.paper("cake").profiles["quick"])


def test_the_bounds_of_fig_3_are_a_tenth_around_arithmetic() -> None:
    # By hand: a quantum is 1 over the flows of the busier host. A sends 4 flows, B 2; destination C receives 3.
    busier = {"a_a": 4, "a_b": 4, "a_c1": 4, "a_c2": 4, "b_c": 3, "b_d": 2}
    whole = sum(1 / each for each in busier.values())
    run = STUDY.usual[AXES("isolation", "triple")][0]
    for flow, number in busier.items():
        assert share(run, "up", flow) == pytest.approx(100 / number / whole)
    assert of_host(run, "a") == pytest.approx(100 * 6 / 11)
    sources, destinations = zip(*HOSTS.values(), strict=True)
    assert [sources.count(host) for host in (1, 2)] == [4, 2]
    assert [destinations.count(host) for host in (1, 2, 3, 4)] == [1, 1, 3, 1]


def test_the_bottleneck_is_a_shaper_or_a_link() -> None:
    filtered = AXES("acks", "ack_filter_aggressive", up=1, down=30)
    assert qdisc(filtered, "up") == "cake bandwidth 1mbit besteffort flows ack-filter-aggressive"
    assert qdisc(filtered, "down") == "cake bandwidth 30mbit besteffort flows"
    assert rate(filtered, "up") == rate(filtered, "down") == "100mbit"
    other = AXES("rrul", "fq_codel", up=1)
    assert (qdisc(other, "up"), rate(other, "up"), rate(other, "down")) == ("fq_codel", "1mbit", "10mbit")


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_what_can_be_run_is_a_scenario_and_the_rest_says_why(backend: str) -> None:
    bed = dataclasses.replace(BED, backend=backend)
    for cell in cells():
        missing = lacks(cell, backend)
        assert set(missing) <= {NEEDS_CAKE, NEEDS_HOSTS, NEEDS_MARKS}
        if not missing:
            found = json.loads(bed.scenario(cell).normalized(backend))
            assert (found["rtt"], found["duration"]) == ("50ms", "60s")
            continue
        lacking = STUDY.evidence({}, lacks=lambda cell: lacks(cell, backend))  # noqa: B023
        with pytest.raises(Exception, match=f"^it needs {' and '.join(missing)}, which the back end lacks: "):
            lacking.of(cell)
    assert not lacks(AXES("rrul", "fq_codel"), backend)


def test_a_cell_needs_what_its_test_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: False)
    assert lacks(AXES("rrul", "fq_codel")) == ()
    assert lacks(AXES("rrul", "besteffort")) == (NEEDS_CAKE,)
    assert lacks(AXES("isolation", "triple")) == (NEEDS_CAKE, NEEDS_HOSTS)
    assert lacks(AXES("diffserv", "fq_codel")) == (NEEDS_MARKS,)
    assert lacks(AXES("voice", "diffserv4")) == (NEEDS_CAKE, NEEDS_MARKS)
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: True)
    monkeypatch.setattr(cake, "has_hosts", lambda _backend: True)
    assert not any(lacks(cell) for cell in cells())


def test_without_the_back_end_s_parts_a_claim_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: False)
    found = {claim.id: STUDY.judged(claim.id, STUDY.evidence({}, lacks=lacks)) for claim in STUDY.claims.values()}
    assert {one.verdict for one in found.values()} == {"cannot tell"}
    assert found["cake-14"].reason.startswith("it needs CAKE and several hosts on a wire, which the back end lacks")
    assert found["cake-c1"].reason.startswith("there are no runs of rrul, a FIFO")


def test_a_run_is_observed() -> None:
    flows = (Flow(name="tcp_up_1", direction="up"), Flow(name="tcp_down_1", direction="down"))
    probes = (
        Probe(name="ping", kind="icmp", interval="200ms", size=98),
        Probe(name="voice", kind="voip", direction="up", bitrate="2mbit", frame="5ms"),
    )
    run = api.run(
        Scenario(
            experiment="cake",
            duration="5s",
            up="10mbit",
            down="10mbit",
            rtt="50ms",
            qdisc_up="pfifo limit 10",
            qdisc_down="pfifo limit 10",
            flows=flows,
            probes=probes,
        )
    )
    found = observe(run)
    flows_by_name = {one.name: one for one in run.record.flows}
    assert found.up == {"tcp_up_1": flows_by_name["tcp_up_1"].goodput_mbit}
    assert found.down == {"tcp_down_1": flows_by_name["tcp_down_1"].goodput_mbit}
    assert list(found.echoes) == ["ping"]
    # Two queues of ten packets are 24 ms, and an echo cannot be faster than the path.
    assert 0 < found.echoes["ping"].mean_ms < found.echoes["ping"].p95_ms < 26
    (fixed,) = (one for one in run.record.probes if one.name == "voice")
    assert found.voice_loss == 100 * fixed.lost / fixed.sent
    assert found.voice_ms is not None
    assert 0 < found.voice_ms < 13


def test_the_figures_have_what_was_run() -> None:
    shown = {one.name: one for one in GALLERY.exhibits(STUDY.world(), PARTS)}
    assert list(shown) == ["fig2", "fig3", "fig4", "fig5", "fig6", "cells"]
    assert all(len(one.figures) == 1 for name, one in shown.items() if name != "cells")
    table = shown["cells"].table
    assert table is not None
    assert len(table.rows) == len(STUDY.usual)
    assert ("rrul", "CAKE, best effort", "10/10", "9.30", "9.29", "1.74", "2.53", "-", "-") in table.rows
    assert not GALLERY.exhibits(STUDY.evidence({}), PARTS)
    # What was measured is shown also where no filter was at work.
    unfiltered = STUDY.world(*STUDY.changes("cannot_tell", "cake-31"))
    shown = {one.name: one for one in GALLERY.exhibits(unfiltered, PARTS)}
    assert shown["cells"].table is not None
    assert len(shown["cells"].table.rows) == len(STUDY.usual)


def test_the_command_runs_what_can_be_run_and_counts_the_rest(cli: Cli, tmp_path: Path) -> None:
    done = cli("reproduce", "cake", "--duration", "2s", "--repeat", "2", "--out", "o", "--document", "page.md")
    there = sum(not lacks(cell) for cell in cells())
    assert done.stdout.splitlines()[0] == f"{there} of 20 cells can be run."
    found = {one["id"]: one for one in json.loads((tmp_path / "o/claims.json").read_text())}
    assert len(found) == 35
    assert found["cake-c1"]["value"] > 20
    if there < len(cells()):
        assert "which the back end lacks" in " ".join(one["reason"] for one in found.values())
    assert "| rrul | a FIFO | 10/10 |" in (tmp_path / "page.md").read_text()
