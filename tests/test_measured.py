"""What was measured is kept by the name of what the guest was given: nothing else is ever taken for it.

No guest is booted here; what one would leave is made up. The same with a kernel is in test_measured_kernel.py.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sojourn import _native, api, backends, cluster, plan, runner
from sojourn.backends.linux import LinuxBackend, flusher, guest, guest_inputs
from sojourn.backends.linux.guest import Answer
from sojourn.backends.linux.measurements import decode, encode
from sojourn.backends.live import LiveBackend
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel
from sojourn.scenario import Flow, Scenario
from sojourn.scenario_keys import Flusher
from sojourn.store.folder import ResultFolder
from sojourn.store.run_store import RunStore
from tests import optional, test_native_bed
from tests.conftest import Cli
from tests.miniature import virtual
from tests.records import Json
from tests.test_native_bed import PACKETS

SCENARIO = dataclasses.replace(test_native_bed.SCENARIO, seed=1)

#: A program that is certainly there, as a User-Mode Linux is one; it is never run.
PROGRAM = Path(shutil.which("true") or "/bin/true").resolve()


class Guests:
    """What stands for guests: how many there were, and what the next one leaves."""

    def __init__(self) -> None:
        self.number = 0
        self.answer = Answer(measured=test_native_bed.measured(), packets=PACKETS, wall_s=1.25, peak_rss_mb=20.5)
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self, *_: object, **__: object) -> Answer:
        self.number += 1
        self.meanwhile()
        # Each takes another time, as real ones do.
        return dataclasses.replace(self.answer, wall_s=self.answer.wall_s + self.number)


@dataclasses.dataclass
class World:
    """A machine with a kernel, an agent, a daemon and an access point of its own."""

    folder: Path
    guests: Guests
    backend: LinuxBackend

    @property
    def kernel(self) -> Kernel:
        assert self.backend.kernel is not None
        return self.backend.kernel

    @property
    def store(self) -> RunStore:
        return RunStore(self.folder / "s")

    def file(self, name: str) -> Path:
        return self.folder / name

    def run(self, *scenarios: Scenario) -> list[Json]:
        made = runner.run_all(scenarios or (SCENARIO,), workers=1, store=self.store, backend=self.backend)
        return [json.loads(run.text) for run in made]

    def name(self, scenario: Scenario = SCENARIO) -> str | None:
        return self.backend._task(scenario.normalized("linux")).name()

    def measured(self) -> list[Path]:
        return sorted((self.folder / "s/measured").glob("*"))


def program(path: Path, more: bytes = b"") -> Path:
    """Put a program there."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(PROGRAM.read_bytes() + more)
    path.chmod(0o755)
    return path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    kernel = virtual(path=program(tmp_path / "linux"), modules=(program(tmp_path / "tbf.ko"),), wifi=True)
    monkeypatch.setenv("SOJOURN_AGENT", str(program(tmp_path / "agent")))
    monkeypatch.setenv("SOJOURND", str(program(tmp_path / "sojournd")))
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin/hostapd").parent), prepend=os.pathsep)
    monkeypatch.setattr(guest, "agent_identity", lambda: "agent")
    monkeypatch.setattr("sojourn.backends.linux.agent_identity", lambda: "agent")
    monkeypatch.setattr(flusher, "identity", lambda: " daemon")
    guests = Guests()
    monkeypatch.setattr("sojourn.backends.linux.carry_out", guests)
    return World(tmp_path, guests, LinuxBackend(kernel, kernel))


# With another build.


def test_another_build_makes_the_record_of_what_was_measured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    [first] = world.run()
    assert world.guests.number == 1
    assert len(world.measured()) == 1
    before = world.store.ids()
    monkeypatch.setattr(_native, "__build__", "another")
    [again] = world.run()
    assert world.guests.number == 1
    # What a run cost is what the measurement cost, so even that is the same.
    assert json.dumps(again) == json.dumps(first)
    assert first["cost"]["wall_s"] == 2.25
    # The run of the first build is still there, under its own name.
    assert len(world.store.ids()) == 2
    assert before < world.store.ids()
    assert json.loads((world.store.path / "store.json").read_text())["build"] == "another"


