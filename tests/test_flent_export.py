"""Runs as Flent's data files: what is in them, and what Flent itself makes of them.

Flent is the judge and an outside program: it is looked for in SOJOURN_FLENT, in the path and in `.flent-venv`.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn.cli.run import _DISCIPLINE
from sojourn.errors import ParamError
from sojourn.interop import flent
from sojourn.interop.flent.naming import naming
from sojourn.interop.flent.series import on_grid
from sojourn.store.cell import DisciplineRuns
from sojourn.store.run import Run
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json, run_of

ROOT = Path(__file__).parent.parent


@cache
def made(experiment: str = "rrul", **options: Any) -> Run:
    """Return a run, made once."""
    return sojourn.run(experiment, **{"duration": "10s", "qdisc": "pfifo limit 60", **options})


def body(run: Run) -> Json:
    content: Json = json.loads(gzip.decompress(flent.data_file(run).content))
    return content


def with_parts(run: Run, **parts: Any) -> Run:
    """Return a run whose record has something more."""
    return run_of(json.loads(run.text) | parts)


def voice(run: Run, direction: str = "up") -> Run:
    """Add a voice stream: each fifth packet of the second bin is lost, and delays rise by 1 ms a bin."""
    record = json.loads(run.text)
    times = record["series"]["t_s"]
    lost = [2 if place == 1 else 0 for place in range(len(times))]
    delays = [25.0 + place for place in range(len(times))]
    received = sum(10 - gone for gone in lost)
    mean = sum(delay * (10 - gone) for delay, gone in zip(delays, lost, strict=True)) / received
    record["probes"].append(
        {
            "name": "voip",
            "kind": "voip",
            "direction": direction,
            "codec": "g711",
            "bitrate_kbit": 64.0,
            "frame_ms": 20.0,
            "sent": 10 * len(times),
            "lost": 2,
            "base_delay_ms": 25.0,
            "delay_ms": {"count": received, "mean": mean},
            "jitter_ms": 0.4,
            "ipdv_ms": 0.5,
        }
    )
    record["scenario"]["probes"].append({"name": "voip", "kind": "voip", "rtt": "50ms"})
    record["series"]["voip"] = {
        "voip": {
            "t_s": times,
            "delay_ms": delays,
            "max_ms": delays,
            "sent": [10] * len(times),
            "lost": lost,
        }
    }
    return run_of(record)


def web(run: Run, clients: int = 1) -> Run:
    """Add web clients: a fetch of 150 ms each 200 ms."""
    fetches = [{"start_s": 0.2 * k, "dns_s": 0.05, "connect_s": 0.05, "time_s": 0.15 + 0.001 * k} for k in range(40)]
    mean = sum(fetch["time_s"] for fetch in fetches) / len(fetches)
    one = {
        "page": "google",
        "objects": 3,
        "bytes": 56000,
        "fetches": fetches,
        "completed": 40,
        "time_s": {"mean": mean},
    }
    return with_parts(run, web=[{"name": f"web_{k}", **one} for k in range(clients)])


CASES = {
    "rrul_be": lambda: made(),
    "tcp_1up": lambda: made("tcp_1up"),
    "tcp_1down": lambda: made("tcp_1down"),
    "tcp_bidirectional": lambda: made("bulk"),
    "tcp_nup": lambda: made("bulk", flows_up=3, flows_down=0),
    "tcp_ndown": lambda: made("bulk", flows_up=0, flows_down=2),
    "rrul_be_nflows": lambda: made("bulk", flows_up=2, flows_down=3),
    "ping": lambda: made("bulk", flows_up=0, flows_down=0),
    "rtt_fair_var_up": lambda: made("rtt_fairness"),
    "voip": lambda: voice(made("bulk", flows_up=0, flows_down=0)),
    "voip-1up": lambda: made("voip"),
    "voip-rrul": lambda: made("voip_rrul"),
    "http": lambda: made("web_idle"),
    "http-1up": lambda: made("web"),
    "http-rrul": lambda: made("web_rrul", duration="20s"),
}


@pytest.mark.parametrize("test", CASES)
def test_a_run_is_the_test_of_flent_that_it_is(test: str) -> None:
    assert body(CASES[test]())["metadata"]["NAME"] == test


def test_rrul_has_the_series_of_rrul_be() -> None:
    file = body(made())
    flows = {f"TCP {way} {mark}" for way in ("upload", "download") for mark in ("BE", "BE2", "BE3", "BE4")}
    sums = {f"TCP {way} {what}" for way in ("upload", "download") for what in ("avg", "sum")}
    pings = {"Ping (ms) ICMP", "Ping (ms) UDP BE1", "Ping (ms) avg"}
    assert set(file["results"]) == flows | sums | {"TCP totals"} | pings | {f"{flow}::tcp_cwnd" for flow in flows}


def test_all_series_are_as_long_as_the_grid_and_begin_with_the_flows() -> None:
    run = made()
    file = body(run)
    grid = file["x_values"]
    assert grid[:4] == [0.0, 0.2, 0.4, 0.6]
    assert grid[-1] == 20.0
    assert {len(values) for values in file["results"].values()} == {len(grid)}
    # Five seconds before the flows, as Flent's tests have them; probes begin two seconds before.
    flow = file["results"]["TCP upload BE"]
    assert flow[: grid.index(5.2)] == [None] * 26
    assert flow[grid.index(5.2) : grid.index(15.2)] == run.record.series.goodput_mbit["tcp_up_1"]
    assert flow[grid.index(15.2) :] == [None] * 25
    ping = file["results"]["Ping (ms) ICMP"]
    assert ping[: grid.index(3.0)] == [None] * 15
    assert None not in ping[grid.index(3.4) : grid.index(14.6)]


def test_means_are_those_of_the_record() -> None:
    run = made()
    record, meta = run.record, body(run)["metadata"]["SERIES_META"]
    assert meta["TCP upload BE"]["MEAN_VALUE"] == record.flows[0].goodput_mbit
    assert meta["TCP upload sum"]["MEAN_VALUE"] == pytest.approx(run.summary.goodput_up_mbit, rel=1e-6)
    assert meta["TCP download avg"]["MEAN_VALUE"] == pytest.approx(run.summary.goodput_down_mbit / 4, rel=1e-6)
    assert meta["Ping (ms) ICMP"]["MEAN_VALUE"] == record.probes[0].rtt_ms.mean
    assert meta["TCP upload BE"]["TCP_RETRANSMIT"] == record.flows[0].retransmissions


def test_raw_values_are_the_samples() -> None:
    run = made()
    file = body(run)
    begins = 946_771_205.0  # 2000-01-02T00:00:05Z, for seed 1
    sent = run.record.series.rtt["ping"]
    there = [(t, value) for t, value in zip(sent.t_s, sent.rtt_ms, strict=True) if value is not None]
    raw = file["raw_values"]["Ping (ms) ICMP"]
    assert [point["val"] for point in raw] == [value for _, value in there]
    assert [point["t"] - begins for point in raw] == pytest.approx([t for t, _ in there], abs=1e-6)
    assert file["metadata"]["T0"] == "2000-01-02T00:00:00.000000Z"


def test_the_same_run_gives_the_same_bytes_and_another_seed_another_date() -> None:
    one, again = (flent.data_file(sojourn.run("tcp_1up", duration="2s")) for _ in range(2))
    assert one == again
    assert one.content[4:8] == b"\0\0\0\0"
    other = flent.data_file(sojourn.run("tcp_1up", duration="2s", seed=10_002))
    assert re.match(r"tcp_1up-2000-01-03T000000\.000000\.", other.name)


def test_a_name_is_cut_and_holds_only_what_flent_allows() -> None:
    run = sojourn.run("tcp_1up", duration="1s", qdisc="codel target 7ms")
    made_file = flent.data_file(run, "ÄÖ/" * 200)
    assert len(made_file.name) == 250
    assert re.fullmatch(r"[A-Za-z0-9._-]+\.flent\.gz", made_file.name)
    assert "codel_limit_1000_target_7ms" in flent.data_file(run).name
    assert f".{_DISCIPLINE}__10_10_Mbit_s" in flent.data_file(sojourn.run("tcp_1up", duration="1s")).name


def test_disciplines_with_alike_names_get_files_of_their_own(tmp_path: Path) -> None:
    run = sojourn.run("tcp_1up", duration="1s")
    cells = [DisciplineRuns(link="10/10", qdisc=name, runs=(run,)) for name in ("a:b", "a/b")]
    assert len(set(flent.export(cells, tmp_path))) == 2
    with pytest.raises(ParamError, match="already"):
        flent.export(cells, tmp_path)
    flent.export(cells, tmp_path, force=True)


def test_interpolation_leaves_gaps_and_ends_alone() -> None:
    grid = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert on_grid([0.1, 0.3, 0.8], [1.0, 3.0, None], grid) == [None, pytest.approx(2.0), None, None, None, None]
    assert on_grid([], [], grid) == [None] * 6
    # Half-way between two samples that are 2.4 s apart, the nearest is more than a second away.
    assert on_grid([0.0, 2.4], [0.0, 2.4], [0.8, 1.2, 1.4]) == [pytest.approx(0.8), None, pytest.approx(1.4)]


def test_voice_has_the_series_of_flent() -> None:
    run = voice(made("tcp_1up"))
    file = body(run)
    assert {name for name in file["results"] if name.startswith("VoIP")} == {
        "VoIP",
        *(f"VoIP::{word}" for word in ("bitrate", "delay", "induced_delay", "jitter", "loss")),
    }
    grid = file["x_values"]
    at = grid.index(5.4)
    assert file["results"]["VoIP::bitrate"][at - 1 : at + 2] == pytest.approx([64.0, 51.2, 64.0])
    assert file["results"]["VoIP::loss"][at] == 2
    assert file["results"]["VoIP::induced_delay"][at] == 1.0
    raw = file["raw_values"]["VoIP"]
    assert len(raw) == 10 * 50 - 2
    meta = file["metadata"]["SERIES_META"]["VoIP"]
    assert (meta["PACKETS_SENT"], meta["PACKETS_RECEIVED"]) == (500, 498)
    assert "OWD_DOWN_MEAN" in body(voice(made("tcp_1up"), "down"))["metadata"]["SERIES_META"]["VoIP"]


def test_pages_are_in_milliseconds_at_their_end() -> None:
    file = body(web(made("tcp_1up")))
    first = file["raw_values"]["HTTP latency"][0]
    assert first["val"] == pytest.approx(150.0)
    assert first["t"] == pytest.approx(946_771_205.15)
    two = body(web(made("tcp_1up"), clients=2))
    assert {"HTTP latency::1", "HTTP latency::2"} <= set(two["results"])
    assert two["metadata"]["HTTP_GETTER_URLLIST"] == ["google", "google"]


def test_voice_under_load_is_what_its_record_says() -> None:
    run = made("voip_rrul")
    file = body(run)
    (probe,) = (probe for probe in run.record.probes if probe.kind == "voip")
    stored = run.record.series.voip["voip"]
    assert probe.lost > 0
    meta = file["metadata"]["SERIES_META"]
    assert (meta["VoIP"]["PACKETS_SENT"], meta["VoIP"]["PACKETS_RECEIVED"]) == (500, 500 - probe.lost)
    assert meta["VoIP::delay"]["MEAN_VALUE"] == probe.delay_ms.mean
    assert len(file["raw_values"]["VoIP"]) == 500 - probe.lost
    assert sum(value for value in file["results"]["VoIP::loss"] if value is not None) == probe.lost
    # 160 bytes each 20 ms.
    whole = [place for place, lost in enumerate(stored.lost) if lost == 0]
    rates = [value for value in file["results"]["VoIP::bitrate"] if value is not None]
    assert {round(rates[place], 9) for place in whole} == {64.0}


def test_paths_of_different_length_have_series_of_their_own() -> None:
    run = made("rtt_fairness")
    file = body(run)
    hosts = ["rtt-10ms", "rtt-50ms", "rtt-200ms", "rtt-500ms"]
    assert file["metadata"]["HOSTS"] == hosts
    meta = file["metadata"]["SERIES_META"]
    for flow, probe, host in zip(run.record.flows, run.record.probes, hosts, strict=True):
        assert meta[f"TCP upload BE {host}"]["MEAN_VALUE"] == flow.goodput_mbit
        assert meta[f"Ping (ms) ICMP {host}"]["MEAN_VALUE"] == probe.rtt_ms.mean


def test_probes_that_flent_does_not_know_keep_their_names() -> None:
    record = Run(text=made().text).record
    more = {"far": "icmp", "v": "poisson"}
    record.scenario["probes"] += [{"name": name, "kind": kind, "rtt": "50ms"} for name, kind in more.items()]
    assert naming(record).probes["far"] == "Ping (ms) ICMP far (extra)"
    assert "v" not in naming(record).probes


@pytest.mark.slow
def test_command_writes_a_file_for_each_run(cli: Cli, tmp_path: Path) -> None:
    cli("compare", "tcp_1up", "--qdisc", "pie", "--qdisc", "codel", "--repeat", "2", "--duration", "2s", "--out", "o")
    done = cli("export", "--flent", "o", "--out", "f")
    paths = [tmp_path / line for line in done.stdout.splitlines()]
    assert len(paths) == 4
    assert all(path.is_file() for path in paths)
    assert_one_sentence(cli("export", "--flent", "o", "--out", "f", status=2), "out", "already", "--force")
    cli("run", "tcp_1up", "--duration", "2s", "--out", "r")
    assert cli("export", "--flent", "r").stdout == cli("export", "--flent", "r/run.json", "--force").stdout


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["voip", "web", "rtt_fairness"])
def test_a_stored_run_gives_the_same_file_wherever_it_is_named(experiment: str, cli: Cli, tmp_path: Path) -> None:
    cli("compare", experiment, "--qdisc", "pie", "--repeat", "2", "--duration", "3s", "--out", "o")
    cli("run", experiment, "--qdisc", "pie", "--duration", "3s", "--out", "r")
    index = json.loads((tmp_path / "o" / "index.json").read_text())
    first, second = index["cells"][0]["runs"]

    def files(*words: str) -> list[bytes]:
        done = cli("export", "--flent", *words, "--out", "f", "--force")
        return [gzip.decompress((tmp_path / line).read_bytes()) for line in done.stdout.splitlines()]

    whole = files("o")
    assert len(whole) == 2
    for place, name in enumerate((first, second)):
        alone = files(f"o/runs/{name}")
        assert alone == files(f"o/runs/{name}/run.json")
        # A folder knows its disciplines by the names they were asked for by; everything else is the same.
        assert without_titles(alone[0]) == without_titles(whole[place])
    assert files("r") == files(f"o/runs/{first}")
    (tmp_path / "o" / "runs" / first / "series.parquet").unlink()
    assert_one_sentence(cli("export", "--flent", f"o/runs/{first}", "--out", "f", "--force", status=2), "not whole")


def without_titles(content: bytes) -> Json:
    """Return a data file without what its title decides."""
    file: Json = json.loads(content)
    for key in ("TITLE", "DATA_FILENAME"):
        del file["metadata"][key]
    return file


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "sojourn-run/9"}'])
def test_command_refuses_what_is_no_run(text: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    assert_one_sentence(cli("export", "--flent", "x.json", status=2), "x.json")
    assert_one_sentence(cli("export", "--flent", "nothing", status=2), "nothing")


# ---------------------------------------------------------------- Flent itself


def find_flent() -> str | None:
    """Return the program, if it is there."""
    beside = ROOT / ".flent-venv" / "bin" / "flent"
    return os.environ.get("SOJOURN_FLENT") or shutil.which("flent") or (str(beside) if beside.exists() else None)


@pytest.fixture
def run_flent(tmp_path: Path) -> Any:
    program = find_flent()
    if program is None:
        optional.FLENT.skip()

    def call(*words: str) -> str:
        home = {"HOME": str(tmp_path), "MPLBACKEND": "Agg", "TZ": "UTC"}
        done = subprocess.run(
            [program, *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            env={**os.environ, **home},
            check=False,
        )
        output = done.stdout + done.stderr
        # Flent reports success also where it could not read its input.
        assert done.returncode == 0, output
        assert not re.search(r"ERROR|Traceback|Missing|WARNING|Unable", output), output
        return output

    return call


def write(run: Run, folder: Path) -> str:
    one = flent.data_file(run)
    (folder / one.name).write_bytes(one.content)
    return one.name


def summary_means(output: str) -> dict[str, float]:
    """Return the means that `flent -f summary` has printed."""
    rows = re.findall(r"^ (\S.*?) +: +([-\d.]+) ", output, flags=re.MULTILINE)
    return {name: float(mean) for name, mean in rows}


@pytest.mark.parametrize("test", CASES)
def test_flent_finds_our_means(test: str, run_flent: Any, tmp_path: Path) -> None:
    run = CASES[test]()
    output = run_flent("-f", "summary", write(run, tmp_path))
    assert f"Summary of {test} test run" in output
    means = summary_means(output)
    names = naming(run.record)
    expected = {names.flows[flow.name]: flow.goodput_mbit for flow in run.record.flows}
    for probe in run.record.probes:
        if probe.name in names.probes:
            expected[names.probes[probe.name]] = probe.rtt_ms.mean
        else:
            expected["VoIP::delay"] = probe.delay_ms.mean
    for client in run.record.web or []:
        expected["HTTP latency"] = client.time_s.mean * 1000
    for way, word in (("up", "upload"), ("down", "download")):
        if f"TCP {word} sum" in means:
            expected[f"TCP {word} sum"] = getattr(run.summary, f"goodput_{way}_mbit")
    assert expected
    for name, value in expected.items():
        # Flent prints two decimals.
        assert means[name] == pytest.approx(value, rel=0.01, abs=0.005), name


PLOTS = {
    "rrul_be": ("all_scaled", "ping_cdf", "totals", "box_totals", "ellipsis", "tcp_cwnd"),
    "tcp_nup": ("totals",),
    "rrul_be_nflows": ("all_scaled",),
    "rtt_fair_var_up": ("all_scaled", "bar_fairness"),
    "voip-1up": ("totals_loss", "voip_mos_combine"),
    "voip-rrul": ("ping_delay",),
    "http-1up": ("totals",),
    "http-rrul": ("totals_delay",),
}


@pytest.mark.slow
@pytest.mark.parametrize("test", PLOTS)
def test_flent_draws_its_plots(test: str, run_flent: Any, tmp_path: Path) -> None:
    import matplotlib.image

    name = write(CASES[test](), tmp_path)
    for plot in PLOTS[test]:
        picture = tmp_path / f"{plot}.png"
        run_flent("-p", plot, "-o", str(picture), name)
        pixels = matplotlib.image.imread(picture)
        # Something is drawn between the axes, not only axes and words around.
        height, width = pixels.shape[:2]
        inside = pixels[height // 5 : height * 4 // 5, width // 5 : width * 3 // 4, :3]
        assert len({tuple(pixel) for pixel in inside.reshape(-1, 3)[::7]}) > 3, plot


def test_flent_says_what_the_runs_of_a_comparison_are(run_flent: Any, tmp_path: Path) -> None:
    both = sojourn.compare("tcp_1up", qdiscs=["pie", "codel target 7ms"], repeat=2, duration="3s")
    names = [path.name for path in flent.export(both.cells, tmp_path)]
    output = run_flent("-f", "summary", *names)
    assert output.count("Title: 'codel target 7ms, 10/10 Mbit/s, 50ms'") == 2
    assert output.count("test run from 2000-01-03 00:00:00") == 2
