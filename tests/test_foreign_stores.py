"""Results that others have made, or that were damaged: read, or refused in one sentence with the name of the file."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from sojourn import _native, api
from sojourn.errors import SojournError
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from tests.conftest import Cli, assert_one_sentence
from tests.hostile import damage

EXPERIMENTS = ("rrul", "voip_rrul", "web", "rural", "wifi_voip", "wifi_udp", "transient", "rtt_fairness")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results, with claims."""
    folder = tmp_path_factory.mktemp("good")
    words = ["compare", "voip_rrul", "--qdisc", "codel", "--qdisc", "fq_codel", "--repeat", "1", "--duration", "1s"]
    subprocess.run(
        [sys.executable, "-m", "sojourn", *words, "--rate", "2mbit", "--out", "good"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    claim = {"id": "a-1", "section": "1", "says": "so", "verdict": "holds", "unit": "ms", "reason": "it is"}
    numbers = {"value": float("nan"), "low": None, "high": 2.0}
    (folder / "good/claims.json").write_text(json.dumps([claim | numbers]))
    return folder / "good"


def change(path: Path, *way: str | int, to: Any = None, drop: bool = False) -> None:
    """Change one value of a JSON file."""
    body = json.loads(path.read_text())
    *before, last = way
    place = body
    for step in before:
        place = place[step]
    if drop:
        del place[last]
    else:
        place[last] = to
    path.write_text(json.dumps(body))


def of_index(*way: str | int, **keywords: Any) -> Callable[[Path], str]:
    def spoil(folder: Path) -> str:
        change(folder / "index.json", *way, **keywords)
        return "index.json"

    return spoil


def of_run(*way: str | int, **keywords: Any) -> Callable[[Path], str]:
    def spoil(folder: Path) -> str:
        path = first_run(folder) / "run.json"
        change(path, *way, **keywords)
        return path.parent.name

    return spoil


def of_claims(*way: str | int, **keywords: Any) -> Callable[[Path], str]:
    def spoil(folder: Path) -> str:
        change(folder / "claims.json", *way, **keywords)
        return "claims.json"

    return spoil


def first_run(folder: Path) -> Path:
    index = json.loads((folder / "index.json").read_text())
    return folder / "runs" / index["cells"][0]["runs"][0]


#: What may be wrong; each names the file or the run.
CRAFTED: dict[str, Callable[[Path], str]] = {
    "no title": of_index("title", drop=True),
    "a title that is a list": of_index("title", to=[]),
    "a title that steers": of_index("title", to="a\x1b[2Jb"),
    "no store": of_index("store", drop=True),
    "a store that is a number": of_index("store", to=5),
    "a store with a zero byte": of_index("store", to="a\0b"),
    "no cells": of_index("cells", to=[]),
    "cells that are an object": of_index("cells", to={}),
    "a cell without a link": of_index("cells", 0, "link", drop=True),
    "a cell without runs": of_index("cells", 0, "runs", to=[]),
    "a run with a way out": of_index("cells", 0, "runs", to=["../../x"]),
    "no paper": of_index("paper", drop=True),
    "a discipline that is a number": of_index("cells", 0, "qdisc", to=3),
    "claims in an object": lambda folder: ((folder / "claims.json").write_text("{}"), "claims.json")[1],
    "claims that are no JSON": lambda folder: ((folder / "claims.json").write_text("[{"), "claims.json")[1],
    "a claim without a verdict": of_claims(0, "verdict", drop=True),
    "a claim whose value is text": of_claims(0, "value", to="high"),
    "a summary that is a list": of_run("summary", to=[]),
    "a summary without its quantiles": of_run("summary", "rtt_ms", to={}),
    "a goodput that is text": of_run("summary", "goodput_up_mbit", to="fast"),
    "a goodput beyond all bounds": of_run("summary", "goodput_up_mbit", to=1e300),
    "a seed that is text": of_run("seed", to="one"),
    "a seed below zero": of_run("seed", to=-1),
    "a scenario that is null": of_run("scenario", to=None),
    "a scenario without rates": of_run("scenario", "up", drop=True),
    "a rate that is no rate": of_run("scenario", "up", to="fast"),
    "a duration that is no time": of_run("scenario", "duration", to="1e999s"),
    "flows in an object": of_run("scenario", "flows", to={}),
    "a flow of another scenario": of_run("scenario", "flows", 0, "name", to="other"),
    "a flow in no direction": of_run("flows", 0, "direction", to="sideways"),
    "flows that are gone": of_run("flows", to=[]),
    "a probe without a kind": of_run("probes", 0, "kind", drop=True),
    "no bottleneck": of_run("bottleneck", drop=True),
    "a cost that is text": of_run("cost", to="much"),
    "a name that is a formula and steers": of_run("experiment", to="$\\frac{$\x1b[2J"),
    "a blank discipline": of_run("scenario", "qdisc_up", to=" "),
    "parts of the series in an object": of_run("stored", "series", "parts", to={}),
    "a part without its path": of_run("stored", "series", "parts", 0, "path", drop=True),
    "a part with a path of numbers": of_run("stored", "series", "parts", 1, "path", to=[1]),
    "a part that lies deep": of_run("stored", "series", "parts", 1, "path", to=["a"] * 100_000),
    "a part of many rows": of_run("stored", "series", "parts", 2, "rows", to=2**40),
    "a part of rows below zero": of_run("stored", "series", "parts", 2, "rows", to=-5),
    "series of more rows than there are": of_run("stored", "series", "rows", to=10**9),
}


@pytest.mark.parametrize("name", CRAFTED)
@pytest.mark.parametrize(
    "words",
    [
        ("report", "x", "--out", "new.html"),
        ("plot", "timeseries", "x", "--out", "new.svg"),
        ("export", "--flent", "x", "--out", "new"),
    ],
    ids=lambda words: words[0],
)
def test_a_crafted_folder_is_refused_in_one_sentence(
    name: str, words: tuple[str, ...], good: Path, inside: Cli, tmp_path: Path
) -> None:
    shutil.copytree(good, tmp_path / "x")
    named = CRAFTED[name](tmp_path / "x")
    result = inside(*words, status=2)
    assert "bug" not in result.stderr
    assert_one_sentence(result, named)
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("path", [["t_s", "x"], ["goodput_mbit"], ["x", "y", "z"]])
def test_series_that_do_not_fit_together_are_refused(path: list[str], good: Path, inside: Cli, tmp_path: Path) -> None:
    """Of a figure they need not: it takes the rows as they are."""
    shutil.copytree(good, tmp_path / "x")
    named = of_run("stored", "series", "parts", 2, "path", to=path)(tmp_path / "x")
    assert_one_sentence(inside("export", "--flent", "x", "--out", "new", status=2), named, "damaged")


def test_a_name_that_would_be_a_formula_is_drawn_as_it_is(good: Path, inside: Cli, tmp_path: Path) -> None:
    """A scenario's name may have no dollar sign now; those of before may."""
    shutil.copytree(good, tmp_path / "x")
    of_index("cells", 0, "qdisc", to="codel $\\frac{$ ^_")(tmp_path / "x")
    for run in (tmp_path / "x/runs").glob("*/run.json"):
        change(run, "scenario", "experiment", to="$\\frac{$")
    for figure in ("ellipse", "timeseries", "cdf"):
        inside("plot", figure, "x", "--out", f"{figure}.svg")
    inside("report", "x", "--out", "new.html")


def test_an_index_cannot_make_many_runs_of_one(good: Path, inside: Cli, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "x")
    [name] = json.loads((good / "index.json").read_text())["cells"][0]["runs"]
    of_index("cells", 0, "runs", to=[name] * 100_000)(tmp_path / "x")
    began = time.monotonic()
    assert_one_sentence(inside("report", "x", "--out", "new.html", status=2), "index.json", name, "100000 times")
    assert time.monotonic() - began < 5


def test_claims_without_a_value_are_read(good: Path, inside: Cli, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "x")
    inside("report", "x", "--out", "new.html")
    assert '<td class="value">- ms' in (tmp_path / "new.html").read_text()


@pytest.mark.parametrize("kind", ["fifo", "folder", "loop"])
def test_a_file_that_is_none_is_refused(kind: str, good: Path, inside: Cli, tmp_path: Path) -> None:
    for file in ("index.json", "run.json", "series.parquet"):
        folder = tmp_path / file
        shutil.copytree(good, folder)
        path = folder / file if file == "index.json" else first_run(folder) / file
        path.unlink()
        {"fifo": os.mkfifo, "folder": Path.mkdir, "loop": lambda path: path.symlink_to(path)}[kind](path)
        result = inside("plot", "timeseries", file, "--out", "new.svg", status=2)
        assert "bug" not in result.stderr


def test_a_stored_run_of_another_scenario_is_refused(inside: Cli, tmp_path: Path) -> None:
    words = ("run", "bulk", "--duration", "1s", "--store", "s")
    inside(*words)
    [run] = (tmp_path / "s").glob("*/run.json")
    change(run, "scenario", "up", to="11mbit")
    assert_one_sentence(inside(*words, status=2), run.parent.name, "another scenario")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_record_that_is_written_is_read(experiment: str, tmp_path: Path) -> None:
    scenario = api.build(experiment, duration="2s")
    text = _native.run(scenario.normalized())
    assert msgspec.to_builtins(Run.parse(text, "x").record) == json.loads(text)
    head, series, _ = _native.run_stored(scenario.normalized(), "0" * 32)
    store = RunStore(tmp_path)
    store.add("0" * 32, head, series)
    stored = store.get("0" * 32)
    assert msgspec.to_builtins(stored.record.series) == json.loads(text)["series"]


def stored_series(scenario: Scenario) -> tuple[bytes, int]:
    head, series, _ = _native.run_stored(scenario.normalized(), "0" * 32)
    return series, json.loads(head)["stored"]["series"]["rows"]


def as_frame(columns: list[tuple[list[str] | None, bytes]]) -> pl.DataFrame:
    """Return what the reader found; another way than that of `sojourn.store.series_file`."""
    found = []
    for labels, rows in columns:
        if labels is None:
            values = np.frombuffer(rows, "<f8")
            found.append([None if np.isnan(value) else value for value in values.tolist()])
        else:
            places = np.frombuffer(rows, "<u4").tolist()
            found.append([None if place == len(labels) else labels[place] for place in places])
    names = ("t_s", "metric", "name", "direction", "value")
    schema = {name: pl.Float64 if name in {"t_s", "value"} else pl.String for name in names}
    return pl.DataFrame(dict(zip(names, found, strict=True)), schema=schema)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_reader_of_series_finds_what_polars_finds(experiment: str) -> None:
    series, rows = stored_series(api.build(experiment, duration="3s", rate="1mbit"))
    assert_frame_equal(as_frame(_native.read_series(series, rows)), pl.read_parquet(series))


def test_series_without_a_row_are_read() -> None:
    series, rows = stored_series(Scenario(experiment="blink", duration="50ms"))
    assert rows == 0
    assert_frame_equal(as_frame(_native.read_series(series, 0)), pl.read_parquet(series))


SERIES, ROWS = stored_series(api.build("voip_rrul", duration="1s", rate="2mbit"))


@settings(max_examples=300)
@given(seed=st.integers(0, 2**64))
def test_damaged_series_are_refused_or_are_rows(seed: int) -> None:
    spoiled = damage.bytes_of(SERIES, random.Random(seed))
    try:
        columns = _native.read_series(spoiled, ROWS)
    except ValueError:
        return
    frame = as_frame(columns)
    assert frame.height == ROWS
    assert frame["value"].drop_nulls().is_finite().all()


@given(content=st.binary(max_size=300), rows=st.integers(0, 2**64 - 1))
def test_what_is_no_series_is_refused(content: bytes, rows: int) -> None:
    for data in (content, b"PAR1" + content, b"PAR1" + content + b"\0\0\0\0PAR1"):
        with pytest.raises(ValueError, match="it"):
            _native.read_series(data, rows)


def test_a_few_bytes_cannot_ask_for_much_memory() -> None:
    # 67 million rows, as the file says too: no more than their bits are there, so nothing is set aside for them.
    began = time.process_time()
    with pytest.raises(ValueError, match="rows"):
        _native.read_series(SERIES, 2**26)
    with pytest.raises(ValueError, match="at most 67108864"):
        _native.read_series(SERIES, 2**26 + 1)
    assert time.process_time() - began < 1


def test_parquet_damaged_under_a_right_checksum_ends_in_one_sentence(good: Path, inside: Cli, tmp_path: Path) -> None:
    """Such files have brought the library for all of Parquet to panic and to abort (3 and 4 of 3,000)."""
    ended = {0: 0, 2: 0}
    for seed in range(60):
        shutil.copytree(good, tmp_path / "x")
        run = first_run(tmp_path / "x")
        damage.parquet_of(run, random.Random(seed))
        result = inside("plot", "timeseries", "x", "--out", f"{seed}.svg", status=None)
        ended[result.returncode] += 1
        if result.returncode == 2:
            assert_one_sentence(result, run.name)
            assert "bug" not in result.stderr
        shutil.rmtree(tmp_path / "x")
    assert ended[2] > 30


def test_numbers_beyond_all_bounds_are_refused(good: Path, inside: Cli, tmp_path: Path) -> None:
    """A figure of them cannot be drawn: the steps of its axis overflow."""
    shutil.copytree(good, tmp_path / "x")
    run = first_run(tmp_path / "x")
    data = (run / "series.parquet").read_bytes()
    frame = pl.read_parquet(data)
    value = next(value for value in frame["value"].drop_nulls() if value)
    data = data.replace(struct.pack("<d", value), struct.pack("<d", 1e300))
    (run / "series.parquet").write_bytes(data)
    change(run / "run.json", "stored", "crc32", to=f"{crc32(data):08x}")
    result = inside("plot", "timeseries", "x", "--out", "x.svg", status=2)
    assert_one_sentence(result, "series.parquet", "value", "1e+300")


def test_series_for_which_there_is_no_memory_are_refused(
    good: Path, inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sojourn import bounded

    shutil.copytree(good, tmp_path / "x")
    monkeypatch.setattr(bounded, "free_memory", lambda: 1000.0)
    assert_one_sentence(inside("plot", "timeseries", "x", "--out", "x.svg", status=2), "series.parquet", "memory")


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**64))
@example(seed=225)  # a count of 2^64 - 1
def test_a_damaged_record_is_read_or_refused(seed: int) -> None:
    spoiled = damage.json_of(RECORD, random.Random(seed)).decode("utf-8", "replace")
    try:
        run = Run.parse(spoiled, "x.json")
    except SojournError:
        return
    assert run.series.height > 0
    assert run.flows.height == len(run.record.flows)
    assert isinstance(run.summary.goodput_up_mbit, float | int)


RECORD = _native.run(api.build("voip_rrul", duration="1s", rate="2mbit").normalized())


def test_a_checksum_that_is_not_the_files_is_told(good: Path, inside: Cli, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "x")
    file = first_run(tmp_path / "x") / "series.parquet"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    assert f"{crc32(data):08x}" != json.loads((file.parent / "run.json").read_text())["stored"]["crc32"]
    assert_one_sentence(inside("plot", "cdf", "x", "--out", "x.svg", status=2), "series.parquet", "checksum")
