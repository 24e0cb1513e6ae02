"""The hostile inputs of `python -m tests.hostile`, a few of them; and that it finds what it looks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hostile import judge

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_a_few_hostile_inputs_end_as_they_should() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile", "--seed", "11", "--count", "30"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        r"^hostile: seed 11, 30 inputs in \d+ s: 0 internal errors, 0 tracebacks, 0 hangs, ", done.stdout, re.M
    )


def _end(folder: Path, status: int | None, errors: str = "", output: str = "") -> list[str]:
    """Return the faults of a case that ended so."""
    folder.mkdir(exist_ok=True)
    (folder / "errors").write_text(errors)
    (folder / "said").write_text(output)
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    found = None
    if status is not None:
        os.waitpid(pid, 0)
        found = status
    return [fault.what for fault in judge.finished(judge.Running(number=0, folder=folder, pid=pid, until=0.0), found)]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    folder = tmp_path / "case"
    folder.mkdir()
    judge._plant(folder)
    return folder


@pytest.mark.parametrize(
    ("status", "errors", "output", "faults"),
    [
        (0, "", "fine", []),
        (2 << 8, "sojourn: it cannot be\n", "", []),
        (2 << 8, "", "", [judge.SILENT]),
        (2 << 8, "sojourn: " + "no" * 2000, "", [judge.SILENT]),
        (None, "", "", [judge.HANG]),
        (6, "", "", [judge.ABORT]),
        (97 << 8, "", "", [judge.STATUS]),
        (2 << 8, "sojourn: this is a bug in Sojourn, please", "", [judge.INTERNAL]),
        (1 << 8, "Traceback (most recent call last)\n", "", [judge.TRACEBACK]),
        (0, "thread 'main' panicked at x.rs\n", "", [judge.TRACEBACK]),
        (0, "", "a\x1b[2Jb", [judge.STEERS]),
        (0, "\u202e", "", [judge.STEERS]),
    ],
)
def test_what_must_not_be_is_found(status: int | None, errors: str, output: str, faults: list[str], case: Path) -> None:
    assert _end(case, status, errors, output) == faults


def test_what_waits_hangs_and_what_has_no_processor_does_not(tmp_path: Path) -> None:
    for code, hangs in (("import time; time.sleep(60)", True), ("while True: pass", False)):
        with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
            time.sleep(1)
            one = judge.Running(number=0, folder=tmp_path, pid=process.pid, until=time.monotonic())
            found = judge.hangs(one, time.monotonic())
            late = judge.hangs(one, time.monotonic() + judge.BUSY_LIMIT_S)
            process.kill()
        assert (found, late) == (hangs, True)


@pytest.mark.parametrize("name", [*judge.PRECIOUS, "keep/runs", "dangling", "fifo"])
def test_a_lost_file_is_found(name: str, case: Path) -> None:
    (case / name).unlink()
    assert _end(case, 0) == [judge.LOST]
    (case / name).write_text("another")
    assert _end(case, 0) == [judge.LOST]
