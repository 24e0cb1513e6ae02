"""Guests that go wrong: each is told in one sentence, and nothing of it is left, whatever ends the run."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sojourn import _native, api
from sojourn.backends.linux import guest, kinds, messages, network_of
from sojourn.backends.linux.topology import bed
from sojourn.errors import SojournError
from sojourn.kernel.find import Kernel
from sojourn.scenario import Tcp
from tests import sweeps
from tests.conftest import Cli, assert_one_sentence
from tests.miniature import program, virtual
from tests.records import Json


def descendants(pid: int) -> dict[int, str]:
    """The processes that a process has started, and those have, with their working directories."""
    parents, places = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                places[int(entry.name)] = str((entry / "cwd").readlink())
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: places[child] for child in found - {pid}}


def script(path: Path, text: str) -> Kernel:
    """A program that stands for a kernel."""
    return virtual(path=program(path, f"#!/bin/sh\n{text}\n"))


def wait_for(what: str, there: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.01)
    return found


def is_there(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


JOB = '{"format": "sojourn-job/1"}'


def test_a_guest_that_hangs_is_ended_after_its_bound(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    kernel = script(tmp_path / "linux", f"sleep 600 &\necho $$ $! $PWD >{pids}.new; mv {pids}.new {pids}; sleep 600")
    began = time.monotonic()
    with pytest.raises(SojournError) as caught:
        guest.carry_out(JOB, kernel, seed=1, bound_s=1.0)
    assert str(caught.value) == "the guest was ended, because it had not finished after 1 s"
    assert time.monotonic() - began < 5
    *family, folder = pids.read_text().split()
    assert not any(is_there(int(pid)) for pid in family)
    assert not Path(folder).exists()


def test_a_guest_that_says_something_and_hangs_is_quoted(tmp_path: Path) -> None:
    kernel = script(tmp_path / "linux", "echo 'one line'; echo 'and another' >&2; sleep 600")
    with pytest.raises(SojournError, match=r"after 1 s; its last words: one line and another$"):
        guest.carry_out(JOB, kernel, seed=1, bound_s=1.0)


def test_last_words_that_are_cut_say_so(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("word " * 150 + "the flusher ended too early")
    assert guest._last_words(tmp_path).startswith("; its last words: word word")
    (tmp_path / "console.log").write_text("word " * 500 + "the flusher ended too early")
    assert guest._last_words(tmp_path).startswith("; its last words: ... word word")


def test_the_last_words_of_a_kernel_are_in_the_sentence(tmp_path: Path) -> None:
    kernel = script(tmp_path / "linux", "echo 'Kernel panic - not syncing: No working init found.'; exit 134")
    with pytest.raises(SojournError) as caught:
        guest.carry_out(JOB, kernel, seed=1, bound_s=20.0)
    assert str(caught.value) == (
        "the guest ended with status 134 and left no measurement; "
        "its last words: Kernel panic - not syncing: No working init found."
    )


def test_the_sentence_of_the_guest_itself_comes_first(tmp_path: Path) -> None:
    kernel = script(tmp_path / "linux", "echo 'add cake to r1m on r1: No such file' >error.txt; echo noise")
    with pytest.raises(SojournError) as caught:
        guest.carry_out(JOB, kernel, seed=1, bound_s=20.0)
    assert str(caught.value) == "the linux back end failed: add cake to r1m on r1: No such file"


def test_a_guest_gets_its_job_and_its_seed_and_nothing_of_this_machine(tmp_path: Path) -> None:
    log = tmp_path / "said"
    kernel = script(tmp_path / "linux", f'echo "$@" >{log}; cat job.json >>{log}; echo "{{}}" >measured.json')
    answer = guest.carry_out(JOB, kernel, seed=77, bound_s=20.0)
    words, job = log.read_text().splitlines()
    assert job == JOB
    assert "sojourn.seed=77" in words.split()
    assert "time-travel=inf-cpu" in words.split()
    # The command line is mixed into the guest's random numbers.
    assert str(tmp_path) not in words
    assert "sojourn-" not in words
    assert (answer.measured, answer.packets) == ("{}\n", b"")


def test_a_kernel_that_is_gone_is_told(tmp_path: Path) -> None:
    kernel = script(tmp_path / "linux", "")
    (tmp_path / "linux").unlink()
    with pytest.raises(SojournError, match="left no measurement; its last words: .*cannot run .*/linux"):
        guest.carry_out(JOB, kernel, seed=1, bound_s=20.0)


def test_a_missing_agent_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOJOURN_AGENT", "/nonexistent/agent")
    with pytest.raises(SojournError) as caught:
        guest.carry_out(JOB, script(tmp_path / "linux", ""), seed=1, bound_s=20.0)
    assert str(caught.value).startswith(
        "the agent of the linux back end is not at /nonexistent/agent: run scripts/setup, "
    )
    assert "SOJOURN_AGENT" in str(caught.value)


def test_a_missing_agent_is_told_by_the_command(
    virtual_kernel: Kernel, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOJOURN_AGENT", "/nonexistent/agent")
    for words in (["run", "bulk"], ["compare", "bulk", "--qdisc", "codel"], ["run", "bulk", "--repeat", "2"]):
        done = cli(*words, "--backend", "linux", "--duration", "1s", status=None)
        assert done.returncode == 2
        assert done.stderr.startswith("sojourn: the agent of the linux back end is not at /nonexistent/agent")
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_a_guest_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "_ROOM_MB", 1 << 42)
    with pytest.raises(SojournError, match="no room for a guest: neither /dev/shm nor .* that can be written"):
        guest.carry_out(JOB, script(tmp_path / "linux", ""), seed=1, bound_s=20.0)


def test_a_kernel_without_a_discipline_is_told(cli: Cli, virtual_kernel: Kernel) -> None:
    kinds_of_traffic = ("run", "bulk", "--backend", "linux", "--duration", "1s")
    # Without connection tracking in the kernel, cake cannot look addresses up.
    done = cli(*kinds_of_traffic, "--qdisc", "cake nat", status=None)
    if done.returncode != 0:
        assert done.stderr.startswith("sojourn: the linux back end failed: add cake to r1m on r1: ")
        assert done.stderr.count("\n") == 1


def job(*, gso: bool = False) -> Json:
    """A job of one flow."""
    scenario = api.build("bulk", qdisc="codel", flows_up=1, flows_down=0, duration="1s")
    text = dataclasses.replace(scenario, tcp=Tcp(gso=gso)).normalized("linux")
    load = json.loads(_native.load_plan(text))
    load["probes"] = []
    return {
        "format": "sojourn-job/1",
        "modules": [],
        "bed": msgspec.to_builtins(bed(network_of(load))),
        "load": load,
        "watch_packets": False,
    }


@pytest.fixture(scope="module")
def plain() -> Json:
    return job()


def _trains(steps: list[dict[str, str]]) -> None:
    steps.append({"host": "r1", "says": "x", "netlink": messages.link_up(index=12, gso_max_segs=8).hex()})


def _offloads(steps: list[dict[str, str]]) -> None:
    steps[:] = [step for step in steps if "offloads of s0" not in step["says"]]


def _netem(steps: list[dict[str, str]]) -> None:
    request = messages.qdisc(
        index=10,
        parent=messages.ROOT,
        number=messages.handle(1),
        kind="netem",
        options=kinds.netem(delay_ns=1000, limit=100),
    )
    steps.append({"host": "client", "says": "x", "netlink": request.hex()})


def _unknown(steps: list[dict[str, str]]) -> None:
    request = messages.link_up(index=99)
    steps.append({"host": "r2", "says": "bring up what is not there", "netlink": request.hex()})


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_trains, "the bed would mislead: r1m on r1 takes 8 segments as one packet, but must take 1 (gso_max_segs)"),
        (_offloads, " is on at s0 on server, but must be off"),
        (_netem, "the bed would mislead: netem is on client, which runs TCP: its own segments would wait in it"),
        (_unknown, "bring up what is not there on r2: "),
    ],
)
def test_a_bed_that_would_mislead_does_not_start(
    spoil: Callable[[list[dict[str, str]]], None], sentence: str, plain: Json, virtual_kernel: Kernel
) -> None:
    spoilt = copy.deepcopy(plain)
    spoil(spoilt["bed"]["steps"])
    with pytest.raises(SojournError) as caught:
        guest.carry_out(json.dumps(spoilt), virtual_kernel, seed=1, bound_s=60.0)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_bed_unspoilt_starts(plain: Json, virtual_kernel: Kernel) -> None:
    answer = guest.carry_out(json.dumps(plain), virtual_kernel, seed=1, bound_s=60.0)
    assert json.loads(answer.measured)["flows"][0]["delivered_total"] > 0


def test_hosts_may_hand_down_trains_and_routers_may_not(virtual_kernel: Kernel) -> None:
    trains = job(gso=True)
    answer = guest.carry_out(json.dumps(trains), virtual_kernel, seed=1, bound_s=60.0)
    assert json.loads(answer.measured)["flows"][0]["delivered_total"] > 0
    refused = job(gso=True)
    refused["load"]["tcp"]["gso"] = False
    spoilt = copy.deepcopy(trains)
    _trains(spoilt["bed"]["steps"])
    for one, device in ((refused, "c0 on client"), (spoilt, "r1m on r1")):
        with pytest.raises(SojournError, match=rf"{device} takes \d+ segments as one packet, but must take 1"):
            guest.carry_out(json.dumps(one), virtual_kernel, seed=1, bound_s=60.0)


def test_a_kernel_without_a_congestion_control_is_told(virtual_kernel: Kernel) -> None:
    unknown = job()
    unknown["load"]["flows"][0]["spec"]["congestion_control"] = "ledbat++"
    with pytest.raises(SojournError) as caught:
        guest.carry_out(json.dumps(unknown), virtual_kernel, seed=1, bound_s=60.0)
    sentence = str(caught.value)
    assert 'flows[0].congestion_control is "ledbat++", but Linux ' in sentence
    assert sentence.endswith(": name a kernel that has it")
    assert "cubic" in sentence


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("end", ["interrupt", "terminate", "kill"])
def test_nothing_outlives_the_command(end: str, workers: str, virtual_kernel: Kernel, tmp_path: Path) -> None:
    words = ("run", "rrul", "--duration", "600s", "--backend", "linux", "--workers", workers, "--repeat", "2")
    command = sweeps.sojourn(*words, cwd=tmp_path)

    def started() -> bool:
        # In the folder of each guest are its keeper and at least two processes of the kernel.
        there = Counter(place for place in descendants(command.pid).values() if "/sojourn-" in place)
        return sum(number > 2 for number in there.values()) == int(workers)

    try:
        wait_for("the guests begin", started, 30)
        time.sleep(0.3)
        mine = descendants(command.pid)
        folders = {Path(place) for place in mine.values() if "/sojourn-" in place}
        assert len(folders) == int(workers)
        if end == "interrupt":
            os.killpg(command.pid, signal.SIGINT)
        elif end == "terminate":
            command.send_signal(signal.SIGTERM)
        else:
            command.send_signal(signal.SIGKILL)
        wait_for("all processes are gone", lambda: not any(is_there(pid) for pid in mine), 3)
        wait_for("all folders are gone", lambda: not any(folder.exists() for folder in folders), 3)
        command.wait(5)
    finally:
        for pid in descendants(command.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        command.kill()
        _, talk = command.communicate(timeout=20)
    assert command.returncode == {"interrupt": 130, "terminate": -signal.SIGTERM, "kill": -signal.SIGKILL}[end]
    assert "Traceback" not in talk


def test_a_hanging_guest_ends_a_plan_in_one_sentence(
    virtual_kernel: Kernel, inside: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.backends.linux._bound_s", lambda *_: 0.7)
    done = inside("run", "rrul", "--duration", "600s", "--backend", "linux", status=None)
    assert done.returncode == 2
    assert done.stderr.startswith("sojourn: the guest was ended, because it had not finished after 1 s")
    assert done.stderr.count("\n") == 1


def test_an_unknown_back_end_is_refused(cli: Cli) -> None:
    for words in (["run", "rrul"], ["compare", "rrul", "--qdisc", "codel"], ["sweep", "s.toml", "--out", "o"]):
        done = cli(*words, "--backend", "nowhere", status=2)
        assert_one_sentence(done, "backend is 'nowhere', but must be one of sim, linux")


def test_the_simulator_points_to_the_linux_back_end(cli: Cli) -> None:
    assert_one_sentence(
        cli("run", "rrul", "--qdisc", "cake nat", status=2), "qdisc_up", "cake.nat", "use the linux back end"
    )


def test_without_a_kernel_the_command_says_what_to_install(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_UML_KERNEL", str(tmp_path / "none"))
    done = cli("run", "rrul", "--backend", "linux", status=2)
    assert_one_sentence(done, "SOJOURN_UML_KERNEL is", "is not a file")
