"""Hosts and code points on wires: the experiments that have them, and what the frames say of them."""

from __future__ import annotations

import json

import msgspec
import pytest

import sojourn
from sojourn import _native
from sojourn.backends.linux import network_of
from sojourn.backends.linux.topology import bed, client_address, server_address
from sojourn.experiments import BUILT_IN
from sojourn.scenario import Flow, Scenario
from tests.conftest import Cli


def marks(scenario: Scenario) -> dict[str, str | int | None]:
    return {one.name: one.dscp for one in scenario.flows} | {one.name: one.dscp for one in scenario.probes}


def test_marked_rrul_has_the_code_points_of_flents_rrul() -> None:
    # Source: rrul.conf of Flent: netperf's -Y of each command.
    flows = {"be": None, "bk": "CS1", "cs5": "CS5", "ef": "EF"}
    expected = {f"tcp_{way}_{name}": dscp for way in ("up", "down") for name, dscp in flows.items()}
    expected |= {"ping": None, "udp_rr_be": None, "udp_rr_bk": "CS1", "udp_rr_ef": "EF"}
    assert marks(BUILT_IN["rrul"].make(marks="flent")) == expected
    assert set(marks(BUILT_IN["rrul"].make()).values()) == {None}


@pytest.mark.parametrize(("way", "flows"), [("up", 5), ("down", 5), ("both", 10)])
def test_hosts_have_as_many_flows_as_they_are_given(way: str, flows: int) -> None:
    built = BUILT_IN["hosts"].make(first=4, second=1, way=way, side="server")
    assert len(built.flows) == flows
    assert {flow.client for flow in built.flows} == {None}
    second = {flow.name for flow in built.flows if flow.server == 2}
    ways = ("up", "down") if way == "both" else (way,)
    assert second == {f"tcp_{direction}_second_1" for direction in ways}
    assert [(probe.name, probe.server) for probe in built.probes] == [("ping_first", None), ("ping_second", 2)]


def test_the_frame_of_flows_has_hosts_and_code_points() -> None:
    run = sojourn.run("hosts", first=1, second=1, way="up", duration="1s")
    assert run.flows.select("name", "client", "server", "dscp").rows() == [
        ("tcp_up_first_1", 1, 1, 0),
        ("tcp_up_second_1", 2, 1, 0),
    ]
    marked = sojourn.run("rrul", marks="flent", duration="1s")
    assert marked.flows["dscp"].to_list() == 2 * [0, 8, 40, 46]


def test_a_side_that_is_not_there_is_refused(inside: Cli) -> None:
    done = inside("run", "hosts", "--side", "middle", status=2)
    assert done.stderr == "sojourn: side is 'middle', but must be one of client, server\n"


def test_a_bed_has_an_address_for_each_host_and_path() -> None:
    flows = (
        Flow(name="a", direction="up", client=3),
        Flow(name="b", direction="down", server=2, rtt="10ms", dscp="EF"),
    )
    scenario = Scenario(experiment="hosts", duration="1s", flows=flows)
    load = json.loads(_native.load_plan(scenario.normalized("linux")))
    ends = [{key: flow[key] for key in ("client", "server", "dscp") if key in flow} for flow in load["flows"]]
    assert ends == [{"client": 2}, {"server": 1, "dscp": 46}]
    network = network_of(load)
    assert network.client_addresses == ["10.0.1.1", "10.2.1.1", "10.3.1.1"]
    assert network.server_addresses == ["10.0.4.11", "10.0.4.12", "10.2.4.11", "10.2.4.12"]
    assert (client_address(63), server_address(15, 63)) == ("10.64.1.1", "10.64.4.26")
    built = msgspec.to_builtins(bed(network))
    assert (built["clients"], built["server"]) == (network.client_addresses, network.server_addresses)
    says = [step["says"] for step in built["steps"]]
    for ip in (*network.client_addresses[1:], *network.server_addresses):
        assert f"give {'c0' if '.1.1' in ip else 's0'} the address {ip}" in says
    # On the delay host and on the router beside the hosts.
    for net in ("10.2.1.0", "10.3.1.0", "10.2.4.0"):
        assert says.count(f"route to {net}/24") == 2
    for ip in network.server_addresses:
        assert sum(f"send {ip} to its class" in one for one in says) == 2


def test_a_scenario_without_hosts_gives_a_guest_what_it_gave_before() -> None:
    load = _native.load_plan(BUILT_IN["rrul"].make().normalized("linux"))
    for key in ("client", "server", "dscp"):
        assert f'"{key}"' not in load
