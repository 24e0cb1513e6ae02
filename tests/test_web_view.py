"""The dashboard and the report's plots in real browsers (web/tests/browser/view.test.mjs)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn import web_build
from tests import optional
from tests.hostile_store import make_hostile

WEB = Path(__file__).parents[1] / "web"
STUDY = """
title = "Two disciplines"
experiment = "rrul"
duration = "2s"
repeat = 2
quantities = ["goodput_down"]
[vary]
qdisc = ["pfifo_fast", "fq_codel"]
[[claims]]
says = "FQ-CoDel carries something."
of = "goodput_down"
at = { qdisc = "fq_codel" }
is = "> 1"
"""

pytestmark = pytest.mark.slow


def test_the_dashboard_in_chromium_and_firefox(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules/puppeteer-core").is_dir():
        optional.WEB_TESTS.skip()
    if web_build.built("view.html") is None or web_build.built("report/report.js") is None:
        optional.WEB_PAGE.skip()
    pytest.importorskip("starlette", reason=optional.VIEW.reason())
    browsers = {"CHROMIUM": optional.program("chromium"), "FIREFOX": optional.program("firefox-esr")}
    command = [sys.executable, "-m", "sojourn"]
    words = ["compare", "rrul", "--qdisc", "pfifo_fast", "--qdisc", "fq_codel", "--duration", "2s", "--repeat", "2"]
    both = tmp_path / "both"
    both.mkdir()
    (tmp_path / "study.toml").write_text(STUDY)
    for made in ([*words, "--out", "both/good"], ["study", "study.toml", "--out", "both/study"]):
        subprocess.run([*command, *made, "--no-sync"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    make_hostile(both / "good", tmp_path / "hostile")
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", "tests/browser/view.test.mjs"],
        cwd=WEB,
        env={
            **os.environ,
            **browsers,
            "SOJOURN": json.dumps(command),
            "VIEW_STORE": str(both / "good"),
            "VIEW_BOTH": str(both),
            "VIEW_HOSTILE": str(tmp_path / "hostile"),
            "VIEW_REPORT": str(both / "good/report.html"),
            "VIEW_STUDY": str(both / "study/report.html"),
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ℹ fail 0" in done.stdout
