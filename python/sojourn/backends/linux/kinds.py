"""How the options of each kind of queue discipline lie in a netlink message.

Source: `linux/pkt_sched.h` of the kernel's user interface (numbers and types). pyroute2 has some of these; all are
here, because it lacks RED, PIE, FQ-PIE and FQ, and because its own encoders of others take texts or lack newer
attributes.
"""

from __future__ import annotations

from typing import Any

from pyroute2.netlink import NLA_F_NESTED, nla
from pyroute2.netlink.rtnl.tcmsg import cls_u32

_ETHERNET = 1


def _flat(*attributes: tuple[str, str]) -> type[nla]:
    """Return the layout of options that are attributes, numbered from 1."""

    class Options(nla):  # type: ignore[misc]
        nla_flags = NLA_F_NESTED  # FQ-PIE insists
        nla_map = (("UNSPEC", "none"), *attributes)

    return Options


class _Fifo(nla):  # type: ignore[misc]
    fields = (("limit", "I"),)


class _Prio(nla):  # type: ignore[misc]
    fields = (("bands", "i"), ("priomap", "16B"))


class _Sfq(nla):  # type: ignore[misc]
    fields = (
        ("quantum", "I"),
        ("perturb_period", "i"),
        ("limit", "I"),
        ("divisor", "I"),
        ("flows", "I"),
        ("depth", "I"),
        ("headdrop", "I"),
        ("limit_v1", "I"),
        ("qth_min", "I"),
        ("qth_max", "I"),
        ("Wlog", "B"),
        ("Plog", "B"),
        ("Scell_log", "B"),
        ("flags", "B"),
        ("max_P", "I"),
        ("prob_drop", "I"),
        ("forced_drop", "I"),
        ("prob_mark", "I"),
        ("forced_mark", "I"),
        ("prob_mark_head", "I"),
        ("forced_mark_head", "I"),
    )


class _Red(nla):  # type: ignore[misc]
    nla_map = (
        ("UNSPEC", "none"),
        ("PARMS", "parms"),
        ("STAB", "cdata"),
        ("MAX_P", "uint32"),
        ("FLAGS", "bitfield"),
    )

    class bitfield(nla):  # type: ignore[misc]  # noqa: N801
        fields = (("bits", "I"), ("selector", "I"))

    class parms(nla):  # type: ignore[misc]  # noqa: N801
        fields = (
            ("limit", "I"),
            ("qth_min", "I"),
            ("qth_max", "I"),
            ("Wlog", "B"),
            ("Plog", "B"),
            ("Scell_log", "B"),
            ("flags", "B"),
        )


class _Tbf(nla):  # type: ignore[misc]
    nla_map = (
        ("UNSPEC", "none"),
        ("PARMS", "parms"),
        ("RTAB", "none"),
        ("PTAB", "none"),
        ("RATE64", "uint64"),
        ("PRATE64", "uint64"),
        ("BURST", "uint32"),
        ("PBURST", "uint32"),
    )

    class parms(nla):  # type: ignore[misc]  # noqa: N801
        fields = (
            ("cell_log", "B"),
            ("linklayer", "B"),
            ("overhead", "H"),
            ("cell_align", "h"),
            ("mpu", "H"),
            ("rate", "I"),
            ("peak_cell_log", "B"),
            ("peak_linklayer", "B"),
            ("peak_overhead", "H"),
            ("peak_cell_align", "h"),
            ("peak_mpu", "H"),
            ("peak", "I"),
            ("limit", "I"),
            ("buffer", "I"),
            ("mtu", "I"),
        )


class _Netem(nla):  # type: ignore[misc]
    fields = (("latency", "I"), ("limit", "I"), ("loss", "I"), ("gap", "I"), ("duplicate", "I"), ("jitter", "I"))
    nla_map = (
        ("UNSPEC", "none"),
        ("CORR", "none"),
        ("DELAY_DIST", "none"),
        ("REORDER", "none"),
        ("CORRUPT", "none"),
        ("LOSS", "none"),
        ("RATE", "none"),
        ("ECN", "none"),
        ("RATE64", "uint64"),
        ("PAD", "none"),
        ("LATENCY64", "int64"),
        ("JITTER64", "int64"),
    )


#: The fields of SFQ's options.
SFQ_FIELDS = tuple(name for name, _ in _Sfq.fields)

