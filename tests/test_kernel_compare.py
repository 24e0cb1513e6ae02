"""Two kernels side by side: the rule of the verdicts, and the command on kernels that were built."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path

import pytest
from scipy import stats as scipy_stats

from sojourn.errors import ParamError
from sojourn.kernel.find import Kernel
from sojourn.regress import quantities, verdict
from sojourn.regress.threshold import threshold
from sojourn.stats.bootstrap import student_interval
from tests.conftest import Cli, assert_one_sentence


def noise(seed: int, n: int, centre: float = 0.0, spread: float = 1.0) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(centre, spread) for _ in range(n)]


def test_students_interval_is_that_of_scipy_at_any_level() -> None:
    for n, level in ((2, 0.95), (4, 0.999), (9, 0.9999)):
        values = noise(n, n, centre=3.0)
        error = statistics.stdev(values) / n**0.5
        low, high = scipy_stats.t.interval(level, n - 1, loc=statistics.fmean(values), scale=error)
        found = student_interval(values, level=level)
        assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


def test_a_shift_is_seen_by_its_pairs_where_the_spread_of_the_seeds_would_hide_it() -> None:
    first = noise(1, 8, centre=100.0, spread=30.0)
    second = [a + 2 + b for a, b in zip(first, noise(2, 8, spread=0.5), strict=True)]
    assert verdict.judge(first, second, rows=10).verdict == verdict.DIFFERS
    mixed = second[1:] + second[:1]  # the same values, with the seeds of others
    assert verdict.judge(first, mixed, rows=10).verdict == verdict.NONE_SEEN


def test_the_difference_is_the_second_less_the_first() -> None:
    found = verdict.judge([1.0, 2.0, 4.0], [2.0, 4.0, 5.0], rows=1).difference
    assert found is not None
    assert found.value == pytest.approx(4 / 3)


def test_the_same_kernel_twice_shows_no_difference() -> None:
    values = noise(3, 6)
    assert verdict.judge(values, values, rows=20).verdict == verdict.NONE_SEEN


def test_a_table_of_chance_has_a_false_difference_in_one_of_twenty_at_most() -> None:
    rows, tables = 12, 250
    pairs = [(noise(2 * at, 6, spread=1.0), noise(2 * at + 1, 6, spread=1.0)) for at in range(rows * tables)]
    found = [verdict.judge(a, b, rows=rows).verdict for a, b in pairs]
    wrong = sum(verdict.DIFFERS in found[at : at + rows] for at in range(0, len(found), rows))
    # Without the correction it would be 1 - 0.95^12 = 46 % of the tables. 5 % of 250 and three deviations are 23.
    assert wrong <= 23
    assert found.count(verdict.CANNOT_TELL) > 0.02 * len(found)  # what the plain interval alone would have called one


def test_what_leaves_out_zero_at_95_percent_only_is_not_told() -> None:
    differences = [1.0, 2.0, 3.0, 4.0]  # t = 3.87, p = 0.030
    first = [0.0] * 4
    assert verdict.judge(first, differences, rows=1).verdict == verdict.DIFFERS
    assert verdict.judge(first, differences, rows=2).verdict == verdict.CANNOT_TELL


def test_equal_differences_are_judged_by_their_number() -> None:
    found = verdict.judge([1.0] * 4, [2.0] * 4, rows=1)
    assert (found.verdict, "all 4 differences are equal" in found.reason) == (verdict.CANNOT_TELL, True)
    assert verdict.judge([1.0] * 6, [2.0] * 6, rows=1).verdict == verdict.DIFFERS  # 2^-5 is 3 %


def test_with_a_threshold_there_are_three_verdicts() -> None:
    first = [100.0 + one for one in noise(5, 12)]
    rule = threshold("10%")
    for shift, expected in ((30.0, verdict.DIFFERS), (2.0, verdict.AGREES), (10.0, verdict.CANNOT_TELL)):
        second = [a + shift + b for a, b in zip(first, noise(6, 12), strict=True)]
        assert verdict.judge(first, second, rows=3, threshold=rule).verdict == expected
        assert verdict.judge(first, [2 * a - b for a, b in zip(first, second, strict=True)], rows=3, threshold=rule)
    absolute = verdict.judge(first, [a + 2 + b for a, b in zip(first, noise(7, 12), strict=True)], rows=1)
    assert absolute.room is None
    assert verdict.judge([50.0] * 3, [51.0] * 3, rows=1, threshold=threshold("2.5")).room == 2.5
    assert verdict.judge([50.0] * 3, [51.0] * 3, rows=1, threshold=rule).room == pytest.approx(5.0)


def test_a_pair_without_a_value_is_left_out_and_one_alone_cannot_tell() -> None:
    found = verdict.judge([1.0, None, 3.0], [2.0, 3.0, None], rows=1)
    assert (found.verdict, found.reason) == (verdict.CANNOT_TELL, "one pair of runs says nothing about its spread")
    assert verdict.judge([None], [1.0], rows=1).reason == "no pair of runs has a value"


@pytest.mark.parametrize("text", ["", "x", "10 %", " 10%", "0", "0%", "-3%", "nan", "inf%", "1_0%", "%", "10%%", "2ms"])
def test_what_is_no_threshold_is_named(text: str) -> None:
    with pytest.raises(ParamError, match="threshold is .*, but must be a percentage above 0%"):
        threshold(text)


def test_which_way_is_worse_is_known_of_latency_and_goodput_and_of_no_window() -> None:
    ways = {name: quantities.worse_way(name) for name in quantities.known()}
    assert (ways["induced_latency_ms"], ways["goodput_down_mbit"], ways["cwnd_up"]) == ("higher", "lower", None)
    assert [name for name, way in ways.items() if way is None and not name.startswith(("drop", "cwnd", "marks"))] == []


def test_refusals_are_one_sentence_each(inside: Cli) -> None:
    begin = ("kernel", "compare", "6.1", "6.1", "tcp_1up")
    for words, sentence in (
        (("--metric", "lag"), "metric is 'lag', but must be one of induced_latency_ms, "),
        (("--threshold", "much"), "threshold is 'much', but must be a percentage above 0% such as 10%, or a number"),
        (("--qdisc", "codel", "--qdisc", "codel"), "each discipline must be named once"),
        (("--qdisc", "codell"), "codell"),
    ):
        assert_one_sentence(inside(*begin, *words, status=2), sentence)
    assert_one_sentence(inside("kernel", "compare", "lunix", "6.1", "rrul", status=2), "kernel is 'lunix', but must be")
    assert_one_sentence(inside("kernel", "compare", "", "6.1", "rrul", status=2), "A is '', but must be the name")


def test_a_kernel_compared_with_itself_has_no_difference(virtual_kernel: Kernel, cli: Cli, tmp_path: Path) -> None:
    assert virtual_kernel.path is not None
    name = str(virtual_kernel.path)
    words = ("kernel", "compare", name, name, "tcp_1up", "--duration", "2s", "--repeat", "2", "--workers", "1")
    table = cli(*words, "--qdisc", "codel", "--threshold", "1%", "--out", "both").stdout
    assert "agrees" in table
    assert "differs" not in table.partition("\nA row")[0]
    plain = json.loads((tmp_path / "both/compare.json").read_text())
    assert plain["format"] == "sojourn-kernel-compare/1"
    for row in plain["rows"]:
        assert row["values"]["first"] == row["values"]["second"]
        assert row["difference"]["mean"] == 0
    runs = sorted((tmp_path / "both/runs").glob("*/run.json"))
    assert len(runs) == 2
    before = [path.stat().st_mtime_ns for path in runs]
    again = cli(*words, "--qdisc", "codel", "--metric", "drops_up", "--out", "both", "--json")  # other words, same runs
    assert [row["metric"] for row in json.loads(again.stdout)["rows"]] == ["drops_up"]
    assert [path.stat().st_mtime_ns for path in runs] == before
    assert {"compare.md", "figures"} < {path.name for path in (tmp_path / "both").iterdir()}
