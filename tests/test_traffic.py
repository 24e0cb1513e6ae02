"""Experiments with voice and web pages: what they run, what they print, what they measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn import experiments
from sojourn.experiments.pages import pages
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json


def built(name: str, **options: Any) -> Json:
    """Return the canonical scenario of a built-in experiment."""
    canonical = json.loads(experiments.find(name).make(**options).normalized())
    assert isinstance(canonical, dict)
    return canonical


def kinds(scenario: Json) -> list[str]:
    """Return the kinds of a scenario's probes."""
    return [probe["kind"] for probe in scenario["probes"]]


def test_pages_weigh_what_is_documented() -> None:
    weights = {name: (len(page.objects), sum(page.objects)) for name, page in pages().items()}
    assert weights == {
        "google": (3, 56_000),
        "huffpost": (110, 3_000_000),
        "wikipedia": (30, 720_000),
        "news": (71, 2_652_000),
    }


def test_experiments_have_the_traffic_of_the_paper() -> None:
    voip = built("voip")
    assert [flow["direction"] for flow in voip["flows"]] == ["up"]
    assert kinds(voip) == ["voip"]
    assert (voip["probes"][0]["direction"], voip["probes"][0]["bitrate"]) == ("up", "64kbit")
    with_rrul = built("voip_rrul")
    assert len(with_rrul["flows"]) == 8
    assert kinds(with_rrul) == ["icmp", "udp_rr", "voip"]
    for name, flows, probes in (("web", 1, []), ("web_rrul", 8, ["icmp", "udp_rr"]), ("web_idle", 0, [])):
        scenario = built(name, page="huffpost", cc="reno")
        assert (len(scenario["flows"]), kinds(scenario)) == (flows, probes)
        (client,) = scenario["web"]
        assert (client["page"], len(client["objects"]), client["workers"]) == ("huffpost", 110, 4)
        assert (client["interval"], client["congestion_control"]) == ("1s", "reno")
    assert built("web")["web"][0]["interval"] == "200ms"
    fair = built("rtt_fairness")
    assert [flow["rtt"] for flow in fair["flows"]] == ["10ms", "50ms", "200ms", "500ms"]
    assert [probe["rtt"] for probe in fair["probes"]] == ["10ms", "50ms", "200ms", "500ms"]
    transient = built("transient")
    assert (transient["duration"], transient["lead"], len(transient["flows"])) == ("25s", "5s", 8)
    assert built("transient", duration="7s")["duration"] == "7s"


def test_voice_measures_what_its_queue_does() -> None:
    """A FIFO of 127 frames at 10 Mbit/s is 154 ms long, and voice waits in it; in fq_codel it does not."""
    fifo = sojourn.run("voip", qdisc="pfifo limit 127", duration="30s")
    fair = sojourn.run("voip", qdisc="fq_codel", duration="30s")
    (slow,), (fast,) = fifo.record.probes, fair.record.probes
    assert slow.base_delay_ms == fast.base_delay_ms == 25
    assert 60 < slow.delay_ms.median - 25 < 154 + 2
    assert fast.delay_ms.p95 - 25 < 3
    assert slow.sent == 1500
    # The series: 150 bins of ten packets, whose mean is the mean.
    frame = fifo.series.filter(pl.col("name") == "voip")
    assert set(frame["direction"]) == {"up"}
    sent = frame.filter(pl.col("metric") == "voip_sent")["value"]
    assert (len(sent), sent.sum()) == (150, 1500)
    assert frame.filter(pl.col("metric") == "voip_lost")["value"].sum() == slow.lost
    assert "voip" not in fifo.record.series.rtt


def test_page_on_an_idle_link_takes_its_round_trips() -> None:
    """Look-up, handshake and document: 3 round trips; the second connection: 3 more, and the script beside it 2."""
    for cc in ("cubic", "reno"):
        fast = sojourn.run("web_idle", rate="1gbit", duration="10s", cc=cc)
        assert 0.3 <= fast.summary.page_fetch_s < 0.301
    slow = sojourn.run("web_idle", rate="10mbit", duration="10s").record.web[0]
    assert slow.completed == len(slow.fetches) > 25
    assert 0.3 < slow.time_s.max < 0.35
    assert all(fetch.dns_s == pytest.approx(0.05, abs=1e-6) for fetch in slow.fetches)


