"""What is said before a run whose numbers would mislead."""

from __future__ import annotations

import json

import pytest

from sojourn import api
from sojourn.cli.cautions import cautions
from sojourn.cli.main import main


def sentences_of(qdisc: str, rate: str) -> list[str]:
    """Return the cautions about a scenario with this discipline at this rate."""
    scenario = api.build("tcp_1up", qdisc=qdisc, rate=rate)
    return cautions(json.loads(scenario.normalized("sim")))


@pytest.mark.parametrize(
    ("qdisc", "rate", "ways"),
    [
        ("dualpi2", "10mbit", 2),
        ("dualpi2 step_thresh 500us", "20mbit", 2),
        # A frame takes 0.97 ms at 12.5 Mbit/s.
        ("dualpi2", "12.5mbit", 0),
        ("dualpi2 min_qlen_step 2", "1mbit", 0),
        ("dualpi2 step_thresh 5p", "1mbit", 0),
        ("fq_codel", "1mbit", 0),
    ],
)
def test_a_step_shorter_than_a_packet_is_told(qdisc: str, rate: str, ways: int) -> None:
    sentences = sentences_of(qdisc, rate)
    assert len(sentences) == ways
    for sentence in sentences:
        assert "min_qlen_step 2 spares them" in sentence
        assert rate in sentence


def test_a_run_says_it_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tcp_1up", "--rate", "5mbit", "--duration", "1s", "--qdisc-up", "dualpi2"]) == 0
    output = capsys.readouterr()
    assert "sojourn: qdisc_up is dualpi2 with step_thresh 1ms, but one packet takes 2.42ms at 5mbit" in output.err
