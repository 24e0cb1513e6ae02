"""The rural study: its scenario, and its definitions by numbers worked by hand."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Drawing

import sojourn
from sojourn import _native, api, papers
from sojourn.backends.linux import LinuxBackend
from sojourn.cli.reproduce import parts_of, profile_of
from sojourn.errors import ParamError
from sojourn.papers.rural import plan as rural
from sojourn.papers.rural.evidence import (
    AXES,
    CODEL,
    DEFAULT,
    DROPTAIL,
    EMULATION,
    FQ_CODEL,
    NS2,
    RURAL,
    SATELLITE,
    SCHEMES,
    SFQ,
    TWO_RTT,
    Evidence,
    improvement,
    increase,
    observe,
)
from sojourn.papers.rural.exhibits import GALLERY
from sojourn.papers.rural.judges import judge
from sojourn.papers.rural.plan import RuralBed, cells
from sojourn.papers.rural.quantities import imp
from sojourn.papers.rural.satellite import Satellite
from sojourn.report import Figure
from sojourn.scenario import Scenario
from sojourn.study import exhibits
from sojourn.study.cell import Observation
from tests.conftest import Cli
from tests.records import Json
from tests.studies import STUDIES

STUDY = STUDIES["rural"]
BED = RuralBed(profile=papers.paper("rural").profiles["quick"])


def canonical(**options: Any) -> Json:
    scenario = json.loads(api.build("rural", **options).normalized())
    assert isinstance(scenario, dict)
    return scenario


def test_the_link_is_the_papers() -> None:
    found = canonical()
    assert (found["up"], found["down"], found["rtt"], found["duration"]) == ("1mbit", "1mbit", "300ms", "300s")
    assert (found["edge_rate"], found["edge_limit"], found["start_jitter"]) == ("100mbit", 300, "1s")
    assert (found["tcp"]["initial_window"], found["tcp"]["ecn"]) == (3, False)
    assert found["qdisc_down"] == "pfifo limit 25"
    assert all(flow["congestion_control"] == "reno" for flow in [*found["flows"], *found["downloads"]])


def test_low_load_is_one_flow_of_each_kind_and_high_load_two() -> None:
    for load_name, numbers in (("low", (1,)), ("high", (1, 2))):
        found = canonical(load=load_name)
        names = [flow["name"] for flow in found["flows"]]
        assert names == [f"{kind}_{n}" for kind in ("bulk", "thin") for n in numbers]
        assert [one["name"] for one in found["downloads"]] == [f"file_{n}" for n in numbers]
        assert {(one["bytes"], one["gap"], one["direction"]) for one in found["downloads"]} == {
            (1_700_000, "9.5s", "up")
        }
    thin = canonical()["flows"][1]
    assert (thin["write"], thin["write_interval"]) == ("150b", "300ms")


def test_the_emulation_has_an_echo_instead_of_the_thin_stream() -> None:
    found = canonical(traffic="emulation")
    assert [flow["name"] for flow in found["flows"]] == ["bulk_1"]
    assert [(probe["name"], probe["kind"]) for probe in found["probes"]] == [("ping", "icmp")]


def test_a_packet_takes_12_ms_and_25_packets_300_ms() -> None:
    """1500 bytes at 1 Mbit/s; with Ethernet's 14 bytes 12.112 and 302.8 ms."""
    run = sojourn.run("rural", qdisc_up="rural:droptail", duration="20s")
    full = run.record.bottleneck["up"]
    assert full.backlog_packets.max == 25
    assert full.sojourn_ms.max == pytest.approx(25 * 1514 * 8 / 1000, abs=12.2)
    assert (1500 * 8 / 1e6, 25 * 1500 * 8 / 1e6) == (0.012, 0.3)


def test_unknown_words_and_foreign_options_are_refused_in_one_sentence() -> None:
    for experiment, options, sentence in (
        ("rural", {"load": "full"}, "load is 'full', but must be one of low, high"),
        ("rural", {"traffic": "ns3"}, "traffic is 'ns3', but must be one of ns2, emulation"),
        (
            "rural",
            {"flows_up": 2},
            "flows-up is 2, but only the experiments bulk and voip take it; rural has no such option",
        ),
        ("bulk", {"load": "low"}, "load is 'low', but only the experiment rural takes it; bulk has no such option"),
        (
            "voip",
            {"traffic": "ns2"},
            "traffic is 'ns2', but only the experiment rural takes it; voip has no such option",
        ),
    ):
        with pytest.raises(ParamError) as refused:
            api.build(experiment, **options)
        assert str(refused.value) == sentence


def test_improvement_and_increase_are_as_the_paper_defines_them() -> None:
    """40 s become 30 s: a quarter; 12 ms become 30 ms: 18 ms more."""
    assert improvement(40.0, 30.0) == 25.0
    assert improvement(30.0, 36.0) == pytest.approx(-20.0)
    assert increase(12.0, 30.0) == 18.0
    assert increase(0.5, 0.25) == -0.25


