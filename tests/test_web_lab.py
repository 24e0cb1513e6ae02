"""The laboratory in real browsers (web/tests/browser/lab.test.mjs)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sojourn import web_build
from tests import optional

WEB = Path(__file__).parents[1] / "web"

pytestmark = pytest.mark.slow


def test_the_laboratory_in_chromium_and_firefox(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules/puppeteer-core").is_dir():
        optional.WEB_TESTS.skip()
    page = web_build.built("index.html")
    if page is None:
        optional.WEB_PAGE.skip()
    browsers = {"CHROMIUM": optional.program("chromium"), "FIREFOX": optional.program("firefox-esr")}
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", "tests/browser/lab.test.mjs"],
        cwd=WEB,
        env={**os.environ, **browsers, "LAB": str(page.parent), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ℹ fail 0" in done.stdout
