"""The queue flusher: its scenario, what is observed of a run by numbers worked by hand, and readings side by side."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from sojourn import _native, papers
from sojourn.errors import ParamError
from sojourn.flusher_parameters import Parameters
from sojourn.papers.flusher import adaptive
from sojourn.papers.flusher import plan as flusher
from sojourn.papers.flusher.evidence import (
    ADAPTIVE,
    CUBIC,
    DESCRIBED,
    EMULATORS,
    FOREIGN,
    IPFW,
    KARN,
    NETEM,
    ONE,
    PAIR,
    PIE,
    RANKS,
    READINGS,
    RENO,
    SLOT_MS,
    WRITTEN,
    Evidence,
    active,
    observe,
    passive,
)
from sojourn.papers.flusher.exhibits import GALLERY
from sojourn.papers.flusher.judges import bdp, judge, others
from sojourn.papers.flusher.plan import BETTER, FlusherBed, cells
from sojourn.report.exhibit import verdict, verdicts
from sojourn.scenario import Flow, Scenario
from sojourn.scenario_keys import Flusher
from sojourn.store import frames
from sojourn.store.run import Run
from sojourn.study.cell import Cell, Observation
from tests.records import Json
from tests.studies import STUDIES, load

STUDY = STUDIES["flusher"]
BED = FlusherBed(profile=dataclasses.replace(papers.paper("flusher").profiles["quick"], duration="60s"))


def run(cell: Cell) -> Run:
    return Run(text=_native.run(BED.scenario(cell).to_json()))


def params(reading: str) -> Json:
    found = json.loads(BED.scenario(active(RENO, 50, reading=reading)).normalized())["flusher"]["params"]
    assert isinstance(found, dict)
    return found


def test_a_scenario_with_a_flusher_survives_its_text() -> None:
    watched = Flusher(
        params=Parameters(preset="as_described", threshold=1.5), at="router", watch=("a",), mode="passive"
    )
    scenario = Scenario(
        experiment="x", duration="5s", flows=(Flow(name="a", direction="up"),), flusher=dataclasses.replace(watched)
    )
    text = scenario.normalized()
    assert Scenario.from_json(text).normalized() == text
    found = json.loads(text)["flusher"]
    assert (found["at"], found["watch"], found["mode"], found["start"]) == ("router", ["a"], "passive", "0s")
    assert found["params"]["threshold"] == 1.5
    assert hash(scenario) == hash(dataclasses.replace(scenario))


def test_a_flusher_is_refused_with_one_sentence() -> None:
    scenario = Scenario(experiment="x", duration="5s", flusher=Flusher(at="moon"))
    with pytest.raises(ParamError, match='^flusher.at is "moon", but must be "client", "router" or "server"$'):
        scenario.normalized()
    with pytest.raises(ParamError, match="^flusher is given, but the live back end has none"):
        dataclasses.replace(scenario, flusher=Flusher()).normalized("live")
    with pytest.raises(ParamError, match='^flusher.bursts is "slowly", but must be "paced", "at_once" or "daemon"$'):
        dataclasses.replace(scenario, flusher=Flusher(bursts="slowly")).normalized()


def test_a_gate_is_none_or_the_daemon_s() -> None:
    scenario = Scenario(experiment="x", duration="5s", flusher=Flusher(gate="ajar"))
    with pytest.raises(ParamError, match='^flusher.gate is "ajar", but must be "none" or "widest"$'):
        scenario.normalized()
    text = dataclasses.replace(scenario, flusher=Flusher(gate="widest")).normalized()
    assert json.loads(text)["flusher"]["gate"] == "widest"
    assert Scenario.from_json(text).normalized() == text
    # Texts of scenarios without one are what they were.
    assert "gate" not in json.loads(dataclasses.replace(scenario, flusher=Flusher()).normalized())["flusher"]


def test_readings_differ_as_they_are_named() -> None:
    text, karn, listings = (params(reading) for reading in (DESCRIBED, KARN, WRITTEN))
    assert {key for key in text if text[key] != karn[key]} == {"retransmissions"}
    assert (text["rtt_weight"], listings["rtt_weight"]) == (1, 7)
    assert params(ADAPTIVE)["method"] == "adaptive"


def test_the_bed_is_the_thesis_s() -> None:
    found = json.loads(BED.scenario(active(CUBIC, 100, 50)).normalized())
    assert (found["up"], found["edge_rate"], found["rtt"], found["qdisc_up"]) == (
        "5mbit",
        "10mbit",
        "70ms",
        "netem limit 50 delay 30ms",
    )
    # An AQM has its packets to itself, and the delay behind it.
    aqm = json.loads(BED.scenario(passive(CUBIC, 100, queue=PIE)).normalized())
    assert (aqm["rtt"], aqm["qdisc_up"].split()[0]) == ("100ms", "pie")
    plain = json.loads(BED.scenario(active(CUBIC, 100, 50), IPFW).normalized())
    assert (plain["rtt"], plain["qdisc_up"]) == ("100ms", "pfifo limit 50")
    assert (found["flusher"]["at"], found["flusher"]["mode"]) == ("client", "active")
    assert papers.paper("flusher").profiles["quick"].duration == "300s"


def test_the_longer_of_two_rtts_is_as_long_as_it_is_called() -> None:
    found = json.loads(BED.scenario(passive(RENO, 10).replaced(scene=PAIR)).normalized())
    # 3 ms of the slow link are in its netem.
    assert [flow["rtt"] for flow in found["flows"]] == ["7ms", "97ms"]


def test_a_netem_s_buffer_is_smaller_by_what_its_delay_holds() -> None:
    """At 5 Mbit/s 15 ms are 6.2 packets of 1514 bytes: so much shorter is the longest queue, at the same base RTT."""
    cell = passive(RENO, 50)
    plain, netem = (
        observe(Run(text=_native.run(BED.scenario(cell, which).to_json())), cell) for which in (IPFW, NETEM)
    )
    assert netem.least == plain.least
    assert plain.most - netem.most == pytest.approx(15.0, abs=1.5)
    assert plain.cwnd - netem.cwnd == pytest.approx(15.0 / SLOT_MS, abs=2)


def test_the_gate_leaves_a_destination_alone_for_a_tenth_of_a_second() -> None:
    cell = active(CUBIC, 50, reading=WRITTEN)
    gated = dataclasses.replace(BED, bursts="at_once", gate="widest")
    heads = [Run(text=_native.run(bed.scenario(cell).to_json())).record.flusher for bed in (BED, gated)]
    sent = [[event.t_s for event in head.events if not event.refused] for head in heads]
    assert heads[0].refused == 0
    assert min(np.diff(sent[0])) < 0.1
    assert heads[1].refused > heads[1].flushes > 10
    assert min(np.diff(sent[1])) >= 0.1


def test_a_burst_beyond_the_gate_s_bounds_is_not_sent() -> None:
    """The gate lets no more pass than four times throughput x largest RTT, as measured."""
    cell = active(RENO, 10, reading=WRITTEN)
    gated = dataclasses.replace(BED, bursts="at_once", gate="widest")
    events = Run(text=_native.run(gated.scenario(cell).to_json())).record.flusher.events
    for event in events:
        product = event.throughput_mbit * event.max_rtt_ms * 1e3 / 8
        assert event.refused or event.packets * 1500 <= 4 * product * 1.001


def test_table_6_1_by_hand() -> None:
    assert [bdp(base) for base in (100, 50, 10)] == [41, 20, 4]


def test_every_cell_is_a_valid_scenario_and_planned_once() -> None:
    found = cells()
    assert len(set(found)) == len(found)
    texts = {BED.scenario(cell).normalized() for cell in found}
    # No cell stands for another's run, or a claim would compare a run with itself.
    assert len(texts) == len(found)


def test_what_is_observed_is_in_the_record() -> None:
    cell = passive(RENO, 50)
    one = run(cell)
    observation = observe(one, cell)
    pairs = one.record.flusher.flows[0].rtt
    assert (observation.mean, observation.most) == (pairs.mean_ms, pairs.max_ms)
    assert observation.packets == 0
    # The base RTT, two packets and two acknowledgements at 10 Mbit/s but for those that the bucket lets pass; a full
    # queue of 100 packets more at most.
    assert 50.0 < observation.least < 53.0
    assert observation.most < observation.least + 101 * SLOT_MS
    assert np.all(np.diff(observation.rtt) >= 0)
    assert abs(float(np.mean(observation.rtt)) - observation.mean) < 0.02 * observation.mean
    # At 5 Mbit/s one flow fills the link.
    assert 4.5 < observation.mbit < 4.79
    series = frames.series(one.record)
    assert set(series.filter(series["metric"] == "flusher_path_rtt_ms")["name"]) == {"flow"}


def test_a_burst_lifts_the_queue_and_costs_throughput() -> None:
    quiet, loud = passive(RENO, 50), active(RENO, 50, reading=KARN)
    before, after = observe(run(quiet), quiet), observe(run(loud), loud)
    assert after.packets > 0
    assert after.mean < before.mean
    assert after.mbit < before.mbit


def test_the_foreign_flow_is_not_seen() -> None:
    cell = active(CUBIC, 50).replaced(scene=FOREIGN)
    flows = run(cell).record.flusher.flows
    assert [(flow.name, flow.seen) for flow in flows] == [("flow", True), ("foreign", False)]


def three(quantity: str, value: float) -> tuple[Observation, ...]:
    """Return made-up runs with about this value of a quantity."""
    (usual, *_) = STUDY.usual[passive(RENO, 50)]
    return tuple(usual.replaced(seed=i, **{quantity: value + i / 1e4}) for i in range(3))


def at_100(reno: float, cubic: float) -> Evidence:
    return STUDY.evidence({passive(RENO, 50): three("cwnd", reno), passive(CUBIC, 50): three("cwnd", cubic)})


def test_the_verdict_is_that_of_the_declared_world() -> None:
    assert papers.paper("flusher").world["reading"] == READINGS[0]
    assert papers.paper("flusher").world["emulator"] == EMULATORS[0]
    near, far = at_100(110.0, 112.0), at_100(150.0, 112.0)
    claims = [STUDY.claims["flu-06"]]
    (found,) = judge(claims, {NETEM: far, IPFW: near})
    assert found.verdict == "fails"
    assert found.readings == {r: "fails" for r in READINGS} | {f"{r} (ipfw)": "holds" for r in READINGS}
    assert others([found])[f"{DESCRIBED} (ipfw)"] == {"flu-06": "holds"}
    assert DESCRIBED not in others([found])
    (found,) = judge(claims, {NETEM: near, IPFW: far})
    assert found.verdict == "holds"


def test_a_claim_says_for_which_reading_it_holds() -> None:
    base = {passive(RENO, 50, 10): three("mbit", 4.7)}
    rates = {DESCRIBED: 4.0, KARN: 4.7, WRITTEN: 2.0}
    flushed = {active(RENO, 50, 10, reading=reading): three("mbit", rate) for reading, rate in rates.items()}
    (found,) = judge([STUDY.claims["flu-36"]], {NETEM: STUDY.evidence(base | flushed)})
    assert found.verdict == "fails"
    assert found.readings == {DESCRIBED: "fails", KARN: "holds", WRITTEN: "fails"}


def test_ranks_and_readings_are_what_the_exhibits_take() -> None:
    assert (RANKS[0], RANKS[-1], len(RANKS)) == (0.0, 1.0, 201)
    assert len({flusher.flusher(active(RENO, 50, reading=reading)) for reading in READINGS}) == len(READINGS)


def test_adaptive_stands_beside_every_reading() -> None:
    cells_of = (
        passive(CUBIC, 50),
        flusher.ours(CUBIC, 50, 100, ONE),
        *(active(CUBIC, 50, reading=r) for r in READINGS),
    )
    rates = (4.7, 4.5, 4.0, 4.1, 3.0)
    evidence = STUDY.evidence({cell: three("mbit", rate) for cell, rate in zip(cells_of, rates, strict=True)})
    shown = GALLERY.exhibits(evidence, (BETTER,))
    assert [exhibit.name for exhibit in shown] == ["adaptive", "adaptive-verdicts", "cells"]
    means, verdicts = adaptive.means(evidence), adaptive.verdicts(evidence)
    assert means is not None
    assert verdicts is not None
    for table in (means, verdicts):
        assert [len(row) for row in table.rows] == [len(table.headers)], table.name
    # The RTT is the same, so that it is better than none, whatever its goodput.
    assert verdicts.rows[0].count("no") == len(READINGS)
    assert means.rows[0][:4] == ("one flow", "cubic", "50 ms", "100")


def test_what_is_so_by_construction_counts_neither_as_held_nor_as_failed() -> None:
    found = judge(load("flusher"), {NETEM: at_100(110.0, 112.0)})
    constructed = [one for one in found if one.by_construction]
    assert {one.id for one in constructed} >= {"flu-07", "flu-08", "flu-47", "flu-83"}
    assert {one.verdict for one in constructed if one.id in ("flu-07", "flu-08")} == {"holds"}
    counts = dict(verdicts(found))
    assert counts["by construction"] == len(constructed)
    assert sum(counts.values()) == len(found) == 96
    assert counts["holds"] == sum(one.verdict == "holds" for one in found if one not in constructed)
    assert verdict(constructed[0]) == "holds, by construction"
