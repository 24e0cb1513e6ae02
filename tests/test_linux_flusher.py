"""The flusher on the kernel in virtual time: the real daemon in the guest, and what the simulator says of the same."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from typing import Any

import pytest

from sojourn.backends import SIMULATOR
from sojourn.backends.linux import LinuxBackend, flusher
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel
from sojourn.papers.flusher.evidence import CUBIC, RENO, active, passive
from sojourn.papers.flusher.plan import ours
from sojourn.scenario import Flow, Scenario
from sojourn.scenario_keys import Flusher
from sojourn.study.cell import Cell
from sojourn.study.paper import Profile
from sojourn.validate.flusher import bed as validated
from tests import optional
from tests.records import Json

SHORT = Profile(duration="20s", long_duration="20s", repeat=1, other_repeat=1)


@pytest.fixture
def linux(virtual_kernel: Kernel) -> LinuxBackend:
    """The back end, where there is a kernel and a daemon that can capture."""
    try:
        program = flusher.daemon()
    except SojournError as error:
        optional.DAEMON.skip(error)
    result = subprocess.run([program, "flush", "-i", "none"], capture_output=True, text=True, check=False, timeout=60)
    if "feature capture" in result.stderr or "was built without" in result.stderr:
        optional.CAPTURE.skip(result.stderr)
    return LinuxBackend(virtual_kernel)


def scenario(cell: Cell) -> Scenario:
    return validated(SHORT).scenario(cell)


def record(backend: Any, one: Scenario) -> Json:
    found: Json = json.loads(backend.run(one.normalized(backend.name)))
    found.pop("cost")
    return found


def test_a_run_with_the_daemon_repeats_to_the_byte(linux: LinuxBackend) -> None:
    one = scenario(active(CUBIC, 50, 50))
    first, second = record(linux, one), record(linux, one)
    assert json.dumps(first) == json.dumps(second)
    head = first["flusher"]
    assert head["flushes"] > 0
    assert head["packets"] == sum(event["packets"] for event in head["events"]) == head["flows"][0]["packets"]
    assert 0 < head["delivered"] <= head["packets"]
    assert first["kernel"]["virtual_time"]


def test_a_passive_daemon_sends_nothing_and_sees_what_the_simulator_s_does(linux: LinuxBackend) -> None:
    one = scenario(passive(RENO, 50, 50))
    real, simulated = record(linux, one), record(SIMULATOR, one)
    there, here = real["flusher"], simulated["flusher"]
    assert (there["packets"], there["flushes"], there["delivered"], there["mode"]) == (0, 0, 0, "passive")
    assert there["refused"] == pytest.approx(here["refused"], rel=0.1)
    assert there["samples"] == pytest.approx(here["samples"], rel=0.05)
    pairs, known = there["flows"][0]["rtt"], here["flows"][0]["rtt"]
    assert pairs["mean_ms"] == pytest.approx(known["mean_ms"], rel=0.05)
    # The path, and nothing else: the daemon, its captures and two readings of the clock cost nothing here.
    assert pairs["min_ms"] == pytest.approx(50.0, abs=0.3)
    assert real["flows"][0]["goodput_mbit"] == pytest.approx(simulated["flows"][0]["goodput_mbit"], rel=0.02)
    series = real["series"]["flusher"]["flow"]
    assert {len(values) for values in series.values()} == {200}
    last = series["rtt_ms"][-1], series["sender_rtt_ms"][-1], series["path_rtt_ms"][-1]
    assert max(last) < 1.5 * min(last)


def test_what_the_flow_sends_parts_from_the_simulator_s_only_by_reading_clocks(linux: LinuxBackend) -> None:
    """One CUBIC flow for 20 s: nothing acts but TCP, its timers and the path."""
    one = scenario(passive(CUBIC, 10, 100))
    real, simulated = record(linux, one), record(SIMULATOR, one)
    mean = [run["flusher"]["flows"][0]["rtt"]["mean_ms"] for run in (real, simulated)]
    assert mean[1] == pytest.approx(mean[0], rel=0.05)
    assert simulated["flows"][0]["goodput_mbit"] == pytest.approx(real["flows"][0]["goodput_mbit"], rel=0.005)


def test_bursts_longer_than_the_socket_s_memory_leave_in_the_same_way(linux: LinuxBackend) -> None:
    one = scenario(active(RENO, 50, 100))
    real, simulated = record(linux, one), record(SIMULATOR, one)
    for run in (real, simulated):
        assert max(event["packets"] for event in run["flusher"]["events"]) > 185
    assert simulated["flusher"]["flushes"] == pytest.approx(real["flusher"]["flushes"], rel=0.25)
    goodput = [run["flows"][0]["goodput_mbit"] for run in (real, simulated)]
    assert goodput[1] == pytest.approx(goodput[0], rel=0.15)


def test_adaptive_in_the_kernel_is_within_the_bars_of_the_simulator(linux: LinuxBackend) -> None:
    one = scenario(ours(CUBIC, 50, 100))
    real, simulated = record(linux, one), record(SIMULATOR, one)
    assert real["flusher"]["flushes"] > 10
    mean = [run["flusher"]["flows"][0]["rtt"]["mean_ms"] for run in (real, simulated)]
    assert mean[0] == pytest.approx(mean[1], rel=0.15)


def test_what_the_kernel_cannot_do_is_refused() -> None:
    flows = (Flow(name="a", direction="up"), Flow(name="b", direction="up"))
    whole = Scenario(experiment="x", duration="5s", flows=flows, flusher=Flusher())
    whole.normalized("linux")
    for changed, sentence in (
        (Flusher(watch=("a",)), '^flusher.watch is \\["a"\\], but must be "all" on the linux back end'),
        (Flusher(at="router"), '^flusher.at is "router", but must be "client" or "server" on the linux back end'),
    ):
        with pytest.raises(ParamError, match=sentence):
            dataclasses.replace(whole, flusher=changed).normalized("linux")
    dataclasses.replace(whole, flusher=Flusher(watch=("a", "b"))).normalized("linux")
    dataclasses.replace(whole, flusher=Flusher(at="router", mode="passive")).normalized("linux")
    with pytest.raises(ParamError, match="^flusher is given, but the live back end has none"):
        whole.normalized("live")


def test_without_the_daemon_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOJOURND", "/nowhere/sojournd")
    with pytest.raises(SojournError, match="^the daemon of the flusher is not at /nowhere/sojournd: build it"):
        flusher.daemon()
