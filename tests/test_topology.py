"""Topologies beyond the path with one bottleneck: what they must come to, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

import sojourn
from sojourn import Flow, ParamError, Probe, Scenario, _native
from sojourn.scenario_keys import Link, Topology
from sojourn.store.run_store import RunStore
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

PING = Probe(name="ping", kind="icmp")


def chain(*links: Link, ends: tuple[str, str] = ("a", "c"), **keys: Any) -> Topology:
    return Topology(links=links, ends=ends, **keys)


def test_the_path_with_one_bottleneck_is_the_short_form_of_a_topology() -> None:
    """RRUL, with each link of the path written out, gives the same flows, probes and queues."""
    short = sojourn.api.build("rrul", up="2mbit", down="8mbit", rtt="50ms", qdisc="fq_codel", duration="10s")
    wire = {"one_way": True}
    network = Topology(
        links=(
            Link(between=("client", "r1")),
            Link(between=("r1", "there"), rate="2mbit", qdisc="fq_codel", **wire),
            Link(between=("there", "r2"), delay="25ms", **wire),
            Link(between=("r2", "server")),
            Link(between=("r2", "back"), rate="8mbit", qdisc="fq_codel", **wire),
            Link(between=("back", "r1"), delay="25ms", **wire),
        ),
        ends=("client", "server"),
    )
    written_out = Scenario(
        experiment=short.experiment, duration=short.duration, flows=short.flows, probes=short.probes, topology=network
    )
    one, other = sojourn.run(short).record, sojourn.run(written_out).record
    assert other.summary == one.summary
    assert other.bottleneck == one.bottleneck
    assert replace(other.series, links=None) == one.series
    for mine, theirs in zip(other.flows, one.flows, strict=True):
        assert replace(mine, queue_shared_with=[]) == replace(theirs, queue_shared_with=[])
    assert other.links == {"r1-there": one.bottleneck["up"], "r2-back": one.bottleneck["down"]}


def test_a_ping_takes_the_delays_of_its_way_when_all_links_are_idle() -> None:
    """Buckets are full, so a packet passes a rate at once."""
    links = (
        Link(between=("a", "b"), rate="1mbit", delay="3ms"),
        Link(between=("b", "c"), rate="5mbit", delay="4ms"),
    )
    run = sojourn.run(Scenario(experiment="idle", duration="2s", probes=(PING,), topology=chain(*links)))
    rtt = run.summary.rtt_ms
    assert (rtt.min, rtt.max) == (14.0, 14.0)
    assert run.record.scenario["rtt"] == "14ms"
    assert run.record.scenario["probes"][0]["ends"] == ["a", "c"]


def test_fair_queues_in_a_row_share_their_links_fairly() -> None:
    """Max-min: each of two links of 10 Mbit/s has two flows, so each flow gets half of one: 5 x 1448 / 1514 Mbit/s."""
    run = sojourn.run(Scenario.from_toml(Path("examples/parking-lot.toml")), qdisc_up="fq_codel", qdisc_down="fq_codel")
    for flow in run.record.flows:
        assert flow.goodput_mbit == pytest.approx(5 * 1448 / 1514, rel=0.06), flow.name
    assert {flow.name: flow.base_rtt_ms for flow in run.record.flows} == {
        "both": 40,
        "first": 20,
        "second": 20,
    }


def test_a_tree_keeps_the_rates_of_its_branches_and_of_its_root() -> None:
    """Three homes of 4 Mbit/s below a root of 6 Mbit/s: the two that upload share the root."""
    homes = tuple(Link(between=(f"home{k}", "root"), rate="4mbit", qdisc="fq_codel") for k in range(3))
    root = Link(between=("root", "net"), rate="6mbit", delay="10ms", qdisc="fq_codel")
    topology = Topology(links=(*homes, root), ends=("home0", "net"), up="root-net", down="net-root")

    def goodputs(number: int) -> list[float]:
        flows = tuple(Flow(name=f"f{k}", direction="up", ends=(f"home{k}", "net")) for k in range(number))
        run = sojourn.run(Scenario(experiment="tree", duration="20s", flows=flows, topology=topology))
        return [flow.goodput_mbit * 1514 / 1448 for flow in run.record.flows]

    assert goodputs(1) == pytest.approx([4.0], rel=0.05)
    assert goodputs(2) == pytest.approx([3.0, 3.0], rel=0.06)
    assert goodputs(3) == pytest.approx([2.0, 2.0, 2.0], rel=0.08)


def test_each_flow_is_told_of_at_its_own_slowest_link() -> None:
    # A host that is at the queue itself would not fill it: TCP small queues.
    links = (
        Link(between=("host", "a")),
        Link(between=("other", "b")),
        Link(between=("a", "b"), rate="10mbit", qdisc="pfifo limit 20", delay="5ms"),
        Link(between=("b", "c"), rate="2mbit", qdisc="pfifo limit 20", delay="5ms"),
    )
    flows = (
        Flow(name="near", direction="up", ends=("host", "b")),
        Flow(name="far", direction="up", ends=("other", "c")),
    )
    run = sojourn.run(
        Scenario(experiment="own", duration="20s", flows=flows, topology=chain(*links, ends=("host", "c")))
    )
    record = run.record
    near, far = record.flows
    assert record.bottleneck["up"] == record.links["b-c"]
    assert near.data_dropped > 0
    assert far.data_dropped > 0
    for flow, link in ((near, "a-b"), (far, "b-c")):
        assert flow.data_dropped == sum(record.links[link].drops.values())
    # 20 packets at 2 Mbit/s wait 121 ms, at 10 Mbit/s 24 ms.
    assert near.sojourn_ms.mean < 24.3 < far.sojourn_ms.mean < 121.2


def test_the_links_are_in_frames_and_survive_a_store(tmp_path: Path) -> None:
    path = Path("examples/parking-lot.toml")
    fresh = sojourn.run(Scenario.from_toml(path), duration="3s")
    sojourn.compare(str(path), qdiscs=["codel"], repeat=1, duration="3s", store=tmp_path / "store")
    store = RunStore(tmp_path / "store")
    (name,) = store.ids()
    stored = store.get(name)
    assert stored.record.series.links.keys() == fresh.record.links.keys()
    assert stored.record.links["r1-r2"].qdisc == "codel"
    backlog = stored.series.filter((pl.col("metric") == "links_backlog_packets") & (pl.col("name") == "r2-r3"))
    assert backlog.height == 15
    assert set(stored.series["metric"]) == set(fresh.series["metric"])


def test_a_link_that_is_told_of_takes_the_discipline_of_its_direction_unless_it_has_one() -> None:
    links = (Link(between=("a", "b"), rate="5mbit"), Link(between=("b", "c"), rate="9mbit", delay="1ms"))

    def qdiscs(own: str | None, **keys: str) -> list[str]:
        first = Link(between=("a", "b"), rate="5mbit", qdisc=own)
        scenario = Scenario(experiment="x", duration="1s", topology=chain(first, links[1]), **keys)  # type: ignore[arg-type]
        return [link["qdisc"].split()[0] for link in json.loads(scenario.normalized())["topology"]["links"]]

    assert qdiscs(None) == ["pfifo", "pfifo"]
    assert qdiscs(None, qdisc_up="sfq", qdisc_down="sfq") == ["sfq", "pfifo"]
    assert qdiscs("codel") == ["codel", "pfifo"]
    with pytest.raises(ParamError, match="^qdisc_up is given, but must be absent with topology"):
        qdiscs("codel", qdisc_up="sfq")
    canonical = Scenario(experiment="x", duration="1s", topology=chain(*links), qdisc_up="gbw:codel").normalized()
    assert Scenario.from_json(canonical).normalized() == canonical


AB = {"between": ["a", "b"], "rate": "5mbit", "delay": "1ms"}


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"topology": {"links": [], "ends": ["a", "b"]}},
            "topology.links is empty, but must be a list of at least one link",
        ),
        (
            {"topology": {"links": [AB], "ends": ["a", "z"]}},
            'topology.ends is ["a", "z"], but must be two nodes with a way from "a" to "z" in topology.links',
        ),
        (
            {"topology": {"links": [AB | {"one_way": True}], "ends": ["a", "b"]}},
            'topology.ends is ["a", "b"], but must be two nodes with a way from "b" to "a" in topology.links',
        ),
        (
            {"topology": {"links": [AB, AB], "ends": ["a", "b"]}},
            'topology.links is "a-b" twice, but must be unique: two nodes have at most one link each way',
        ),
        (
            {"topology": {"links": [{"between": ["a", "a"]}], "ends": ["a", "a"]}},
            'topology.links[0].between is "a" twice, but must be two nodes',
        ),
        (
            {"topology": {"links": [{"between": ["a", "b"], "delay": "1ms"}], "ends": ["a", "b"]}},
            'topology.up is missing, but must be given where no link from "a" to "b" has a rate',
        ),
        (
            {"topology": {"links": [{"between": ["a", "b"], "qdisc": "codel"}], "ends": ["a", "b"]}},
            "topology.links[0].qdisc is given, but must be absent without rate: an infinitely fast link has no queue",
        ),
        (
            {"topology": {"links": [AB | {"qdisc": "cake nat"}], "ends": ["a", "b"]}},
            "topology.links[0].qdisc: cake.nat needs a kernel's connection tracking: use the linux back end",
        ),
        (
            {"topology": {"links": [AB], "ends": ["a", "b"], "up": "b-c"}},
            'topology.up is "b-c", but must be the name A-B of a link with a rate',
        ),
        (
            {"topology": {"links": [AB], "ends": ["a", "b"]}, "up": "6mbit"},
            "up is given, but must be absent with topology, which says it",
        ),
        (
            {"topology": {"links": [AB], "ends": ["a", "b"]}, "edge_rate": "1gbit"},
            "edge_rate is given, but must be absent with topology",
        ),
        (
            {
                "topology": {"links": [AB], "ends": ["a", "b"]},
                "flows": [{"name": "f", "direction": "up", "ends": ["a", "x"]}],
            },
            'flows[0].ends is ["a", "x"], but must be two nodes with a way from "a" to "x" in topology.links',
        ),
        (
            {"flows": [{"name": "f", "direction": "up", "ends": ["a", "b"]}]},
            "flows[0].ends is given, but must be absent without topology",
        ),
    ],
)
def test_a_topology_that_cannot_be_built_is_refused_in_one_sentence(keys: Json, sentence: str) -> None:
    with pytest.raises(ParamError) as refused:
        _native.normalize(json.dumps({"duration": "1s"} | keys))
    assert str(refused.value) == sentence


def test_what_has_no_topologies_says_so(cli: Cli) -> None:
    path = str(Path("examples/parking-lot.toml").resolve())
    for backend in ("linux", "live"):
        refused = cli("run", path, "--backend", backend, status=2)
        assert_one_sentence(refused, "topology is given, but the", "use sim")
    refused = cli("run", path, "--duration", "1s", "--pcap", "x.pcapng", status=None)
    assert refused.returncode != 0
    assert_one_sentence(refused, "a capture is made of the path with one bottleneck")
