"""A cell on the linux back end, without a kernel: what the radios, the access point and the agent are told."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sojourn import _native, api
from sojourn.backends.linux import access_point, cell, messages, network_of, nl80211
from sojourn.backends.linux.topology import bed
from sojourn.errors import ParamError, SojournError
from sojourn.scenario import Scenario
from sojourn.scenario_keys import Station, Wifi
from tests import optional
from tests.records import Json


@pytest.fixture(autouse=True)
def hostapd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put a program of that name at the front of the path: nothing here runs it."""
    program = tmp_path / "hostapd"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return program.resolve()


def plan(scenario: Scenario | None = None) -> Json:
    scenario = api.build("wifi_tcp", duration="5s") if scenario is None else scenario
    loaded: Json = json.loads(_native.load_plan(scenario.normalized("linux")))
    return loaded


def built(scenario: Scenario | None = None) -> Json:
    built: Json = msgspec.to_builtins(bed(network_of(plan(scenario))))
    return built


def words_of(scenario: Scenario | None = None) -> dict[str, str]:
    network = network_of(plan(scenario))
    assert network.cell is not None
    words = cell.command_line(network.cell, network.seed)
    assert all(word.startswith("sojourn_radio.") for word in words)
    return dict(word.removeprefix("sojourn_radio.").split("=") for word in words)


def with_cell(**wifi: Any) -> Scenario:
    base = api.build("wifi_tcp", duration="5s")
    assert base.wifi is not None
    return replace(base, wifi=replace(base.wifi, **wifi))


def queues_in_the_mac() -> tuple[Station, ...]:
    wifi = api.build("wifi_tcp", duration="5s").wifi
    assert wifi is not None
    return tuple(replace(one, scheme="fq_mac") for one in wifi.stations)


def test_every_station_is_a_host_of_its_own_and_the_first_wire_is_gone() -> None:
    made = built()
    assert made["namespaces"] == ["client", "r1", "delay", "r2", "server", "client2", "client3"]
    assert made["clients"] == ["10.0.1.11", "10.0.1.12", "10.0.1.13"]
    assert made["watch"]["up"] == {"host": "r1", "in": "wlan0", "out": "r1m"}
    sentences = [step["says"] for step in made["steps"]]
    assert not any("c0" in words for words in sentences)
    assert "move the radio phy0 to r1 on outside" not in sentences  # the host is a field of its own
    moves = [(step["host"], step["says"]) for step in made["steps"] if step["says"].startswith("move")]
    assert moves == [
        ("outside", f"move the radio phy{number} to {host}")
        for number, host in enumerate(("r1", "client", "client2", "client3"))
    ]


def test_radios_are_told_rates_errors_and_contention_before_the_access_point_starts(hostapd: Path) -> None:
    steps = built()["steps"]
    at = {step.get("debugfs", step.get("says")): place for place, step in enumerate(steps)}
    assert at["sojourn_radio/links"] < at["start the access point"] < at["join the access point by wlan1"]
    links = next(step["value"] for step in steps if step.get("debugfs") == "sojourn_radio/links").splitlines()
    assert links == [
        *("0 1 ht 15 2 20 sgi 0", "1 0 ht 15 2 20 sgi 0", "0 2 ht 15 2 20 sgi 0", "2 0 ht 15 2 20 sgi 0"),
        *("0 3 ht 0 1 20 sgi 0", "3 0 ht 0 1 20 sgi 0"),
    ]
    edca = next(step["value"] for step in steps if step.get("debugfs") == "sojourn_radio/edca").splitlines()
    assert edca[:4] == ["0 0 1 3 7 1500", "0 1 1 7 15 3000", "0 2 3 15 63 0", "0 3 7 15 1023 0"]
    assert edca[4:8] == ["1 0 2 3 7 1504", "1 1 2 7 15 3008", "1 2 3 15 1023 0", "1 3 7 15 1023 0"]
    started = next(step for step in steps if "program" in step)
    assert started["program"] == [str(hostapd), "/tmp/hostapd.conf"]  # noqa: S108
    assert started["host"] == "r1"


def test_switches_of_the_key_wifi_reach_the_command_line_and_debugfs() -> None:
    words = words_of(with_cell(hardware_queue=3, aggregate_frames=16, aggregate_time="2ms", retries=7))
    assert words == {
        **{"radios": "4", "seed": "1", "aql": "0", "fairness": "1", "fifo": "0", "station_fifo": "256"},
        **{"backpressure": "1", "hardware_queue": "3", "aggregate_frames": "16", "aggregate_us": "2000"},
        **{"retries": "7", "rate_control": "fixed"},
    }
    limited = with_cell(aql="5ms", aql_total="20ms", airtime_rx=False, limit=77)
    assert words_of(limited)["aql"] == "1"
    knobs = [(step["debugfs"], step["value"]) for step in built(limited)["steps"] if "debugfs" in step]
    assert ("ieee80211/phy0/aql_txq_limit", "2 5000 12000") in knobs
    assert ("ieee80211/phy0/aql_threshold", "20000") in knobs
    assert ("ieee80211/phy1/aql_txq_limit", "2 10000000 10000000") in knobs
    assert ("ieee80211/phy0/airtime_flags", "1") in knobs
    assert ("ieee80211/phy0/aqm", "fq_limit 77") in knobs
    everybody = with_cell(aql="5ms", aql_total="20ms", variant="linux-6.12", stations=queues_in_the_mac())
    knobs = [(step["debugfs"], step["value"]) for step in built(everybody)["steps"] if "debugfs" in step]
    for phy in ("phy0", "phy1", "phy3"):
        assert (f"ieee80211/{phy}/aql_txq_limit", "2 5000 12000") in knobs
        assert (f"ieee80211/{phy}/aql_threshold", "20000") in knobs


