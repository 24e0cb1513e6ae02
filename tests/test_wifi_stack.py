"""The Wi-Fi stack's claims judged both ways on made-up runs, its plan, its mechanisms by hand, and its figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn import papers
from sojourn.papers.kit.claims import load
from sojourn.papers.kit.execute import Means
from sojourn.papers.wifi_stack import by_hand, exhibits
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    DEPTHS,
    EQUAL,
    FIFO,
    FQ_CODEL,
    FQ_MAC,
    LEVEL_BE,
    LEVEL_VO,
    LEVELS,
    LOSSLESS,
    LOSSY,
    ONE_TID,
    ORDER,
    OVERLOAD,
    SCHEMES,
    SHAPED,
    TCP,
    TWO_TIDS,
    UDP,
    VOICE_BE,
    VOICE_VO,
    Cell,
    Evidence,
    Observation,
    StationObservation,
    VoiceObservation,
    observe,
)
from sojourn.papers.wifi_stack.judges import JUDGES
from sojourn.papers.wifi_stack.plan import PARTS, Bed, cells, processor_time
from sojourn.plots import wifi as plots
from tests.conftest import Cli

BED = Bed(profile=papers.paper("wifi-stack").profiles["quick"])
REPEATS = 4
#: Made up, as the paper has it: median latency of fast and slow (ms), goodput (Mbit/s), airtime of the slow station
#: with UDP, and frames in an aggregate of the fast with TCP and UDP.
PICTURE: dict[str, dict[str, Any]] = {
    FIFO: {"ms": (600, 700), "mbit": (6, 5), "air": 0.79, "frames": (5, 4)},
    FQ_CODEL: {"ms": (36, 230), "mbit": (10, 4), "air": 0.8, "frames": (12, 3)},
    FQ_MAC: {"ms": (19.5, 34), "mbit": (25, 2.4), "air": 0.4, "frames": (28, 28)},
    AIRTIME: {"ms": (19.5, 35), "mbit": (33, 1.8), "air": 1 / 3, "frames": (30, 30)},
}


def station(**changed: Any) -> StationObservation:
    plain: dict[str, Any] = {
        "airtime_share": 1 / 3,
        "down_airtime_ms": 8000.0,
        "mbit": 20.0,
        "aggregates": 1000,
        "aggregate_frames": 20.0,
        "aggregate_bytes": 30_000.0,
        "transmissions": 20_000,
        "retries": 0,
        "queue_ms": 30.0,
        "hardware_ms": 6.0,
        "drops": {},
        "tids": {0: 20_000},
    }
    return StationObservation(**(plain | changed))


def observation(seed: int, **changed: Any) -> Observation:
    plain: dict[str, Any] = {
        "seed": seed,
        "duration_s": 10.0,
        "stations": {"fast1": station()},
        "goodput": {},
        "loss": {},
        "ping_ms": {},
        "voices": {},
        "collisions": 0,
        "transmissions": 1000,
    }
    return Observation(**(plain | changed))


def around(median: float, seed: int, spread: float) -> Any:
    """Return pings whose median is about this."""
    return median * (1 + spread * np.linspace(-0.5, 0.5, 101)) * (1 + 0.001 * seed)


def three(scheme: str, seed: int, *, udp: bool) -> Observation:
    """Return a run of the paper's three stations."""
    picture = PICTURE[scheme]
    near = 1 + 0.002 * (seed % 3)
    prefix = "udp" if udp else "tcp"
    frames = picture["frames"][1 if udp else 0] * near
    fast = station(airtime_share=(1 - picture["air"]) / 2, aggregate_frames=frames)
    slow = station(airtime_share=picture["air"], aggregate_frames=2.0)
    names = ("fast1", "fast2", "slow")
    # The airtime scheduler alters the shape, not the median.
    spread = 0.8 if scheme == AIRTIME else 0.5
    return observation(
        seed,
        stations=dict(zip(names, (fast, fast, slow), strict=True)),
        goodput={f"{prefix}_{name}": picture["mbit"][name == "slow"] * near for name in names},
        loss={f"udp_{name}": 0.5 for name in names} if udp else {},
        ping_ms={name: around(picture["ms"][name == "slow"], seed, spread) for name in names},
    )


