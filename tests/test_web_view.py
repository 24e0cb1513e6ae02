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
    made = [*command, *words, "--no-sync", "--out", "good"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    make_hostile(tmp_path / "good", tmp_path / "hostile")
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", "tests/browser/view.test.mjs"],
        cwd=WEB,
        env={
            **os.environ,
            **browsers,
            "SOJOURN": json.dumps(command),
            "VIEW_STORE": str(tmp_path / "good"),
            "VIEW_HOSTILE": str(tmp_path / "hostile"),
            "VIEW_REPORT": str(tmp_path / "good/report.html"),
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ℹ fail 0" in done.stdout