@pytest.mark.parametrize(("scheme", "flags", "fairness"), [("airtime", "3", "1"), ("fq_mac", "0", "0")])
def test_without_fairness_nobody_is_charged(scheme: str, flags: str, fairness: str) -> None:
    scenario = with_cell(scheme=scheme)
    assert words_of(scenario)["fairness"] == fairness
    flag = next(step["value"] for step in built(scenario)["steps"] if step.get("debugfs", "").endswith("airtime_flags"))
    assert flag == flags


def test_a_discipline_is_put_on_the_device_where_the_scheme_has_one() -> None:
    steps = built(with_cell(scheme="fq_codel"))["steps"]
    at_access_point = [
        step["says"] for step in steps if step.get("device") == "wlan0" and step["says"].startswith("add ")
    ]
    assert at_access_point == ["add fq_codel to wlan0"]
    words = words_of(with_cell(scheme="fq_codel"))
    assert (words["fifo"], words["backpressure"]) == ("123", "1")


def test_weights_are_told_to_the_access_point() -> None:
    base = api.build("wifi_tcp", duration="5s")
    assert base.wifi is not None
    stations = tuple(replace(one, weight=100 * place) for place, one in enumerate(base.wifi.stations, 1))
    steps = built(with_cell(stations=stations))["steps"]
    sentences = [step["says"] for step in steps if "airtime weight" in step["says"]]
    assert sentences == [f"give {name} the airtime weight {weight}" for name, weight in
                    (("fast1", 100), ("fast2", 200), ("slow", 300))]  # fmt: skip


def test_messages_of_nl80211_are_those_of_its_layout() -> None:
    request = nl80211.airtime_weight(mac="02:00:00:00:01:03", weight=300)
    length, kind, flags, _, _ = struct.unpack_from("<IHHII", request)
    assert (length, kind, flags) == (len(request), 0, 5)
    assert struct.unpack_from("<BBH", request, 16) == (18, 1, 0)
    # The number of the device, which the agent fills in, is the value of the first attribute.
    assert struct.unpack_from("<HHI", request, 20) == (8, 3, 0)
    assert struct.unpack_from("<HH6s", request, 28) == (10, 6, bytes.fromhex("020000000103"))
    assert struct.unpack_from("<HHH", request, 40) == (6, 274, 300)
    moved = nl80211.move(wiphy=7, namespace=101)
    assert struct.unpack_from("<HHIHHI", moved, 20) == (8, 1, 7, 8, 219, 101)


def test_radios_have_addresses_that_all_others_know() -> None:
    steps = built()["steps"]
    known = [
        step["says"] for step in steps if step["host"] == "r1" and step["says"].startswith("enter the neighbour 10.0.1")
    ]
    assert known == [f"enter the neighbour 10.0.1.{number}" for number in (11, 12, 13)]
    assert messages.hardware_address(cell.hardware_address(3)).endswith(bytes.fromhex("020000000103") + b"\0\0")


@pytest.mark.parametrize(
    ("mhz", "vht", "expected"),
    [
        (20, False, []),
        (40, False, ["ht_capab=[SHORT-GI-20][HT40+][SHORT-GI-40]"]),
        (80, True, ["ieee80211ac=1", "vht_oper_chwidth=1", "vht_oper_centr_freq_seg0_idx=42"]),
        (20, True, ["ieee80211ac=1", "vht_oper_chwidth=0"]),
    ],
)
def test_the_network_is_as_wide_as_its_widest_link(mhz: int, vht: bool, expected: list[str]) -> None:  # noqa: FBT001
    lines = access_point.configuration("wlan0", channel_mhz=mhz, vht=vht).splitlines()
    assert set(expected) <= set(lines)
    assert any(line.startswith("vht_oper_chwidth") for line in lines) == vht


def test_hostapd_itself_reads_the_configuration(tmp_path: Path) -> None:
    program = optional.program("hostapd", path="/usr/sbin:/usr/bin")
    file = tmp_path / "hostapd.conf"
    file.write_text(access_point.configuration("no-such-device", channel_mhz=80, vht=True))
    done = subprocess.run([program, str(file)], capture_output=True, text=True, timeout=20, check=False)
    assert not re.search(r"Line \d+|unknown configuration|errors found", done.stdout + done.stderr), done.stdout


def test_a_missing_hostapd_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_point.shutil, "which", lambda *_, **__: None)
    with pytest.raises(SojournError, match="install the Debian package hostapd"):
        built()


def test_what_a_kernel_cannot_do_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParamError, match=r"^wifi\.defer is 1ms, but must be left out on the linux back end: neither"):
        with_cell(defer="1ms").normalized("linux")
    with pytest.raises(ParamError, match=r"^wifi is given, but the live back end has wires only: use sim or linux$"):
        api.build("wifi_tcp").normalized("live")


def test_stations_need_not_be_named_by_traffic() -> None:
    assert isinstance(with_cell().wifi, Wifi)
    load = plan()
    assert [probe.get("station", 0) for probe in load["probes"]] == [0, 1, 2]
