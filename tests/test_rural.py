"""The rural study: its scenario, its definitions by numbers worked by hand, and claims judged both ways."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Drawing

import sojourn
from sojourn import _native, api, papers
from sojourn.backends.linux import LinuxBackend
from sojourn.cli import reproduce
from sojourn.cli.reproduce import parts_of, profile_of
from sojourn.errors import ParamError
from sojourn.papers.kit import exhibits
from sojourn.papers.kit.claims import load
from sojourn.papers.rural import plan as rural
from sojourn.papers.rural.evidence import (
    CODEL,
    DEFAULT,
    DROPTAIL,
    EMULATION,
    FQ_CODEL,
    NS2,
    ONE_QUEUE,
    RTTS_MS,
    RURAL,
    SATELLITE,
    SCHEMES,
    SFQ,
    TWO_RTT,
    Cell,
    Evidence,
    Observation,
    improvement,
    increase,
    observe,
)
from sojourn.papers.rural.exhibits import GALLERY
from sojourn.papers.rural.judges import JUDGES, judge
from sojourn.papers.rural.plan import PARTS, Bed, cells
from sojourn.papers.rural.quantities import imp
from sojourn.papers.rural.satellite import Satellite
from sojourn.report import Figure
from tests.conftest import Cli

BED = Bed(profile=papers.paper("rural").profiles["quick"])


def canonical(**options: Any) -> dict[str, Any]:
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
    full = run.record["bottleneck"]["up"]
    assert full["backlog_packets"]["max"] == 25
    assert full["sojourn_ms"]["max"] == pytest.approx(25 * 1514 * 8 / 1000, abs=12.2)
    assert (1500 * 8 / 1e6, 25 * 1500 * 8 / 1e6) == (0.012, 0.3)


def test_unknown_words_and_foreign_options_are_refused_in_one_sentence() -> None:
    for experiment, options, sentence in (
        ("rural", {"load": "full"}, "load is 'full', but must be one of low, high"),
        ("rural", {"traffic": "ns3"}, "traffic is 'ns3', but must be one of ns2, emulation"),
        ("rural", {"flows_up": 2}, "flows-up is 2, but only the experiment bulk takes it; rural has no such option"),
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
        return observation(seed=seed, fct_s=fct_s)

    cell = Cell(NS2, CODEL)
    found = Evidence(
        cells={
            cell._replace(setting=DEFAULT): (of(1, 40.0), of(2, 50.0), of(3, 10.0)),
            cell._replace(setting=RURAL): (of(2, 40.0), of(1, 30.0), of(3, None)),
        }
    )
    assert imp(found, cell, "fct") == {2: 20.0, 1: 25.0}


def test_the_study_has_the_forms_of_ns_2_and_the_bed_those_of_linux_3_14() -> None:
    expand = _native.expand_qdisc
    today = Bed(profile=BED.profile, old_kernel=False)
    for cell, preset in (
        (Cell(NS2, CODEL, DEFAULT), "rural:codel_default_ns2"),
        (Cell(NS2, FQ_CODEL, RURAL), "rural:fq_codel_ns2"),
        (Cell(TWO_RTT, CODEL, RURAL, "low", 50, 550), "rural:codel_ns2"),
        (Cell(EMULATION, FQ_CODEL, DEFAULT), "rural:fq_codel_default"),
        (Cell(SATELLITE, CODEL, RURAL), "rural:codel"),
        (Cell(NS2, DROPTAIL), "rural:droptail"),
        (Cell(SATELLITE, SFQ), "rural:sfq"),
    ):
        assert expand(today.qdisc(cell), 1_000_000) == expand(preset, 1_000_000)
        old = cell.experiment in (EMULATION, SATELLITE) and cell.scheme in SCHEMES
        assert BED.qdisc(cell) == today.qdisc(cell) + (" variant linux-3.14" if old else "")
        assert expand(BED.qdisc(cell), 1_000_000)


def test_the_two_downloads_have_paths_of_their_own() -> None:
    scenario = BED.scenario(Cell(TWO_RTT, CODEL, RURAL, "low", 50, 550))
    assert [(one.name, one.rtt) for one in scenario.downloads] == [("file_1", "50ms"), ("file_2", "550ms")]
    assert scenario.flows == ()


def test_the_kernel_takes_the_bed_and_the_satellite_path() -> None:
    for cell in cells(papers.paper("rural").parts_on("linux")):
        scenario = Bed(profile=BED.profile, tcp="linux-6.1", old_kernel=False).scenario(cell)
        assert json.loads(scenario.normalized(LinuxBackend.name))["qdisc_up"]


def test_every_claim_has_a_judge_a_part_and_what_it_needs() -> None:
    names = [claim.id for claim in load("rural", "")]
    assert len(names) == len(set(names)) == 35
    by_rules = {claim.id for claim in load("rural") if claim.checks}
    assert by_rules.isdisjoint(JUDGES.by_function)
    assert by_rules | set(JUDGES.by_function) == set(names)
    assert set(JUDGES.notes) <= by_rules
    for part in PARTS:
        found = world({cell: {} for cell in cells([part])})
        for verdict in judge(load("rural", parts=[part]), found):
            assert "there are no runs" not in verdict["reason"] or verdict["id"] == "rur-26", verdict


def test_what_is_observed_is_what_the_record_says() -> None:
    run = sojourn.run("rural", duration="60s", seed=2)
    found, record = observe(run, 300), run.record
    bulk, thin = record["flows"]
    assert found.bulk_mbit == bulk["goodput_mbit"]
    assert found.thin_ms == thin["sojourn_ms"]["mean"]
    times = [one["fct_ms"] for one in record["downloads"][0]["files"] if one["fct_ms"] is not None]
    assert found.files == len(times) > 0
    assert found.fct_s == pytest.approx(sum(times) / len(times) / 1000)
    assert found.ping_ms is None
    echoed = sojourn.run(BED.scenario(Cell(EMULATION, CODEL, DEFAULT)), duration="20s")
    observed = observe(echoed, 300)
    assert observed.thin_ms is None
    assert observed.ping_ms == pytest.approx(echoed.summary["rtt_ms"]["mean"] - 300)
    assert observed.ping_p90_ms is not None
    assert observed.ping_p90_ms + 300 <= echoed.summary["rtt_ms"]["p95"] + 1


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


def test_a_path_like_the_default_is_the_default() -> None:
    assert Satellite.read(None) == Satellite.read("rtt=580ms,return=256kbit,loss=0,jitter=0ms") == Satellite()
    assert "jitter_down" not in Satellite().fields()


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


def test_unknown_parts_and_profiles_are_refused_in_one_sentence() -> None:
    for arguments, sentence in (
        ({"only": "wifi"}, "only is 'wifi', but must be one of lambda, tau, rtt, two-rtt, emulation, satellite"),
        ({"profile": "huge"}, "profile is 'huge', but must be one of quick, paper"),
    ):
        plain = {"only": None, "profile": "quick", "document": None, "satellite": None}
        with pytest.raises(ParamError) as refused:
            reproduce.check(papers.paper("rural"), argparse.Namespace(**(plain | arguments)))
        assert str(refused.value) == sentence


def test_repeats_that_are_asked_for_are_those_of_each_cell_also_where_the_paper_had_fewer() -> None:
    arguments = argparse.Namespace(duration=None, repeat=40)
    profile = profile_of(papers.paper("rural").profiles["paper"], arguments)
    planned = Counter(one.cell.experiment for one in rural.plan(Bed(profile=profile)))
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
    shown = GALLERY.exhibits(WORLD)
    assert [one.name for one in shown] == [*(f"fig{number}" for number in range(2, 9)), "cells"]
    assert drawn == {"fig2": 2, "fig3": 2, "fig4": 2, "fig5": 3, "fig6": 2, "fig7": 3, "fig8": 1}
    assert GALLERY.exhibits(Evidence(cells={})) == ()


def observation(**changes: Any) -> Observation:
    """Return a run."""
    plain: dict[str, Any] = {
        "seed": 1,
        "utilisation": 0.9,
        "queueing_ms": 20.0,
        "queueing_p95_ms": 50.0,
        "fct_s": 30.0,
        "file_fct_s": (30.0, 60.0),
        "files": 7,
        "bulk_mbit": 0.5,
        "thin_ms": 10.0,
        "thin_write_ms": 10.0,
        "ping_ms": 10.0,
        "ping_p90_ms": 25.0,
        "ping_max_ms": 150.0,
        "aqm_drops": 200,
        "drops": 200,
        "packets": 20_000,
        "syn_offered": 10,
        "syn_dropped": 0,
    }
    return Observation(**(plain | changes))


def picture(cell: Cell) -> dict[str, Any]:
    """Return a run of a cell as the paper has it."""
    target, interval = cell.setting
    # Little by little with both parameters.
    level = target / 65 + interval / 300
    values: dict[str, Any] = {}
    if cell.scheme in (DROPTAIL, SFQ):
        values = {"utilisation": 0.95, "queueing_ms": 250.0, "fct_s": 31.0, "bulk_mbit": 0.6, "ping_ms": 250.0}
        return values | {"ping_max_ms": 295.0, "ping_p90_ms": 280.0}
    fair = cell.scheme == FQ_CODEL
    values["utilisation"] = 0.85 + 0.0325 * level
    values["queueing_ms"] = 10 + 15 * level
    values["queueing_p95_ms"] = 20 + 40 * level
    values["aqm_drops"] = values["drops"] = 300 - 50 * level
    values["fct_s"] = (28.5 if cell.rtt == RTTS_MS[0] else 33.0) - 2.0 * level
    values["bulk_mbit"] = 0.45 + 0.05 * level
    values["thin_ms"] = 8.0 + level if fair else 10 + 10 * level
    values["file_fct_s"] = (20.0, 60.0 - 5 * level)
    values["ping_ms"] = 10 + 5 * level
    if cell.experiment == EMULATION:
        values["bulk_mbit"] -= 0.06 + (cell.rtt / 5000 if not fair else cell.rtt / 10_000)
        values["fct_s"] += 0.5 * level
        values["utilisation"] -= cell.rtt / 4000
    if cell.experiment == SATELLITE and cell.setting == RURAL:
        values["fct_s"] = 29.0
    return values


def world(changes: dict[Cell, dict[str, Any]], repeats: int = 8) -> Evidence:
    """Return made-up runs as the paper says, with changes; noise differs by seed, not by cell."""
    found = {}
    for cell in cells():
        values = picture(cell) | changes.get(cell, {})
        runs = []
        for seed in range(1, repeats + 1):
            noise = 1 + 0.0005 * ((seed * 7) % 5 - 2)
            noisy = {name: value * noise if isinstance(value, float) else value for name, value in values.items()}
            runs.append(observation(seed=seed, **noisy))
        found[cell] = tuple(runs)
    return Evidence(cells=found)


def judged(name: str, found: Evidence) -> dict[str, Any]:
    (claim,) = (claim for claim in load("rural", name) if claim.id == name)
    (answer,) = judge([claim], found)
    return answer


WORLD = world({})
Which = Callable[[Cell], bool]


def experiment(name: str, *schemes: str, **fields: Any) -> Which:
    def chosen(cell: Cell) -> bool:
        same = all(getattr(cell, field) == value for field, value in fields.items())
        return cell.experiment == name and (not schemes or cell.scheme in schemes) and same

    return chosen


def alike(cell: Cell) -> dict[str, Any]:
    """Return what a run of the other bed would have, so that nothing differs."""
    return picture(cell._replace(experiment=NS2))


#: For each claim that is judged from runs: where they are changed, and to what, so that it must fail.
CONTRARY: dict[str, tuple[Which, dict[str, Any] | Callable[[Cell], dict[str, Any]]]] = {
    "rur-01": (experiment(EMULATION, DROPTAIL, rtt=550), {"ping_max_ms": 200.0}),
    "rur-02": (experiment(EMULATION, FQ_CODEL, rtt=50), {"ping_p90_ms": 60.0}),
    "rur-03": (experiment(EMULATION, CODEL), {"bulk_mbit": 0.59}),
    "rur-04": (experiment(EMULATION, CODEL, setting=DEFAULT, rtt=150), {"fct_s": 20.0}),
    "rur-05": (experiment(EMULATION, FQ_CODEL, setting=DEFAULT, rtt=550), {"bulk_mbit": 0.2}),
    "rur-07": (experiment(EMULATION, DROPTAIL), {"utilisation": 0.5}),
    "rur-08": (experiment(NS2, CODEL, setting=(5, 500)), {"utilisation": 0.7}),
    "rur-09": (experiment(NS2, CODEL, setting=(5, 300), load="high"), {"utilisation": 0.8}),
    "rur-10": (experiment(NS2, CODEL, setting=(5, 100)), {"queueing_ms": 4.0}),
    "rur-11": (experiment(NS2, CODEL, setting=(5, 500)), {"aqm_drops": 400.0}),
    "rur-12": (experiment(NS2, CODEL, setting=RURAL, load="high"), {"queueing_ms": 60.0}),
    "rur-13": (experiment(NS2, FQ_CODEL, setting=RURAL), {"utilisation": 0.98}),
    "rur-14": (experiment(NS2, FQ_CODEL, setting=RURAL), {"utilisation": 0.8}),
    "rur-15": (experiment(NS2, CODEL, setting=(105, 300)), {"queueing_ms": 5.0}),
    "rur-16": (experiment(NS2, CODEL, setting=RURAL, rtt=550), {"fct_s": 60.0}),
    "rur-17": (experiment(NS2, CODEL, setting=RURAL, rtt=150), {"thin_ms": 5.0}),
    "rur-19": (experiment(NS2, CODEL, setting=RURAL, rtt=350), {"bulk_mbit": 0.1}),
    "rur-21": (experiment(TWO_RTT, FQ_CODEL, setting=RURAL), {"file_fct_s": (20.0, 80.0)}),
    "rur-23": (experiment(NS2, ONE_QUEUE), {"utilisation": 0.5}),
    "rur-24": (experiment(EMULATION, CODEL, setting=RURAL), {"fct_s": 60.0}),
    "rur-25": (experiment(EMULATION, CODEL, setting=RURAL, rtt=350), {"ping_ms": 1.0}),
    "rur-26": (lambda cell: cell.experiment == EMULATION and cell.scheme != DROPTAIL, alike),
    "rur-27": (experiment(SATELLITE, CODEL, setting=DEFAULT), {"fct_s": 25.0}),
    "rur-28": (experiment(SATELLITE, SFQ), {"queueing_ms": 1.0}),
    "rur-29": (experiment(SATELLITE, FQ_CODEL, setting=RURAL), {"queueing_ms": 260.0}),
    "rur-30": (experiment(SATELLITE, FQ_CODEL, setting=RURAL), {"fct_s": 40.0}),
    "rur-31": (experiment(SATELLITE, DROPTAIL), {"queueing_ms": 120.0}),
    "rur-32": (experiment(EMULATION, CODEL, setting=RURAL, rtt=250), {"queueing_p95_ms": 40.0}),
    "rur-33": (experiment(NS2, FQ_CODEL, setting=RURAL, rtt=50), {"thin_ms": 50.0}),
    "rur-34": (experiment(NS2, CODEL, setting=RURAL, load="low"), {"utilisation": 0.8}),
    "rur-35": (experiment(EMULATION, CODEL, setting=DEFAULT), {"queueing_ms": 2.0, "utilisation": 0.99}),
    "rur-36": (experiment(NS2, CODEL, setting=RURAL), {"utilisation": 0.6}),
    "rur-38": (experiment(EMULATION, CODEL, setting=DEFAULT, rtt=550), {"utilisation": 0.99}),
}


#: Further contradictions, each of another rule of its claim.
FURTHER: dict[str, tuple[Which, dict[str, Any] | Callable[[Cell], dict[str, Any]]]] = {
    "rur-23, as short as in queues of their own": (experiment(NS2, ONE_QUEUE), {"thin_ms": 8.0}),
}


def on_supporting_runs(name: str, _patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on the paper's runs."""
    return judged(name, WORLD)


def on_contradicting_runs(name: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on runs that contradict it, or with presets that do."""
    if name in ("rur-06", "rur-37"):
        other = "fq_codel target 15ms interval 100ms quantum 1514"
        patch.setattr("sojourn.papers.rural.judges.expand_qdisc", lambda _name, _rate: other)
        return judged(name, WORLD)
    which, values = (CONTRARY | FURTHER)[name]
    changes = {cell: values(cell) if callable(values) else values for cell in cells() if which(cell)}
    assert changes
    return judged(name.partition(",")[0], world(changes))


def test_a_claim_without_runs_cannot_be_told() -> None:
    assert judged("rur-12", Evidence(cells={}))["verdict"] == "cannot tell"
    assert "there are no runs of ns2" in judged("rur-12", Evidence(cells={}))["reason"]
