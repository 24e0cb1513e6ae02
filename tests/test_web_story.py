"""The story in real browsers (web/tests/browser/story.test.mjs), and what its figures say against the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sojourn import web_build
from sojourn.stats.mos import effective_delay_ms, mos_cole_rosenbluth
from tests import optional
from tests.conftest import Cli
from tests.test_web_engine import toml

WEB = Path(__file__).parents[1] / "web"
BROWSERS = {"CHROMIUM": "chromium", "FIREFOX": "firefox-esr"}
#: The places of the slider of the third figure, of which the table has all.
BUFFERS = [5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 700, 1000, 1400, 2000]

pytestmark = pytest.mark.slow

Record = dict[str, Any]


def test_the_story_in_chromium_and_firefox(tmp_path: Path, cli: Cli) -> None:
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules/puppeteer-core").is_dir():
        optional.WEB_TESTS.skip()
    page = web_build.built("index.html")
    if page is None:
        optional.WEB_PAGE.skip()
    browsers = {key: optional.program(name) for key, name in BROWSERS.items()}
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", "tests/browser/story.test.mjs"],
        cwd=WEB,
        env={**os.environ, **browsers, "LAB": str(page.parent), "OUT": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ℹ fail 0" in done.stdout
    found = [json.loads((tmp_path / f"figures-{name}.json").read_text()) for name in ("chrome", "firefox")]
    assert found[0] == found[1]
    for name, figure in found[0].items():
        compare(name, figure, tmp_path, cli)


def compare(name: str, figure: Record, folder: Path, cli: Cli) -> None:
    """Check that a figure has the numbers of `sojourn run` with its scenarios, in its table and in its sentence."""
    records = [run(scenario, folder, cli) for scenario in figure["scenes"]]
    expected = [numbers(name, record) for record in records]
    rows = figure["rows"][1:]
    if name == "buffer":
        assert [row[0] for row in rows] in ([1000], BUFFERS)
        rows = [row for row in rows if row[0] == 1000]
    assert len(rows) == len(expected), name
    for row, values in zip(rows, expected, strict=True):
        assert [cell for cell in row if cell in values] == values, (name, row, values)
        for value in values:
            assert shown(value, percent=name == "wifi") in figure["says"], (name, value, figure["says"])


def run(scenario: Record, folder: Path, cli: Cli) -> Record:
    """Return the record of `sojourn run FILE --json`."""
    pairs = [f"{json.dumps(key)} = {toml(value)}" for key, value in scenario.items()]
    (folder / "scene.toml").write_text("\n".join(pairs) + "\n")
    record: Record = json.loads(cli("run", "scene.toml", "--json").stdout)
    return record


def numbers(name: str, record: Record) -> list[Any]:
    """Return what a figure says of a run, in the order of the table below it."""
    summary, up = record["summary"], record["bottleneck"]["up"]
    ping, sent = summary["rtt_ms"]["mean"] if summary["rtt_ms"]["count"] else None, summary["goodput_up_mbit"]
    match name:
        case "call" | "fair":
            return [ping, sent]
        case "house":
            induced = summary["induced_latency_ms"]
            return [induced, grade(induced), min(mos(stream) for stream in record["probes"] if "codec" in stream)]
        case "buffer":
            return [sent, ping]
        case "codel":
            return [up["sojourn_ms"]["mean"], up["drops"]["congestion"], sent]
        case "wifi":
            return [record["wifi"]["stations"][2]["airtime_share"], summary["goodput_down_mbit"]]
        case "l4s":
            return [record["flows"][0]["sojourn_ms"]["mean"], summary["goodput_down_mbit"]]
    raise AssertionError(name)


def grade(induced_ms: float) -> str:
    """Return the grade of the latency that load adds."""
    bounds = {"A+": 5, "A": 30, "B": 60, "C": 200, "D": 400}
    return next((letter for letter, below in bounds.items() if induced_ms < below), "F")


def mos(stream: Record) -> float:
    """Return the score of a voice stream."""
    felt = effective_delay_ms(stream["delay_ms"]["mean"], stream["ipdv_ms"] or 0.0)
    return mos_cole_rosenbluth(felt, stream["lost"] / stream["sent"])


def shown(value: Any, *, percent: bool) -> str:
    """Write a number as the page writes it in English."""
    if isinstance(value, str):
        return value
    if percent and value < 1:
        return f"{value:.0%}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):g}"
