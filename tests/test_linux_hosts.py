"""Hosts and code points on the real kernel: its disciplines tell them apart, and the simulator's agree."""

from __future__ import annotations

import pytest

from sojourn import api, runner
from sojourn.backends.linux import LinuxBackend
from sojourn.kernel.find import Kernel
from sojourn.scenario import Download, Flow, Probe, Scenario, Web
from sojourn.store.run import Run
from tests.records import Json

pytestmark = pytest.mark.usefixtures("virtual_kernel")


def on_linux(scenario: Scenario, kernel: Kernel) -> Run:
    [run] = runner.run_all([scenario], workers=1, backend=LinuxBackend(kernel))
    return run


def shares(run: Run) -> dict[str, float]:
    """Return each host's part of the goodput."""
    by_host: dict[str, float] = {}
    for name, goodput in run.flows.select("name", "goodput_mbit").rows():
        host = name.split("_")[2]
        by_host[host] = by_host.get(host, 0.0) + goodput
    return {host: goodput / sum(by_host.values()) for host, goodput in by_host.items()}


@pytest.mark.parametrize(
    ("side", "way", "isolation"),
    [("client", "up", "dual-srchost"), ("client", "down", "dual-dsthost"), ("server", "up", "dual-dsthost")],
)
def test_cake_isolates_the_hosts_and_fq_codel_the_flows(
    side: str, way: str, isolation: str, virtual_kernel: Kernel
) -> None:
    one: Json = {
        "side": side,
        "way": way,
        "first": 6,
        "second": 2,
        "rate": "20mbit",
        "rtt": "20ms",
        "duration": "8s",
    }
    cake = api.build("hosts", **one, qdisc=f"cake bandwidth 18mbit {isolation}")
    assert shares(on_linux(cake, virtual_kernel))["second"] == pytest.approx(0.5, abs=0.03)
    fair = api.build("hosts", **one, qdisc="fq_codel")
    assert shares(on_linux(fair, virtual_kernel))["second"] == pytest.approx(0.25, abs=0.03)


def test_cake_puts_each_code_point_into_its_tin(virtual_kernel: Kernel) -> None:
    marked = api.build("rrul", marks="flent", qdisc="cake bandwidth 18mbit diffserv4", rate="20mbit", duration="5s")
    flows = {flow.name: flow for flow in on_linux(marked, virtual_kernel).record.flows}
    # Bulk may have a sixteenth of the rate while others want more. Source: sch_cake.c, cake_config_diffserv4.
    for way in ("up", "down"):
        rates = {name: flows[f"tcp_{way}_{name}"].goodput_mbit for name in ("be", "bk", "cs5", "ef")}
        assert rates["bk"] < 0.25 * rates["be"], rates


def strict(dscp: str, interval: str = "50ms") -> Scenario:
    """Return a link that a flood of the middle band of `pfifo_fast` fills, and a probe with a code point."""
    flood = Flow(name="flood", direction="up", kind=None, protocol="udp", rate="20mbit")
    return Scenario(
        experiment="strict",
        duration="5s",
        lead="0s",
        rtt="20ms",
        qdisc_up="pfifo_fast limit 100",
        qdisc_down="pfifo_fast limit 100",
        flows=(flood,),
        probes=(Probe(name="p", kind="isochronous", interval=interval, dscp=dscp),),
    )


@pytest.mark.parametrize("dscp", ["CS0", "AF12", "EF", "CS5"])
def test_pfifo_fast_serves_code_points_as_the_simulators_does(dscp: str, virtual_kernel: Kernel) -> None:
    kernel = on_linux(strict(dscp), virtual_kernel).record.probes[0]
    [simulated] = runner.run_all([strict(dscp)], workers=1)
    model = simulated.record.probes[0]
    assert kernel.delay_ms.median == pytest.approx(model.delay_ms.median, rel=0.03, abs=1)


def test_pfifo_fast_starves_the_lowest_band(virtual_kernel: Kernel) -> None:
    probe = on_linux(strict("AF11", "10ms"), virtual_kernel).record.probes[0]
    # Of 500 packets only those that the band holds may leave, after the flood.
    assert probe.sent == 500
    assert probe.sent - probe.lost <= 101


def test_all_traffic_of_further_hosts_arrives(virtual_kernel: Kernel) -> None:
    at: Json = {"client": 2, "server": 3, "dscp": "AF21"}
    scenario = Scenario(
        experiment="all",
        duration="5s",
        rtt="30ms",
        qdisc_up="fq_codel",
        qdisc_down="fq_codel",
        flows=(
            Flow(name="up", direction="up", rate="1mbit", **at),
            Flow(name="down", direction="down", rate="1mbit", rtt="60ms", **at),
            Flow(name="udp", direction="down", kind=None, protocol="udp", rate="500kbit", **at),
        ),
        probes=(
            Probe(name="icmp", kind="icmp", **at),
            Probe(name="udp_rr", kind="udp_rr", rtt="60ms", **at),
            Probe(name="voip", kind="voip", direction="down", **at),
        ),
        web=(Web(name="web", objects=(5_000, 20_000), interval="500ms", **at),),
        downloads=(Download(name="files", direction="up", bytes=20_000, gap="200ms", **at),),
    )
    record = on_linux(scenario, virtual_kernel).record
    goodputs = [flow.goodput_mbit for flow in record.flows]
    assert goodputs == [pytest.approx(rate, rel=0.05) for rate in (1, 1, 0.5)]
    assert [probe.lost for probe in record.probes] == [0, 0, 0]
    rtts = {probe.name: probe.rtt_ms.median for probe in record.probes if probe.rtt_ms is not None}
    assert rtts == {"icmp": pytest.approx(31, abs=2), "udp_rr": pytest.approx(61, abs=2)}
    assert record.web[0].completed >= 8
    assert record.downloads[0].completed >= 5