def small(one: Cell, seed: int) -> Observation:
    """Return a run of another cell."""
    near = 1 + 0.002 * (seed % 3)
    name, scheme = one
    if name in (EQUAL, SHAPED):
        stations = {f"fast{number}": station() for number in (1, 2, 3)}
        ms = 25.0 if name == EQUAL else 6.0
        pings = {each: around(ms, seed, 0.5) for each in stations}
        return observation(seed, stations=stations, goodput=dict.fromkeys(stations, 35.0 * near), ping_ms=pings)
    if name in (VOICE_BE, VOICE_VO):
        mos = 1.0 if scheme == FIFO else 4.38 * near if name == VOICE_BE else 4.4 * near
        return observation(seed, voices={"voip": VoiceObservation(delay_ms=10.0, lost=0, sent=500, mos=mos)})
    if name == OVERLOAD:
        stations = {"fast1": station(drops={"queue_limit": 900 + seed}), "fast2": station()}
        return observation(
            seed, stations=stations, loss={"udp_fast1": 0.7, "udp_fast2": 0.0 if scheme == FQ_MAC else 0.5}
        )
    if name == LEVELS:
        delays = {"vo": 1.0, "vi": 4.0, "be": 40.0, "bk": 400.0}
        voices = {
            f"voice_{level}": VoiceObservation(delay_ms=ms * near, lost=0, sent=1, mos=None)
            for level, ms in delays.items()
        }
        return observation(seed, voices=voices, stations={"fast1": station(tids={6: 9, 5: 8, 0: 3, 1: 1})})
    frames = {LEVEL_BE: 32.0, LEVEL_VO: 1.0, ONE_TID: 8.0 * near, TWO_TIDS: 16 / 3}.get(name, 20.0)
    depth = next((depth for depth, called in DEPTHS.items() if called == name), 1)
    resent = 2000 if name == LOSSY else 0
    return observation(
        seed,
        stations={
            "fast1": station(
                aggregate_frames=frames,
                aggregates=2500,
                hardware_ms=4.0 * depth * near,
                transmissions=10_000,
                retries=resent,
            )
        },
        goodput={"udp_fast1": 80.0 * near if name == LOSSY else 100.0 * near},
        loss={"udp_1": 0.0, "udp_2": 0.0} if name == ORDER else {"udp_fast1": 0.1},
    )


def world(
    change: Callable[[Cell, Observation], Observation] = lambda _, run: run, **cpu: tuple[float, ...]
) -> Evidence:
    """Return evidence that bears every claim out, or what `change` makes of each run."""
    found = {}
    for one in cells():
        runs = []
        for seed in range(1, REPEATS + 1):
            plain = (
                three(one.scheme, seed, udp=one.experiment == UDP) if one.experiment in (TCP, UDP) else small(one, seed)
            )
            runs.append(change(one, plain))
        found[one] = tuple(runs)
    return Evidence(cells=found, cpu_ns={FIFO: (500.0, 501.0, 502.0), FQ_MAC: (600.0, 605.0, 604.0)} | cpu)


def judged(name: str, evidence: Evidence) -> dict[str, Any]:
    (claim,) = load("wifi_stack", name)
    (answer,) = JUDGES.judge([claim], evidence)
    return answer


def pings(scheme: str, factor: float, *names: str, experiment: str = TCP) -> Callable[[Cell, Observation], Observation]:
    def change(one: Cell, run: Observation) -> Observation:
        if one != Cell(experiment, scheme):
            return run
        chosen = names or tuple(run.ping_ms)
        return replace(run, ping_ms={n: v * (factor if n in chosen else 1) for n, v in run.ping_ms.items()})

    return change


def goodput(scheme: str, factor: float, *, experiment: str = TCP) -> Callable[[Cell, Observation], Observation]:
    def change(one: Cell, run: Observation) -> Observation:
        if one != Cell(experiment, scheme):
            return run
        return replace(run, goodput={name: value * factor for name, value in run.goodput.items()})

    return change


def stations(
    experiment: str, scheme: str, names: tuple[str, ...] = ("fast1",), **changed: Any
) -> Callable[[Cell, Observation], Observation]:
    def change(one: Cell, run: Observation) -> Observation:
        if one != Cell(experiment, scheme):
            return run
        return replace(run, stations={n: replace(v, **changed) if n in names else v for n, v in run.stations.items()})

    return change


