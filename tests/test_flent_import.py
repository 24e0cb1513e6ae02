"""Flent's data files read: what they hold is found, and what is no such file is refused in one sentence."""

from __future__ import annotations

import bz2
import gzip
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn
from sojourn.errors import SojournError
from sojourn.interop import flent
from sojourn.store.frames import SERIES_SCHEMA
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

flent_read = sys.modules["sojourn.interop.flent.read"]

#: A file as small as Flent reads one, made by hand.
SMALL: Json = {
    "version": 4,
    "x_values": [0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
    "results": {
        "TCP upload": [None, 1.0, 2.0, 3.0, 4.0, None],
        "Ping (ms) ICMP": [10.0, 20.0, 30.0, 40.0, None, 10.0],
        "some counter": [1, 2, 3, 4, 5, 6],
    },
    "raw_values": {},
    "metadata": {
        "NAME": "tcp_1up",
        "TITLE": "by hand",
        "TIME": "2015-06-01T12:00:00.000000Z",
        "LENGTH": 0.6,
        "TOTAL_LENGTH": 1.0,
        "STEP_SIZE": 0.2,
        "SERIES_META": {"some counter": {"UNITS": "bytes"}},
    },
}


def put(folder: Path, body: Any, name: str = "x.flent") -> Path:
    path = folder / name
    path.write_text(json.dumps(body))
    return path


def changed(**parts: Any) -> Json:
    return {**SMALL, **parts}


def stated(meta: Any) -> bytes:
    """Return a file that says this of its series."""
    return json.dumps(changed(metadata={**SMALL["metadata"], "SERIES_META": meta})).encode()


def test_series_become_rows_with_time_0_where_the_flows_begin(tmp_path: Path) -> None:
    read = flent.read(put(tmp_path, SMALL))
    assert dict(read.series.schema) == SERIES_SCHEMA
    flow = read.series.filter(pl.col("name") == "TCP upload")
    assert flow["t_s"].to_list() == pytest.approx([-0.2, 0.0, 0.2, 0.4, 0.6, 0.8])
    assert flow["value"].to_list() == SMALL["results"]["TCP upload"]
    assert flow.select("metric", "direction").unique().rows() == [("goodput_mbit", "up")]
    assert read.units == {"TCP upload": "Mbit/s", "Ping (ms) ICMP": "ms", "some counter": "bytes"}


def test_summary_is_of_the_measured_window(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in flent.read(put(tmp_path, SMALL)).summary().to_dicts()}
    # From 0 to 0.6 s: 20, 30 and 40 ms, and one missing.
    ping = rows["Ping (ms) ICMP"]
    assert (ping["count"], ping["median"], ping["min"], ping["max"]) == (3, 30.0, 20.0, 40.0)
    # But the mean is of the whole test, as Flent has it.
    assert ping["mean"] == pytest.approx(22.0)
    assert ping["p95"] == pytest.approx(39.0)
    assert (ping["metric"], ping["unit"]) == ("rtt_ms", "ms")
    assert rows["TCP upload"]["mean"] == 2.5


@pytest.mark.parametrize("version", [1, 2, 3, 4, None])
def test_every_version_is_read(version: int | None, tmp_path: Path) -> None:
    file = changed(version=version)
    if version is None:
        del file["version"]
    assert flent.read(put(tmp_path, file)).version == (version or 1)


def test_packing_is_told_by_the_bytes_and_not_by_the_name(tmp_path: Path) -> None:
    text = json.dumps(SMALL).encode()
    for pack in (gzip.compress, bz2.compress, bytes):
        (tmp_path / "x.flnt").write_bytes(pack(text))
        assert flent.read(tmp_path / "x.flnt").metadata["TITLE"] == "by hand"


def test_what_was_exported_comes_back(tmp_path: Path) -> None:
    run = sojourn.run("rrul", duration="5s", qdisc="pfifo limit 100")
    made = flent.data_file(run)
    (tmp_path / made.name).write_bytes(made.content)
    read = flent.read(tmp_path / made.name)
    assert read.metadata["SOJOURN"]["scenario"] == run.record.scenario
    ours = run.series.filter((pl.col("metric") == "goodput_mbit") & (pl.col("name") == "tcp_down_2"))
    theirs = read.series.filter((pl.col("name") == "TCP download BE2") & pl.col("value").is_not_null())
    assert theirs["t_s"].to_list() == pytest.approx(ours["t_s"].to_list())
    assert theirs["value"].to_list() == ours["value"].to_list()
    rows = {row["name"]: row for row in read.summary().to_dicts()}
    assert rows["TCP upload sum"]["mean"] == pytest.approx(run.summary.goodput_up_mbit, rel=1e-6)


def test_command_prints_a_table_or_json_and_writes_a_folder(cli: Cli, tmp_path: Path) -> None:
    put(tmp_path, SMALL)
    shown = cli("import", "x.flent").stdout
    assert "tcp_1up; by hand; 2015-06-01T12:00:00" in shown
    assert "TCP upload" in shown
    answer = json.loads(cli("import", "x.flent", "--json", "--out", "o").stdout)
    assert answer["format"] == "sojourn-import/1"
    assert [row["name"] for row in answer["series"]] == list(SMALL["results"])
    assert json.loads((tmp_path / "o/import.json").read_text()) == answer
    assert dict(pl.read_parquet(tmp_path / "o/series.parquet").schema) == SERIES_SCHEMA
    assert_one_sentence(cli("import", "x.flent", "--out", "o", status=2), "out", "--force")
    cli("import", "x.flent", "--out", "o", "--force")


REFUSED: dict[str, tuple[bytes, list[str]]] = {
    "nothing": (b"", ["not JSON"]),
    "no text": (b"\xff\xfe\x00\x01", ["not JSON"]),
    "half an object": (b'{"version": 4', ["not JSON"]),
    "a list": (b"[]", ["a list", "an object"]),
    "a number": (b"5", ["a number", "an object"]),
    "a future version": (json.dumps(changed(version=5)).encode(), ["version", "5", "1 to 4"]),
    "version 0": (json.dumps(changed(version=0)).encode(), ["version", "0"]),
    "a version in words": (json.dumps(changed(version="four")).encode(), ["version", "four"]),
    "a true version": (json.dumps(changed(version=True)).encode(), ["version", "True"]),
    "no results": (b'{"version": 4, "x_values": [], "metadata": {}}', ["results", "missing"]),
    "results in a list": (json.dumps(changed(results=[])).encode(), ["results", "an object"]),
    "a series that is no list": (json.dumps(changed(results={"a": 5})).encode(), ["results['a']", "a list"]),
    "a short series": (json.dumps(changed(results={"a": [1.0]})).encode(), ["results['a']", "1 values", "6"]),
    "a word for a number": (
        json.dumps(changed(x_values=[0], results={"a": ["fast"]})).encode(),
        ["results['a'][0]", "'fast'", "a number or null"],
    ),
    "a truth for a number": (json.dumps(changed(x_values=[0], results={"a": [True]})).encode(), ["True"]),
    "no time": (json.dumps(changed(x_values=[None], results={})).encode(), ["x_values[0]", "None"]),
    "not a number": (b'{"version": 4, "x_values": [NaN]}', ["NaN"]),
    "infinity": (b'{"version": 4, "x_values": [-Infinity]}', ["-Infinity"]),
    "beyond a float": (
        b'{"version": 4, "x_values": [1e999], "results": {}, "metadata": {}}',
        ["x_values[0]", "inf"],
    ),
    "a whole number beyond a float": (
        b'{"version": 4, "x_values": [1%s], "results": {}, "metadata": {}}' % (b"0" * 400),
        ["x_values[0]", "a number"],
    ),
    "thousands of digits": (b'{"version": 4, "x_values": [%s]}' % (b"9" * 5000), ["not JSON"]),
    "a negative length": (json.dumps(changed(metadata={"LENGTH": -5})).encode(), ["metadata.LENGTH", "-5"]),
    "a length in words": (json.dumps(changed(metadata={"LENGTH": "long"})).encode(), ["metadata.LENGTH", "long"]),
    "a long title": (
        json.dumps(changed(metadata={"TITLE": "t" * 70_000})).encode(),
        ["of metadata", "a text of 70000 characters", "at most 65536"],
    ),
    "a long name": (json.dumps(changed(results={"a" * 1001: [1] * 6})).encode(), ["1001 characters", "at most 1000"]),
    "a long name of no list": (json.dumps(changed(results={"a" * 900: 5})).encode(), ["results['aaa", "a list"]),
    "means in a list": (stated([]), ["metadata.SERIES_META", "a list", "an object"]),
    "a mean in words": (
        stated({"TCP upload": {"MEAN_VALUE": "fast"}}),
        ["metadata.SERIES_META['TCP upload'].MEAN_VALUE", "'fast'", "a number or null"],
    ),
    "samples in a list": (json.dumps(changed(raw_values=[])).encode(), ["raw_values", "a list", "an object"]),
    "samples of a word": (
        json.dumps(changed(raw_values={"TCP upload": "x"})).encode(),
        ["raw_values['TCP upload']", "a string", "a list of objects"],
    ),
    "a sample in words": (
        json.dumps(changed(raw_values={"TCP upload": [{"val": "fast"}]})).encode(),
        ["raw_values['TCP upload']", "'fast'", "numbers or null"],
    ),
    "half a character": (
        b'{"version": 4, "x_values": [], "results": {"\\ud800": []}, "metadata": {}}',
        ["results", "ud800", "no text"],
    ),
    "a deep nest": (b"[" * 200_000, ["nested"]),
    "half of a gzip file": (gzip.compress(json.dumps(SMALL).encode())[:-20], ["unpacked"]),
    "a damaged gzip file": (gzip.compress(b"{}")[:10] + b"\xff" * 20, ["unpacked"]),
    "a damaged bzip2 file": (b"BZh9" + b"\x00" * 40, ["unpacked"]),
    "half of a bzip2 file": (bz2.compress(json.dumps(SMALL).encode())[:-8], ["unpacked"]),
    "gzip within gzip": (gzip.compress(gzip.compress(b"{}")), ["not JSON"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_data_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    content, words = REFUSED[name]
    (tmp_path / "bad.flent.gz").write_bytes(content)
    with pytest.raises(SojournError) as refused:
        flent.read(tmp_path / "bad.flent.gz")
    sentence = str(refused.value)
    assert len(sentence) < 400 + len(str(tmp_path))
    for word in ("bad.flent.gz", *words):
        assert word in sentence


def test_the_command_refuses_with_status_2(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.gz").write_bytes(b"{")
    assert_one_sentence(cli("import", "bad.gz", "--out", "o", status=2), "bad.gz", "not JSON")
    assert not (tmp_path / "o").exists()
    assert_one_sentence(cli("import", "nothing.gz", status=2), "nothing.gz", "cannot be read")
    assert_one_sentence(cli("import", ".", status=2), "cannot be read")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_is_refused_before_it_has_filled_the_memory(pack: Any, tmp_path: Path) -> None:
    # Two GiB of spaces, in some kilobytes: each compressed piece is a whole stream, and both formats may join streams.
    piece = pack(b" " * (64 << 20))
    (tmp_path / "bomb").write_bytes(piece * 32)
    limit = 1 << 30

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "import", "bomb"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=bound,
        timeout=120,
        check=False,
    )
    assert_one_sentence(done, "bomb", "128 MiB")


def test_control_characters_do_not_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    metadata = {**SMALL["metadata"], "TITLE": "\x1b[2Jgone\n\x07", "NAME": ["a list"]}
    put(tmp_path, changed(metadata=metadata, results={"\x1b]0;x\x07": [1] * 6}))
    shown = cli("import", "x.flent").stdout
    assert "gone" in shown
    assert not any(ord(c) < 32 and c != "\n" for c in shown)


def test_a_long_title_is_cut_where_it_is_shown(cli: Cli, tmp_path: Path) -> None:
    put(tmp_path, changed(metadata={**SMALL["metadata"], "TITLE": "t" * 60_000}, results={"s" * 900: [1] * 6}))
    assert max(map(len, cli("import", "x.flent").stdout.splitlines())) < 400


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("version", "x_values", "results", "metadata", "raw_values")


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(parts=st.dictionaries(st.sampled_from(KEYS), JSON_LIKE), base=st.sampled_from([{}, SMALL]))
def test_any_object_is_read_or_refused(parts: Json, base: Json, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = put(tmp_path_factory.mktemp("any"), {**base, **parts})
    try:
        read = flent.read(path)
    except SojournError:
        return
    assert dict(read.series.schema) == SERIES_SCHEMA
    assert read.summary().height <= len(read.units)


@settings(max_examples=150, deadline=None)
@given(content=st.binary(max_size=300), head=st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"BZh9", b'{"version":4,']))
def test_any_bytes_are_refused(content: bytes, head: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bytes") / "x"
    path.write_bytes(head + content)
    with pytest.raises(SojournError):
        flent.read(path)


@settings(max_examples=100, deadline=None)
@given(at=st.integers(min_value=0), bit=st.integers(0, 7))
def test_a_flipped_bit_is_read_or_refused(at: int, bit: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    packed = bytearray(gzip.compress(json.dumps(SMALL).encode()))
    packed[at % len(packed)] ^= 1 << bit
    path = tmp_path_factory.mktemp("flipped") / "x"
    path.write_bytes(packed)
    try:
        assert flent.read(path).series.height == 18
    except SojournError:
        return


@pytest.mark.parametrize(("series", "points"), [(1_000_000, 0), (9_000, 1), (20_000, 1), (30, 100_000)])
def test_the_work_of_a_file_is_bounded(series: int, points: int, tmp_path: Path) -> None:
    """A frame for each series took a millisecond each: a million empty ones, in 2.3 MB, took minutes."""
    column = [1.5] * points
    results = {f"s{number}": column for number in range(series)}
    body = changed(x_values=[0.1 * at for at in range(points)], results=results, metadata={})
    path = tmp_path / "x.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(body).encode(), 1))
    before = time.process_time()
    if series > flent_read.MOST_SERIES:
        with pytest.raises(SojournError, match=f"results has {series} series, but must have at most 10000"):
            flent.read(path)
    else:
        assert flent.read(path).summary().height == series
    # 9,000 frames would take 9 s.
    assert time.process_time() - before < 6


def test_a_file_of_too_many_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flent_read, "MOST_VALUES", 17)
    with pytest.raises(SojournError, match="results has 18 values, but must have at most 17"):
        flent.read(put(tmp_path, SMALL))
