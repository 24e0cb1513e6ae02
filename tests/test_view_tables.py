"""What the dashboard compares is what each command says of its own runs, in the table that it has written itself."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn import backends, cells, runner
from sojourn.errors import SojournError
from sojourn.frame_library import pl
from sojourn.scenario import Probe, Scenario
from sojourn.store import index
from sojourn.store.head import read_head
from sojourn.store.metrics import metrics_of
from sojourn.store.run_store import RunStore
from sojourn.view import course, findings, settings, source, table, thin
from tests.conftest import Cli
from tests.records import Json
from tests.test_validate_command import StandIn

NUMBERS = ("n", "mean", "median", "difference", "low", "high")

SWEEP = """
experiment = "rrul"
duration = "1s"
up = "5mbit"
repeat = 3
[vary]
qdisc = ["codel target 1ms", "codel target 50ms", "pfifo limit 10"]
rtt = ["20ms", "200ms"]
"""


def compared(folder: Path) -> Json:
    """Return what the tab Comparison shows of a folder."""
    [one] = source.find(folder)
    return findings.comparison(table.Table([one]).rows(), one.labels.of_run)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same(mine: Json, row: Json) -> None:
    """Hold a row of the dashboard against one of the command, of CSV or of JSON."""
    for name in NUMBERS:
        if name in row:
            value = None if row[name] in ("", None) else float(row[name])
            assert mine[name] == (value if value is None else pytest.approx(value, rel=1e-9)), (name, mine, row)


def test_a_sweep_has_a_row_for_each_of_its_cells(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    inside("sweep", "s.toml", "--workers", "1", "--out", "o")
    theirs = rows_of(tmp_path / "o/table.csv")
    found = compared(tmp_path / "o")
    assert found["left_out"] == []
    for row in theirs:
        [mine] = [
            one
            for one in found["summary"]
            if (one["metric"], one["qdisc"]) == (row["metric"], row["qdisc"].replace("pfifo limit 10", "pfifo"))
            and one["link"] == f"10/5, rtt {row['rtt']}"
        ]
        same(mine, row)
        assert row["n"] == "3"
    shown = [one for one in found["summary"] if one["n"] or one["metric"] in {row["metric"] for row in theirs}]
    assert len(shown) == len(theirs)
    # Disciplines are compared where all else is the same: 3 pairs for each RTT.
    pairs = {(one["link"], one["a"], one["b"]) for one in found["differences"]}
    assert len(pairs) == 6
    assert {link for link, *_ in pairs} == {"10/5, rtt 20ms", "10/5, rtt 200ms"}


@pytest.mark.parametrize(
    "words",
    [
        ("run", "rrul", "--qdisc", "codel target 50ms"),
        ("compare", "rrul", "--qdisc", "codel target 50ms", "--qdisc", "codel", "--qdisc", "gbw:pfifo_fast"),
    ],
)
def test_run_and_compare(inside: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    inside(*words, "--duration", "1s", "--repeat", "2", "--workers", "1", "--out", "o")
    theirs = rows_of(tmp_path / "o/table.csv")
    found = compared(tmp_path / "o")
    assert len(found["summary"]) == len(theirs)
    for mine, row in zip(found["summary"], theirs, strict=True):
        assert [mine[name] for name in ("link", "qdisc", "metric")] == [row["link"], row["qdisc"], row["metric"]]
        same(mine, row)
    kept = json.loads((tmp_path / "o/compare.json").read_text())["differences"]
    for mine, row in zip(found["differences"], kept, strict=True):
        assert [mine[name] for name in ("metric", "a", "b", "verdict")] == [
            row[name] for name in ("metric", "a", "b", "verdict")
        ]
        same(mine, row)


def test_a_map_of_l4s(inside: Cli, tmp_path: Path) -> None:
    words = ("--pair", "prague/cubic", "--bottleneck", "fifo", "--bottleneck", "dualpi2", "--plane", "rate-rtt")
    axes = ("--axis", "rate=10mbit,50mbit", "--axis", "rtt=10ms,80ms")
    inside("l4s", "map", *words, *axes, "--duration", "2s", "--repeat", "2", "--workers", "1", "--out", "o")
    [one] = source.find(tmp_path / "o")
    assert one.kind == "map"
    theirs = rows_of(tmp_path / "o/map.csv")
    shown = findings.map_of(one)
    assert [dict(zip(shown["columns"], map(str, row), strict=True)) for row in shown["rows"]] == [
        {name: value or "None" for name, value in row.items()} for row in theirs
    ]
    mine = [row for row in compared(tmp_path / "o")["summary"] if row["metric"] == "goodput_up_mbit"]
    # A flow of each side; map.csv has five digits.
    goodputs = sorted(float(row["l4s_mbit"]) + float(row["classic_mbit"]) for row in theirs)
    assert sorted(row["mean"] for row in mine) == pytest.approx(goodputs, rel=1e-4)
    assert [row["n"] for row in mine] == [2] * len(theirs)
    # No echo was sent, so none has a latency, nor a loss.
    for row in compared(tmp_path / "o")["summary"]:
        if row["metric"] in {"induced_latency_ms", "probe_loss", "rtt_p95_ms", "jain_down"}:
            assert (row["n"], row["mean"]) == (0, None), row


def test_what_another_back_end_has_run_is_another_cell(
    inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that stand for a kernel's, with its name in their records, are in the same store as the simulator's."""
    monkeypatch.setattr(cells, "in_world", StandIn().in_world)
    monkeypatch.setattr(backends, "named", lambda name: backends.SIMULATOR)
    small = ("--links", "10/10", "--duration", "2s", "--repeat", "2", "--sim-repeat", "2", "--workers", "1")
    inside("validate", "rrul", "--qdisc", "codel", "--qdisc", "sfq", *small, "--store", "s", "--out", "o", status=None)
    for path in (tmp_path / "s").glob("*/run.json"):
        head = json.loads(path.read_text())
        if head["seed"] > 1000:
            head |= {"backend": "linux", "kernel": {"release": "6.1", "version": "#1", "virtual_time": True}}
            path.write_text(json.dumps(head))
    found = compared(tmp_path / "s")["summary"]
    rows = {(row["metric"], row["qdisc"], row["link"].partition(", backend ")[2]): row for row in found}
    entries = [one for one in json.loads((tmp_path / "o/validate.json").read_text()) if one["verdict"] != "not judged"]
    assert len(entries) == 2 * 3
    for entry in entries:
        for side in ("sim", "linux"):
            mine = rows[entry["metric"], entry["qdisc"], side]
            theirs = (entry[f"{side}_runs"], entry[side], entry[f"{side}_low"], entry[f"{side}_high"])
            same(mine, dict(zip(("n", "mean", "low", "high"), theirs, strict=True)))