def losses(experiment: str, **loss: float) -> Callable[[Cell, Observation], Observation]:
    def change(one: Cell, run: Observation) -> Observation:
        return replace(run, loss={**run.loss, **loss}) if one == Cell(experiment, FQ_MAC) else run

    return change


def voices(experiment: str, **changed: Any) -> Callable[[Cell, Observation], Observation]:
    def change(one: Cell, run: Observation) -> Observation:
        if one != Cell(experiment, FQ_MAC):
            return run
        return replace(run, voices={name: replace(voice, **changed) for name, voice in run.voices.items()})

    return change


FASTS = ("fast1", "fast2")
#: What contradicts each claim.
AGAINST: dict[str, Callable[[Cell, Observation], Observation]] = {
    "wst-01": pings(FQ_MAC, 10),
    "wst-02": pings(FIFO, 0.1),
    "wst-03": pings(FQ_CODEL, 30),
    "wst-04": pings(FQ_CODEL, 0.5),
    "wst-05": pings(FQ_CODEL, 0.5),
    "wst-07": pings(FQ_MAC, 1.7),
    "wst-08": pings(AIRTIME, 0.5),
    "wst-09": pings(AIRTIME, 1.5, "slow"),
    "wst-10": stations(UDP, AIRTIME, ("slow",), airtime_share=0.4),
    "wst-11": goodput(FQ_MAC, 0.3),
    "wst-12": goodput(AIRTIME, 0.5),
    "wst-13": goodput(FQ_CODEL, 0.5),
    "wst-14": stations(TCP, FQ_CODEL, FASTS, aggregate_frames=4.0),
    "wst-15": stations(UDP, FQ_MAC, FASTS, aggregate_frames=3.0),
    "wst-17": stations(TCP, FQ_CODEL, FASTS, aggregate_frames=2.0),
    "wst-18": stations(UDP, FIFO, ("slow",), airtime_share=0.5),
    "wst-19": stations(TCP, AIRTIME, FASTS, hardware_ms=50.0),
    "wst-20": losses(OVERLOAD, udp_fast2=0.1),
    "wst-21": voices(VOICE_BE, mos=2.0),
    "wst-22": pings(FQ_MAC, 9, experiment=SHAPED),
    "wst-23": voices(LEVELS, delay_ms=3.0),
    "wst-24": stations(LEVEL_VO, FQ_MAC, aggregate_frames=1.2),
    "wst-25": stations(DEPTHS[2], FQ_MAC, hardware_ms=12.0),
    "wst-26": goodput(FQ_MAC, 0.2, experiment=LOSSY),
    "wst-27": stations(TWO_TIDS, FQ_MAC, aggregate_frames=8.0),
    "wst-28": losses(ORDER, udp_1=0.01),
    "wst-29": goodput(AIRTIME, 1.3, experiment=EQUAL),
    "wst-31": pings(FQ_MAC, 0.4, "slow"),
}


def test_every_claim_has_a_judge_a_part_and_every_judge_a_claim() -> None:
    names = [claim.id for claim in load("wifi_stack", "wst-")]
    assert len(set(names)) == len(names) == 30
    by_rules = {claim.id for claim in load("wifi_stack") if claim.checks}
    assert by_rules.isdisjoint(JUDGES.by_function)
    assert by_rules | set(JUDGES.by_function) == set(names)
    assert set(JUDGES.notes) <= by_rules
    assert {claim.part for claim in load("wifi_stack")} == set(PARTS)


