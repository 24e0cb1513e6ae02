"""The examples run, and every command that one shows is one that the parser takes; test_site.py has the documents."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn
from sojourn import sweep
from sojourn.cli.main import build_parser
from sojourn.scenario import Scenario
from sojourn.study import file

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def commands(text: str) -> Iterator[str]:
    """Yield the `sojourn` commands in the comments of an example."""
    lines = iter(re.sub(r"\\\n[# ]*", "", text).splitlines())
    yield from (found[1] for line in lines if (found := re.match(r"# {5}(sojourn .*)", line)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_has_what_it_measures(path: Path) -> None:
    keys = tomllib.loads(path.read_text())
    if "quantities" in keys:
        assert file.load(path).plan()
        return
    if "vary" in keys:
        cells = sweep.load(path).cells
        assert cells
        for cell in cells:
            cell.scenario.normalized()
        return
    run = sojourn.run(Scenario.from_toml(path), duration="20s")
    assert run.summary.rtt_ms.count > 0
    for flow in run.record.flows:
        assert flow.goodput_mbit > 0, flow.name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_command_that_is_shown_is_one_that_there_is(path: Path) -> None:
    for command in commands(path.read_text()):
        words = shlex.split(command, comments=True)[1:]
        try:
            build_parser().parse_args(words)
        except SystemExit:
            pytest.fail(f"{path.name}: {command}")


def test_commands_are_found_in_examples() -> None:
    shown = "#     sojourn run rrul \\\n#         --json\n\n#     sojourn list\n# `sojourn plot`\n"
    assert list(commands(shown)) == ["sojourn run rrul --json", "sojourn list"]
    assert all(list(commands(path.read_text())) for path in EXAMPLES)
