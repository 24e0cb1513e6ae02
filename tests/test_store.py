"""The store of runs: what is in it, and that nothing half-written is ever taken for a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn
from sojourn import _native, api, plan, runner
from sojourn.backends import Simulator
from sojourn.scenario import Flow, Probe, Scenario
from sojourn.store import frames, metrics
from sojourn.store.folder import ResultFolder
from sojourn.store.run import Run
from sojourn.store.run_files import write_run
from sojourn.store.run_store import RunStore
from sojourn.store.stored_run import StoredRun
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

COMPARE = ("compare", "bulk", "--qdisc", "codel", "--repeat", "2", "--duration", "1s")


def plain(record: Json) -> Json:
    """Return a record without what differs between two runs of one scenario."""
    cost = {name: value for name, value in record["cost"].items() if name not in {"wall_s", "peak_rss_mb"}}
    return {**record, "cost": cost}


def scenarios(number: int, duration: str = "1s") -> list[Scenario]:
    return api.repeats(api.build("rrul", rate="5mbit", duration=duration), number)


KINDS = {
    "rrul": api.build("rrul", rate="2mbit", duration="3s"),
    "nothing but the link": Scenario(experiment="idle", duration="1s"),
    "shorter than a bin": Scenario(
        experiment="blink", duration="50ms", flows=(Flow(name="a", direction="down"),), probes=()
    ),
    "a name beyond ASCII, and a probe that loses everything": Scenario(
        experiment="läuft",
        duration="2s",
        up="100kbit",
        qdisc_up="pfifo limit 1",
        flows=(Flow(name="first", direction="up"), Flow(name="late", direction="down", start="1s")),
        probes=(
            Probe(name="ping", kind="icmp", interval="10ms", size=1400),
            Probe(name="one_way", kind="poisson", direction="up", interval="20ms", size=214),
            Probe(name="voice", kind="isochronous", direction="down", interval="20ms", size=214),
        ),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_stored_run_is_the_run(kind: str, tmp_path: Path) -> None:
    there = Run(text=_native.run(KINDS[kind].normalized()))
    [stored] = runner.run_all([KINDS[kind]], store=RunStore(tmp_path / "s"))
    assert isinstance(stored, StoredRun)
    assert plain(json.loads(stored.text)) == plain(json.loads(there.text))
    assert list(json.loads(stored.text)) == list(json.loads(there.text))
    assert json.dumps(json.loads(stored.text)["series"]) == json.dumps(json.loads(there.text)["series"])
    assert msgspec.to_builtins(stored.record.series) == msgspec.to_builtins(there.record.series)
    assert stored.summary == there.summary
    assert stored.seed == there.seed
    assert_frame_equal(stored.series, there.series)
    assert_frame_equal(stored.flows, there.flows)
    file = pl.read_parquet(stored.folder / "series.parquet")
    assert dict(file.schema) == frames.SERIES_SCHEMA


@pytest.mark.parametrize("experiment", ["rrul", "voip"])
def test_metrics_of_a_stored_run_are_those_of_the_run(experiment: str, tmp_path: Path) -> None:
    scenario = api.build(experiment, rate="2mbit", duration="3s")
    expected = metrics.metrics_of(Run(text=_native.run(scenario.normalized())))
    assert ("voip_delay_ms" in expected) == (experiment == "voip")
    store = RunStore(tmp_path / "s")
    for _ in ("made", "read"):
        [run] = runner.run_all([scenario], store=store)
        assert metrics.metrics_of(run) == expected


def test_series_file_keeps_every_bit() -> None:
    # Many distinct values make a plain column, few a dictionary of 1 to 17 bits; both must come back as they went in.
    for duration, interval in (("300ms", "200ms"), ("1s", "10ms"), ("20s", "1ms")):
        scenario = api.build("rrul", duration=duration, rate="20mbit")
        scenario = Scenario.from_json(json.dumps({**json.loads(scenario.to_json()), "sample_interval": interval}))
        there = Run(text=_native.run(scenario.normalized()))
        head, series, _ = _native.run_stored(scenario.normalized(), "0" * 32)
        rows = pl.read_parquet(series)
        assert_frame_equal(rows, there.series, check_exact=True)
        assert json.loads(head)["stored"]["series"]["rows"] == rows.height
        # Filters and slices need the column statistics and page layout to be sound.
        assert_frame_equal(
            pl.scan_parquet(series).filter(pl.col("metric") == "rtt_ms").tail(5).collect(),
            there.series.filter(pl.col("metric") == "rtt_ms").tail(5),
        )


class Elsewhere(Simulator):
    """Another back end, as far as its name goes."""

    name = "elsewhere"
    identity = "elsewhere 1"


def test_run_id_depends_on_the_scenario_and_the_build_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    short = Scenario(experiment="x", duration="1s", up="10mbit", seed=3)
    spelled = Scenario(experiment="x", duration="1000ms", up="10000kbit", rtt="50ms", seed=3)
    other = Scenario(experiment="x", duration="1s", up="10mbit", seed=4)
    ids = [job.id for job in plan.jobs([short, spelled, other])]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0] == plan.run_id(short.normalized())
    assert ids[0] != plan.run_id(short.normalized(), backend=Elsewhere())
    monkeypatch.setattr(_native, "__build__", "another")
    assert plan.jobs([short])[0].id != ids[0]


def test_jobs_hold_the_canonical_scenario_whatever_it_is_called() -> None:
    tricky = Scenario(experiment='"seed":0,', duration="1s", flows=(Flow(name="seed", direction="up"),), seed=0)
    for one in [tricky, *api.repeats(tricky, 3), Scenario(experiment="x", duration="1s")]:
        assert plan.jobs([one])[0].text == one.normalized()
    for seed in (-1, 2**64):
        with pytest.raises(sojourn.ParamError):
            plan.jobs([Scenario(experiment="x", duration="1s", seed=seed)])


def test_identical_scenarios_are_run_once(tmp_path: Path) -> None:
    twice = scenarios(3) * 2
    places: list[int] = []
    runs = runner.run_all(twice, store=RunStore(tmp_path / "s"), done=lambda place, _: places.append(place))
    assert sorted(places) == list(range(6))
    assert [run.seed for run in runs] == [1, 2, 3, 1, 2, 3]
    assert len(list((tmp_path / "s").glob("*/run.json"))) == 3


def test_runs_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "s")
    runner.run_all(scenarios(3), store=store, workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*/*")}
    again = runner.run_all(scenarios(5), store=store, workers=2)
    assert [run.seed for run in again] == [1, 2, 3, 4, 5]
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


def test_a_run_is_written_once_even_by_two_writers(tmp_path: Path) -> None:
    head, series, _ = _native.run_stored(scenarios(1)[0].normalized(), "a" * 32)
    for _ in range(2):
        write_run(tmp_path, "a" * 32, head, series)
    assert [path.name for path in tmp_path.iterdir()] == ["a" * 32]


def test_store_in_use_is_refused(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "s")
    with store.writing(), pytest.raises(sojourn.SojournError, match="in use by another process"), store.writing():
        pass
    with store.writing():
        pass


def test_what_a_dead_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "s")
    runner.run_all(scenarios(1), store=store)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    half = tmp_path / "s" / f".{'b' * 32}.{dead.pid}.part"
    half.mkdir()
    (half / "run.json").write_text('{"format": "sojourn-ru')
    alive = tmp_path / "s" / f".{'c' * 32}.{os.getpid()}.part"
    foreign = tmp_path / "s" / ".notes.part"
    full = tmp_path / "s" / f".{'d' * 32}.{dead.pid}.part"
    for folder in (alive, foreign, full):
        folder.mkdir()
    (full / "mine.txt").write_text("mine")
    assert len(runner.run_all(scenarios(2), store=store)) == 2
    assert not half.exists()
    assert alive.exists()
    assert foreign.exists()
    assert (full / "mine.txt").read_text() == "mine"
    assert len(store.ids()) == 2


def _truncate(folder: Path) -> None:
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text[: len(text) // 2])


def _cut_series(folder: Path) -> None:
    data = (folder / "series.parquet").read_bytes()
    (folder / "series.parquet").write_bytes(data[:-10])


def _another_format(folder: Path) -> None:
    head = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**head, "format": "sojourn-run/9"}))


def _another_run(folder: Path) -> None:
    head = json.loads((folder / "run.json").read_text())
    head["stored"]["id"] = "e" * 32
    (folder / "run.json").write_text(json.dumps(head))


def _file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file where a folder should be")


def _run_json_is_a_folder(folder: Path) -> None:
    (folder / "run.json").unlink()
    (folder / "run.json").mkdir()


BROKEN = {
    "half-written record": (_truncate, ["not whole", "run.json is not JSON"]),
    "half-written series": (_cut_series, ["not whole", "series.parquet has"]),
    "no record": (lambda folder: (folder / "run.json").unlink(), ["not whole", "run.json"]),
    "no series": (lambda folder: (folder / "series.parquet").unlink(), ["not whole", "series.parquet"]),
    "empty record": (lambda folder: (folder / "run.json").write_text(""), ["not whole", "not JSON"]),
    "another thing": (
        lambda folder: (folder / "run.json").write_text("[1]"),
        ["not whole", "an object"],
    ),
    "not text": (lambda folder: (folder / "run.json").write_bytes(b"\xff\xfe"), ["not whole", "UTF-8"]),
    "another format": (_another_format, ["sojourn-run/9", "sojourn-run/1"]),
    "another run": (_another_run, ["not the run of its name", "e" * 32]),
    "a file": (_file, ["not whole"]),
    "a record that cannot be read": (_run_json_is_a_folder, ["not whole", "run.json cannot be read"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_run_is_refused_and_nothing_is_lost(name: str, inside: Cli, tmp_path: Path) -> None:
    breaking, expected = BROKEN[name]
    inside(*COMPARE, "--store", "s")
    victim = sorted(RunStore(tmp_path / "s").ids())[0]
    breaking(tmp_path / "s" / victim)
    before = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    assert_one_sentence(inside(*COMPARE, "--store", "s", status=2), victim, *expected)
    assert {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()} == before
    target = tmp_path / "s" / victim
    target.rename(tmp_path / "away")
    assert "codel" in inside(*COMPARE, "--store", "s").stdout


STORES = {
    "another version": (
        {"store.json": '{"format": "sojourn-store/1", "code_version": "0.0.1", "build": "x"}'},
        "0.0.1",
    ),
    "a later format": ({"store.json": '{"format": "sojourn-store/9"}'}, "sojourn-store/1"),
    "a broken mark": ({"store.json": "{"}, "not JSON"),
    "a folder of other things": ({"thesis.tex": "mine"}, "other things"),
}


@pytest.mark.parametrize("name", STORES)
def test_store_that_is_not_ours_is_refused(name: str, inside: Cli, tmp_path: Path) -> None:
    files, expected = STORES[name]
    (tmp_path / "s").mkdir()
    for file, text in files.items():
        (tmp_path / "s" / file).write_text(text)
    assert_one_sentence(inside(*COMPARE, "--store", "s", status=2), "s", expected)
    assert {path.name: path.read_text() for path in (tmp_path / "s").iterdir()} == files


def test_store_that_is_a_file_is_refused(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    assert_one_sentence(inside(*COMPARE, "--store", "s", status=2), "store s", "cannot be used")
    assert_one_sentence(inside(*COMPARE, "--store", "s/below", status=2), "store s/below", "cannot be used")
    assert (tmp_path / "s").read_text() == "mine"


def test_store_that_may_not_be_written_is_refused(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s").chmod(0o500)
    if os.access(tmp_path / "s", os.W_OK):
        optional.NOT_ROOT.skip()
    assert_one_sentence(inside(*COMPARE, "--store", "s", status=2), "store s", "Permission denied")


def test_damaged_or_missing_run_is_found_when_it_is_read(inside: Cli, tmp_path: Path) -> None:
    inside(*COMPARE, "--out", "o")
    damaged, missing = (tmp_path / "o/runs" / name for name in sorted(RunStore(tmp_path / "o/runs").ids()))
    data = bytearray((damaged / "series.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (damaged / "series.parquet").write_bytes(data)
    result = inside("plot", "cdf", "o", "--out", "x.svg", status=2)
    assert_one_sentence(result, damaged.name, "damaged", "checksum")
    assert (damaged / "series.parquet").read_bytes() == data
    shutil.rmtree(missing)
    assert_one_sentence(inside("report", "o", "--out", "x.html", status=2), missing.name, "not whole")


def test_plot_takes_a_run_of_a_store(inside: Cli, tmp_path: Path) -> None:
    inside(*COMPARE, "--store", "s")
    name = sorted(RunStore(tmp_path / "s").ids())[0]
    inside("plot", "timeseries", f"s/{name}", "--out", "x.svg")
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")


def test_compare_with_a_store_is_compare(inside: Cli, tmp_path: Path) -> None:
    without = inside(*COMPARE, "--json").stdout
    assert inside(*COMPARE, "--json", "--store", "s").stdout == without
    assert inside(*COMPARE, "--json", "--store", "s").stdout == without
    assert len(RunStore(tmp_path / "s").ids()) == 2


def test_folder_of_a_comparison_finds_its_store(inside: Cli, tmp_path: Path) -> None:
    inside(*COMPARE, "--out", "below/o", "--store", "s")
    assert not (tmp_path / "below/o/runs").exists()
    refused = inside("plot", "cdf", "below/o", "--out", "x.svg", status=2)
    assert_one_sentence(refused, "outside of below/o", "name it with --store")
    inside("plot", "cdf", "below/o", "--out", "x.svg", "--store", "s")


def test_comparison_that_was_stopped_goes_on(inside: Cli, tmp_path: Path) -> None:
    inside(*COMPARE, "--out", "o")
    assert_one_sentence(inside(*COMPARE, "--out", "o", status=2), "there already", "--force")
    (tmp_path / "o/index.json").unlink()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/*")}
    more = (*COMPARE[:-1], "2s")
    assert_one_sentence(inside(*more, "--out", "o", status=2), "there already", "--force")
    inside(*COMPARE, "--out", "o")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/*")} == times


def test_force_replaces_the_runs_of_an_earlier_store_and_nothing_else(tmp_path: Path) -> None:
    ResultFolder(tmp_path / "o", plan="a").finish()
    store = RunStore(tmp_path / "o/runs")
    runner.run_all(scenarios(2), store=store)
    earlier = store.ids()
    (tmp_path / "o/runs/notes.txt").write_text("mine")
    (tmp_path / "o/thesis.tex").write_text("mine")
    folder = ResultFolder(tmp_path / "o", force=True, plan="b")
    assert len(runner.run_all(scenarios(1), store=RunStore(folder.path / "runs"))) == 1
    assert store.ids() == earlier
    folder.finish()
    assert len(store.ids()) == 1
    assert (tmp_path / "o/runs/notes.txt").read_text() == "mine"
    assert (tmp_path / "o/thesis.tex").read_text() == "mine"
    assert not (tmp_path / "o/.new").exists()
    assert len(runner.run_all(scenarios(1), store=store)) == 1


def test_memory_does_not_grow_with_the_records(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from sojourn import api, runner
from sojourn.store.run_store import RunStore
base = api.build("rrul", rate="1mbit", duration="200s")
store = RunStore(Path(sys.argv[1]))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
runner.run_all(api.repeats(base, 8), workers=2, store=store)
first = peak()
runs = runner.run_all(api.repeats(base, 40), workers=2, store=store)
grown = peak() - first
assert grown < 3000, grown  # KiB; a record of these has 0.2 MB as text, ten times that as values
[len(run.record.series.t_s) for run in runs[:8]]
first = peak()
[len(run.record.series.t_s) for run in runs]
grown = peak() - first
assert grown < 8000, grown
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True, timeout=120)
