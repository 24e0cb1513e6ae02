"""Each claim is judged both ways: on runs made up to bear it out, and on runs made up to contradict it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest

from sojourn.papers.good_bad_wifi import pie_steps
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    RRUL,
    RTT_FAIRNESS,
    SPARED,
    VOIP,
    VOIP_RRUL,
    Cell,
    Evidence,
    Gathering,
)
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.section7 import SHALLOW, STRONG_LAPTOP, WIFI_RRUL, WIFI_VOIP, WIFI_VOIP_RRUL
from sojourn.papers.kit import by_hand
from sojourn.papers.kit.claims import load
from sojourn.papers.kit.failures import failures
from tests.paper_world import RTTS, altered, observed, picture, struck, struck_voice, world
from tests.synthetic import DEFAULTS, record

NAMES = {claim.id for claim in load("good_bad_wifi")}
#: A drive by hand answers the same each time: once for the whole module.
HASHABLE = ("codel_drops", "first_drop_ms", "others_ahead", "shares", "burst", "pie_steps_in_overload")


@pytest.fixture(autouse=True, scope="module")
def driven_once() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name in HASHABLE:
            patch.setattr(by_hand, name, functools.cache(getattr(by_hand, name)))
        patch.setattr(pie_steps, "steps", functools.cache(pie_steps.steps))
        yield


def judged(name: str, found: Evidence) -> dict[str, Any]:
    """Return what became of one claim."""
    (claim,) = (claim for claim in load("good_bad_wifi", name) if claim.id == name)
    (answer,) = JUDGES.judge([claim], found)
    return answer


def test_every_claim_has_a_judge_and_every_judge_a_claim() -> None:
    names = [claim.id for claim in load("good_bad_wifi", "")]
    assert len(names) == len(set(names)) == 130
    by_rules = {claim.id for claim in load("good_bad_wifi") if claim.checks}
    assert by_rules.isdisjoint(JUDGES.by_function)
    assert by_rules | set(JUDGES.by_function) == set(names)
    assert set(JUDGES.notes) <= by_rules


Change = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], dict[str, Any]]


def shared(*shares: float, **more: Any) -> dict[str, Any]:
    """Return shares of the fairness test at 10/1 or, scaled, elsewhere."""
    return {"fair": {"shares": shares, **more}}


WEB_TRAFFIC = ("web:google", "web:huffpost")
RRUL_TRAFFIC = ("web_rrul:google", "web_rrul:huffpost")

#: For each claim a change of the paper's picture that must make it fail: (experiments, links, disciplines, values).
#: Of "voice", "web" and "fair" single values are changed.
CONTRARY: dict[str, Change] = {
    "gbw-cfg-01": ((RRUL,), ("10/10",), ("fq_codel",), {"uncounted": 0.01}),
    "gbw-cfg-02": (("reno",), ("10/10",), ("sfq",), {"up": 5.0, "down": 5.0}),
    "gbw-cfg-03": (("rrul short fifo",), LINKS, DISCIPLINES, {"up": 95.0, "down": 95.0}),
    "gbw-cfg-06": ((RRUL,), ("100/100",), ("ared",), {"sojourn": 5.0}),
    "gbw-rrul-01": ((RRUL,), ("10/10",), ("pie",), {"latency": 250.0}),
    "gbw-rrul-02": ((RRUL,), ("100/100",), (FIFO,), {"up": 80.0, "down": 80.0}),
    "gbw-rrul-03": ((RRUL,), ("10/1",), (FIFO,), {"down": 9.5}),
    "gbw-rrul-04": ((SPARED,), ("10/1",), (FIFO,), {"down": 9.0}),
    "gbw-rrul-05": ((RRUL,), ("10/1",), ("ared",), {"down": 9.3}),
    "gbw-rrul-06": ((RRUL,), ("10/1",), ("ared",), {"latency": 205.0}),
    "gbw-rrul-07": ((RRUL,), ("100/100",), ("codel",), {"latency": 210.0}),
    "gbw-rrul-08": ((RRUL,), ("10/1",), ("pie",), {"down": 8.0}),
    "gbw-rrul-09": ((RRUL,), ("10/10",), ("codel",), {"latency": 15.0}),
    "gbw-rrul-10": ((RRUL,), ("10/10",), ("ared",), {"up": 5.0, "down": 5.0}),
    "gbw-rrul-11": ((RRUL,), ("10/10",), ("pie",), {"backlog": (0.0, 90.0), "drops": (0.0, 30.0)}),
    "gbw-rrul-12": ((RRUL,), ("100/100",), ("pie",), {"up": 94.0, "down": 94.0}),
    "gbw-rrul-13": ((RRUL,), ("100/100",), ("pie",), {"drops": (3.0, 3.0)}),
    "gbw-rrul-15": ((RRUL,), ("10/10",), ("codel",), {"sojourn": 4.0}),
    "gbw-rrul-16": ((RRUL,), ("100/100",), ("codel",), {"entries": 2.0}),
    "gbw-rrul-17": ((RRUL,), ("10/10",), (FIFO,), {"up": 9.6, "down": 9.6}),
    "gbw-rrul-18": ((RRUL,), ("10/10",), ("fq_codel",), {"up": 8.5, "down": 8.5}),
    "gbw-rrul-19": ((RRUL,), ("10/10",), ("fq_nocodel",), {"latency": 5.0}),
    "gbw-rrul-20": ((RRUL,), ("10/1",), ("fq_codel",), {"cwnd": 19.0}),
    "gbw-rrul-21": ((RRUL,), ("100/100",), ("sfq",), {"latency": 3.0}),
    "gbw-rrul-22": ((RRUL,), ("10/10",), ("fq_codel", "fq_nocodel"), {"latency": 12.0}),
    "gbw-voip-01": ((VOIP,), ("10/10",), ("sfq",), {"up": 5.0}),
    "gbw-voip-02": ((VOIP,), ("100/100",), ("pie",), {"voice": {"delay": 120.0}}),
    "gbw-voip-03": ((VOIP_RRUL,), ("10/1",), FAIR, {"voice": {"delay": 50.0}}),
    "gbw-voip-05": ((VOIP_RRUL,), ("10/10",), ("pie",), {"voice": {"tail": 1.5}}),
    "gbw-voip-06": ((VOIP,), ("10/1",), ("fq_codel",), {"voice": {"loss": 0.01}}),
    "gbw-voip-07": ((VOIP,), ("10/1",), ("pie",), {"voice": {"loss": 0.5}}),
    "gbw-voip-08": ((VOIP_RRUL,), ("100/100",), (FIFO,), {"voice": {"loss": 0.0}}),
    "gbw-voip-09": ((VOIP_RRUL,), ("10/1",), ("ared",), {"voice": {"loss": 20.0}}),
    "gbw-voip-10": ((VOIP,), ("100/100",), ("sfq",), {"voice": {"loss": 0.01}}),
    "gbw-voip-11": ((VOIP_RRUL,), ("10/1",), ("sfq",), {"voice": {"most": 0.0}}),
    "gbw-voip-12": ((VOIP_RRUL,), ("100/100",), ("codel",), {"voice": {"loss": 0.02}}),
    "gbw-voip-13": ((VOIP,), ("10/10",), ("codel",), {"voice": {"loss": 0.0}}),
    "gbw-voip-14": ((VOIP_RRUL,), ("10/1",), ("ared",), {"voice": {"delay": 25.0}}),
    "gbw-web-01": (("web_rrul:huffpost",), ("100/100",), ("pie",), {"web": {"time": 9.0}}),
    "gbw-web-02": (WEB_TRAFFIC, ("10/1",), ("pie", "codel"), {"web": {"noise": 0.5}}),
    "gbw-web-03": (("web:google",), ("10/1",), ("ared",), {"web": {"syn_cost": 0.0}}),
    "gbw-web-04": (("web:huffpost",), ("10/1",), ("ared",), {"web": {"time": 20.0}}),
    "gbw-web-05": (("web:huffpost",), ("10/1",), (FIFO,), {"web": {"time": 5.0}}),
    "gbw-web-06": (("web:google",), ("10/1",), (FIFO,), {"syn": {"offered": 100, "dropped": 5}}),
    "gbw-web-07": (("web:google",), ("100/100",), ("ared",), {"web": {"time": 9.0}}),
    "gbw-web-08": (WEB_TRAFFIC, LINKS, DISCIPLINES, {"web": {"time": 9.0}}),
    "gbw-web-09": (("web_rrul:huffpost",), ("10/10",), ("sfq",), {"web": {"time": 2.5}}),
    "gbw-web-10": (
        ("web_rrul:huffpost large objects",),
        ("10/10",),
        ("codel",),
        {"web": {"time": 0.5}},
    ),
    "gbw-web-11": ((RRUL,), LINKS, AQMS, {"latency": 3.0}),
    "gbw-web-12": (
        (*WEB_TRAFFIC, *RRUL_TRAFFIC),
        ("10/10", "10/1"),
        DISCIPLINES,
        {"web": {"time": 9.0, "syn_cost": 0.0, "noise": 0.0}},
    ),
    "gbw-disc-01": ((RRUL,), ("10/1",), ("pie",), {"latency": 300.0}),
    "gbw-disc-02": ((RRUL,), ("100/100",), ("pie",), {"latency": 35.0}),
    "gbw-disc-03": ((VOIP,), ("10/10",), ("codel",), {"voice": {"delay": 0.5}}),
    "gbw-disc-04": ((RRUL,), ("10/1",), ("sfq",), {"latency": 3.0}),
    "gbw-fair-01": ((RTT_FAIRNESS,), ("10/10",), ("pie",), shared(0.235, 0.235, 0.235, 0.235)),
    "gbw-fair-02": ((RTT_FAIRNESS,), ("10/10",), ("pie",), shared(0.48, 0.2, 0.05, 0.21)),
    "gbw-fair-03": ((RTT_FAIRNESS,), ("10/1",), ("codel",), {"fair": {"cv": 5.0}}),
    "gbw-fair-04": ((RTT_FAIRNESS,), ("100/100",), ("ared",), {"fair": {"wait": 150.0}}),
    "gbw-fair-05": ((RTT_FAIRNESS,), ("10/1",), ("sfq",), shared(0.4, 0.3, 0.15, 0.09)),
    "gbw-fair-06": ((RTT_FAIRNESS,), ("100/100",), ("fq_codel",), shared(0.235, 0.235, 0.235, 0.235)),
    "gbw-fair-07": ((RTT_FAIRNESS,), ("10/1",), ("fq_codel",), shared(0.5, 0.3, 0.1, 0.04)),
    "gbw-fair-08": (("rtt_fairness long queue",), ("100/100",), ("fq_nocodel",), shared(0.6, 0.2, 0.1, 0.04)),
    "gbw-fair-09": ((RTT_FAIRNESS,), ("10/1",), ("ared",), shared(0.37, 0.35, 0.08, 0.046)),
    "gbw-fair-10": ((RTT_FAIRNESS,), ("10/1",), ("fq_codel",), {"fair": {"timeouts": (5, 10, 5, 5)}}),
    "gbw-fair-11": ((RTT_FAIRNESS,), ("10/1",), ("fq_codel",), {"fair": {"rtts": (20.0, 50.0, 200.0, 500.0)}}),
    "gbw-fair-12": ((RTT_FAIRNESS,), ("10/1",), ("fq_codel",), shared(0.23, 0.24, 0.235, 0.235)),
    "gbw-fair-13": ((RTT_FAIRNESS,), ("100/100",), ("codel",), shared(0.4, 0.3, 0.1, 0.04)),
    "gbw-fair-14": (("rtt_fairness reno",), ("10/10",), ("sfq",), shared(0.6, 0.2, 0.1, 0.04)),
    "gbw-tran-01": ((RRUL,), ("100/100",), ("codel",), {"curve": (50.0, 23.0, 75.0, 70.0)}),
    "gbw-tran-02": ((RRUL,), ("10/1",), ("pie",), {"curve": (50.0, 8.0, 200.0, 150.0)}),
    "gbw-tran-03": ((RRUL,), ("10/10",), ("pie",), {"curve": (50.0, 6.0, 190.0, 90.0)}),
    "gbw-tran-04": ((RRUL,), ("100/100",), ("codel",), {"curve": (50.0, 2.0, 80.0, 70.0)}),
    "gbw-tran-05": ((RRUL,), ("10/1",), ("codel",), {"curve": (50.0, 0.6, 300.0, 110.0)}),
    "gbw-tran-06": ((RRUL,), ("10/10",), ("pie",), {"first_drop": {"congestion": 0.05}}),
    "gbw-tran-07": ((RRUL,), ("100/100",), ("codel",), {"curve": (50.0, 1.0, 180.0, 70.0)}),
    "gbw-tran-10": ((RRUL,), ("10/10",), ("pie",), {"curve": (50.0, 6.0, 400.0, 90.0)}),
    "gbw-tran-11": ((RRUL,), ("100/100",), ("pie",), {"curve": (50.0, 6.0, 260.0, 65.0)}),
    "gbw-tran-12": ((RRUL,), ("100/100",), ("ared",), {"curve": (50.0, 6.0, 150.0, 65.0)}),
    "gbw-tran-13": ((RRUL,), ("10/10",), ("sfq",), {"curve": (50.0, 6.0, 60.0, 51.0)}),
    "gbw-con-01": ((RRUL,), ("100/100",), AQMS, {"latency": 210.0}),
    "gbw-con-02": ((RRUL,), ("10/10",), ("ared",), {"curve": (50.0, 10.0, 260.0, 70.0)}),
    "gbw-con-03": ((RRUL,), LINKS, (FIFO,), {"curve": (50.0, 1.0, 500.0, 500.0)}),
    "gbw-con-04": ((RRUL,), LINKS, FAIR, {"latency": 100.0}),
    "gbw-con-05": ((WIFI_RRUL,), ("100/100",), ("sfq",), {"latency": 150.0}),
    "gbw-wifi-01": ((WIFI_RRUL,), ("10/10",), ("fq_codel",), {"latency": 60.0}),
    "gbw-wifi-02": ((WIFI_RRUL,), ("10/1",), FAIR, {"spike": 0.0}),
    "gbw-wifi-03": ((WIFI_RRUL,), ("100/100",), ("codel",), {"curve": (52.0, 3.0, 500.0, 150.0)}),
    "gbw-wifi-04": ((WIFI_RRUL,), ("100/100",), ("ared",), {"latency": 250.0}),
    "gbw-wifi-05": ((WIFI_RRUL,), ("100/100",), ("fq_codel",), {"latency": 10.0}),
    "gbw-wifi-06": ((SHALLOW,), ("100/100",), ("sfq",), {"latency": 90.0}),
    "gbw-wifi-07": ((WIFI_RRUL,), ("100/100",), ("pie",), {"up": 20.0}),
    "gbw-wifi-08": ((STRONG_LAPTOP,), ("100/100",), (FIFO,), {"up": 2.0, "down": 50.0}),
    "gbw-wifi-09": ((WIFI_VOIP,), ("100/100",), ("sfq",), {"voice": {"delay": 10.0}}),
    "gbw-wifi-10": ((WIFI_VOIP_RRUL,), ("100/100",), ("fq_codel",), {"voice": {"delay": 400.0}}),
    "gbw-wifi-11": ((WIFI_VOIP,), ("100/100",), ("fq_codel",), {"voice": {"loss": 5.0}}),
    "gbw-wifi-13": (("wifi_web:google",), ("100/100",), ("pie",), {"web": {"time": 3.0}}),
    "gbw-wifi-14": (("wifi_web_rrul:google",), ("100/100",), (FIFO,), {"web": {"time": 0.1}}),
    "gbw-wifi-15": (("wifi_web_rrul:google",), ("100/100",), ("pie",), {"web": {"time": 0.1}}),
    **{
        f"gbw-t3-{qdisc}": ((WIFI_VOIP_RRUL,), ("100/100",), (qdisc,), {"voice": {"loss": 60.0}})
        for qdisc in DISCIPLINES
    },
    **{
        f"gbw-t2-{short}-{qdisc}": ((experiment,), ("10/1",), (qdisc,), {"voice": {"loss": 60.0}})
        for short, experiment in (("1s", VOIP), ("rr", VOIP_RRUL))
        for qdisc in DISCIPLINES
    },
}


#: Further contradictions, each of another rule of its claim.
FURTHER: dict[str, Change] = {
    "gbw-rrul-04, nothing dropped": ((RRUL,), ("10/1",), (FIFO,), {"ack_drops": 0.0}),
    "gbw-rrul-05, nothing dropped": ((RRUL,), ("10/1",), ("ared",), {"ack_drops": 0.0}),
    "gbw-rrul-22, sfq is as short": ((RRUL,), ("10/1",), ("sfq",), {"latency": 0.5}),
    "gbw-voip-05, a late tail": ((VOIP_RRUL,), ("10/10",), ("pie",), {"voice": {"tail_from": 40.0}}),
    "gbw-fair-10, an even window": ((RTT_FAIRNESS,), ("10/1",), (FIFO,), {"fair": {"windows": ((10.0, 10.0),) * 4}}),
}
#: Claims of which one rule suffices, with the others contradicted.
ONE_SUFFICES: dict[str, Change] = {
    "gbw-rrul-11, by the queue": ((RRUL,), ("10/10",), ("pie",), {"drops": (0.0, 30.0)}),
    "gbw-rrul-11, by the drops": ((RRUL,), ("10/10",), ("pie",), {"backlog": (0.0, 90.0)}),
}


def contradicting(change: Change) -> Evidence:
    """Return the paper's picture with the change."""
    experiments, links, disciplines, changed = change

    def alter(cell: Cell, usual: dict[str, Any]) -> dict[str, Any] | None:
        names = {cell.experiment} if cell.cc == "cubic" else {cell.cc, f"{cell.experiment} {cell.cc}"}
        if not names & set(experiments) or cell.link not in links or cell.qdisc not in disciplines:
            return None
        if "reno" in experiments and cell.experiment != RRUL:
            return None
        values = {**usual}
        for name, value in changed.items():
            values[name] = {**usual[name], **value} if name in ("voice", "web", "fair") else value
        if "shares" in (values.get("fair") or {}):
            shares = values["fair"].pop("shares")
            values["fair"]["goodputs"] = tuple(share * float(cell.link.split("/")[1]) for share in shares)
        return values

    return altered(alter)


