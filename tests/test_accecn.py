"""AccECN (RFC 9768) as a key of a scenario: in the simulator, and in the kernel that has it."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, cast

import pytest

import sojourn
from sojourn import Flow, ParamError, Scenario, SojournError
from sojourn.backends.linux.topology import Network, check_kernel
from sojourn.kernel.find import CHOICE, find
from sojourn.record import FlowRecord
from sojourn.scenario import Tcp
from tests import optional
from tests.records import Json


def upload(ecn: Any) -> Scenario:
    """One flow that CoDel marks."""
    return Scenario(
        experiment="accecn",
        duration="10s",
        rtt="20ms",
        up="5mbit",
        qdisc_up="codel ecn",
        tcp=Tcp(ecn=ecn),
        flows=(Flow(name="a", direction="up"),),
    )


def flow(scenario: Scenario, backend: str = "sim", **more: Any) -> FlowRecord:
    return sojourn.run(scenario, backend=backend, **more).record.flows[0]


def test_each_mark_of_the_queue_is_counted_once() -> None:
    """Classic ECN tells of a mark again and again; AccECN tells how many there were."""
    accurate = flow(upload("accecn")).ecn
    assert accurate.agreed
    assert accurate.marked > 10
    # What is still under way at the end is not known.
    assert 0 <= accurate.marked - accurate.delivered_ce <= 2
    classic = flow(upload(True)).ecn
    assert classic.delivered_ce > 2 * classic.marked


def test_an_ack_filter_leaves_its_acknowledgements_alone() -> None:
    """CAKE drops no acknowledgement with an option or a flag that it does not know (`cake_tcph_may_drop`)."""
    keys: Json = {"up": "300kbit", "qdisc_up": "cake ack-filter", "down": "20mbit", "qdisc_down": "codel ecn"}
    flows = (Flow(name="a", direction="down"),)
    dropped = {
        ecn: flow(dataclasses.replace(upload(ecn), **keys, flows=flows)).acks_dropped for ecn in (True, "accecn")
    }
    assert dropped[True] > 100
    assert dropped["accecn"] == 0


def test_a_kernel_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux 7.3 counts each mark once, as the simulator does, and its goodput is the same."""
    monkeypatch.setenv(CHOICE, "7.3")
    try:
        find()
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    mine, theirs = flow(upload("accecn")), flow(upload("accecn"), "linux")
    assert theirs.ecn.agreed
    assert 0 <= theirs.ecn.marked - theirs.ecn.delivered_ce <= 2
    assert theirs.goodput_mbit == pytest.approx(mine.goodput_mbit, rel=0.01)
    assert theirs.ecn.marked == pytest.approx(mine.ecn.marked, rel=0.1)


@pytest.mark.parametrize("release", ["6.1.192", "6.12.48", "7.2"])
def test_an_older_kernel_is_refused(release: str) -> None:
    network = cast("Network", SimpleNamespace(tcp=SimpleNamespace(ecn="accecn")))
    with pytest.raises(ParamError) as error:
        check_kernel(network, release)
    assert str(error.value) == (
        f'tcp.ecn is "accecn", but the kernel is Linux {release}, and must be 7.3 or later for it: '
        "name another kernel, or leave it out"
    )
    check_kernel(cast("Network", SimpleNamespace(tcp=SimpleNamespace(ecn=True))), release)
    check_kernel(network, "7.3.4")


def test_another_word_is_refused() -> None:
    with pytest.raises(ParamError, match=r"accecn"):
        sojourn.run(upload("acecn"))
