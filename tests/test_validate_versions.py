"""Validation takes the simulator's variants of the kernel that it compares with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sojourn import api
from sojourn.scenario import Tcp
from sojourn.validate.disciplines import as_in


@pytest.mark.parametrize(
    ("text", "release", "found"),
    [
        ("fq limit 80", "6.1.192-sojourn2", "fq limit 80"),
        ("fq limit 80", "6.7.12", "fq limit 80"),
        ("fq limit 80", "6.8.0", "fq limit 80 variant linux-7.3"),
        ("fq limit 80", "7.3.4-sojourn2", "fq limit 80 variant linux-7.3"),
        ("fq_codel", "7.3.4", "fq_codel"),
        (
            "prio bands 3 ; qdisc parent 1:1 fq limit 9 ; qdisc parent 1:2 fq_codel",
            "6.12.117",
            "prio bands 3 ; qdisc parent 1:1 fq limit 9 variant linux-7.3 ; qdisc parent 1:2 fq_codel",
        ),
        ("fq limit 80", "", "fq limit 80"),
    ],
)
def test_the_simulators_fq_is_that_of_the_kernel_it_is_compared_with(text: str, release: str, found: str) -> None:
    scenario = api.build("tcp_1up", qdisc_up=text, qdisc_down="codel")
    changed = as_in(scenario, release)
    assert (changed.qdisc_up, changed.qdisc_down) == (found, "codel")
    changed.normalized()


@pytest.mark.parametrize(
    ("release", "named", "found"),
    [
        ("6.12.117", None, None),
        ("7.3.4-sojourn2", None, "linux-7.3"),
        ("7.10.1", None, "linux-7.3"),
        ("7.3.4-sojourn2", "linux-6.1", "linux-6.1"),
        ("", None, None),
    ],
)
def test_the_simulators_tcp_is_that_of_the_kernel_it_is_compared_with(
    release: str, named: str | None, found: str | None
) -> None:
    tcp = Tcp(variant=named, receive_window="1mb")
    scenario = replace(api.build("tcp_1up"), tcp=tcp)
    changed = as_in(scenario, release)
    assert changed.tcp == replace(tcp, variant=found)
    changed.normalized()