Patched = Callable[[pytest.MonkeyPatch], Evidence]


def expanded(text: str) -> Patched:
    """Return the paper's runs with presets that expand to something else."""

    def change(patch: pytest.MonkeyPatch) -> Evidence:
        patch.setattr("sojourn.papers.good_bad_wifi.driven._native.expand_qdisc", lambda _text, _rate: text)
        return world()

    return change


def driven(drive: str, other: str) -> Patched:
    """Return the paper's runs with another discipline driven by hand."""

    def change(patch: pytest.MonkeyPatch) -> Evidence:
        usual = getattr(by_hand, drive)
        patch.setattr(by_hand, drive, lambda _text, *args, **more: usual(other, *args, **more))
        return world()

    return change


def finer_table(patch: pytest.MonkeyPatch) -> Evidence:
    finer = pie_steps.steps("rfc8033")
    patch.setattr(pie_steps, "steps", lambda _: finer)
    return world()


def capped_steps(patch: pytest.MonkeyPatch) -> Evidence:
    usual = by_hand.pie_steps_in_overload("gbw:pie", per_departure=2)
    capped = [dataclasses.replace(step, after=min(step.after, step.before + 0.02)) for step in usual]
    patch.setattr(by_hand, "pie_steps_in_overload", lambda _text, **_more: capped)
    return world()


