"""The test cases of the BBR draft: what is in their file, how a series is read, and which controls they tell apart."""

from __future__ import annotations

import json

import pytest

from sojourn.backends import Simulator
from sojourn.certify import _check, _opportunities, _read, certify, load
from sojourn.errors import refused
from sojourn.scenario import Flow
from tests.conftest import Cli, assert_one_sentence

VERDICTS = {"holds", "fails", "cannot tell", "not runnable"}


def test_each_of_the_22_cases_has_bars_and_a_bound_or_says_why_it_cannot_be_run() -> None:
    cases = load("bbr")["cases"]
    assert len(cases) == 22
    for case in cases:
        assert ("not_runnable" in case) != ("bars" in case and "bound" in case)


def test_cubic_is_told_from_bbr(cli: Cli) -> None:
    """CUBIC fills the queue, and so fails where BBR version 3 holds."""
    ours = json.loads(cli("certify", "bbr", "--repeat", "3", "--json").stdout)
    other = json.loads(cli("certify", "bbr", "--cc", "cubic", "--repeat", "3", "--json", status=1).stdout)
    verdicts = [{one["section"]: one["verdict"] for one in found} for found in (ours, other)]
    assert set(verdicts[0].values()) <= VERDICTS
    for section in ("A.3", "A.8", "A.10", "A.16"):
        assert [found[section] for found in verdicts] == ["holds", "fails"]


@pytest.mark.parametrize(
    ("queues", "verdict"), [([4, 4], "holds"), ([3, 3], "holds"), ([2, 5], "cannot tell"), ([5, 5], "fails")]
)
def test_a_bar_inside_the_interval_cannot_be_told(queues: list[int], verdict: str) -> None:
    records = [
        {"series": {"t_s": [1.0], "backlog_packets": {"up": [queue]}}, "flows": [{"name": "flow"}]} for queue in queues
    ]
    check = _check({"of": "queue_max", "from": 0, "to": 1, "is": "<= 4"}, records, 20)
    assert check is not None
    assert check.verdict == verdict


def test_what_a_back_end_refuses_is_not_runnable_there() -> None:
    class Refusing(Simulator):
        name = "linux"

        def run(self, scenario: str) -> str:
            raise refused(len(scenario), "qdisc_up", "is not there")

    found = {one.section: one for one in certify("bbr", Flow(name="flow", direction="up"), [1], Refusing())}
    assert {one.verdict for one in found.values()} == {"not runnable"}
    assert found["A.1"].reason.startswith("qdisc_up is ")
    assert found["A.12"].reason.startswith("service_interval_down is 20ms")
    assert found["A.15"].reason == "the rate steps, and a link of the back end linux has one"


def test_a_flow_that_is_refused_is_one_sentence(cli: Cli) -> None:
    assert_one_sentence(cli("certify", "bbr", "--cc", "nosuch", status=2), 'congestion_control is "nosuch"')
    assert_one_sentence(cli("certify", "bbr", "--backend", "ns-3", status=2), "backend is 'ns-3'")


def test_a_bad_number_of_seeds_is_one_sentence(cli: Cli) -> None:
    assert_one_sentence(cli("certify", "bbr", "--repeat", "0", status=2), "repeat is 0")


def test_a_trace_has_the_rates_of_its_steps() -> None:
    times = list(_opportunities([(12.032, 1), (120.32, 1)]))
    assert len([at for at in times if at < 3000]) == 2999
    assert len(times) == 3000 + 10000


@pytest.mark.parametrize(("of", "value"), [("queue_max", 7.0), ("queue_median", 5.0), ("loss", 20.0), ("share", 50.0)])
def test_a_quantity_is_of_the_bins_between_two_times(of: str, value: float) -> None:
    series = {
        "t_s": [1.0, 2.0, 3.0, 4.0],
        "backlog_packets": {"up": [9, 3, 5, 7]},
        "packets": {"up": [0, 10, 20, 30]},
        "drops": {"up": [0, 0, 2, 5]},
        "goodput_mbit": {"flow": [9.0, *[10 * 1448 / 1514] * 3]},
    }
    record = {"series": series, "flows": [{"name": "flow"}]}
    assert _read(of, record, 1, 4, 20) == pytest.approx(value)
