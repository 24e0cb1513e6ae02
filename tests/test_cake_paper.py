"""CAKE's paper: its own data bear the claims out, other data do not, and what cannot be run says why."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from sojourn import api, papers
from sojourn.papers.cake import plan as cake
from sojourn.papers.cake.evidence import HOSTS, MARKS, PARTS, Cell, Echo, Evidence, Observation, observe
from sojourn.papers.cake.exhibits import GALLERY
from sojourn.papers.cake.judges import JUDGES, of_host, share
from sojourn.papers.cake.plan import (
    NEEDS_CAKE,
    NEEDS_HOSTS,
    NEEDS_MARKS,
    Bed,
    cells,
    lacks,
    qdisc,
    rate,
)
from sojourn.papers.kit.claims import load
from sojourn.scenario import Flow, Probe, Scenario
from tests.conftest import Cli

BED = Bed(profile=papers.paper("cake").profiles["quick"])
#: Round-trip times of a marked RRUL run above 50 ms: ICMP, and the probes of CS1, CS0 and EF.
Echoes = tuple[float, float, float, float]


def four(way: str, total: float, names: tuple[str, ...] = ("1", "2", "3", "4")) -> dict[str, float]:
    return {f"tcp_{way}_{name}": total / len(names) for name in names}


def marked(way: str, bk: float, be: float, cs5: float, ef: float) -> dict[str, float]:
    return {f"tcp_{way}_{name}": mbit for name, mbit in zip(MARKS, (bk, be, cs5, ef), strict=True)}


def rrul(up: float, down: float, ping: float, late: float) -> Observation:
    return Observation(
        seed=0, up=four("up", up), down=four("down", down), echoes={"ping": Echo(mean_ms=ping, p95_ms=late)}
    )


def tins(up: tuple[float, float, float, float], down: tuple[float, float, float, float], echoes: Echoes) -> Observation:
    names = ("ping", "udp_bk", "udp_be", "udp_ef")
    return Observation(
        seed=0,
        up=marked("up", *up),
        down=marked("down", *down),
        echoes={name: Echo(mean_ms=ms, p95_ms=2 * ms) for name, ms in zip(names, echoes, strict=True)},
    )


def hosts(*shares: float) -> Observation:
    """Return a run of Fig. 3 whose flows have these parts of 9.5 Mbit/s."""
    echoes = {"ping": Echo(mean_ms=1.5, p95_ms=2.4)}
    up = {name: 9.5 * each / sum(shares) for name, each in zip(HOSTS, shares, strict=True)}
    return Observation(seed=0, up=up, down={}, echoes=echoes)


def voice(up: float, ping: float, delay: float, loss: float) -> Observation:
    names = tuple(str(number) for number in range(1, 33))
    echoes = {"ping": Echo(mean_ms=ping, p95_ms=2 * ping)}
    return Observation(seed=0, up=four("up", up, names), down={}, echoes=echoes, voice_ms=delay, voice_loss=loss)


#: What the authors measured, as far as the claims name it; Figs. 3, 5 and 6 as the paper has them in words.
MEASURED: dict[Cell, Observation] = {
    Cell("rrul", "pfifo"): rrul(9.3, 9.3, 900, 1100),
    Cell("rrul", "fq_codel"): rrul(9.277, 9.265, 1.39, 2.41),
    Cell("rrul", "besteffort"): rrul(9.299, 9.290, 1.74, 2.53),
    Cell("rrul", "fq_codel", up=1): rrul(0.743, 9.469, 8.12, 16.42),
    Cell("rrul", "besteffort", up=1): rrul(0.729, 9.494, 7.97, 12.59),
    # Host isolation: quanta by the busier host, written as the paper scales them.
    Cell("isolation", "flows"): hosts(1, 1, 1, 1, 1, 1),
    Cell("isolation", "source"): hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2),
    Cell("isolation", "destination"): hosts(1, 1, 1 / 3, 1 / 3, 1 / 3, 1),
    Cell("isolation", "triple"): hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 3, 1 / 2),
    Cell("diffserv", "fq_codel"): tins(
        (2.316, 2.319, 2.322, 2.318), (2.312, 2.319, 2.315, 2.312), (1.39, 1.37, 1.40, 1.37)
    ),
    Cell("diffserv", "besteffort"): tins(
        (2.320, 2.323, 2.328, 2.331), (2.324, 2.319, 2.325, 2.320), (1.74, 1.82, 1.81, 1.81)
    ),
    Cell("diffserv", "diffserv3"): tins(
        (0.612, 3.183, 3.152, 2.352), (0.606, 3.161, 3.184, 2.348), (2.71, 19.49, 3.04, 5.15)
    ),
    Cell("diffserv", "diffserv4"): tins(
        (0.674, 5.551, 1.524, 1.530), (0.664, 5.557, 1.526, 1.521), (2.38, 18.28, 2.76, 4.62)
    ),
    Cell("diffserv", "diffserv4", up=1): tins(
        (0.0421, 0.508, 0.0796, 0.0796), (0.560, 5.779, 1.533, 1.524), (12.29, 164.71, 14.67, 23.29)
    ),
    Cell("voice", "fq_codel"): voice(9.27, 0.99, 200, 86),
    Cell("voice", "besteffort"): voice(9.27, 1.02, 200, 86),
    Cell("voice", "diffserv4"): voice(8.00, 1.27, 0.8, 0),
    Cell("acks", "besteffort", up=1, down=30): rrul(0.40, 24.5, 8.0, 14.0),
    Cell("acks", "ack_filter", up=1, down=30): rrul(0.44, 27.5, 8.0, 14.0),
    Cell("acks", "ack_filter_aggressive", up=1, down=30): rrul(0.55, 27.5, 8.0, 14.0),
}


def runs(run: Observation) -> tuple[Observation, ...]:
    """Return repeats, of which each has a little more goodput and latency than the one before."""

    def scaled(seed: int) -> Observation:
        more = 1 + 1e-4 * seed
        return dataclasses.replace(
            run,
            seed=seed,
            up={name: mbit * more for name, mbit in run.up.items()},
            down={name: mbit * more for name, mbit in run.down.items()},
            echoes={
                name: Echo(mean_ms=one.mean_ms * more, p95_ms=one.p95_ms * more) for name, one in run.echoes.items()
            },
        )

    return tuple(map(scaled, (1, 2, 3, 4)))


def world(changes: dict[Cell, Observation] | None = None) -> Evidence:
    """Return the data as runs, with changes in some cells."""
    return Evidence(cells={cell: runs(run) for cell, run in {**MEASURED, **(changes or {})}.items()})


def judged(name: str, evidence: Evidence) -> dict[str, Any]:
    (claim,) = (claim for claim in load("cake") if claim.id == name)
    (answer,) = JUDGES.judge([claim], evidence)
    return answer


EVEN = MEASURED[Cell("diffserv", "besteffort")]
TINS = MEASURED[Cell("diffserv", "diffserv4")]
#: What must be otherwise in one cell for a claim to fail; each is what a plausible fault would give.
CONTRARY: dict[str, tuple[Cell, Observation]] = {
    # A standing queue of ten packets.
    "cake-01": (Cell("rrul", "besteffort"), rrul(9.3, 9.3, 12.0, 14.0)),
    "cake-02": (Cell("rrul", "besteffort"), rrul(9.3, 9.3, 2.9, 3.5)),
    # One flow of four starves another.
    "cake-03": (
        Cell("rrul", "besteffort"),
        dataclasses.replace(
            rrul(9.3, 9.3, 1.7, 2.5),
            down={"tcp_down_1": 3.3, "tcp_down_2": 1.3, "tcp_down_3": 2.3, "tcp_down_4": 2.3},
        ),
    ),
    # A shaper that is 5 % slow.
    "cake-04": (Cell("rrul", "besteffort"), rrul(8.83, 9.29, 1.7, 2.5)),
    "cake-05": (Cell("rrul", "besteffort"), rrul(9.3, 8.83, 1.7, 2.5)),
    "cake-06": (Cell("rrul", "besteffort", up=1), rrul(0.73, 9.5, 24.0, 30.0)),
    "cake-07": (Cell("rrul", "besteffort", up=1), rrul(0.73, 9.5, 8.0, 17.0)),
    "cake-08": (Cell("rrul", "besteffort", up=1), rrul(0.95, 9.5, 8.0, 12.6)),
    "cake-c1": (Cell("rrul", "pfifo"), rrul(9.3, 9.3, 2.0, 3.0)),
    # No mode of isolation but another one works.
    "cake-09": (Cell("isolation", "flows"), hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 3, 1 / 2)),
    "cake-10": (Cell("isolation", "flows"), hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2)),
    "cake-11": (Cell("isolation", "source"), hosts(1, 1, 1, 1, 1, 1)),
    "cake-12": (Cell("isolation", "source"), hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 3, 2 / 3)),
    "cake-13": (Cell("isolation", "destination"), hosts(1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2)),
    # The larger of the two numbers is not taken, but their sum.
    "cake-14": (Cell("isolation", "triple"), hosts(1 / 5, 1 / 5, 1 / 7, 1 / 7, 1 / 5, 1 / 3)),
    "cake-15": (
        Cell("isolation", "triple"),
        dataclasses.replace(hosts(1, 1, 1, 1, 1, 1), up=dict.fromkeys(HOSTS, 1.45)),
    ),
    "cake-16": (Cell("diffserv", "fq_codel"), TINS),
    "cake-17": (Cell("diffserv", "diffserv4"), EVEN),
    # Strict priority: EF takes what it can.
    "cake-18": (
        Cell("diffserv", "diffserv4"),
        tins((0.1, 0.5, 1.2, 7.5), (0.1, 0.5, 1.2, 7.5), (2.4, 18.3, 2.8, 1.0)),
    ),
    # The background tin starves.
    "cake-19": (
        Cell("diffserv", "diffserv4"),
        tins((0.1, 6.1, 1.5, 1.5), (0.1, 6.1, 1.5, 1.5), (2.4, 18.3, 2.8, 4.6)),
    ),
    # CS5 is in the tin of EF, as under diffserv4.
    "cake-20": (
        Cell("diffserv", "diffserv3"),
        tins((0.6, 6.3, 1.2, 1.2), (0.6, 6.3, 1.2, 1.2), (2.7, 19.5, 3.0, 5.2)),
    ),
    "cake-21": (
        Cell("diffserv", "diffserv4"),
        tins((0.6, 4.9, 1.4, 1.4), (0.66, 5.56, 1.53, 1.52), (2.4, 18.3, 2.8, 4.6)),
    ),
    "cake-22": (Cell("diffserv", "diffserv4"), EVEN),
    "cake-23": (Cell("diffserv", "besteffort"), TINS),
    "cake-24": (
        Cell("diffserv", "diffserv4", up=1),
        tins((0.04, 0.51, 0.08, 0.08), (0.56, 5.78, 1.53, 1.52), (12.3, 20.0, 14.7, 23.3)),
    ),
    "cake-25": (
        Cell("diffserv", "diffserv4", up=1),
        tins((0.04, 0.36, 0.08, 0.23), (0.56, 5.78, 1.53, 1.52), (12.3, 165.0, 14.7, 23.3)),
    ),
    "cake-26": (Cell("voice", "diffserv4"), voice(8.0, 1.3, 9.0, 0.0)),
    "cake-27": (Cell("voice", "fq_codel"), voice(9.27, 1.0, 5.0, 86.0)),
    "cake-28": (Cell("voice", "diffserv4"), voice(8.0, 1.3, 0.8, 12.0)),
    "cake-29": (Cell("voice", "diffserv4"), voice(9.2, 1.3, 0.8, 0.0)),
    "cake-30": (Cell("voice", "besteffort"), voice(9.27, 12.0, 200.0, 86.0)),
    "cake-31": (Cell("acks", "ack_filter", up=1, down=30), rrul(0.44, 24.8, 8.0, 14.0)),
    "cake-32": (Cell("acks", "besteffort", up=1, down=30), rrul(0.40, 28.4, 8.0, 14.0)),
    "cake-33": (Cell("acks", "ack_filter", up=1, down=30), rrul(0.39, 27.5, 8.0, 14.0)),
    "cake-34": (Cell("acks", "ack_filter_aggressive", up=1, down=30), rrul(0.43, 27.5, 8.0, 14.0)),
}


def on_supporting_runs(name: str, _patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on what was measured."""
    return judged(name, world())


