"""A discipline's options, as `sojourn._native.kernel_qdisc` names them, in the layout of a netlink message.

Source of numbers: `linux/pkt_sched.h` of the kernel's user interface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.backends.linux import kinds
from sojourn.backends.linux.kinds import SFQ_FIELDS

Options = dict[str, Any]

_RED_ECN, _RED_HARDDROP, _RED_ADAPTIVE, _RED_NODROP = 1, 2, 4, 8
_CAKE_WORDS = {
    "diffserv": ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"),
    "flow_mode": (
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ),
    "ack_filter": ("no-ack-filter", "ack-filter", "ack-filter-aggressive"),
    "atm": ("noatm", "atm", "ptm"),
}


def encoded(discipline: dict[str, Any]) -> tuple[str, Any]:
    """Return the kind and its options (`None` for none) as `sojourn.backends.linux.messages.qdisc` takes them."""
    kind = str(discipline["kind"])
    return kind, _ENCODERS[kind](discipline["options"])


def queue_length(discipline: dict[str, Any]) -> int | None:
    """Return the transmit queue length of the device, which is where pfifo_fast has its limit from, if that matters."""
    return int(discipline["options"]["limit"]) if discipline["kind"] == "pfifo_fast" else None


def _fifo(options: Options) -> Any:
    [limit] = options.values()
    return {"limit": limit}


def _no_options(_: Options) -> Any:
    return None


def _attributes(**names: str) -> Callable[[Options], Any]:
    """Return what makes attributes of options by these names; a number, or a flag as 0 or 1."""

    def encode(options: Options) -> Any:
        return {"attrs": [(names[name], int(value)) for name, value in options.items()]}

    return encode


def _sfq(options: Options) -> Any:
    named = {
        "quantum": options["quantum_bytes"],
        "perturb_period": options["perturb_s"],
        "limit": options["limit"],
        "divisor": options["divisor"],
        "flows": options["flows"],
        "depth": options["depth"],
        "headdrop": int(options["headdrop"]),
    }
    return dict.fromkeys(SFQ_FIELDS, 0) | named


def _red(options: Options) -> Any:
    """As iproute2 6.1 sends it: flags in the attribute for them and none in the old structure, so nothing adapts."""
    bits = (
        ("ecn", _RED_ECN),
        ("harddrop", _RED_HARDDROP),
        ("adaptive", _RED_ADAPTIVE),
        ("nodrop", _RED_NODROP),
    )
    parms = {
        "limit": options["limit_bytes"],
        "qth_min": options["min_bytes"],
        "qth_max": options["max_bytes"],
        "Wlog": options["wlog"],
        "Plog": options["plog"],
        "Scell_log": options["scell_log"],
        "flags": 0,
    }
    flags = sum(bit for name, bit in bits if options[name])
    attrs: list[tuple[str, Any]] = [
        ("PARMS", parms),
        ("STAB", bytes.fromhex(options["stab"])),
        ("MAX_P", min(options["max_p"], 2**32 - 1)),
        ("FLAGS", {"bits": flags, "selector": sum(bit for _, bit in bits)}),
    ]
    return {"attrs": attrs}


def _netem(options: Options) -> Any:
    return kinds.netem(delay_ns=options["delay_ns"], limit=options["limit"])


def _fq(options: Options) -> Any:
    names = {
        "limit": "PLIMIT",
        "flow_limit": "FLOW_PLIMIT",
        "orphan_mask": "ORPHAN_MASK",
        "quantum_bytes": "QUANTUM",
        "initial_quantum_bytes": "INITIAL_QUANTUM",
        "pacing": "RATE_ENABLE",
        "refill_delay_us": "FLOW_REFILL_DELAY",
        "timer_slack_ns": "TIMER_SLACK",
        "ce_threshold_us": "CE_THRESHOLD",
        "horizon_us": "HORIZON",
        "horizon_drop": "HORIZON_DROP",
    }
    rates = {"maxrate_bps": "FLOW_MAX_RATE", "low_rate_threshold_bps": "LOW_RATE_THRESHOLD"}
    attrs = []
    for name, value in options.items():
        if name == "buckets":
            attrs.append(("BUCKETS_LOG", int(value).bit_length() - 1))
        elif name in rates:
            attrs.append((rates[name], value // 8))
        else:
            attrs.append((names[name], int(value)))
    return {"attrs": attrs}


def _cake(options: Options) -> Any:
    names = {
        "diffserv": "DIFFSERV_MODE",
        "flow_mode": "FLOW_MODE",
        "ack_filter": "ACK_FILTER",
        "atm": "ATM",
        "autorate": "AUTORATE",
        "rtt_us": "RTT",
        "target_us": "TARGET",
        "nat": "NAT",
        "wash": "WASH",
        "split_gso": "SPLIT_GSO",
        "memlimit_bytes": "MEMORY",
        "fwmark": "FWMARK",
        "overhead": "OVERHEAD",
        "mpu": "MPU",
        "raw": "RAW",
        "ingress": "INGRESS",
    }
    attrs: list[tuple[str, Any]] = []
    for name, value in options.items():
        if name == "bandwidth_bps":
            attrs.append(("BASE_RATE64", value // 8))
        elif name in _CAKE_WORDS:
            attrs.append((names[name], _CAKE_WORDS[name].index(value)))
        else:
            attrs.append((names[name], int(value)))
    return {"attrs": attrs}


_ENCODERS: dict[str, Callable[[Options], Any]] = {
    "pfifo": _fifo,
    "bfifo": _fifo,
    "pfifo_fast": _no_options,
    "red": _red,
    "sfq": _sfq,
    "fq": _fq,
    "netem": _netem,
    "cake": _cake,
    "codel": _attributes(
        limit="LIMIT", target_us="TARGET", interval_us="INTERVAL", ecn="ECN", ce_threshold_us="CE_THRESHOLD"
    ),
    "fq_codel": _attributes(
        limit="LIMIT",
        flows="FLOWS",
        quantum_bytes="QUANTUM",
        target_us="TARGET",
        interval_us="INTERVAL",
        ecn="ECN",
        ce_threshold_us="CE_THRESHOLD",
        drop_batch="DROP_BATCH_SIZE",
        memory_limit_bytes="MEMORY_LIMIT",
    ),
    "pie": _attributes(
        limit="LIMIT",
        target_us="TARGET",
        tupdate_us="TUPDATE",
        alpha="ALPHA",
        beta="BETA",
        ecn="ECN",
        bytemode="BYTEMODE",
        dq_rate_estimator="DQ_RATE_ESTIMATOR",
    ),
    "fq_pie": _attributes(
        limit="LIMIT",
        flows="FLOWS",
        target_us="TARGET",
        tupdate_us="TUPDATE",
        alpha="ALPHA",
        beta="BETA",
        quantum_bytes="QUANTUM",
        memory_limit_bytes="MEMORY_LIMIT",
        ecn_prob="ECN_PROB",
        ecn="ECN",
        bytemode="BYTEMODE",
        dq_rate_estimator="DQ_RATE_ESTIMATOR",
    ),
}
