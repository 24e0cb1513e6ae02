"""What the README shows works."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from sojourn.cli.main import build_parser
from tests.conftest import Cli

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_python_snippets_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["run"].record["seed"] == 1
    assert names["packet"].sojourn_ns == 5_000_000


def test_toml_experiment_runs(cli: Cli, tmp_path: Path) -> None:
    found = re.search(r'(    duration = "30s".*?)\n\n## From Python', README, flags=re.DOTALL)
    assert found
    (tmp_path / "mine.toml").write_text(textwrap.dedent(found[1]))
    assert "backup" in cli("run", "mine.toml").stdout


def commands() -> list[str]:
    """Return the commands of the README, continued lines joined."""
    text = README.replace("\\\n", " ")
    text = re.sub(r" +#.*", "", text)
    return re.findall(
        r"^ +sojourn ((?:run|compare|sweep|reproduce|list|plot|report|export|import|kernel|validate|tune).*)$",
        text,
        flags=re.MULTILINE,
    )


@pytest.mark.parametrize("command", commands())
def test_commands_are_understood(command: str) -> None:
    import shlex

    if "COMMAND" not in command:
        assert build_parser().parse_args(shlex.split(command)).command == command.split()[0]