def test_settings_are_compared_seed_by_seed() -> None:
    def of(seed: int, fct_s: float | None) -> Observation:
        return STUDY.usual[AXES(NS2, DROPTAIL)][0].replaced(seed=seed, fct_s=fct_s)

    cell = AXES(NS2, CODEL)
    found = Evidence(
        cells={
            cell.replaced(setting=DEFAULT): (of(1, 40.0), of(2, 50.0), of(3, 10.0)),
            cell.replaced(setting=RURAL): (of(2, 40.0), of(1, 30.0), of(3, None)),
        }
    )
    assert imp(found, cell, "fct") == {2: 20.0, 1: 25.0}


def test_the_study_has_the_forms_of_ns_2_and_the_bed_those_of_linux_3_14() -> None:
    expand = _native.expand_qdisc
    today = RuralBed(profile=BED.profile, old_kernel=False)
    for cell, preset in (
        (AXES(NS2, CODEL, DEFAULT), "rural:codel_default_ns2"),
        (AXES(NS2, FQ_CODEL, RURAL), "rural:fq_codel_ns2"),
        (AXES(TWO_RTT, CODEL, RURAL, "low", 50, 550), "rural:codel_ns2"),
        (AXES(EMULATION, FQ_CODEL, DEFAULT), "rural:fq_codel_default"),
        (AXES(SATELLITE, CODEL, RURAL), "rural:codel"),
        (AXES(NS2, DROPTAIL), "rural:droptail"),
        (AXES(SATELLITE, SFQ), "rural:sfq"),
    ):
        assert expand(today.qdisc(cell), 1_000_000) == expand(preset, 1_000_000)
        old = cell.experiment in (EMULATION, SATELLITE) and cell.scheme in SCHEMES
        assert BED.qdisc(cell) == today.qdisc(cell) + (" variant linux-3.14" if old else "")
        assert expand(BED.qdisc(cell), 1_000_000)


def test_the_two_downloads_have_paths_of_their_own() -> None:
    scenario = BED.scenario(AXES(TWO_RTT, CODEL, RURAL, "low", 50, 550))
    assert [(one.name, one.rtt) for one in scenario.downloads] == [("file_1", "50ms"), ("file_2", "550ms")]
    assert scenario.flows == ()


def test_the_kernel_takes_the_bed_and_the_satellite_path() -> None:
    for cell in cells(papers.paper("rural").parts_on("linux")):
        scenario = RuralBed(profile=BED.profile, tcp="linux-6.1", old_kernel=False).scenario(cell)
        assert json.loads(scenario.normalized(LinuxBackend.name))["qdisc_up"]


def test_what_is_observed_is_what_the_record_says() -> None:
    run = sojourn.run("rural", duration="60s", seed=2)
    found, record = observe(run, 300), run.record
    bulk, thin = record.flows
    assert found.bulk_mbit == bulk.goodput_mbit
    assert found.thin_ms == thin.sojourn_ms.mean
    times = [one.fct_ms for one in record.downloads[0].files if one.fct_ms is not None]
    assert found.files == len(times) > 0
    assert found.fct_s == pytest.approx(sum(times) / len(times) / 1000)
    assert found.ping_ms is None
    echoed = sojourn.run(BED.scenario(AXES(EMULATION, CODEL, DEFAULT)), duration="20s")
    observed = observe(echoed, 300)
    assert observed.thin_ms is None
    assert observed.ping_ms == pytest.approx(echoed.summary.rtt_ms.mean - 300)
    assert observed.ping_p90_ms is not None
    assert observed.ping_p90_ms + 300 <= echoed.summary.rtt_ms.p95 + 1


def test_a_part_is_run_judged_and_shown(cli: Cli, tmp_path: Path) -> None:
    words = ("--only", "satellite", "--duration", "30s", "--repeat", "2", "--out", "o", "--document", "page.md")
    cli("reproduce", "rural", *words)
    found = json.loads((tmp_path / "o/claims.json").read_text())
    assert [claim["id"] for claim in found] == [f"rur-{number}" for number in range(27, 32)]
    assert (tmp_path / "o/figures/fig8.svg").read_bytes().startswith(b"<?xml")
    page = (tmp_path / "page.md").read_text()
    assert "base RTT of 580 ms" in page
    assert "256 kbit/s" in page


def test_a_part_that_the_kernel_cannot_run_is_refused_in_one_sentence(cli: Cli) -> None:
    done = cli("reproduce", "rural", "--only", "tau", "--backend", "linux", "--out", "o", status=2)
    assert done.stderr.strip().endswith(
        "only is 'tau', but on the linux back end must be one of emulation, satellite: the others need ns-2's forms of "
        "CoDel, which only the simulator has"
    )


