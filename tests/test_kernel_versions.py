"""Kernels of several versions side by side: each runs what another runs, and the same each time."""

from __future__ import annotations

import json

import pytest

import sojourn
from sojourn import api
from sojourn.backends.linux import guest
from sojourn.errors import ParamError, SojournError
from sojourn.kernel import find
from sojourn.scenario import Scenario
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.miniature import virtual
from tests.records import Json


def kernel_or_skip(version: str) -> str:
    """Return the version, if such a kernel was built."""
    try:
        find.find(version)
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    return version


def record_on(version: str, scenario: Scenario) -> Json:
    """Return what a run on a kernel said, without its cost."""
    record: Json = json.loads(sojourn.run(scenario, backend=f"linux:{version}").text)
    del record["cost"]
    return record


@pytest.mark.slow
@pytest.mark.parametrize("version", ["6.1", "7.3"])
def test_a_run_on_a_named_kernel_is_of_it_and_repeats(version: str) -> None:
    kernel_or_skip(version)
    # 5.1 s is no multiple of the 0.2 s of a bin.
    scenario = api.build("rrul", backend="linux", rate="10mbit", duration="5.1s", seed=3)
    record = record_on(version, scenario)
    assert record["kernel"]["release"].startswith(f"{version}.")
    assert record["kernel"]["virtual_time"] is True
    assert record == record_on(version, scenario)


def test_only_a_kernel_that_has_the_seccomp_mode_is_asked_for_it() -> None:
    def words(release: str) -> list[str]:
        return guest.command_line(virtual(release), seed=1)

    asked = {
        release: "seccomp=auto" in words(release) for release in ("6.1.192", "6.12.117", "6.15.9", "6.16", "7.3.4-x")
    }
    assert asked == {"6.1.192": False, "6.12.117": False, "6.15.9": False, "6.16": True, "7.3.4-x": True}


@pytest.mark.slow
def test_how_programs_call_a_guest_kernel_changes_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_or_skip("7.3")
    scenario = api.build(
        "rrul", backend="linux", qdisc="red limit 100kb avpkt 1500", rate="10mbit", duration="5s", seed=3
    )
    faster = record_on("7.3", scenario)
    of_now = guest.command_line
    monkeypatch.setattr(guest, "command_line", lambda *args: [word for word in of_now(*args) if word != "seccomp=auto"])
    assert record_on("7.3", scenario) == faster


@pytest.mark.slow
def test_hystart_ends_slow_start_alike_where_each_segment_is_acknowledged() -> None:
    """The kernels differ in when a receiver acknowledges, not in HyStart: docs/lab/tcp.md."""

    def window(version: str, *, delayed: bool) -> int:
        made = api.build("tcp_1up", backend="linux", qdisc="pfifo limit 127", rate="10mbit", cc="cubic", duration="1s")
        plain = json.loads(made.normalized("linux"))
        plain["tcp"]["delayed_ack"] = delayed
        record = record_on(version, Scenario.from_json(json.dumps(plain), "linux"))
        return int(record["tcp_counters"]["client"]["TCPHystartTrainCwnd"])

    old, new = kernel_or_skip("6.1"), kernel_or_skip("7.3")
    assert window(old, delayed=False) == window(new, delayed=False) > 0
    assert window(old, delayed=True) < window(new, delayed=True)


def test_a_kernel_belongs_to_the_back_end_linux(cli: Cli) -> None:
    for command in (["run", "rrul"], ["compare", "rrul", "--qdisc", "codel"], ["tune", "codel"]):
        done = cli(*command, "--kernel", "7.3", status=2)
        assert_one_sentence(done, "kernel is '7.3', but the back end sim has none: give --backend linux")
    done = cli("validate", "rrul", "--backend", "live", "--kernel", "7.3", status=2)
    assert_one_sentence(done, "kernel is '7.3', but the back end live has none: give --backend linux")
    done = cli("run", "rrul", "--backend", "linux", "--kernel", "", status=2)
    assert_one_sentence(done, "kernel is '', but must be the name of a kernel: `sojourn kernel status` lists them")


def test_a_kernel_that_was_not_built_is_one_sentence(cli: Cli) -> None:
    rule = "but must be one of virtual, uml, host, "
    for command in (["run", "rrul"], ["compare", "rrul", "--qdisc", "codel"], ["validate", "tcp_1up"]):
        where = [] if command[0] == "validate" else ["--backend", "linux"]
        done = cli(*command, *where, "--kernel", "lunix", status=2)
        assert_one_sentence(done, f"kernel is 'lunix', {rule}")