def weak_probe(_patch: pytest.MonkeyPatch) -> Evidence:
    return dataclasses.replace(world(), collisions=struck(RRUL, "fq_nocodel", latency=0.9))


def weak_voice(_patch: pytest.MonkeyPatch) -> Evidence:
    return dataclasses.replace(world(), collisions=struck_voice("sfq", 1.5) | struck_voice("fq_nocodel", 50.0))


#: Of claims that are judged by drives by hand, identities or a single run, what must make them fail.
BY_HAND: dict[str, Patched] = {
    "gbw-cfg-04": expanded("red min 12500 max 25000"),
    "gbw-cfg-05": expanded("red min 1514 max 4542"),
    "gbw-cfg-07": expanded("codel target 5ms interval 100ms"),
    "gbw-cfg-08": driven("others_ahead", "gbw:sfq"),
    "gbw-cfg-09": driven("shares", "gbw:codel"),
    # SFQ drops from the queue with the most packets.
    "gbw-cfg-10": driven("overflow_victims", "sfq limit 100"),
    "gbw-rrul-14": finer_table,
    "gbw-rrul-23": weak_probe,
    "gbw-voip-04": weak_voice,
    "gbw-tran-08": driven("codel_drops", "gbw:pie"),
    # PIE of Linux 3.14 has no cap below a drop probability of 10 %, whatever the runs.
    "gbw-tran-09": lambda _patch: world(),
}