def on_contradicting_runs(name: str, _patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim where one cell is otherwise."""
    return judged(name, world(dict([CONTRARY[name]])))


def test_every_cell_of_the_plan_is_needed_by_a_claim() -> None:
    needed: set[Cell] = set()

    class Watched(Evidence):
        def of(self, cell: Cell) -> tuple[Observation, ...]:
            needed.add(cell)
            return super().of(cell)

    JUDGES.judge(load("cake"), Watched(cells=world().cells))
    assert needed == set(cells()) == set(MEASURED)
    assert {claim.part for claim in load("cake")} == set(PARTS) == set(papers.paper("cake").parts)


def test_the_bounds_of_fig_3_are_a_tenth_around_arithmetic() -> None:
    # By hand: a quantum is 1 over the flows of the busier host. A sends 4 flows, B 2; destination C receives 3.
    busier = {"a_a": 4, "a_b": 4, "a_c1": 4, "a_c2": 4, "b_c": 3, "b_d": 2}
    whole = sum(1 / each for each in busier.values())
    run = MEASURED[Cell("isolation", "triple")]
    for flow, number in busier.items():
        assert share(run, "up", flow) == pytest.approx(100 / number / whole)
    assert of_host(run, "a") == pytest.approx(100 * 6 / 11)
    sources, destinations = zip(*HOSTS.values(), strict=True)
    assert [sources.count(host) for host in (1, 2)] == [4, 2]
    assert [destinations.count(host) for host in (1, 2, 3, 4)] == [1, 1, 3, 1]


def test_the_bottleneck_is_a_shaper_or_a_link() -> None:
    filtered = Cell("acks", "ack_filter_aggressive", up=1, down=30)
    assert qdisc(filtered, "up") == "cake bandwidth 1mbit besteffort flows ack-filter-aggressive"
    assert qdisc(filtered, "down") == "cake bandwidth 30mbit besteffort flows"
    assert rate(filtered, "up") == rate(filtered, "down") == "100mbit"
    other = Cell("rrul", "fq_codel", up=1)
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
        lacking = Evidence(cells={}, lacks=lambda cell: lacks(cell, backend))  # noqa: B023
        with pytest.raises(Exception, match=f"^it needs {' and '.join(missing)}, which the back end lacks: "):
            lacking.of(cell)
    assert not lacks(Cell("rrul", "fq_codel"), backend)


def test_a_cell_needs_what_its_test_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: False)
    assert lacks(Cell("rrul", "fq_codel")) == ()
    assert lacks(Cell("rrul", "besteffort")) == (NEEDS_CAKE,)
    assert lacks(Cell("isolation", "triple")) == (NEEDS_CAKE, NEEDS_HOSTS)
    assert lacks(Cell("diffserv", "fq_codel")) == (NEEDS_MARKS,)
    assert lacks(Cell("voice", "diffserv4")) == (NEEDS_CAKE, NEEDS_MARKS)
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: True)
    monkeypatch.setattr(cake, "has_hosts", lambda _backend: True)
    assert not any(lacks(cell) for cell in cells())


def test_without_the_back_end_s_parts_a_claim_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cake, "accepted", lambda _backend, **_fields: False)
    found = {claim.id: judged(claim.id, Evidence(cells={}, lacks=lacks)) for claim in load("cake")}
    assert {one["verdict"] for one in found.values()} == {"cannot tell"}
    assert found["cake-14"]["reason"].startswith("it needs CAKE and several hosts on a wire, which the back end lacks")
    assert found["cake-c1"]["reason"].startswith("there are no runs of rrul, a FIFO")


def test_a_filter_that_was_not_at_work_is_not_judged() -> None:
    without = Cell("acks", "besteffort", up=1, down=30)
    changes = {
        without._replace(scheme=filtered): MEASURED[without] for filtered in ("ack_filter", "ack_filter_aggressive")
    }
    for name in ("cake-31", "cake-32", "cake-33", "cake-34"):
        found = judged(name, world(changes))
        assert found["verdict"] == "cannot tell"
        assert found["reason"].startswith(
            "its runs are those without a filter, so no filter was at work: acks, CAKE, ack-"
        )
    # What was measured is shown all the same.
    shown = {one.name: one for one in GALLERY.exhibits(world(changes), PARTS)}
    table = shown["cells"].table
    assert table is not None
    assert len(table.rows) == len(MEASURED)


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
    flows_by_name = {one["name"]: one for one in run.record["flows"]}
    assert found.up == {"tcp_up_1": flows_by_name["tcp_up_1"]["goodput_mbit"]}
    assert found.down == {"tcp_down_1": flows_by_name["tcp_down_1"]["goodput_mbit"]}
    assert list(found.echoes) == ["ping"]
    # Two queues of ten packets are 24 ms, and an echo cannot be faster than the path.
    assert 0 < found.echoes["ping"].mean_ms < found.echoes["ping"].p95_ms < 26
    (fixed,) = (one for one in run.record["probes"] if one["name"] == "voice")
    assert found.voice_loss == 100 * fixed["lost"] / fixed["sent"]
    assert found.voice_ms is not None
    assert 0 < found.voice_ms < 13


def test_the_figures_have_what_was_run() -> None:
    shown = {one.name: one for one in GALLERY.exhibits(world(), PARTS)}
    assert list(shown) == ["fig2", "fig3", "fig4", "fig5", "fig6", "cells"]
    assert all(len(one.figures) == 1 for name, one in shown.items() if name != "cells")
    table = shown["cells"].table
    assert table is not None
    assert len(table.rows) == len(MEASURED)
    assert ("rrul", "CAKE, best effort", "10/10", "9.30", "9.29", "1.74", "2.53", "-", "-") in table.rows
    assert not GALLERY.exhibits(Evidence(cells={}), PARTS)


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
