"""Cells on the real mac80211 in virtual time: they run, repeat to the byte, and share the air as they should."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sojourn import api, backends
from sojourn.backends.linux import LinuxBackend, access_point, wifi
from sojourn.errors import ParamError, SojournError
from sojourn.scenario import Flow, Probe, Scenario
from sojourn.scenario_keys import Station
from tests import optional
from tests.conftest import Cli
from tests.records import Json


@pytest.fixture(scope="module")
def linux() -> LinuxBackend:
    """The back end for cells; without its kernel or hostapd the tests are skipped, and pytest says why."""
    try:
        kernel = wifi.needed()
        access_point.hostapd()
    except (ParamError, SojournError) as error:
        optional.CELL.skip(error)
    return LinuxBackend(None, kernel)


def run(linux: LinuxBackend, scenario: Scenario) -> Json:
    record: Json = json.loads(linux.run(scenario.normalized("linux")))
    return record


def without_cost(record: Json) -> Json:
    return {name: part for name, part in record.items() if name != "cost"}


def cell(**options: Any) -> Scenario:
    return api.build("wifi_tcp", duration="3s", **options)


def test_a_cell_repeats_to_the_byte_and_another_seed_differs(linux: LinuxBackend) -> None:
    first, again, other = (run(linux, cell(seed=seed)) for seed in (3, 3, 4))
    assert without_cost(first) == without_cost(again)
    assert first["wifi"] != other["wifi"]


def test_the_record_of_a_cell_has_what_the_simulators_has_but_times_in_queues(linux: LinuxBackend) -> None:
    real = run(linux, cell())
    simulated = json.loads(backends.SIMULATOR.run(cell().normalized()))
    assert set(simulated) <= set(real)
    ours, theirs = real["wifi"]["stations"][0], simulated["wifi"]["stations"][0]
    assert set(theirs) == set(ours)
    assert set(theirs["down"]) - set(ours["down"]) == {"aggregate_bytes", "queue_ms", "hardware_ms"}
    assert set(real["series"]["airtime_ms"]) == {"fast1", "fast2", "slow"}
    assert real["kernel"]["wifi"]["down/fast1/aqm"].startswith("tid ac ")
    assert "Deficit" in real["kernel"]["wifi"]["down/slow/airtime"]


def test_airtime_fairness_gives_each_station_a_third_and_fifo_most_to_the_slow_one(linux: LinuxBackend) -> None:
    shares = {}
    for scheme in ("airtime", "fifo"):
        scenario = replace(api.build("wifi_udp", duration="4s"), probes=())
        assert scenario.wifi is not None
        stations = tuple(replace(one, scheme="fifo" if scheme == "fifo" else "fq_mac", driver_frames=123)
                         for one in scenario.wifi.stations)  # fmt: skip
        found = run(linux, replace(scenario, wifi=replace(scenario.wifi, scheme=scheme, stations=stations)))
        shares[scheme] = {one["name"]: one["airtime_share"] for one in found["wifi"]["stations"]}
    assert all(abs(share - 1 / 3) < 0.01 for share in shares["airtime"].values()), shares
    assert shares["fifo"]["slow"] > 0.6


def test_weights_divide_the_air(linux: LinuxBackend) -> None:
    scenario = replace(api.build("wifi_udp", duration="4s"), probes=())
    assert scenario.wifi is not None
    stations = tuple(replace(one, weight=512 if one.name == "slow" else 256) for one in scenario.wifi.stations)
    found = run(linux, replace(scenario, wifi=replace(scenario.wifi, stations=stations)))
    share = {one["name"]: one["airtime_share"] for one in found["wifi"]["stations"]}
    assert share["slow"] == pytest.approx(0.5, abs=0.02)


def test_traffic_of_all_kinds_crosses_a_cell_in_both_directions(linux: LinuxBackend) -> None:
    base = cell()
    flows = (
        Flow(name="up", direction="up", station="fast2"),
        Flow(name="udp", direction="up", kind=None, protocol="udp", rate="2mbit", station="fast1"),
    )
    probes = (
        Probe(name="ping", kind="icmp", station="slow"),
        Probe(name="voice", kind="voip", direction="down", station="slow", dscp="EF"),
        Probe(name="rr", kind="udp_rr", station="fast1"),
    )
    found = run(linux, replace(base, flows=flows, probes=probes))
    up, udp = found["flows"]
    assert up["goodput_mbit"] > 20
    assert udp["sent"] == pytest.approx(3 * 2e6 / (8 * 1472), abs=8)
    assert udp["goodput_mbit"] == pytest.approx(2.0, abs=0.05)
    assert all(probe["lost"] == 0 for probe in found["probes"])
    voice = next(one for one in found["wifi"]["stations"] if one["name"] == "slow")
    # Linux 6.12 maps EF to 6 (RFC 8325 section 4.1); its upper three bits alone would be 5.
    assert any(one["tid"] == 6 and one["direction"] == "down" for one in voice["tids"])


def test_lost_mpdus_are_sent_again(linux: LinuxBackend) -> None:
    scenario = cell()
    assert scenario.wifi is not None
    stations = tuple(replace(one, error=0.2, error_up=0.0) for one in scenario.wifi.stations)
    found = run(linux, replace(scenario, flows=(), wifi=replace(scenario.wifi, stations=stations)))
    down = [one["down"] for one in found["wifi"]["stations"]]
    sent, retried = (sum(one[name] for one in down) for name in ("transmissions", "retries"))
    assert 0.1 < retried / sent < 0.3


def test_slow_stations_with_losses_and_limits_never_come_to_a_stand_still(linux: LinuxBackend) -> None:
    # Frames that wait to be sent again count as pending airtime. At 7.2 Mbit/s two of them are a station's 5 ms: once,
    # nothing of twelve such stations was let go any more, and nobody was asked again.
    stations = tuple(Station(name=f"s{i}", rate="ht mcs 0 20mhz sgi", error=0.3, scheme="fq_mac") for i in range(12))
    base = cell()
    assert base.wifi is not None
    scenario = replace(
        base,
        duration="8s",
        flows=tuple(
            Flow(name=f"tcp_{one.name}", direction="down", congestion_control="cubic", station=one.name)
            for one in stations
        ),
        probes=(),
        wifi=replace(base.wifi, stations=stations, aql="5ms", aql_high="5ms", aql_total="0s"),
    )
    found = run(linux, scenario)
    airtime = found["series"]["airtime_ms"].values()
    each_bin = [sum(ms) for ms in zip(*airtime, strict=True)]
    settled = each_bin[len(each_bin) // 8 :]
    assert min(settled) > 0.5 * max(settled), f"airtime of each bin, ms: {settled}"
    assert found["wifi"]["busy"] > 0.8


def test_stations_queue_in_the_driver_beside_an_access_point_that_does_not(linux: LinuxBackend) -> None:
    # A ping behind a flood waits for all of the station's FIFO, and for nothing if the MAC has a queue for it.
    median = {}
    for scheme in ("fifo", "fq_mac"):
        base = cell(scheme="airtime")
        assert base.wifi is not None
        station = replace(base.wifi.stations[0], scheme=scheme)
        flood = Flow(name="up", direction="up", kind=None, protocol="udp", rate="200mbit", station=station.name)
        probe = Probe(name="ping", kind="icmp", interval="20ms", station=station.name)
        found = run(linux, replace(base, flows=(flood,), probes=(probe,), wifi=replace(base.wifi, stations=(station,))))
        median[scheme] = found["probes"][0]["rtt_ms"]["median"]
    # 256 frames of the driver and 1000 of the discipline, 32 of them in 2.94 ms: 115 ms.
    assert median["fifo"] == pytest.approx(115, rel=0.15), median
    assert median["fq_mac"] < 20, median


def test_a_person_runs_a_cell_by_one_command(linux: LinuxBackend, cli: Cli) -> None:
    assert linux.wifi_kernel is not None
    done = cli("run", "wifi_tcp", "--backend", "linux", "--duration", "2s")
    assert done.returncode == 0, done.stderr
    assert "fast1" in done.stdout
    assert done.stderr.startswith("Linux 6.12")


def test_a_stored_cell_is_read_again(linux: LinuxBackend, cli: Cli) -> None:
    words = ("run", "wifi_tcp", "--backend", "linux", "--duration", "2s", "--store", "s", "--json")
    first, again = cli(*words), cli(*words)
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert first.stdout == again.stdout
    assert json.loads(again.stdout)["kernel"]["wifi"]["aql_enable"] == "1\n"
