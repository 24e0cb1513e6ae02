"""The commands as a user runs them: what they print, what they write, and that they do it again the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from sojourn import _native
from sojourn.cli.catalogue import catalogue
from sojourn.errors import ParamError
from sojourn.store import frames, metrics
from sojourn.store.run_store import RunStore
from tests.conftest import Cli
from tests.records import Json

SHORT = ("--duration", "3s")

SUMMARY = {
    "goodput_up_mbit": float,
    "goodput_down_mbit": float,
    "induced_latency_ms": float,
    "probe_loss": float,
    "jain_up": float,
    "jain_down": float,
    "rtt_ms": dict,
}
RTT = {"count", "mean", "median", "p5", "p95", "p99", "min", "max"}
FLOW = {
    "name": str,
    "kind": str,
    "direction": str,
    "congestion_control": str,
    "base_rtt_ms": float,
    "goodput_mbit": float,
    "segments_sent": int,
    "retransmissions": int,
    "timeouts": int,
}
COST = {"events": int, "packets": int, "wall_s": float, "sim_s": float, "peak_rss_mb": float}


def has_fields(found: Json, fields: dict[str, type]) -> bool:
    """Tell whether every field is there with its type; a whole number is a number too."""
    return all(isinstance(found[name], (kind, int) if kind is float else kind) for name, kind in fields.items())


def test_record_has_the_fields_of_the_contract(cli: Cli) -> None:
    done = cli("run", "rrul", *SHORT, "--json", "--seed", "3")
    record = json.loads(done.stdout)
    assert list(record)[:1] == ["format"]
    assert (record["format"], record["experiment"], record["backend"], record["seed"]) == (
        "sojourn-run/1",
        "rrul",
        "sim",
        3,
    )
    assert has_fields(record["summary"], SUMMARY)
    assert set(record["summary"]["rtt_ms"]) >= RTT
    assert len(record["flows"]) == 8
    assert all(has_fields(flow, FLOW) for flow in record["flows"])
    assert [flow["name"] for flow in record["flows"]][:4] == ["tcp_up_1", "tcp_up_2", "tcp_up_3", "tcp_up_4"]
    assert set(record["bottleneck"]) == {"up", "down"}
    for end in record["bottleneck"].values():
        assert end["qdisc"].startswith("fq_codel")
        assert {"queue_limit", "congestion"} <= set(end["drops"])
        assert {"mean", "max"} <= set(end["backlog_packets"])
        assert {"mean", "p95", "max"} <= set(end["sojourn_ms"])
        assert has_fields(end, {"packets": int, "bytes": int, "marks": int})
    assert has_fields(record["cost"], COST)
    assert record["cost"]["sim_s"] >= 3
    assert record["scenario"]["duration"] == "3s"


def test_physics_of_a_run(cli: Cli) -> None:
    summary = json.loads(cli("run", "rrul", "--qdisc", "pfifo limit 127", "--duration", "20s", "--json").stdout)[
        "summary"
    ]
    # 10 Mbit/s of 1514-byte frames carry at most 10 * 1448 / 1514 Mbit/s of payload.
    limit = 10 * 1448 / 1514
    assert 0.7 * limit < summary["goodput_up_mbit"] <= limit
    assert 0.7 * limit < summary["goodput_down_mbit"] <= limit
    assert summary["rtt_ms"]["min"] >= 50.0
    # 127 full packets take 153.8 ms in each direction.
    assert 20 < summary["induced_latency_ms"] < 2 * 127 * 1514 * 8 / 10e6 * 1000
    assert summary["induced_latency_ms"] == pytest.approx(summary["rtt_ms"]["mean"] - 50.0, abs=1e-6)


def test_same_seed_gives_the_same_record_but_for_its_cost(cli: Cli) -> None:
    one, other = (json.loads(cli("run", "rrul", *SHORT, "--json").stdout) for _ in range(2))
    for record in (one, other):
        record["cost"].pop("wall_s")
        record["cost"].pop("peak_rss_mb")
    assert json.dumps(one) == json.dumps(other)
    third = json.loads(cli("run", "rrul", *SHORT, "--json", "--seed", "2").stdout)
    assert third["flows"] != one["flows"]


def test_run_prints_a_table(cli: Cli) -> None:
    done = cli("run", "tcp_1down", *SHORT, "--qdisc", "codel", "--cc", "reno")
    assert "tcp_1down" in done.stdout
    assert re.search(r"induced latency, mean +\d", done.stdout)
    assert re.search(r"tcp_down_1 +reno", done.stdout)
    assert "simulated" in done.stderr
    assert "simulated" not in done.stdout


def test_run_writes_what_redoes_it(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "bulk", "--flows-up", "2", "--flows-down", "1", *SHORT, "--out", "o", "--json")
    assert (tmp_path / "o/run.json").read_text() == done.stdout
    assert dict(pl.read_parquet(tmp_path / "o/series.parquet").schema) == frames.SERIES_SCHEMA
    flows = pl.read_parquet(tmp_path / "o/flows.parquet")
    assert flows["name"].to_list() == ["tcp_up_1", "tcp_up_2", "tcp_down_1"]
    written = ["flows.parquet", "folder.json", "run.json", "series.parquet"]
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == written
    again = cli("run", "bulk", "--flows-up", "2", "--flows-down", "1", *SHORT, "--out", "o", "--json", "--force")
    assert json.loads(again.stdout)["flows"] == json.loads(done.stdout)["flows"]


def test_force_leaves_foreign_files_alone(cli: Cli, tmp_path: Path) -> None:
    cli("run", "bulk", *SHORT, "--out", "o")
    (tmp_path / "o/notes.txt").write_text("mine")
    cli("compare", "bulk", *SHORT, "--qdisc", "codel", "--repeat", "1", "--out", "o", "--force")
    assert (tmp_path / "o/notes.txt").read_text() == "mine"
    assert not (tmp_path / "o/run.json").exists()


def test_file_is_an_experiment(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        """
        duration = "2s"
        up = "2mbit"
        down = "20mbit"
        qdisc_up = "codel"
        [[flows]]
        name = "upload"
        kind = "tcp"
        direction = "up"
        congestion_control = "reno"
        [[probes]]
        name = "ping"
        kind = "icmp"
        interval = "100ms"
        size = 98
        """
    )
    record = json.loads(cli("run", "mine.toml", "--json").stdout)
    assert record["experiment"] == "mine"
    assert record["scenario"]["up"] == "2mbit"
    assert [flow["name"] for flow in record["flows"]] == ["upload"]
    changed = json.loads(cli("run", "mine.toml", "--json", "--up", "1mbit", "--cc", "cubic", "--seed", "9").stdout)
    assert changed["scenario"]["up"] == "1mbit"
    assert changed["seed"] == 9
    assert changed["flows"][0]["congestion_control"] == "cubic"
    assert changed["summary"]["goodput_up_mbit"] < 1 < record["summary"]["goodput_up_mbit"]


def test_repeated_run_prints_one_object(cli: Cli) -> None:
    found = json.loads(cli("run", "tcp_1up", *SHORT, "--repeat", "3", "--json").stdout)
    assert found["format"] == "sojourn-compare/1"
    assert found["seeds"] == [1, 2, 3]
    assert len(found["disciplines"][0]["runs"]) == 3


def test_what_was_not_measured_has_no_value(cli: Cli) -> None:
    words = ("voip", "--duration", "1s", "--repeat", "2", "--workers", "1")
    [row] = [line.split("  ") for line in cli("compare", *words, "--qdisc", "codel").stdout.splitlines()][4:5]
    assert [cell.strip() for cell in row if cell.strip()][3:7] == ["-", "-", "1.000 [1.000, 1.000]", "-"]
    [one] = json.loads(cli("compare", *words, "--qdisc", "codel", "--json").stdout)["disciplines"]
    for metric in ("induced_latency_ms", "rtt_p95_ms", "jain_down", "probe_loss"):
        assert one["summary"].get(metric, {"n": 0, "mean": None})["mean"] is None
    assert one["summary"]["jain_up"]["mean"] == 1.0
    assert re.search(r"^fairness \(Jain\) +1\.000 +-$", cli("run", "voip", "--duration", "1s").stdout, re.MULTILINE)


def test_a_run_says_what_its_flusher_did(cli: Cli, tmp_path: Path) -> None:
    flow = '[[flows]]\nname = "one"\ndirection = "up"\n'
    (tmp_path / "x.toml").write_text(f'duration = "20s"\nup = "5mbit"\nqdisc_up = "pfifo limit 200"\n{flow}[flusher]\n')
    text = cli("run", str(tmp_path / "x.toml")).stdout
    found = json.loads(cli("run", str(tmp_path / "x.toml"), "--json").stdout)["flusher"]
    assert found["flushes"] > 0
    sums = f"flusher at {found['at']}, {found['mode']}: {found['flushes']} flushes, {found['packets']:,} packets"
    assert sums in text


def test_compare_is_the_same_with_any_number_of_workers(cli: Cli) -> None:
    words = ("compare", "rrul", "--qdisc", "pfifo", "--qdisc", "fq_codel", "--repeat", "2", *SHORT, "--json")
    assert cli(*words, "--workers", "1").stdout == cli(*words, "--workers", "2").stdout


@pytest.mark.slow
def test_compare_writes_table_figures_and_report(cli: Cli, tmp_path: Path) -> None:
    words = ("--qdisc", "pfifo limit 127", "--qdisc", "fq_codel", "--repeat", "3", "--duration", "5s", "--seed", "7")
    done = cli("compare", "rrul", *words, "--out", "o")
    assert re.search(r"pfifo limit 127 .*\d\.\d\d \[\d+\.\d\d, \d+\.\d\d\]", done.stdout)
    folder = tmp_path / "o"
    found = json.loads((folder / "compare.json").read_text())
    assert found["seeds"] == [7, 8, 9]
    fifo, fair = (one["summary"]["induced_latency_ms"] for one in found["disciplines"])
    assert fair["low"] <= fair["mean"] <= fair["high"] < fifo["low"]
    gap = next(one for one in found["differences"] if one["metric"] == "induced_latency_ms")
    assert (gap["a"], gap["b"], gap["verdict"]) == ("pfifo limit 127", "fq_codel", "lower")
    assert len(list((folder / "runs").glob("*/run.json"))) == 6
    assert dict(pl.read_parquet(folder / "runs.parquet").schema) == metrics.RUN_SCHEMA
    assert (folder / "figures/ellipse.svg").read_bytes().startswith(b"<?xml")
    assert (folder / "figures/ellipse.png").read_bytes().startswith(b"\x89PNG")
    assert "induced latency" in (folder / "table.md").read_text()
    assert (folder / "report.html").stat().st_size > 50_000
    for figure in ("ellipse", "timeseries", "cdf"):
        cli("plot", figure, "o", "--out", f"{figure}.svg")
        assert (tmp_path / f"{figure}.svg").stat().st_size > 5_000
    assert (tmp_path / "ellipse.svg").read_bytes() == (folder / "figures/ellipse.svg").read_bytes()
    cli("report", "o", "--out", "again.html")
    assert (tmp_path / "again.html").read_text() == (folder / "report.html").read_text()
    assert "there already" in cli("plot", "cdf", "o", "--out", "cdf.svg", status=2).stderr


def test_plot_takes_a_single_run(cli: Cli, tmp_path: Path) -> None:
    cli("run", "tcp_1up", *SHORT, "--out", "o")
    cli("plot", "timeseries", "o", "--out", "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_list_shows_everything(cli: Cli) -> None:
    shown = cli("list").stdout
    for experiment in ("rrul", "bulk", "tcp_1up", "tcp_1down", "voip", "voip_rrul", "web", "rtt_fairness", "transient"):
        assert experiment in shown
    presets = [f"gbw:{name}" for name in ("pfifo_fast", "ared", "pie", "codel", "sfq", "fq_codel", "fq_nocodel")]
    for name in [*presets, "cubic", "reno", "1mbit", "10mbit", "100mbit", "target", "interval"]:
        assert name in shown
    found = json.loads(cli("list", "--json").stdout)
    assert set(found) == {"experiments", "pages", "qdiscs", "presets", "cc", "linux"}
    assert set(presets) <= {one["name"] for one in found["presets"]}
    codel = next(one for one in found["presets"] if one["name"] == "gbw:codel")
    assert "13ms" in codel["expands"]["1mbit"]
    assert "5ms" in codel["expands"]["10mbit"]
    kinds = {one["kind"] for one in found["qdiscs"]}
    assert kinds >= {"pfifo", "red", "pie", "codel", "sfq", "fq_codel"}
    assert cli("list", "cc").stdout.strip().startswith("Congestion controls")


def test_what_is_listed_for_linux_is_taken_there_and_refused_by_the_simulator() -> None:
    only = catalogue().linux
    texts: list[dict[str, object]] = [{"qdisc_up": one["kind"]} for one in only.qdiscs]
    texts += [{"qdisc_up": one["text"]} for one in only.words]
    for one in only.cc:
        texts.append({"flows": [{"name": "a", "direction": "up", "congestion_control": one["name"]}]})
    assert len(texts) == 2
    for part in texts:
        text = json.dumps({"duration": "1s", **part})
        _native.normalize(text, "linux")
        with pytest.raises(ParamError, match="use the linux back end"):
            _native.normalize(text, "sim")


def test_version(cli: Cli) -> None:
    assert re.fullmatch(r"sojourn \d+\.\d+\.\d+\n", cli("--version").stdout)


def test_interrupt_leaves_whole_files_only(tmp_path: Path) -> None:
    words = ["compare", "rrul", "--qdisc", "fq_codel", "--repeat", "400", "--duration", "20s", "--out", "o"]
    command = subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    deadline = time.monotonic() + 120
    # A run that is being written has a name with a dot, and is not there yet.
    while len(list(tmp_path.glob("o/runs/[!.]*/run.json"))) < 2:
        assert time.monotonic() < deadline
        assert command.poll() is None
        time.sleep(0.02)
    os.killpg(command.pid, signal.SIGINT)
    printed, talk = command.communicate(timeout=60)
    assert command.returncode == 130
    assert printed == ""
    assert "Traceback" not in talk
    assert talk.strip().splitlines()[-1].startswith("sojourn: interrupted")
    assert "goes on from there" in talk
    assert not [path for path in (tmp_path / "o").rglob("*") if path.name.startswith(".")]
    store = RunStore(tmp_path / "o/runs")
    runs = [store.get(name) for name in store.ids()]
    assert len(runs) >= 2
    assert all(run.record.series.t_s[-1] == pytest.approx(20) for run in runs)
    with pytest.raises(ProcessLookupError):
        os.killpg(command.pid, 0)


def test_interrupt_ends_a_single_run_at_once(tmp_path: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "run", "rrul", "--rate", "1gbit", "--duration", "2000s", "--out", "o"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.5)
    assert command.poll() is None
    command.send_signal(signal.SIGINT)
    printed, talk = command.communicate(timeout=10)
    assert (command.returncode, printed) == (130, "")
    assert talk.strip().splitlines()[-1].startswith("sojourn: interrupted")
    assert list((tmp_path / "o").iterdir()) == []
