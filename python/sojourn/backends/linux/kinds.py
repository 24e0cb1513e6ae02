"""How the options of the disciplines that a bed itself is built with lie in a netlink message.

Source: `linux/pkt_sched.h` of the kernel's user interface (numbers and types). pyroute2 has some of these; all are
here, because its own encoders take texts or lack newer attributes. The disciplines under test are encoded by
`sojourn.backends.linux.disciplines`.
"""

from __future__ import annotations

from typing import Any

from pyroute2.netlink import nla
from pyroute2.netlink.rtnl.tcmsg import cls_u32

_ETHERNET = 1


class _Fifo(nla):  # type: ignore[misc]
    fields = (("limit", "I"),)


class _Prio(nla):  # type: ignore[misc]
    fields = (("bands", "i"), ("priomap", "16B"))


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


#: The layout of the options of each kind.
OPTIONS: dict[str, type[nla]] = {
    "pfifo": _Fifo,
    "prio": _Prio,
    "tbf": _Tbf,
    "netem": _Netem,
    "u32": cls_u32.options,
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
