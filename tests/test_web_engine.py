"""The simulator in a browser makes the records of the command line, byte for byte.

Two numbers of a record are measured anew by each run: how long it took and how much memory it had. They are left out of
the comparison, on both sides.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sojourn import _native
from sojourn.cli.main import main
from sojourn.errors import ParamError
from sojourn.scenario import Scenario
from sojourn.validate import wifi_draw
from sojourn.validate.draw import TRUST, draw
from tests import optional
from tests.records import Json

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
#: Those that are scenarios; a plan of many runs has other keys.
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.toml")) if "repeat" not in tomllib.loads(path.read_text())
]
DRAWN, SEED = 100, 24
#: The two numbers that are measured: wall-clock time and peak memory.
MEASURED = re.compile(r'"(wall_s|peak_rss_mb)":[-+.e0-9]+')
BROWSERS = ["chromium", "firefox"]


def without_measured(record: str) -> str:
    """Leave out what no two runs have in common."""
    text, count = MEASURED.subn(r'"\1":0', record)
    assert count == 2
    return text


def run(where: str, scenarios: list[Json], folder: Path) -> list[Json]:
    """Run scenarios in Node or in a browser."""
    node = optional.program("node")
    needed = [WEB / "src/engine/pkg/sojourn_bg.wasm", WEB / "node_modules/vite/package.json"]
    if not all(path.is_file() for path in needed):
        optional.PAGES.skip()
    browser = [optional.program(where)] if where in BROWSERS else []
    file = folder / "scenarios.json"
    file.write_text(json.dumps(scenarios))
    command = [node, str(WEB / "tests/records.mjs"), where, str(file), *browser]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Json] = json.loads(done.stdout)
    return found


def toml(value: Any) -> str:
    """Spell a value of JSON as TOML."""
    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)} = {toml(one)}" for key, one in value.items() if one is not None]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return json.dumps(value)


def of_command_line(scenario: Json, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `sojourn run FILE --json` prints of a scenario."""
    file = folder / "scenario.toml"
    pairs = [f"{json.dumps(key)} = {toml(value)}" for key, value in scenario.items() if value is not None]
    file.write_text("\n".join(pairs) + "\n")
    assert main(["run", str(file), "--json"]) == 0
    return capsys.readouterr().out.removesuffix("\n")


def scenarios(drawn: int) -> list[Json]:
    """Return drawn scenarios of 2 s, a tenth as many cells, and the examples."""
    wired = [cell.scenario for cell in draw(TRUST, drawn, SEED)]
    cells = [cell.scenario for cell in wifi_draw.draw(max(1, drawn // 10), SEED)]
    files = [Scenario.from_toml(path) for path in EXAMPLES]
    short = [{**json.loads(one.normalized("sim")), "duration": "2s"} for one in [*wired, *cells]]
    return [*short, *(json.loads(one.normalized("sim")) for one in files)]


@pytest.mark.parametrize("where", ["node", *BROWSERS])
def test_a_hundred_scenarios_have_the_records_of_the_command_line(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = scenarios(DRAWN)
    found = run(where, plan, tmp_path)
    assert len(EXAMPLES) >= 4
    assert len(found) == len(plan) >= DRAWN
    for scenario, one in zip(plan, found, strict=True):
        assert "record" in one, (scenario["experiment"], one)
        there = without_measured(one["record"])
        assert there == without_measured(of_command_line(scenario, tmp_path, capsys)), scenario["experiment"]


def test_what_the_command_line_refuses_is_refused_with_its_sentence(tmp_path: Path) -> None:
    bad = [{"duration": "-1s"}, {"duration": "1s", "qdisc_up": "codel target"}, {"duration": "1s", "down": "0bit"}]
    found = run("node", bad, tmp_path)
    for scenario, one in zip(bad, found, strict=True):
        with pytest.raises(ParamError) as refused:
            _native.normalize(json.dumps(scenario))
        assert one == {"refused": str(refused.value)}
