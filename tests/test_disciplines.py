"""What Python says of single disciplines is of kinds that there are, and the compiled part has what each needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sojourn import _native, disciplines
from sojourn.plots import style
from sojourn.tune import map as maps
from sojourn.tune.space import TUNED
from sojourn.validate import drawn_qdisc

KINDS = disciplines.MODELLED
#: What figures also call disciplines: settings of the papers, and how access points queue.
OTHER_NAMES = {"ared", "fq_nocodel", "fifo", "fq_mac", "airtime"}
#: Kinds that cannot be said without parameters.
WORDS = {"red": "limit 400000 avpkt 1000", "tbf": "rate 1mbit burst 5kb limit 10kb", "ets": "bands 3"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_put_into_a_request(kind: str) -> None:
    request = _native.kernel_qdisc(f"{kind} {WORDS.get(kind, '')}", 1_000_000)
    payload, nested, length = _native.netlink_options(request)
    assert json.loads(request)["kind"] == kind
    assert (payload is None) == (length is not None)
    assert not (nested and payload is None)


def test_what_is_tuned_drawn_or_has_a_style_is_a_kind() -> None:
    assert TUNED.keys() <= KINDS.keys()
    assert set(maps.QDISCS) <= TUNED.keys()
    assert set(drawn_qdisc.KINDS) <= disciplines.MODELLED.keys()
    assert KINDS.keys() | OTHER_NAMES >= style.NAMES


@pytest.mark.parametrize("kind", TUNED)
def test_the_default_setting_is_what_the_kind_is_without_words(kind: str) -> None:
    known = disciplines.defaults(kind)
    for name in TUNED[kind].known:
        assert name in known


def test_defaults_and_presets_are_numbers_in_ms() -> None:
    assert disciplines.defaults("codel") == {"limit": 1000.0, "target": 5.0, "interval": 100.0}
    assert disciplines.times_of_preset("rural:codel") == {"target": 65.0, "interval": 300.0}
    assert disciplines.defaults("cake") == {"rtt": 100.0, "memlimit": 0.0, "fwmark": 0.0, "overhead": 0.0, "mpu": 0.0}
    assert [disciplines.number(text) for text in ("1s", "1500us", "7", ".5ms", "ecn", "5kb")] == [
        1000.0,
        1.5,
        7.0,
        0.5,
        None,
        None,
    ]


@pytest.mark.parametrize("ecn", [True, "ect0", "ect1", "ce"])
def test_a_packet_that_takes_marks_is_marked(ecn: Any) -> None:
    qdisc = _native.Qdisc("codel ce_threshold 1ms")
    qdisc.enqueue(0, 1000, ecn=ecn)
    left = qdisc.dequeue(5_000_000)
    assert left is not None
    assert left.marked


@pytest.mark.parametrize("ecn", [False, "not-ect"])
def test_a_packet_that_takes_no_marks_is_not(ecn: Any) -> None:
    qdisc = _native.Qdisc("codel ce_threshold 1ms")
    qdisc.enqueue(0, 1000, ecn=ecn)
    left = qdisc.dequeue(5_000_000)
    assert left is not None
    assert not left.marked


@pytest.mark.parametrize("ecn", ["ECT(0)", 2, b"ce"])
def test_what_is_no_codepoint_is_refused(ecn: str) -> None:
    qdisc = _native.Qdisc("codel")
    with pytest.raises(_native.ParamError, match="ecn is .*, but must be True, False,"):
        qdisc.enqueue(0, 1000, ecn=ecn)
    assert qdisc.backlog == (0, 0)
