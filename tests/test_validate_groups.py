"""`sojourn validate trust`: the errors of each discipline and each congestion control."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.errors import SojournError
from sojourn.validate import errors, groups, metrics
from sojourn.validate.errors import Bars
from sojourn.validate.judge import Row
from sojourn.validate.part import FILE, Part, drawn_entries, load
from tests.records import Json
from tests.test_validate import cell, side

BARS = Bars(least_ms=10, latency=(0.02, 0.10), goodput=(0.005, 0.03), worst=10)


def row(number: int, qdisc: str, controls: tuple[str, ...], error: float) -> Row:
    """Return a made-up scenario: the kernel has 1 Mbit/s and the simulator so much more."""
    made = cell(f"trust 1.{number}")
    flows = tuple(replace(made.scenario.flows[0], name=f"tcp_{one}", congestion_control=one) for one in controls)
    made = replace(made, qdisc=qdisc, scenario=replace(made.scenario, flows=flows))
    return Row(cell=made, metric=metrics.JUDGED[1], sim=side(1 + error), kernel=side(1), judged=None)


def part_of(rows: list[Row], itself: errors.Itself) -> Part:
    """Return the part of these scenarios."""
    found = errors.errors_of(rows, BARS)
    return Part(
        name="trust, seed 1",
        command="",
        facts={},
        entries=drawn_entries("trust, seed 1", rows, found, errors.quantiles(found, BARS, itself)),
        scenarios={one.cell.name: one.cell.scenario.normalized() for one in rows},
        groups=groups.groups_of(found, itself),
    )


ROWS = [
    *(row(number, "codel", ("cubic",), 0.01) for number in range(1, 9)),
    *(row(number, "pie", ("bbr", "cubic"), 0.10) for number in range(9, 13)),
    *(row(number, "cake", ("bbr",), 0.30) for number in range(13, 17)),
]


def test_a_scenario_counts_for_its_discipline_and_each_of_its_controls() -> None:
    found = {one.name: one for one in groups.groups_of(errors.errors_of(ROWS, BARS), {})}
    assert list(found) == ["bbr", "cake", "codel", "cubic", "pie"]
    assert {name: one.quantiles[0].scenarios for name, one in found.items()} == {
        "bbr": 8,
        "cake": 4,
        "codel": 8,
        "cubic": 12,
        "pie": 4,
    }
    verdicts = {name: tuple(each.verdict for each in one.quantiles) for name, one in found.items()}
    # The bars are the usual 5 and 20 %, not those of the population.
    assert verdicts["codel"] == ("agrees", "agrees")
    assert verdicts["pie"] == ("differs", "agrees")
    assert verdicts["cake"] == ("differs", "differs")


def test_the_table_has_verdicts_where_a_bar_is_missed() -> None:
    itself = {"goodput_up_mbit": {f"trust 1.{number}": [0.4] for number in range(13, 17)}}
    heading, said, table = groups.blocks(part_of(ROWS, itself), 3)
    assert heading == "### trust, seed 1: errors of each discipline and control"
    assert "Of 5 pairs of quantiles 2 agree, 1 differ, and of 2 one cannot tell." in said
    cells = [[word.strip() for word in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert {name: value for name, _, value in cells} == {
        "bbr": "20.0 / 30.0 (40.0 / 40.0) cannot tell",
        "cake": "30.0 / 30.0 (40.0 / 40.0) cannot tell",
        "codel": "1.0 / 1.0",
        "cubic": "1.0 / 10.0",
        "pie": "10.0 / 10.0 differs",
    }


def test_a_part_has_its_groups_when_it_is_read_again(tmp_path: Path) -> None:
    made = part_of(ROWS, {})
    (tmp_path / FILE).write_text(made.to_json())
    assert load(tmp_path).groups == made.groups
    plain: Json = json.loads(made.to_json())
    plain["groups"][0]["quantiles"][0]["verdict"] = "perhaps"
    (tmp_path / FILE).write_text(json.dumps(plain))
    with pytest.raises(SojournError, match="verdict"):
        load(tmp_path)
