"""Later builds understand and run what an earlier build did, in the same way (`tools/freeze.py` makes the file)."""

import json

import pytest

from tests import frozen

LINES = [json.loads(line) for line in frozen.FILE.read_text().splitlines()]


def test_the_file_has_enough_of_all() -> None:
    assert sum("record" in line for line in LINES) >= 250
    assert sum("refused" in line["sim"] for line in LINES) >= 150
    assert sum("linux" in line or "live" in line for line in LINES) >= 100


@pytest.mark.parametrize("place", range(0, len(LINES), 20))
def test_scenarios_are_understood_refused_and_run_as_before(place: int) -> None:
    for line in LINES[place : place + 20]:
        assert frozen.frozen_line(line["scenario"]) == line