#: The layout of the options of each kind.
OPTIONS: dict[str, type[nla]] = {
    "pfifo": _Fifo,
    "bfifo": _Fifo,
    "prio": _Prio,
    "sfq": _Sfq,
    "red": _Red,
    "tbf": _Tbf,
    "netem": _Netem,
    "u32": cls_u32.options,
    "codel": _flat(
        ("TARGET", "uint32"), ("LIMIT", "uint32"), ("INTERVAL", "uint32"), ("ECN", "uint32"), ("CE_THRESHOLD", "uint32")
    ),
    "fq_codel": _flat(
        ("TARGET", "uint32"),
        ("LIMIT", "uint32"),
        ("INTERVAL", "uint32"),
        ("ECN", "uint32"),
        ("FLOWS", "uint32"),
        ("QUANTUM", "uint32"),
        ("CE_THRESHOLD", "uint32"),
        ("DROP_BATCH_SIZE", "uint32"),
        ("MEMORY_LIMIT", "uint32"),
    ),
    "pie": _flat(
        ("TARGET", "uint32"),
        ("LIMIT", "uint32"),
        ("TUPDATE", "uint32"),
        ("ALPHA", "uint32"),
        ("BETA", "uint32"),
        ("ECN", "uint32"),
        ("BYTEMODE", "uint32"),
        ("DQ_RATE_ESTIMATOR", "uint32"),
    ),
    "fq_pie": _flat(
        ("LIMIT", "uint32"),
        ("FLOWS", "uint32"),
        ("TARGET", "uint32"),
        ("TUPDATE", "uint32"),
        ("ALPHA", "uint32"),
        ("BETA", "uint32"),
        ("QUANTUM", "uint32"),
        ("MEMORY_LIMIT", "uint32"),
        ("ECN_PROB", "uint32"),
        ("ECN", "uint32"),
        ("BYTEMODE", "uint32"),
        ("DQ_RATE_ESTIMATOR", "uint32"),
    ),
    "fq": _flat(
        ("PLIMIT", "uint32"),
        ("FLOW_PLIMIT", "uint32"),
        ("QUANTUM", "uint32"),
        ("INITIAL_QUANTUM", "uint32"),
        ("RATE_ENABLE", "uint32"),
        ("FLOW_DEFAULT_RATE", "uint32"),
        ("FLOW_MAX_RATE", "uint32"),
        ("BUCKETS_LOG", "uint32"),
        ("FLOW_REFILL_DELAY", "uint32"),
        ("ORPHAN_MASK", "uint32"),
        ("LOW_RATE_THRESHOLD", "uint32"),
        ("CE_THRESHOLD", "uint32"),
        ("TIMER_SLACK", "uint32"),
        ("HORIZON", "uint32"),
        ("HORIZON_DROP", "uint8"),
    ),
    "cake": _flat(
        ("PAD", "none"),
        ("BASE_RATE64", "uint64"),
        ("DIFFSERV_MODE", "uint32"),
        ("ATM", "uint32"),
        ("FLOW_MODE", "uint32"),
        ("OVERHEAD", "int32"),
        ("RTT", "uint32"),
        ("TARGET", "uint32"),
        ("AUTORATE", "uint32"),
        ("MEMORY", "uint32"),
        ("NAT", "uint32"),
        ("RAW", "uint32"),
        ("WASH", "uint32"),
        ("MPU", "uint32"),
        ("INGRESS", "uint32"),
        ("ACK_FILTER", "uint32"),
        ("SPLIT_GSO", "uint32"),
        ("FWMARK", "uint32"),
    ),
}


def tbf(*, rate_bps: int, burst_bytes: int) -> dict[str, Any]:
    """Return tbf's options: a rate in bit/s, rounded to whole bytes a second as the kernel has them, and a depth."""
    rate = rate_bps // 8
    zero = dict.fromkeys((name for name, _ in _Tbf.parms.fields), 0)
    # With a link layer that is told, the kernel computes times from the rate and wants no table of them.
    parms = zero | {"linklayer": _ETHERNET, "rate": min(rate, 2**32 - 1), "limit": 2**30}
    attrs: list[tuple[str, Any]] = [("PARMS", parms), ("BURST", burst_bytes)]
    if rate >= 2**32:
        attrs.append(("RATE64", rate))
    return {"attrs": attrs}


#: A rate at which no packet takes a nanosecond. netem keeps the order of packets if it has a rate.
_AT_ONCE = 2**62


def netem(*, delay_ns: int, limit: int, loss: int = 0, jitter_ns: int = 0) -> dict[str, Any]:
    """Return netem's options.

    Parameters
    ----------
    delay_ns
        What each packet waits.
    limit
        How many packets it may hold.
    loss
        Probability that it loses a packet, in parts of 2^32.
    jitter_ns
        Each waits up to so much longer, uniformly, and none overtakes another. netem draws from both sides of its
        delay, in whole nanoseconds, so that an odd number is one less.
    """
    plain = {"latency": 0, "loss": loss, "gap": 0, "duplicate": 0, "jitter": 0, "limit": limit}
    half = jitter_ns // 2
    attrs: list[tuple[str, Any]] = [("LATENCY64", delay_ns + half)]
    if half:
        attrs += [("RATE64", _AT_ONCE), ("JITTER64", half)]
    return plain | {"attrs": attrs}


def prio(*, bands: int) -> dict[str, Any]:
    """Return prio's options: so many bands; what no filter picks goes to the first."""
    return {"bands": bands, "priomap": (0,) * 16}
