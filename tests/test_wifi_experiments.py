"""The Wi-Fi experiments as scenarios."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from sojourn import api
from sojourn.errors import ParamError
from sojourn.experiments import wifi
from sojourn.scenario import Flow, Scenario
from sojourn.scenario_keys import Access, Categories, Edca, Group, Station, Wifi
from tests.records import Json


def plain(experiment: str, **options: Any) -> Json:
    found = json.loads(api.build(experiment, **options).to_json())
    assert isinstance(found, dict)
    return found


def test_the_cell_is_the_papers() -> None:
    """Seed 002 section 3.2; the rates are those of the paper it cites."""
    found = plain("wifi_tcp", scheme="fq_mac", seed=3)
    assert {one["name"]: one["rate"] for one in found["wifi"]["stations"]} == {
        "fast1": "ht mcs 15 20mhz sgi",
        "fast2": "ht mcs 15 20mhz sgi",
        "slow": "ht mcs 0 20mhz sgi",
    }
    assert (found["wifi"]["scheme"], found["up"], found["down"], found["seed"]) == ("fq_mac", "1gbit", "1gbit", 3)
    assert [(one["station"], one["direction"]) for one in found["flows"]] == [
        ("fast1", "down"),
        ("fast2", "down"),
        ("slow", "down"),
    ]
    assert [one["station"] for one in found["probes"]] == ["fast1", "fast2", "slow"]


def test_udp_flows_have_a_rate_and_no_congestion_control() -> None:
    for one in plain("wifi_udp")["flows"]:
        assert (one["protocol"], one["rate"]) == ("udp", "50mbit")
        assert not {"kind", "congestion_control"} & one.keys()


def test_the_voice_stream_goes_to_the_slow_station_with_its_code_point() -> None:
    voice = plain("wifi_voip", dscp="CS6")["probes"][-1]
    assert (voice["kind"], voice["direction"], voice["station"], voice["dscp"]) == ("voip", "down", "slow", "CS6")
    assert plain("wifi_voip")["probes"][-1]["dscp"] == "CS0"


def test_the_seed_draws_the_rates_of_a_dense_cell() -> None:
    rates = [[one.rate for one in wifi.draw(64, seed)] for seed in (1, 1, 2)]
    assert rates[0] == rates[1] != rates[2]
    assert len(set(rates[0])) > 10
    assert [one.rate for one in wifi.draw(5, 1)] == rates[0][:5]
    assert len(plain("wifi_dense", stations=64, seed=2)["flows"]) == 64


def test_the_floods_of_a_dense_cell_fit_the_wire() -> None:
    for number in (1, 7, 64):
        flows = plain("wifi_dense", stations=number, protocol="udp")["flows"]
        total = sum(int(one["rate"].removesuffix("kbit")) for one in flows)
        assert 799_900 < total <= 800_000


@pytest.mark.parametrize(
    ("experiment", "options", "sentence"),
    [
        ("wifi_tcp", {"scheme": "fast"}, "scheme is 'fast', but must be one of fifo, fq_codel, fq_mac, airtime"),
        ("wifi_dense", {"stations": 0}, "stations is 0, but must be from 1 to 64"),
        ("wifi_dense", {"stations": 65}, "stations is 65, but must be from 1 to 64"),
        ("wifi_dense", {"protocol": "sctp"}, "protocol is 'sctp', but must be one of tcp, udp"),
        (
            "wifi_tcp",
            {"stations": 4},
            "stations is 4, but only the experiment wifi_dense takes it; wifi_tcp has no such option",
        ),
        (
            "rrul",
            {"scheme": "fifo"},
            "scheme is 'fifo', but only the experiments wifi_tcp, wifi_udp, wifi_voip and wifi_dense take it; rrul has "
            "no such option",
        ),
        (
            "wifi_udp",
            {"dscp": "EF"},
            "dscp is 'EF', but only the experiment wifi_voip takes it; wifi_udp has no such option",
        ),
        (
            "wifi_tcp",
            {"flows_up": 2},
            "flows-up is 2, but only the experiments bulk and voip take it; wifi_tcp has no such option",
        ),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(experiment: str, options: Json, sentence: str) -> None:
    with pytest.raises(ParamError) as refused:
        api.build(experiment, **options)
    assert str(refused.value) == sentence


def test_a_cell_is_written_and_its_nested_values_too() -> None:
    scenario = Scenario(
        experiment="x",
        flows=(Flow(name="a", direction="up", station="b", dscp="EF"),),
        wifi=Wifi(
            stations=(Station(name="b", rate="ofdm 54mbit", weight=512),),
            edca=Edca(ap=Categories(be=Access(aifsn=2, txop="0s"))),
            ecn=False,
        ),
    )
    found = json.loads(scenario.to_json())
    assert found["wifi"] == {
        "stations": [{"name": "b", "rate": "ofdm 54mbit", "weight": 512}],
        "edca": {"ap": {"be": {"aifsn": 2, "txop": "0s"}}},
        "ecn": False,
    }
    assert hash(scenario) != hash(Scenario(experiment="x"))


def test_options_of_the_access_point_come_back_from_plain_text() -> None:
    """What the compiled part writes of every option is read into the same cell again."""
    every = Wifi(
        stations=(Station(name="a", rate=wifi.FAST, group="guest", min_rate="2mbit"),),
        groups=(Group(name="guest", weight=512, cap=0.2),),
        aql="5ms",
        aql_high="12ms",
        aql_total="24ms",
        retry_time="30ms",
        retry_sojourn="100ms",
        dense_stations=8,
        dense_aggregate_time="1ms",
        accounting_delay="10ms",
        vo_in_aggregate=True,
        vo_in_aggregate_max=4,
        vo_in_aggregate_hold=2,
        demote="10ms",
        qos="fairness",
    )
    late = Wifi(stations=every.stations[:1], defer="200us", build_time="500us", groups=every.groups)
    by_credit = Wifi(stations=(Station(name="a", rate=wifi.FAST),), scheduler="credit")
    for cell in (every, late, by_credit):
        whole = json.loads(replace(api.build("wifi_tcp"), flows=(), probes=(), wifi=cell).normalized())
        back = Scenario.from_json(json.dumps(whole))
        assert back.wifi is not None
        for key, value in asdict(cell).items():
            if value is not None and key != "stations":
                assert asdict(back.wifi)[key] == value, key
        assert back.wifi.stations[0].min_rate == cell.stations[0].min_rate
