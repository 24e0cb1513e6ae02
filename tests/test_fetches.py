"""Fetch times where the end of a run cuts a fetch off."""

from __future__ import annotations

import json

import pytest

from sojourn.papers.good_bad_wifi.evidence import AXES, Evidence
from sojourn.papers.good_bad_wifi.exhibits import fetches
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.stats.fetches import mean_fetch_s, unfinished_s
from tests.records import run_of
from tests.synthetic import DEFAULTS, record

FETCH = {"start_s": 0.0, "time_s": 10.0, "syn_retransmitted": 0, "dns_retried": 0}


def test_a_fetch_is_under_way_since_the_last_one_ended_or_its_interval_did() -> None:
    assert unfinished_s([0.0, 4.0], [4.0, 10.0], interval=1.0, end=60.0) == pytest.approx(46.0)
    assert unfinished_s([0.0, 1.0], [0.2, 0.2], interval=1.0, end=60.0) == pytest.approx(58.0)
    assert unfinished_s([59.5], [0.2], interval=1.0, end=60.0) == 0.0, "the next one has not begun"
    assert unfinished_s([], [], interval=1.0, end=60.0) == 60.0


def test_what_was_cut_off_counts_where_it_took_longer_than_the_others() -> None:
    assert mean_fetch_s([4.0, 10.0], 46.0) == pytest.approx(20.0)
    assert mean_fetch_s([4.0, 10.0], 7.0) == pytest.approx(7.0), "the mean of the others, as it says nothing"
    assert mean_fetch_s([4.0, 10.0], 0.5) == pytest.approx(7.0)
    assert mean_fetch_s([], 60.0) == 60.0


def test_only_section_7_counts_what_was_cut_off() -> None:
    body = json.loads(record(1, DEFAULTS).text)
    body["web"] = [{"name": "w", "page": "google", "fetches": [FETCH]}]
    body["scenario"]["web"] = [{"name": "v", "interval": "9s"}, {"name": "w", "interval": "1500ms"}]
    run = observe(run_of(body))
    cells = {AXES(f"{over}web:google", "100/100", "codel"): (run,) for over in ("", "wifi_")}
    wired, over_wifi = (fetches(Evidence(cells=cells), "google", over) for over in ("", "wifi_"))
    assert wired["100/100", "1 stream"]["codel"] == [pytest.approx(10.0)]
    assert over_wifi["100/100", "1 stream"]["codel"] == [pytest.approx(30.0)]
