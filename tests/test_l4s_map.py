"""The atlas of L4S beside classic flows: its plan, its verdicts by hand, its rules, and the command."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

import pytest

from sojourn import _native
from sojourn.cli.main import main
from sojourn.errors import ParamError
from sojourn.l4s.cells import BOTTLENECKS, BUFFERED, CELLS, SENDERS, qdisc, read_pair, scenario
from sojourn.l4s.outcome import JudgedCell, judged
from sojourn.l4s.planes import AXES, FIELDS, PLANES, plan
from sojourn.l4s.report import TITLES, document, rows
from sojourn.l4s.rules import Count, rule
from sojourn.study.cell import Cell, Observation


def run(share: float, *, seed: int = 1, utilisation: float = 0.9) -> Observation:
    """Return a run in which an L4S flow has this share, per cent."""
    return Observation(
        seed=seed,
        l4s_mbit=share,
        classic_mbit=100 - share,
        share=share,
        l4s_queue_ms=1.0,
        classic_queue_ms=None,
        utilisation=utilisation,
        retransmissions=2,
        marks=3,
    )


def found(cell: Cell, *shares: float, utilisation: float = 0.9) -> JudgedCell:
    """Return a cell with runs of these shares."""
    return judged(cell, [run(share, seed=seed, utilisation=utilisation) for seed, share in enumerate(shares, start=1)])


CELL = CELLS("prague", "cubic", "fifo")


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        # A ratio of 2 is a share of 66.7 %, one of 10 is 90.9 %.
        ((50.0,), "alike"),
        ((66.6,), "alike"),
        ((66.7,), "classic has less"),
        ((90.9,), "classic has less"),
        ((91.0,), "classic starves"),
        ((33.4,), "alike"),
        ((33.3,), "L4S has less"),
        ((9.0,), "L4S starves"),
        ((50.0, 50.1, 49.9), "alike"),
        ((70.0, 70.1, 69.9), "classic has less"),
        ((95.0, 95.1, 94.9), "classic starves"),
        ((5.0, 5.1, 4.9), "L4S starves"),
        # Student's interval of 60 and 72 is +-76 points.
        ((60.0, 72.0), "cannot tell"),
    ],
)
def test_a_verdict_is_of_the_whole_interval(shares: tuple[float, ...], verdict: str) -> None:
    assert found(CELL, *shares).verdict == verdict


def test_a_link_that_is_not_filled_has_no_verdict_of_shares() -> None:
    assert found(CELL, 99.0, utilisation=0.59).verdict == "not filled"
    assert found(CELL, 99.0, utilisation=0.60).verdict == "classic starves"


def test_an_interval_of_a_share_stays_one_of_a_share() -> None:
    share = found(CELL, 90.0, 99.0).share
    assert share.low == 37.32 or (share.low is not None and 30 < share.low < 40)  # 94.5 - 12.706 * 4.5
    assert share.high == 100.0


def test_buffers_are_those_of_the_longer_round_trip() -> None:
    cell = CELLS("prague", "cubic", "fifo", rate_mbit=100, l4s_rtt_ms=5, classic_rtt_ms=30, buffer_bdp=2)
    # 100 Mbit/s for 30 ms are 375,000 bytes; twice that are 500 packets of 1500.
    assert qdisc(cell) == "bfifo limit 750000"
    assert qdisc(cell.replaced(bottleneck="codel")) == "codel limit 500 ecn"
    assert qdisc(cell.replaced(rate_mbit=1, l4s_rtt_ms=1, classic_rtt_ms=1)) == "bfifo limit 15000"


def test_every_bottleneck_and_sender_makes_a_scenario() -> None:
    known = _native.congestion_controls()
    for name, (l4s, classic) in product(BOTTLENECKS, [("cubic", "cubic-ecn"), ("reno", "bbr")]):
        cell = CELLS(l4s, classic, name, l4s_flows=2, interval_ms=2.0)
        plain = json.loads(scenario(cell, duration="5s", seed=7).normalized())
        assert [flow["congestion_control"] for flow in plain["flows"]] == [SENDERS[l4s].control] * 2 + [
            SENDERS[classic].control
        ]
        assert plain["service_interval_up"] == "2ms"
    assert {sender.control for sender in SENDERS.values()} <= {*known}
    assert {*TITLES} == {*BOTTLENECKS}


def test_bbr3_with_ecn_is_told_that_marks_are_shallow_and_the_others_have_their_own_ecn() -> None:
    cell = CELLS("bbr3-ecn", "cubic", "dualpi2")
    plain = json.loads(scenario(cell, duration="5s", seed=1).normalized())
    assert plain["tcp"]["ecn_low"] is True
    assert [flow["ecn"] for flow in plain["flows"]] == ["accecn", False]
    without = json.loads(scenario(cell.replaced(l4s="bbr3"), duration="5s", seed=1).normalized())
    assert "ecn_low" not in without["tcp"]
    plane = plan([("bbr3-ecn", "cubic"), ("prague", "cubic")], ["fifo"], ["burst-rtt"])
    cells = [found(one, 40.0, 41.0) for one in plane.cells()]
    text = document(
        cells, plane, images="figures", command="sojourn l4s map", repeat=2, seed=1, duration="30s", **MADE_BY
    )
    assert "BBRv3 with ECN has `tcp.ecn_low`" in text


def test_the_help_names_every_bottleneck_and_sender(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["l4s", "map", "--help"])
    shown = capsys.readouterr().out
    assert f"senders      {', '.join(SENDERS)}\n" in shown
    assert all(name in shown for name in BOTTLENECKS)


def test_planes_cross_in_one_cell_and_each_cell_is_run_once() -> None:
    made = plan([("reno", "cubic")], ["fifo"], None)
    middle = CELLS("reno", "cubic", "fifo", 100.0, 20.0, 20.0, 0.0, 2.0, 1, 1)
    for plane, axes in PLANES.items():
        cells = made.of(("reno", "cubic"), "fifo", plane)
        assert middle in cells.values(), plane
        assert len(cells) == len(AXES[axes[0]].values) * len(AXES[axes[1]].values)
    assert len(set(made.cells())) == len(made.cells())
    assert {*FIELDS} == {*AXES}


def test_a_bottleneck_with_a_limit_of_its_own_has_no_plane_of_buffers() -> None:
    made = plan([("reno", "cubic")], None, ["buffer-rtt"])
    assert {cell.bottleneck for cell in made.cells()} == BUFFERED


def test_an_axis_may_have_other_values_in_other_units() -> None:
    made = plan([("reno", "cubic")], ["fifo"], ["rate-rtt"], ["rate=500kbit,1gbit", "rtt=1s,5ms"])
    assert {(cell.rate_mbit, cell.l4s_rtt_ms, cell.classic_rtt_ms) for cell in made.cells()} == {
        (0.5, 1000.0, 1000.0),
        (0.5, 5.0, 5.0),
        (1000.0, 1000.0, 1000.0),
        (1000.0, 5.0, 5.0),
    }


MADE_BY = {"prague_version": "0.6", "tcp_variant": "linux-6.1"}
WIDE = {"rate": [f"{n}mbit" for n in range(1, 17)], "burst": [f"{n}ms" for n in range(16)]}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--pair", "prague"], "pair is 'prague', but must be two of "),
        (["--pair", "reno/westwood"], "pair is 'reno/westwood', but must be two of "),
        (["--pair", "reno/cubic", "--pair", "reno/cubic"], "pair is given twice with the same value"),
        (["--bottleneck", "sfq"], "bottleneck is 'sfq', but must be one of fifo, codel, "),
        (["--plane", "rtt"], "plane is 'rtt', but must be one of rate-rtt, "),
        (["--axis", "speed=5"], "axis is 'speed=5', but must be NAME=VALUE,VALUE,... with one of rate, rtt, "),
        (["--axis", "rate"], "axis rate is '', but each value must be a number from 0.1 to 10000 with mbit or kbit or"),
        (["--axis", "rate=5"], "axis rate is '5', but each value must be a number from 0.1 to 10000 with mbit or "),
        (["--axis", "rtt=5ms,5ms"], "axis rtt is '5ms,5ms', but each value must be there once"),
        (["--axis", "rtt=5ms", "--axis", "rtt=6ms"], "axis rtt is given twice, but must be given once"),
        (["--axis", "l4s-flows=1.5"], "axis l4s-flows is '1.5', but each value must be a whole number from 1 to 100"),
        (["--axis", "burst=101ms"], "axis burst is '101ms', but each value must be a number from 0 to 100 with ms or "),
        (
            ["--axis", "rtt=" + ",".join(f"{n}ms" for n in range(1, 18))],
            "axis rtt has 17 values, but must have at most 16",
        ),
        (
            [word for control in SENDERS for word in ("--pair", f"{control}/cubic")]
            + [word for name in ("rate", "burst") for word in ("--axis", f"{name}=" + ",".join(WIDE[name]))],
            "the map has ",
        ),
        (["--plane", "rtts", "--repeat", "999999"], "the plan has "),
        (["--duration", "long"], "duration"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = [] if "--pair" in words else ["--pair", "reno/cubic"]
    assert main(["l4s", "map", *pair, *words, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"sojourn: {sentence}"), said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_pair_names_only_what_the_simulator_has() -> None:
    assert read_pair("reno/cubic") == ("reno", "cubic")
    with pytest.raises(ParamError, match="pair is 'reno/cubic/bbr'"):
        read_pair("reno/cubic/bbr")


@pytest.mark.parametrize(
    ("shares", "l4s", "classic"),
    [
        ((50.0,), "alike", "alike"),
        ((33.3,), "has less", "alike"),
        ((9.0,), "starves", "alike"),
        ((95.0,), "alike", "starves"),
        # 65.7 to 68.3 %: the L4S side has no less than half, and of the classic side one cannot tell.
        ((66.0, 67.0, 68.0, 67.0), "alike", None),
        ((33.0, 34.0, 32.0, 33.0), None, "alike"),
        ((60.0, 72.0), None, None),
    ],
)
def test_each_side_is_judged_by_itself(shares: tuple[float, ...], l4s: str | None, classic: str | None) -> None:
    one = found(CELL, *shares)
    assert (one.lot("L4S"), one.lot("classic")) == (l4s, classic)


def test_a_rule_finds_the_bound_that_made_the_cells() -> None:
    cells = [
        found(CELL.replaced(l4s_rtt_ms=rtt, classic_rtt_ms=rtt, rate_mbit=rate), 50.0 if rtt <= 20 else 80.0)
        for rtt, rate in product((5.0, 10.0, 20.0, 50.0, 100.0), (10.0, 100.0))
    ]
    made = rule(cells, "classic")
    assert (made.less, made.starved) == (Count(few=4, of=10), 0)
    assert (made.bound, made.below, made.above) == (
        "the longer RTT is at most 20 ms",
        Count(few=0, of=6),
        Count(few=4, of=4),
    )
    assert made.sentence() == (
        "CUBIC has less than 1/2 of what Prague has in 4 of 10 cells. "
        "Where the longer RTT is at most 20 ms, in none of 6 cells; above, in all 4 cells."
    )
    assert rule(cells, "L4S").sentence() == "Prague has less than 1/2 of what CUBIC has in none of 10 cells."


def test_a_rule_tells_no_bound_that_explains_nothing() -> None:
    shares = {(5.0, 10.0): 50.0, (5.0, 100.0): 80.0, (50.0, 10.0): 80.0, (50.0, 100.0): 50.0}  # an exclusive or
    cells = [
        found(CELL.replaced(l4s_rtt_ms=rtt, classic_rtt_ms=rtt, rate_mbit=rate, buffer_bdp=buffer), share)
        for (rtt, rate), share in shares.items()
        for buffer in (1.0, 2.0, 4.0)
    ]
    assert rule(cells, "classic").bound == ""


def test_a_rule_counts_only_cells_that_tell() -> None:
    cells = [
        found(CELL, 50.0),
        found(CELL.replaced(rate_mbit=5.0), 60.0, 72.0),
        found(CELL.replaced(rate_mbit=7.0), 95.0),
        found(CELL.replaced(rate_mbit=9.0), 95.0, utilisation=0.5),
    ]
    made = rule(cells, "classic")
    assert (made.less, made.starved) == (Count(few=1, of=2), 1)
    assert made.sentence() == (
        "CUBIC has less than 1/2 of what Prague has in 1 of 2 cells, and less than 1/10 in 1 of them."
    )
    assert rule(cells[1:2], "L4S").sentence() == "No cell tells what Prague has beside CUBIC."


def test_a_rule_of_two_equal_senders_says_which_side() -> None:
    made = rule([found(CELLS("cubic", "cubic", "fifo"), 20.0)], "L4S")
    assert made.sentence() == (
        "CUBIC on the L4S side has less than 1/2 of what CUBIC on the classic side has in the one cell."
    )


def test_a_row_says_its_seeds() -> None:
    (row,) = rows([found(CELL, 40.0, 41.0)])
    assert row["seeds"] == "1 2"
    assert row["classic_queue_ms"] is None
    assert row["share"] == 40.5


COMMAND = [
    *("l4s", "map", "--pair", "bbr/cubic", "--bottleneck", "fifo", "--bottleneck", "cake", "--plane", "burst-rtt"),
    *("--axis", "burst=0,5ms", "--axis", "rtt=10ms,20ms", "--duration", "3s", "--repeat", "2", "--workers", "1"),
]


def test_the_command_writes_all_that_it_says_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, page = tmp_path / "out", tmp_path / "page.md"
    assert main([*COMMAND, "--out", str(out), "--document", str(page)]) == 0
    said = capsys.readouterr()
    assert "BBRv1 / CUBIC" in said.out
    assert "8 cells" in said.err
    with (out / "map.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 8
    assert {row["interval_ms"] for row in table} == {"0.0", "5.0"}
    assert all(0 < float(row["utilisation"]) <= 1 for row in table)
    # Where the queue is short a packet waits for the next burst, 2.5 ms on average.
    waits = {
        (row["bottleneck"], row["interval_ms"], row["l4s_rtt_ms"]): float(row["classic_queue_ms"]) for row in table
    }
    assert waits["cake", "5.0", "20.0"] > waits["cake", "0.0", "20.0"] + 1.5
    assert (out / "figures/burst-rtt_bbr_cubic.png").is_file()
    assert 'id="result">Of 8 cells ' in (out / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "page/burst-rtt_bbr_cubic.webp").is_file()
    assert "](page/burst-rtt_bbr_cubic.webp)" in page.read_text(encoding="utf-8")
    assert "](figures/burst-rtt_bbr_cubic.svg)" in (out / "map.md").read_text(encoding="utf-8")
    before = (out / "map.csv").read_bytes()
    assert main([*COMMAND, "--out", str(out), "--json", "--force"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["format"], len(again["cells"])) == ("sojourn-l4s-map/1", 8)
    assert {name: again[name] for name in MADE_BY} == MADE_BY
    assert "Prague is version 0.6, and TCP otherwise" in (out / "map.md").read_text(encoding="utf-8")
    assert (out / "map.csv").read_bytes() == before


def test_the_page_keeps_to_lines_of_120_characters() -> None:
    made = plan([("reno", "cubic")], ["fifo"], ["burst-rtt"])
    cells = [found(cell, 40.0, 41.0) for cell in made.cells()]
    command = "sojourn l4s map" + " --pair prague/cubic" * 9
    text = document(cells, made, images="figures", command=command, repeat=2, seed=1, duration="30s", **MADE_BY)
    assert all(len(line) <= 120 for line in text.splitlines() if not line.startswith("|"))
    assert "`bfifo limit BYTES`" in text
    assert command in text.replace(" \\\n    ", " ")