def test_large_page_on_a_slow_link_takes_its_serialisation() -> None:
    """3,033,000 bytes of answers in segments of 1448 in frames of 1514 bytes take 2.54 s at 10 Mbit/s."""
    least = 3_033_000 / 1448 * 1514 * 8 / 10e6
    run = sojourn.run("web_idle", rate="10mbit", page="huffpost", duration="60s")
    assert least < run.summary.page_fetch_s < 1.4 * least


def test_page_suffers_from_a_full_queue_and_not_from_a_fair_one() -> None:
    idle, full, fair = (
        sojourn.run(name, qdisc=qdisc, duration="30s").summary.page_fetch_s
        for name, qdisc in (("web_idle", "fq_codel"), ("web", "pfifo limit 127"), ("web", "fq_codel"))
    )
    # At least six round trips, each longer by most of the time that the queue upstream takes.
    assert full > idle + 6 * 0.06
    assert fair < 1.25 * idle


def test_goodput_does_not_count_pages_and_voice() -> None:
    run = sojourn.run("web_idle", duration="5s")
    assert (run.summary.goodput_up_mbit, run.summary.goodput_down_mbit) == (0, 0)
    assert run.record.bottleneck["down"].bytes > 500_000


def test_run_prints_pages_and_voice(cli: Cli) -> None:
    web = cli("run", "web", "--duration", "5s", "--page", "google").stdout
    assert "google" in web
    assert "time mean (s)" in web
    voip = cli("run", "voip", "--duration", "5s").stdout
    assert "jitter" in voip
    assert "g711" in voip
    assert "no echo probes" in voip
    assert "huffpost" in cli("list", "pages").stdout


def test_compare_shows_pages_and_voice(cli: Cli, tmp_path: Path) -> None:
    words = ("--qdisc", "fq_codel", "--qdisc", "pfifo limit 127", "--duration", "4s", "--repeat", "2")
    shown = cli("compare", "web", *words, "--page", "google", "--out", "web").stdout
    assert "page fetch (s)" in shown
    assert "voice" not in shown
    assert "page fetch (s)" in (tmp_path / "web" / "report.html").read_text(encoding="utf-8")
    assert "page fetch (s)" in (tmp_path / "web" / "table.md").read_text(encoding="utf-8")
    found = json.loads(cli("compare", "voip_rrul", *words, "--json").stdout)
    summary = found["disciplines"][0]["summary"]
    assert summary["voip_delay_ms"]["n"] == 2
    assert "page_fetch_s" not in summary


def test_page_is_checked(cli: Cli) -> None:
    assert_one_sentence(cli("run", "web", "--page", "altavista", status=2), "page", "altavista", "google", "huffpost")
    assert_one_sentence(cli("run", "rrul", "--page", "google", status=2), "page", "google", "web_rrul")
    assert_one_sentence(cli("run", "rtt_fairness", "--rtt", "20ms", status=2), "rtt", "20ms")
    assert_one_sentence(cli("run", "web", "--flows-up", "2", status=2), "flows-up", "bulk")


def test_file_may_hold_voice_and_pages(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'duration = "4s"\n[[probes]]\nname = "call"\nkind = "voip"\ncodec = "opus"\ndirection = "down"\n'
        '[[web]]\nname = "browser"\nobjects = [9000, 100]\nworkers = 2\nthink_time = "3ms"\n',
        encoding="utf-8",
    )
    record = json.loads(cli("run", "mine.toml", "--cc", "reno", "--json").stdout)
    assert (record["probes"][0]["codec"], record["probes"][0]["sent"]) == ("opus", 200)
    assert record["scenario"]["web"][0]["congestion_control"] == "reno"
    assert record["web"][0]["completed"] > 5
    again = sojourn.run(sojourn.Scenario.from_json(json.dumps(record["scenario"])))
    assert json.loads(again.text)["web"] == record["web"]
    assert json.loads(again.text)["series"] == record["series"]