def test_it_is_said_how_many_were_not_measured_again(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    several = api.repeats(SCENARIO, 3)
    runner.run_all(several[:2], workers=1, store=world.store, backend=world.backend, describe="bed")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_native, "__build__", "another")
    runner.run_all(several, workers=1, store=world.store, backend=world.backend, describe="bed")
    folder = world.store.path / "measured"
    sentence = f"2 of the 3 runs that were not stored were made from the measurements in {folder}, without the kernel"
    assert capsys.readouterr().err == f"bed: {sentence}\n"
    runner.run_all(several, workers=1, store=world.store, backend=world.backend, describe="bed")
    assert capsys.readouterr().err == ""
    assert world.guests.number == 3


def test_what_a_guest_is_not_told_needs_no_other_measurement(world: World) -> None:
    world.run()
    [other] = world.run(dataclasses.replace(SCENARIO, experiment="by another name"))
    assert other["experiment"] == "by another name"
    assert world.guests.number == 1


def test_without_a_store_nothing_is_kept(world: World, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    runner.run_all([SCENARIO], workers=1, backend=world.backend)
    assert sorted(tmp_path.rglob("*")) == before


# What the name is of.


def cell() -> Scenario:
    return api.build("wifi_tcp", backend="linux", duration="1s")


def with_daemon() -> Scenario:
    return Scenario(experiment="x", duration="5s", flows=(Flow(name="a", direction="up"),), flusher=Flusher())


def change(name: str) -> Callable[[World], object]:
    return lambda world: program(world.file(name), b"changed")


CHANGED: dict[str, tuple[Callable[[], Scenario], Callable[[World], object]]] = {
    "kernel": (lambda: SCENARIO, change("linux")),
    "agent": (lambda: SCENARIO, change("agent")),
    "module": (lambda: SCENARIO, change("tbf.ko")),
    "daemon": (with_daemon, change("sojournd")),
    "access point": (cell, change("bin/hostapd")),
}


@pytest.mark.parametrize("what", CHANGED)
def test_another_program_is_another_name(what: str, world: World) -> None:
    scenario, changing = CHANGED[what]
    before = world.name(scenario())
    assert before is not None
    assert world.name(scenario()) == before
    changing(world)
    assert world.name(scenario()) not in {before, None}


def test_a_program_that_a_run_has_not_is_not_in_its_name(world: World) -> None:
    before = world.name()
    change("sojournd")(world)
    change("bin/hostapd")(world)
    assert world.name() == before


@pytest.mark.parametrize("what", ["kernel", "agent"])
def test_another_program_is_measured_again(what: str, world: World) -> None:
    """Though the run is of the same name, as it is where the identity of the kernel was looked up before."""
    world.run()
    shutil.rmtree(world.store.path / world.store.ids().pop())
    CHANGED[what][1](world)
    world.run()
    assert world.guests.number == 2
    assert len(world.measured()) == 2


def edited(**changes: Any) -> Callable[[pytest.MonkeyPatch], Scenario]:
    return lambda _: dataclasses.replace(SCENARIO, **changes)


def patched(where: str, value: object) -> Callable[[pytest.MonkeyPatch], Scenario]:
    def patch(monkeypatch: pytest.MonkeyPatch) -> Scenario:
        monkeypatch.setattr(where, value)
        return SCENARIO

    return patch


OTHERS = {
    "seed": edited(seed=2),
    "discipline": edited(qdisc_up="pfifo limit 11"),
    "rate": edited(up="9mbit"),
    "round-trip time": edited(rtt="51ms"),
    "duration": edited(duration="1100ms"),
    "bins": edited(sample_interval="100ms"),
    "flow": edited(flows=(Flow(name="a", direction="up", congestion_control="reno"),)),
    "memory": patched("sojourn.backends.linux.guest.MEMORY_MB", 640),
    "form of the job": patched("sojourn.backends.linux.JOB_FORMAT", "sojourn-job/2"),
    "form of the measurement": patched("sojourn.backends.linux.guest_inputs.FORMAT", "sojourn-measurement/2"),
    "offloads": patched("sojourn.backends.linux.messages.OFFLOADS", ("rx-gro",)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_task_is_another_name(what: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = world.name()
    assert world.name(OTHERS[what](monkeypatch)) not in {before, None}


@pytest.mark.parametrize("changes", [{"seed": 2}, {"qdisc_up": "pfifo limit 11"}])
def test_another_scenario_is_measured_again(changes: Json, world: World) -> None:
    world.run()
    world.run(dataclasses.replace(SCENARIO, **changes))
    assert world.guests.number == 2
    assert len(world.measured()) == 2


def test_words_of_the_command_line_are_in_the_name(world: World) -> None:
    task = world.backend._task(cell().normalized("linux"))
    others: tuple[Json, ...] = (
        {},
        {"words": task.words[1:]},
        {"words": (*task.words, "x")},
        {"seed": 2},
        {"files": {"more": world.file("agent")}},
    )
    assert len({None, *(dataclasses.replace(task, **other).name() for other in others)}) == 1 + len(others)
    assert dataclasses.replace(task, bound_s=1.0).name() == task.name()


@pytest.mark.parametrize(
    "place", ["/etc/localtime", "/lib/firmware/regulatory.db", "/lib/firmware/6.1.0/regulatory.db"]
)
def test_what_a_cell_reads_of_the_machine_is_in_its_name(
    place: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    wired, before = world.name(), world.name(cell())
    content = guest_inputs.content
    monkeypatch.setattr(guest_inputs, "content", lambda path: "another" if str(path) == place else content(path))
    assert world.name(cell()) not in {before, None}
    assert world.name() == wired


def test_a_library_is_in_the_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = guest_inputs.libraries(PROGRAM)
    assert libraries
    before, content = world.name(), guest_inputs.content
    for library in libraries:
        monkeypatch.setattr(
            guest_inputs, "content", lambda path, one=library: "another" if path == one else content(path)
        )
        assert world.name() not in {before, None}, library


def test_names_and_places_of_this_machine_are_not_in_the_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = world.name()
    monkeypatch.setenv("TMPDIR", str(world.file("elsewhere")))
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    moved = shutil.copy(world.file("linux"), world.file("by another name"))
    kernel = dataclasses.replace(world.kernel, path=Path(moved))
    assert dataclasses.replace(world, backend=LinuxBackend(kernel)).name() == before


def test_a_library_is_one_that_the_loader_finds() -> None:
    """Oracle: ldd."""
    ldd = optional.program("ldd")
    for path in (PROGRAM, Path(sys.executable).resolve()):
        result = subprocess.run([ldd, path], capture_output=True, text=True, check=True).stdout
        words = {word for word in result.split() if word.startswith("/")}
        assert {str(library) for library in guest_inputs.libraries(path) or ()} == words


def test_what_cannot_be_told_of_a_program_has_no_name(world: World, tmp_path: Path) -> None:
    assert guest_inputs.libraries(PROGRAM)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    short = tmp_path / "short"
    short.write_bytes(PROGRAM.read_bytes()[:70])
    assert guest_inputs.libraries(script) is None
    assert guest_inputs.libraries(short) is None
    world.file("agent").write_text("#!/bin/sh\n")
    assert world.name() is None
    world.run()
    world.run(dataclasses.replace(SCENARIO, experiment="again"))
    assert world.guests.number == 2
    assert not world.measured()


# What is not kept.


@pytest.mark.parametrize("kind", ["uml", "host"])
def test_what_was_measured_in_real_time_is_not_kept(kind: Any, world: World) -> None:
    path = None if kind == "host" else world.file("linux")
    kernel = dataclasses.replace(world.kernel, kind=kind, virtual_time=False, path=path)
    real = dataclasses.replace(world, backend=LinuxBackend(kernel))
    assert real.name() is None
    real.run()
    assert world.guests.number == 1
    assert not world.measured()


def test_the_other_back_ends_keep_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    store = world.store.measured
    simulated = api.build("bulk", duration="1s")
    assert backends.SIMULATOR.from_measurements(simulated.normalized(), "a" * 32, store) is None
    runner.run_all([simulated], workers=1, store=world.store)
    live = LiveBackend()
    monkeypatch.setattr(LiveBackend, "run_stored", lambda *_: (b"head", b"series", b"summary"))
    assert live.from_measurements("", "a" * 32, store) is None
    assert live.run_and_keep("", "a" * 32, store) == (b"head", b"series", b"summary")
    assert not world.measured()


def test_what_failed_is_not_kept(world: World) -> None:
    def fail() -> None:
        message = "the guest ended"
        raise SojournError(message)

    world.guests.meanwhile = fail
    with pytest.raises(SojournError, match="the guest ended"):
        world.run()
    world.guests.meanwhile = lambda: None
    whole = world.guests.answer
    world.guests.answer = dataclasses.replace(whole, measured="{}")
    with pytest.raises(ParamError, match="the measurement cannot be read"):
        world.run()
    assert not world.measured()
    world.guests.answer = whole
    world.run()
    assert len(world.measured()) == 1


def test_what_a_program_left_that_was_replaced_meanwhile_is_not_kept(world: World) -> None:
    world.guests.meanwhile = lambda: change("agent")(world)
    world.run()
    assert not world.measured()


# Damage, and the end of a writer.


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _another(path: Path) -> None:
    answer = decode(path.name, path.read_bytes())
    assert answer is not None
    path.write_bytes(encode("b" * 32, answer))


def _no_record(path: Path) -> None:
    path.write_bytes(encode(path.name, Answer(measured="{}", packets=b"", wall_s=1.0, peak_rss_mb=1.0)))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": _cut,
    "one bit": _flip,
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "of another name": _another,
    "one that this version cannot read": _no_record,
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_measurement_is_measured_again(what: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.run(SCENARIO, dataclasses.replace(SCENARIO, seed=2))
    damaged = world.store.path / "measured" / (world.name() or "")
    whole = damaged.read_bytes()
    DAMAGES[what](damaged)
    monkeypatch.setattr(_native, "__build__", "another")
    [first, _] = world.run(SCENARIO, dataclasses.replace(SCENARIO, seed=2))
    assert world.guests.number == 3
    answer = decode(damaged.name, damaged.read_bytes())
    assert answer is not None
    assert answer.wall_s == first["cost"]["wall_s"] == 1.25 + 3
    assert dataclasses.replace(answer, wall_s=2.25) == decode(damaged.name, whole)
    monkeypatch.setattr(_native, "__build__", "a third")
    assert world.run()[0] == first
    assert world.guests.number == 3


def test_ctrl_c_leaves_measurements_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with world.store.writing():
        pass
    # While it is written: nothing of it is there.
    for where in ("replace", "write"):
        with monkeypatch.context() as patch:
            patch.setattr(f"sojourn.store.run_files.os.{where}", interrupt)
            with pytest.raises(KeyboardInterrupt):
                world.run()
        assert not world.measured()
        assert world.store.ids() == set()
    # Between measurement and run: the measurement is there, and the run is made of it.
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "add", interrupt)
        with pytest.raises(KeyboardInterrupt):
            world.run()
    assert world.guests.number == 3
    assert [path.name for path in world.measured()] == [world.name()]
    assert world.store.ids() == set()
    world.run()
    assert world.guests.number == 3
    assert len(world.store.ids()) == 1


def test_a_measurement_that_cannot_be_written_is_told(world: World) -> None:
    with world.store.writing():
        pass
    (world.store.path / "measured").write_text("mine")
    with pytest.raises(SojournError, match=r"^measurement .*/measured/[0-9a-f]{32} cannot be written: "):
        world.run()
    assert (world.store.path / "measured").read_text() == "mine"


# The store.


def test_what_a_dead_writer_left_of_a_measurement_is_removed_and_nothing_else(world: World) -> None:
    world.run()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder = world.store.path / "measured"
    half = folder / f".{'b' * 32}.{dead.pid}.part"
    alive = folder / f".{'c' * 32}.{os.getppid()}.part"
    foreign = folder / "notes.txt"
    for path in (half, alive, foreign):
        path.write_text("half")
    world.run()
    assert not half.exists()
    assert alive.exists()
    assert foreign.exists()
    assert world.guests.number == 1
    # A part with this process's own number, left by one that had the same.
    own = folder / f".{world.name(dataclasses.replace(SCENARIO, seed=2))}.{os.getpid()}.part"
    own.write_text("half")
    world.run(dataclasses.replace(SCENARIO, seed=2))
    assert not own.exists()
    assert len(list(folder.glob("[0-9a-f]*"))) == 2


def test_a_store_of_another_build_is_gone_on_with_if_it_has_measurements(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run()
    monkeypatch.setattr(_native, "__build__", "another")
    monkeypatch.setattr(_native, "__version__", "0.0.0")
    # Runs of the simulator, too: a validation has both in one store.
    runner.run_all([api.build("bulk", duration="1s")], workers=1, store=world.store)
    assert len(world.store.ids()) == 2
    for path in world.measured():
        path.unlink()
    (world.store.path / "measured/notes.txt").write_text("mine")
    monkeypatch.setattr(_native, "__build__", "a third")
    with pytest.raises(SojournError, match="was made by another version of Sojourn"):
        world.run()


def test_force_removes_measurements_and_nothing_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = dataclasses.replace(world, folder=world.folder / "o")
    monkeypatch.setattr(World, "store", property(lambda self: RunStore(self.folder / "runs")))
    folder = world.folder / "runs/measured"
    ResultFolder(world.folder, plan="first").finish()
    world.run()
    assert len(list(folder.iterdir())) == 1
    ResultFolder(world.folder, force=True).finish()
    assert not (world.folder / "runs").exists()
    world.run()
    assert world.guests.number == 2
    (folder / "notes.txt").write_text("mine")
    ResultFolder(world.folder, force=True).finish()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    world.run()
    assert world.guests.number == 3
    assert len(world.store.ids()) == 1


def test_a_store_of_simulated_runs_has_no_folder_for_measurements(inside: Cli, tmp_path: Path) -> None:
    inside("compare", "bulk", "--qdisc", "codel", "--repeat", "2", "--duration", "1s", "--store", "s")
    assert not (tmp_path / "s/measured").exists()


# On a cluster.


class Client:
    """A cluster that must not be asked for anything."""

    def nthreads(self) -> dict[str, int]:
        return {}

    def submit(self, *_: object, **__: object) -> None:
        message = "a task was submitted"
        raise AssertionError(message)


def test_a_cluster_sends_measurements_to_the_client_which_keeps_and_takes_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "named", lambda _: world.backend)
    [job] = plan.jobs([SCENARIO], backend=world.backend)
    identity = (world.backend.name, world.backend.identity)
    _, [(word, parts, files)] = cluster.run_task(_native.__build__, identity, [(job.id, job.text)], stored=True)
    assert (word, len(parts), list(files)) == ("ok", 3, [world.name()])
    store = world.store
    with store.writing():
        for name, data in files.items():
            store.measured.put(name, data)
        [done] = cluster.on_cluster(Client(), "x", [job], store, world.backend)
    assert done.reused
    assert done.answer == parts[2]
    assert store.ids() == {job.id}
    assert world.guests.number == 1
    monkeypatch.setattr("sojourn.backends.linux.carry_out", lambda *_, **__: world.guests.answer)
    _, [(word, parts, files)] = cluster.run_task(_native.__build__, identity, [(job.id, job.text)], stored=False)
    assert (word, len(parts), files) == ("ok", 1, {})
