"""What the tests share: the command line as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sojourn.cli import main

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
        try:
            found = main(words)
        except SystemExit as end:
            found = int(end.code or 0)
        said = capsys.readouterr()
        if status is not None:
            assert found == status, said.err
        return subprocess.CompletedProcess(words, found, said.out, said.err)

    return call


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