def test_the_satellite_path_is_what_one_says_it_is() -> None:
    path = Satellite.read("rtt=550ms,return=0.5mbit,loss=0.01,jitter=0.03s")
    assert path == Satellite(rtt_ms=550, return_rate="500kbit", loss=0.01, jitter="30ms")
    here = dataclasses.replace(BED, parts=("satellite",), satellite=path)
    for one in rural.plan(here):
        plain = json.loads(one.scenario.normalized())
        assert [plain[name] for name in ("rtt", "up", "down", "loss_up", "jitter_down")] == [
            "550ms",
            "1mbit",
            "500kbit",
            0.01,
            "30ms",
        ]
        assert "loss_down" not in plain
        assert "jitter_up" not in plain


def test_a_claim_is_judged_with_the_round_trip_of_the_satellite_path() -> None:
    (judged,) = judge([STUDY.claims["rur-31"]], STUDY.world())
    assert judged.verdict == "holds", judged.reason


def test_a_path_like_the_default_is_the_default() -> None:
    assert Satellite.read(None) == Satellite.read("rtt=580ms,return=256kbit,loss=0,jitter=0ms") == Satellite()
    assert Satellite().over(Scenario(experiment="x", duration="1s")).jitter_down is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("580ms", "satellite has '580ms', but must be KEY=VALUE of rtt, return, loss, jitter, with commas between"),
        ("delay=1ms", "satellite has 'delay=1ms', but must be KEY=VALUE of rtt, return, loss, jitter, with commas"),
        ("rtt=1ms,rtt=2ms", "satellite has 'rtt' twice, but each key must be there once"),
        ("rtt=0.5ms", "satellite's rtt is '0.5ms', but must be a whole number of milliseconds, at least 1ms"),
        ("rtt=far", "satellite's rtt: "),
        ("loss=few", "satellite's loss is 'few', but must be a probability such as 0.001"),
        ("loss=nan", "satellite's loss is 'nan', but must be a probability such as 0.001"),
        ("loss=2", "satellite's loss: "),
        ("return=fast", "satellite's return: "),
        ("jitter=-1ms", "satellite's jitter: "),
    ],
)
def test_a_path_that_cannot_be_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ParamError) as refused:
        Satellite.read(text)
    assert str(refused.value).startswith(sentence)


def test_repeats_that_are_asked_for_are_those_of_each_cell_also_where_the_paper_had_fewer() -> None:
    arguments = argparse.Namespace(duration=None, repeat=40)
    profile = profile_of(papers.paper("rural").profiles["paper"], arguments)
    planned = Counter(one.cell.experiment for one in rural.plan(RuralBed(profile=profile)))
    each = Counter(cell.experiment for cell in cells())
    assert planned == {experiment: 40 * count for experiment, count in each.items()}


def test_parts_are_named_with_commas_each_once_and_run_in_the_order_of_the_paper() -> None:
    def parts(only: str | None) -> tuple[str, ...] | None:
        return parts_of(papers.paper("rural"), argparse.Namespace(only=only))

    assert parts(None) is None
    assert parts("tau") == ("tau",)
    assert parts("tau,lambda") == parts("lambda,tau") == ("lambda", "tau")
    for only, sentence in (
        ("tau,tau", "only has 'tau' twice, but each part must be named once"),
        ("lambda,", "only is '', but must be one of lambda, tau, rtt, two-rtt, emulation, satellite"),
        ("lambda, tau", "only is ' tau', but must be one of lambda, tau, rtt, two-rtt, emulation, satellite"),
    ):
        with pytest.raises(ParamError) as refused:
            parts(only)
        assert str(refused.value) == sentence


def test_two_parts_have_the_runs_of_both_and_the_shared_ones_once() -> None:
    def runs(*parts: str) -> set[str]:
        return {one.scenario.to_json() for one in rural.plan(dataclasses.replace(BED, parts=parts))}

    assert runs("lambda", "tau") == runs("lambda") | runs("tau")
    assert runs("lambda") & runs("tau")
    assert len(rural.plan(dataclasses.replace(BED, parts=("lambda", "tau")))) == len(runs("lambda", "tau"))


def test_every_figure_is_drawn_and_an_empty_study_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, int] = {}

    def keep(name: str, caption: str, drawing: Drawing) -> Figure:
        drawn[name] = len(drawing.axes)
        return Figure(name=name, caption=caption, svg=b"", png=b"")

    monkeypatch.setattr(exhibits, "draw", keep)
    shown = GALLERY.exhibits(STUDY.world())
    assert [one.name for one in shown] == [*(f"fig{number}" for number in range(2, 9)), "cells"]
    assert drawn == {"fig2": 2, "fig3": 2, "fig4": 2, "fig5": 3, "fig6": 2, "fig7": 3, "fig8": 1}
    assert GALLERY.exhibits(STUDY.evidence({})) == ()
