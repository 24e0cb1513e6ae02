"""What the tests share: the command line as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from sojourn.cli import main
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel, find
from sojourn.store.head import read_head, record_series
from tests import optional

# How long it takes to draw an example depends on the machine and on what else runs there, and on whether a table of all
# characters is in the cache: that is no property of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run `sojourn` in an empty folder and return what it printed."""

    def call(*words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "sojourn", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
            env={**os.environ, "PYTHONWARNINGS": "error"},
            check=False,
        )
        if status is not None:
            assert done.returncode == status, done.stderr
        return done

    return call


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `sojourn` in an empty folder within this process, which is quicker, and return what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        # A command is a process of its own, which remembers nothing that another folder of the same name held.
        read_head.cache_clear()
        record_series.cache_clear()
        try:
            # What an option puts into the environment ends with the command, too.
            with patch.dict(os.environ):
                found = main(words)
        except SystemExit as end:
            found = int(end.code or 0)
        captured = capsys.readouterr()
        if status is not None:
            assert found == status, captured.err
        return subprocess.CompletedProcess(words, found, captured.out, captured.err)

    return call


@cache
def _kernel(kind: str) -> Kernel | str:
    """Return a kernel of this machine, or why there is none."""
    try:
        return find(kind)
    except (ParamError, SojournError) as error:
        return str(error)


def kernel_or_skip(kind: str, need: optional.Need) -> Kernel:
    """Return a kernel of this kind, name or version; without one the test is skipped, and pytest says why."""
    found = _kernel(kind)
    if isinstance(found, str):
        need.skip(found)
    return found


#: Where pytest's cache has the tests that the last run skipped.
_SKIPPED = "sojourn/skipped"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--rest`."""
    parser.addoption("--rest", action="store_true", help="only slow tests, and those that the last run skipped")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what the last run did not do, if `--rest` is given."""
    if not config.getoption("--rest"):
        return
    # The name of a test, or of a file that was skipped as a whole.
    cache = getattr(config, "cache", None)
    before = set(cache.get(_SKIPPED, [])) if cache else set()
    left_out = [
        item
        for item in items
        if not (item.get_closest_marker("slow") or {item.nodeid, item.nodeid.partition("::")[0]} & before)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped for want of what, and which command provides it; note them for `--rest`."""
    # Taken from the reports, not from a counter, because tests may run in several processes.
    reports = terminalreporter.stats.get("skipped", [])
    if cache := getattr(terminalreporter.config, "cache", None):
        cache.set(_SKIPPED, sorted({report.nodeid for report in reports}))
    for line in optional.summary(str(report.longrepr[2]) for report in reports):
        terminalreporter.write_line(line)


@pytest.fixture
def virtual_kernel() -> Kernel:
    """The virtual-time kernel; without one the test is skipped, and pytest says why."""
    return kernel_or_skip("virtual", optional.KERNEL)


@pytest.fixture
def stock_kernel() -> Kernel:
    """The kernel of the package user-mode-linux, in real time, if it runs on this machine."""
    return kernel_or_skip("uml", optional.STOCK_KERNEL)


def assert_one_sentence(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check that a command refused its input the way all commands do."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("sojourn: ")
    assert "Traceback" not in done.stderr
    assert "bug in Sojourn" not in done.stderr
    for word in words:
        assert word in done.stderr


@cache
def _sojournd() -> Path | str:
    """Return the daemon's program, or why it cannot run here."""
    override = os.environ.get("SOJOURND")
    here = Path(__file__).parents[1]
    places = (
        [Path(override)] if override else [Path(sys.executable).parent / "sojournd", here / "target/debug/sojournd"]
    )
    program = next((place for place in places if os.access(place, os.X_OK)), None)
    if program is None:
        return "sojournd is not built: scripts/setup"
    with tempfile.TemporaryDirectory() as folder:
        words = [str(program), "bottleneck", "--control", f"{folder}/s", "--rate", "1mbit", "--", "true"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return program if done.returncode == 0 else f"sojournd cannot run here: {done.stderr.strip()}"


@pytest.fixture
def sojournd() -> Path:
    """The daemon, where this machine lets it make namespaces and TUN devices."""
    found = _sojournd()
    if isinstance(found, str):
        optional.REAL_PACKETS.skip(found)
    return found