def on_supporting_runs(name: str, _patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on the paper's runs."""
    return judged(name, world())


def on_contradicting_runs(name: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on runs that contradict it, or with a scheduler that does."""
    if name == "wst-30":
        return judged(name, world(fq_mac=(400.0, 401.0, 402.0)))
    if name == "wst-32":
        patch.setattr(by_hand, "lower_before_higher", lambda fairness_first: 0)
        return judged(name, world())
    return judged(name, world(AGAINST[name]))


def test_measurements_of_processor_time_that_do_not_agree_do_not_tell() -> None:
    untold = judged("wst-30", world(fifo=(500.0,) * 5, fq_mac=(520.0, 490.0, 515.0, 480.0, 505.0)))
    assert untold["verdict"] == "cannot tell"
    assert untold["low"] < 1.0 < untold["high"]
    assert judged("wst-30", Evidence(cells={}))["verdict"] == "cannot tell"


def test_processor_time_is_measured_five_times_for_each_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.papers.wifi_stack.plan.CPU_DURATION", "1s")
    found = processor_time(BED, Means())
    assert {scheme: len(values) for scheme, values in found.items()} == {FIFO: 5, FQ_MAC: 5}
    assert all(value > 0 for values in found.values() for value in values)


def test_fairness_before_priority_is_shown_by_hand() -> None:
    assert by_hand.lower_before_higher(fairness_first=True) == 200  # `b` has two turns for each of `a`
    assert by_hand.lower_before_higher(fairness_first=False) == 0


def test_without_runs_nothing_can_be_told() -> None:
    for answer in JUDGES.judge(load("wifi_stack", "wst-"), Evidence(cells={})):
        assert answer["verdict"] == ("holds" if answer["id"] == "wst-32" else "cannot tell")


def test_a_lost_frame_behind_the_queue_stalls_the_window() -> None:
    """64 frames after the lost one the sender has none that it may send, and the lost one waits behind 500 others."""
    first, last = (by_hand.resend(first=where) for where in (True, False))
    assert first.stalled == 0
    assert first.delivered > 5000
    assert last.stalled == 198
    assert last.delivered < 64


def test_numbers_given_before_flow_queueing_make_packets_late() -> None:
    assert by_hand.discarded(numbered_before=True) > 100
    assert by_hand.discarded(numbered_before=False) == 0


def test_every_cell_of_the_plan_is_a_scenario_that_the_simulator_takes() -> None:
    for one in cells():
        found = json.loads(BED.scenario(one).normalized())
        assert found["wifi"]["scheme"] == one.scheme
        assert found["tcp"]["variant"] == "linux-3.14"
        assert found["duration"] == ("120s" if one.experiment == TCP else "30s")


def test_cells_are_of_the_kind_that_their_claims_need() -> None:
    def of(experiment: str, scheme: str = FQ_MAC) -> dict[str, Any]:
        found = json.loads(BED.scenario(Cell(experiment, scheme)).to_json())
        assert isinstance(found, dict)
        return found

    assert of(SHAPED)["down"] == "80mbit"
    assert [one["rate"] for one in of(EQUAL)["wifi"]["stations"]] == ["ht mcs 15 20mhz sgi"] * 3
    assert of(OVERLOAD)["wifi"]["limit"] == 100
    assert of(OVERLOAD, FIFO)["wifi"]["qdisc"] == "pfifo_fast limit 100 variant linux-3.14"
    assert [one["dscp"] for one in of(LEVELS)["flows"]] == ["CS6", "CS5", "CS0", "CS1"]
    assert of(LEVEL_VO)["flows"][0]["dscp"] == "CS6"
    assert {of(name)["wifi"]["hardware_queue"] for name in DEPTHS.values()} == {1, 2, 4}
    assert (of(LOSSY)["wifi"]["stations"][0]["error"], of(LOSSLESS)["wifi"]["stations"][0]["error"]) == (0.2, 0.0)
    assert len({one["dscp"] for one in of(ONE_TID)["flows"]}) == 1
    assert len({one["dscp"] for one in of(TWO_TIDS)["flows"]}) == 2
    assert of(VOICE_VO)["probes"][-1]["dscp"] == "CS6"


def test_a_real_run_is_observed_as_its_record_says() -> None:
    from sojourn import api

    run = api.run("wifi_udp", scheme="fq_mac", duration="2s")
    found = observe(run)
    wifi = run.record["wifi"]
    assert found.stations["slow"].airtime_share == wifi["stations"][2]["airtime_share"]
    assert sum(one.airtime_share for one in found.stations.values()) == pytest.approx(1.0)
    assert found.goodput["udp_fast1"] == run.record["flows"][0]["goodput_mbit"]
    assert found.loss["udp_slow"] > 0.5
    assert set(found.ping_ms) == {"fast1", "fast2", "slow"}
    assert found.stations["fast1"].aggregate_frames > 20


def test_the_model_is_fed_with_the_measured_aggregates() -> None:
    """28 frames of 1500 bytes and 2: the slow station's share without fairness, by hand, and thirds with it."""
    fair = exhibits.predicted(world(), AIRTIME)
    assert [one.share for one in fair] == [pytest.approx(1 / 3)] * 3
    plain = exhibits.predicted(world(stations(UDP, FQ_MAC, FASTS, aggregate_frames=28.0)), FQ_MAC)
    fast, slow = 40 + 28 * 1544 * 8 / 144.44, 36 + 2 * 1544 * 8 / 7.22
    assert plain[2].share == pytest.approx(slow / (slow + 2 * fast), rel=1e-6)


def test_exhibits_are_in_the_order_of_the_paper_and_have_pictures() -> None:
    found = exhibits.GALLERY.exhibits(world())
    assert [one.name for one in found] == ["fig2", "fig3", "model", "fig4", "cells"]
    for one in found:
        for figure in one.figures:
            assert figure.png.startswith(b"\x89PNG")
    model = next(one.table for one in found if one.name == "model")
    assert model is not None
    assert [row[0] for row in model.rows if row[1] == "total"] == ["FIFO", "FQ-CoDel", "FQ-MAC", "Airtime fair FQ"]
    assert exhibits.GALLERY.exhibits(Evidence(cells={})) == ()


def test_figures_without_numbers_say_so() -> None:
    for draw in (plots.ping_cdf, plots.airtime_shares, plots.throughput_bars):
        words = [text.get_text() for axis in draw({}).axes for text in axis.texts]
        assert words == ["no data"]


def test_stacked_shares_reach_the_top_and_bars_have_the_means() -> None:
    shares = {"airtime": {"fast1": [0.3, 0.34], "fast2": [0.33], "slow": [0.35]}}
    (axis,) = plots.airtime_shares(shares).axes
    assert [round(bar.get_height(), 3) for bar in axis.patches] == [0.32, 0.33, 0.35]
    rates = {scheme: {"fast1": [3.0, 5.0], "fast2": [6.0, 6.0], "slow": [1.0, 1.0]} for scheme in SCHEMES}
    (axis,) = plots.throughput_bars(rates).axes
    assert [round(bar.get_height(), 3) for bar in axis.patches][:4] == [4.0, 6.0, 1.0, 3.667]


@pytest.mark.slow
def test_reproduce_writes_claims_figures_and_the_page(cli: Cli, tmp_path: Path) -> None:
    words = ("--duration", "2s", "--repeat", "2", "--out", "o", "--document", "docs/page.md")
    done = cli("reproduce", "wifi-stack", *words)
    found = json.loads((tmp_path / "o/claims.json").read_text())
    assert [one["id"] for one in found] == [claim.id for claim in load("wifi_stack")]
    assert {path.stem for path in (tmp_path / "o/figures").glob("*.png")} == {"fig2", "fig3", "fig4"}
    assert "report: o/report.html" in done.stdout
    page = (tmp_path / "docs/page.md").read_text()
    assert all(one["id"] in page for one in found)
    verdicts = {one["id"]: one["verdict"] for one in found}
    # What two runs of 2 s suffice for.
    assert [verdicts[name] for name in ("wst-24", "wst-26", "wst-27", "wst-28", "wst-32")] == ["holds"] * 5


def test_bad_input_is_one_sentence(inside: Cli) -> None:
    for words, sentence in (
        (("--only", "qos"), "only is 'qos', but must be one of latency, airtime, throughput, mechanisms"),
        (("--profile", "huge"), "profile is 'huge', but must be one of quick, paper"),
        (
            ("--tcp", "linux-2.6"),
            'tcp.variant is "linux-2.6", but must be "linux-6.1", "linux-6.12", "linux-7.3", "linux-5.15" or '
            '"linux-3.14"',
        ),
    ):
        found = inside("reproduce", "wifi-stack", *words, "--out", "o", status=2)
        assert found.stderr.strip().endswith(sentence)


def test_parts_have_their_own_cells() -> None:
    assert {one.experiment for one in cells(("airtime",))} == {UDP}
    assert {claim.id for claim in load("wifi_stack", parts=("airtime",))} == {"wst-10", "wst-15", "wst-18"}