@pytest.mark.slow
def test_a_reproduction_has_the_cells_of_its_report(inside: Cli, tmp_path: Path) -> None:
    words = ("--only", "rrul", "--duration", "2s", "--repeat", "2", "--workers", "1", "--out", "o")
    inside("reproduce", "good-bad-wifi", *words)
    theirs = index.load(tmp_path / "o").comparison.summary.to_dicts()
    found = compared(tmp_path / "o")["summary"]
    assert len(found) == len(theirs)
    for mine, row in zip(found, theirs, strict=True):
        assert [mine[name] for name in ("link", "qdisc", "metric")] == [row["link"], row["qdisc"], row["metric"]]
        same(mine, row)
    [one] = source.find(tmp_path / "o")
    rows = {row["id"]: row["claims"] for row in table.Table([one]).rows()}
    for claim in json.loads((tmp_path / "o/claims.json").read_text()):
        assert {name for name, claims in rows.items() if f"{claim['id']} " in claims} == set(claim.get("runs", ()))


def test_one_run_beside_no_store_is_refused_with_what_to_do(inside: Cli, tmp_path: Path) -> None:
    inside("run", "rrul", "--duration", "1s", "--out", "o")
    with pytest.raises(SojournError, match="holds one run that is in no store: .* --store"):
        source.find(tmp_path / "o")


def test_folders_that_come_later_are_seen(inside: Cli, tmp_path: Path) -> None:
    for number in (1, 2):
        words = ("--duration", "1s", "--workers", "1", "--store", f"{number}/runs")
        inside("run", "rrul", "--qdisc", f"pfifo limit {number}0", *words)
        if number == 1:
            sources = source.find(tmp_path)
            made = table.Table(sources)
            assert len(made.rows()) == 1
            assert source.later(sources) == []
    sources += source.later(sources)
    assert [one.path.name for one in sources] == ["1", "2"]
    assert [row["folder"] for row in made.rows()] == ["1", "2"]
    assert source.later(sources) == []
    assert source.later(source.find(tmp_path / "1")) == []


@pytest.mark.parametrize("text", ["[]", '{"cells": []}', '{"cells": [{"a": [1]}]}', "{"])
def test_a_map_that_is_none_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "map.json").write_text(text)
    [one] = source.find(tmp_path)
    with pytest.raises(SojournError, match=r"map\.json"):
        findings.map_of(one)


#: What an earlier version wrote where nothing was measured.
EARLIER = {"jain_up": 1.0, "jain_down": 1.0}


def _as_before(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _as_before(inner, name) for name, inner in value.items()}
    return EARLIER.get(key, 0.0) if value is None and key not in {"page_fetch_s", "mean_srtt_ms", "cv"} else value