def on_supporting_runs(name: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on the paper's runs."""
    if name in ONE_SUFFICES:
        return judged(name.partition(",")[0], contradicting(ONE_SUFFICES[name]))
    return judged(name, capped_steps(patch) if name == "gbw-tran-09" else world())


def on_contradicting_runs(name: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what becomes of a claim on runs that contradict it."""
    if name in BY_HAND:
        return judged(name, BY_HAND[name](patch))
    return judged(name.partition(",")[0], contradicting((CONTRARY | FURTHER)[name]))


def test_no_claim_is_contradicted_in_two_ways() -> None:
    assert set(CONTRARY) | set(BY_HAND) == NAMES
    assert not set(CONTRARY) & set(BY_HAND)


@pytest.mark.parametrize(
    ("name", "drive", "other"), [("gbw-web-10", "burst", "gbw:codel"), ("gbw-tran-06", "first_drop_ms", "gbw:ared")]
)
def test_a_drive_that_contradicts_the_runs_fails_the_claim(
    monkeypatch: pytest.MonkeyPatch, name: str, drive: str, other: str
) -> None:
    assert judged(name, driven(drive, other)(monkeypatch))["verdict"] == "fails"


def test_ablation_is_named_with_its_numbers() -> None:
    found = judged("gbw-rrul-04", contradicting(CONTRARY["gbw-rrul-04"]))
    assert "9.200 Mbit/s become 9.000" in found["reason"]


def test_a_collision_is_named_by_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "seed 77" in judged("gbw-rrul-23", weak_probe(monkeypatch))["reason"]


def test_no_collision_cannot_be_told() -> None:
    none = dataclasses.replace(world(), collisions={})
    found = judged("gbw-rrul-23", none)
    assert (found["verdict"], found["value"], found["low"]) == ("cannot tell", None, None)
    assert "no seed with a hash collision" in found["reason"]
    assert judged("gbw-voip-04", none)["verdict"] == "cannot tell"


#: What needs no runs.
WITHOUT_RUNS = {
    *(f"gbw-cfg-{number:02}" for number in (4, 5, 7, 8, 9, 10)),
    "gbw-rrul-14",
    "gbw-tran-08",
    "gbw-tran-09",
}


def test_claims_without_their_runs_cannot_be_told() -> None:
    found = JUDGES.judge(load("good_bad_wifi", ""), Evidence(cells={}))
    decided = {claim["id"] for claim in found if claim["verdict"] != "cannot tell"}
    assert decided == WITHOUT_RUNS
    assert all(claim["reason"] for claim in found)
    assert "there are no runs of rrul at 100/100" in next(c["reason"] for c in found if c["id"] == "gbw-rrul-01")


def test_one_repeat_decides_nothing_but_what_is_exact() -> None:
    cells = {cell: runs[:1] for cell, runs in world().cells.items()}
    found = JUDGES.judge(load("good_bad_wifi", ""), dataclasses.replace(world(), cells=cells))
    decided = {claim["id"] for claim in found if claim["verdict"] != "cannot tell"}
    counts = {"gbw-cfg-01", "gbw-voip-10", "gbw-fair-11", "gbw-tran-06"}
    counts |= {"gbw-web-08"}
    counts |= {f"gbw-t2-1s-{qdisc}" for qdisc in FAIR} | {"gbw-t2-rr-fq_nocodel"}
    assert decided == WITHOUT_RUNS | counts


def test_interval_across_the_bound_cannot_be_told() -> None:
    cells = dict(world().cells)
    noisy = [record(seed, {**DEFAULTS, "latency": 200.0 + (-1) ** seed * 20}) for seed in range(1, 7)]
    gathering = Gathering()
    cell = Cell(RRUL, "10/10", "pie")
    for run in reversed(noisy):
        gathering.add(cell, run)
    cells[cell] = gathering.evidence().of(cell)
    found = judged("gbw-rrul-01", dataclasses.replace(world(), cells=cells))
    assert found["verdict"] == "cannot tell"
    assert found["low"] < 0 < found["high"]


def test_runs_too_short_for_the_steady_state_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.papers.good_bad_wifi.observation.STEADY_FROM_S", 1000.0)
    cells = dict(world().cells)
    cell = Cell(RRUL, "100/100", "pie")
    cells[cell] = observed(picture(cell))
    found = judged("gbw-rrul-13", dataclasses.replace(world(), cells=cells))
    assert found["verdict"] == "cannot tell"
    assert "too short" in found["reason"]


def test_failing_claim_says_why_and_is_listed() -> None:
    (stored,) = (claim for claim in load("good_bad_wifi") if claim.id == "gbw-voip-09")
    plain = dataclasses.replace(stored, says="x", why="the model has no such thing")
    wrong = contradicting(CONTRARY["gbw-voip-09"])
    found = JUDGES.judge([plain], wrong)
    assert found[0]["reason"].endswith("; why: the model has no such thing")
    (failure,) = failures([*found, *JUDGES.judge([plain], world())])
    assert (failure.id, failure.value, failure.unit) == ("gbw-voip-09", 20.0, "percent")
    assert failure.markdown().startswith("- **gbw-voip-09** (section 5.2.1): x\n  10/1 voip_rrul: loss of ared = 20")
    assert "why" not in JUDGES.judge([plain], world())[0]["reason"]


def test_gathering_orders_repeats_by_seed_and_keeps_the_last_of_a_seed() -> None:
    gathering = Gathering()
    cell = Cell(RTT_FAIRNESS, "10/1", "ared", "reno")
    for seed, latency in ((3, 1.0), (1, 2.0), (3, 4.0)):
        gathering.add(cell, record(seed, {**DEFAULTS, **picture(cell), "latency": latency}))
    runs = gathering.evidence().of(cell)
    assert [run.seed for run in runs] == [1, 3]
    assert runs[1].latency_ms == pytest.approx(4.0, rel=0.01)
    assert tuple(flow.rtt_ms for flow in runs[0].flows) == RTTS
