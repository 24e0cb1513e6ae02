"""The action "bufferbloat regression": the shell that GitHub would run, with the inputs that a workflow would give."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.records import Json

FOLDER = Path(__file__).parents[1] / ".github/actions/bufferbloat-regression"
ACTION: Json = yaml.safe_load((FOLDER / "action.yml").read_text())
QUICK = {"options": "--rate=20mbit\n--duration=5s\n--workers=1", "repeat": "2"}


def judge(folder: Path, **options: str) -> subprocess.CompletedProcess[str]:
    """Run the step that compares, in a folder."""
    (step,) = (one for one in ACTION["runs"]["steps"] if "regression.py" in one.get("run", ""))
    inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in options.items()}
    # The interpreter that the step before has installed Sojourn for.
    python = folder / "sojourn/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)
        for name, text in step["env"].items()
    }
    environment |= {"RUNNER_TEMP": str(folder), "GITHUB_ACTION_PATH": str(FOLDER)}
    environment |= {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=os.environ | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_discipline_within_the_limit_passes_and_leaves_its_report(tmp_path: Path) -> None:
    done = judge(tmp_path, qdiscs="\nfq_codel\ncodel target 5ms\n", at_most="60", **QUICK)
    assert done.returncode == 0, done.stderr
    assert "::error::" not in done.stdout
    compared = json.loads((tmp_path / "bufferbloat/compare.json").read_text())
    assert [one["qdisc"] for one in compared["disciplines"]] == ["fq_codel", "codel target 5ms"]
    assert compared["seeds"] == [1, 2]
    assert (tmp_path / "bufferbloat/report.html").is_file()
    summary = (tmp_path / "summary.md").read_text()
    assert "induced_latency_ms is within its limits" in summary
    assert "| codel target 5ms |" in summary


def test_a_discipline_beyond_a_limit_fails_and_is_named(tmp_path: Path) -> None:
    done = judge(tmp_path, qdiscs="pfifo limit 1000\nfq_codel", at_most="60", at_least="0.001", **QUICK)
    assert done.returncode == 1, done.stderr
    (error,) = (line for line in done.stdout.splitlines() if line.startswith("::error::"))
    assert re.fullmatch(r"::error::pfifo limit 1000: induced_latency_ms is \d{3}\.\d\d, above 60", error)
    assert error.removeprefix("::error::") in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"at_most": "1", "metric": "lag"}, "--metric is lag, but must be one of goodput_up_mbit, "),
        ({"at_most": "1", "qdiscs": "fq_cuddle"}, "fq_cuddle"),
        ({}, "one of --at-most and --at-least must be given"),
        ({"at_most": "low"}, "argument --at-most: invalid number value: 'low'"),
    ],
)
def test_what_cannot_be_judged_is_an_error_of_its_own(tmp_path: Path, options: dict[str, str], sentence: str) -> None:
    done = judge(tmp_path, **{"qdiscs": "fq_codel"} | QUICK | options)
    assert done.returncode == 2
    assert sentence in done.stderr


@pytest.mark.parametrize("folder", sorted(FOLDER.parent.iterdir()), ids=lambda folder: folder.name)
def test_each_input_reaches_a_step_and_each_step_is_shell(folder: Path) -> None:
    text = (folder / "action.yml").read_text()
    action = yaml.safe_load(text)
    for name in action["inputs"]:
        assert f"${{{{ inputs.{name} }}}}" in text
    for line in (step["run"] for step in action["runs"]["steps"] if "run" in step):
        subprocess.run(["bash", "-n"], input=line, text=True, check=True)