def test_what_was_not_measured_is_null_in_records_of_today_and_of_before(tmp_path: Path) -> None:
    """A scenario without echoes, with a stream of voice of which nothing arrives."""
    probes = (Probe(name="v", kind="voip", direction="up"),)
    scenario = Scenario(experiment="x", duration="1s", loss_up=0.999999, probes=probes)
    store = RunStore(tmp_path)
    runner.run_all([scenario], workers=1, store=store)
    [name] = store.ids()
    today = json.loads(store.get(name).text)
    summary = today["summary"]
    values = {key: summary[key] for key in ("induced_latency_ms", "probe_loss", "jain_up", "jain_down")}
    assert values == dict.fromkeys(values)
    assert set(summary["rtt_ms"].values()) == {0, None}
    [voice] = today["probes"]
    assert (voice["delay_ms"]["mean"], voice["jitter_ms"], voice["ipdv_ms"]) == (None, None, None)
    assert today["bottleneck"]["down"]["sojourn_ms"] == {"mean": None, "p95": None, "max": None}
    path = tmp_path / name / "run.json"
    head = json.loads(path.read_text())
    ends = {way: {**end, "sojourn_ms": _as_before(end["sojourn_ms"])} for way, end in head["bottleneck"].items()}
    delays = [{**one, "delay_ms": _as_before(one["delay_ms"])} for one in head["probes"]]
    path.write_text(json.dumps(head | {"summary": _as_before(head["summary"]), "bottleneck": ends, "probes": delays}))
    assert json.loads(path.read_text())["summary"]["induced_latency_ms"] == 0.0
    read_head.cache_clear()
    again = store.get(name)
    assert {key: json.loads(again.text)[key] for key in ("summary", "bottleneck", "probes")} == {
        key: today[key] for key in ("summary", "bottleneck", "probes")
    }
    [row] = table.Table(source.find(tmp_path)).rows()
    assert {key: row[key] for key in values} == values
    assert metrics_of(again)["rtt_mean_ms"] is None


def test_names_say_what_differs_and_no_more() -> None:
    long = "fq_codel limit 10240 flows 1024 target 5ms ecn"
    other = long.replace("5ms ecn", "20ms noecn")
    names = settings.short_names([long, other, "pfifo limit 9", "cake", "cake nat"])
    assert names == {
        long: "fq_codel target 5ms ecn",
        other: "fq_codel target 20ms noecn",
        "pfifo limit 9": "pfifo",
        "cake": "cake",
        "cake nat": "cake nat",
    }
    plain = [
        {"rtt": rtt, "flows": [{"rtt": rtt}] * count, "up": "1mbit"} for rtt in ("20ms", "0.2s") for count in (1, 2)
    ]
    texts = [json.dumps(one) for one in plain]
    found = settings.differences(dict.fromkeys(texts))
    assert [found[text] for text in texts] == [
        f"flows {count}, rtt {rtt}" for rtt in ("20ms", "0.2s") for count in (1, 2)
    ]
    # What is called otherwise needs no words.
    assert set(settings.differences({text: place for place, text in enumerate(texts)}).values()) == {""}


def test_two_folders_are_compared_seed_by_seed(inside: Cli, tmp_path: Path) -> None:
    words = ("compare", "rrul", "--qdisc", "codel", "--qdisc", "sfq", "--duration", "1s", "--repeat", "2")
    for name in ("a", "b"):
        inside(*words, "--workers", "1", "--out", f"all/{name}")
    found = source.find(tmp_path / "all")
    runs = table.Table(found).rows()
    folders = [
        ([row for row in runs if row["source"] == number], one.labels.of_run) for number, one in enumerate(found)
    ]
    both = findings.comparison(*findings.side_by_side(folders, ["a", "b"]))
    alone = findings.comparison(*folders[0])
    for row in alone["summary"]:
        for folder in ("a", "b"):
            assert {**row, "qdisc": f"{row['qdisc']} ({folder})"} in both["summary"]
    assert len(both["summary"]) == 2 * len(alone["summary"])
    pairs = {(row["a"], row["b"]): row for row in both["differences"] if row["metric"] == "goodput_down_mbit"}
    assert [pairs[f"{qdisc} (a)", f"{qdisc} (b)"]["difference"] for qdisc in ("codel", "sfq")] == [0, 0]
    same_names = findings.side_by_side(folders, ["a", "a"])[1]
    assert {qdisc for cells in same_names.values() for _, qdisc in cells} >= {"codel (a 1)", "codel (a 2)"}


def test_thinned_lines_keep_the_least_and_the_largest_and_gaps() -> None:
    values = np.sin(np.arange(100_000) / 50.0)
    values[[12_345, 77_777]] = 9.0, -9.0
    values[50_000:50_010] = math.nan
    kept = thin.thinned(values, 900)
    assert len(kept) <= 900 + 2
    assert {0, 99_999, 12_345, 77_777} <= set(kept.tolist())
    assert np.isnan(values[kept]).any()
    assert (np.diff(kept) > 0).all()
    assert thin.thinned(values[:10], 10).tolist() == list(range(10))
    frame = pl.DataFrame({"t_s": [0.0], "metric": ["x"], "name": ["n"], "direction": ["up"], "value": [None]})
    frame = frame.with_columns(pl.col("value").cast(pl.Float64))
    assert course.series(frame, metrics=[], points=4)[0].v == [None]
