"""Texts as people write them behind `tc qdisc add dev d0 root`, drawn at random: disciplines, classes and filters."""

from __future__ import annotations

import random
from collections.abc import Callable

#: A value of a kind of word.
Draw = Callable[[random.Random], str]


def _number(low: int, high: int) -> Draw:
    def draw(rng: random.Random) -> str:
        n = min(high, low + int((high - low + 1) ** rng.random()) - 1)
        return rng.choice([str(n), str(n), str(n), hex(n)])

    return draw


def _plain(low: int, high: int) -> Draw:
    return lambda rng: str(min(high, low + int((high - low + 1) ** rng.random()) - 1))


def _scaled(*units: str, low: float, high: float, most: dict[str, float]) -> Draw:
    def draw(rng: random.Random) -> str:
        unit = rng.choice(units)
        value = low * (high / low) ** rng.random() / most[unit]
        digits = rng.choice(["{:.0f}", "{:.1f}", "{:.3f}", "{:.6f}", "{:.3e}"])
        text = digits.format(value)
        if float(text) == 0:
            text = f"{value:.9f}"
        return text + (rng.choice([unit, unit, unit.upper()]))

    return draw


_SIZES = {
    **{"": 1.0, "b": 1.0, "k": 1024.0, "kb": 1024.0, "m": 1048576.0, "mb": 1048576.0, "g": 2.0**30, "gb": 2.0**30},
    **{"kbit": 128.0, "mbit": 131072.0, "gbit": 2.0**27},
}
_RATES = {
    **{"": 1.0, "bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "kibit": 1024.0, "mibit": 1048576.0},
    **{"gibit": 2.0**30, "bps": 8.0, "kbps": 8e3, "mbps": 8e6, "gbps": 8e9, "kibps": 8192.0, "mibps": 8388608.0},
    **{"tbit": 1e12, "tibps": 8 * 2.0**40},
}
_TIMES = {"s": 1e6, "sec": 1e6, "secs": 1e6, "ms": 1e3, "msec": 1e3, "us": 1.0, "usec": 1.0, "usecs": 1.0, "": 1.0}
_NANOS = {**_TIMES, "": 1e-3, "ns": 1e-3, "nsecs": 1e-3}


def _size(low: float, high: float) -> Draw:
    return _scaled(*_SIZES, low=low, high=high, most=_SIZES)


def _rate(low: float, high: float) -> Draw:
    return _scaled(*_RATES, low=low, high=high, most=_RATES)


def _time(low: float, high: float) -> Draw:
    return _scaled(*_TIMES, low=low, high=high, most=_TIMES)


def _nanos(low: float, high: float) -> Draw:
    return _scaled(*_NANOS, low=low, high=high, most=_NANOS)


def _one(*words: str) -> Draw:
    return lambda rng: rng.choice(words)


_LIMIT = _number(1, 200_000)
_TARGET = _time(1, 4e8)
_PERCENT: Draw = lambda rng: rng.choice(["{:.0f}", "{:.1f}", "{:.0f}%", "{:.2f}%"]).format(rng.uniform(0, 101))  # noqa: E731
_REAL: Draw = lambda rng: rng.choice(["{:.3f}", "{:.1e}", "{:.2f}"]).format(10 ** rng.uniform(-1.5, 2))  # noqa: E731
_MASKED: Draw = lambda rng: "/".join([hex((mask := rng.randrange(256)) & rng.randrange(256)), hex(mask)])  # noqa: E731
_LAYER = _one("ethernet", "atm", "adsl", "eth", "ad")


def _filters(rng: random.Random) -> str:
    """Return some filters, each a statement of its own."""
    lines = []
    for _ in range(rng.choice([1, 2, 2, 3, 4])):
        words = rng.choice(FILTERS).split()
        if "u32" in words and rng.random() < 0.3:
            words[-2:-2] = ["match", "EVERY"]
        lines.append(" ".join(FIELDS[word](rng) if word in FIELDS else word for word in words))
    return "".join(f"\nfilter add dev d0 parent 1: {one}" for one in lines)


#: Keys that take every packet.
_KEYS = (
    "ip src 0.0.0.0/0",
    "ip dst 0/0",
    "ip dst any",
    "ip protocol 6 0",
    "ip dport 80 0x0",
    "u32 0 0",
    "u32 9 0 at 12",
)
#: What stands for a word in capitals.
FIELDS: dict[str, Draw] = {
    "PRIO": lambda rng: rng.choice(
        ["", f"prio {rng.choice([1, 2, 3, 10, '0x2', 0, 40000])}", f"pref {rng.randint(1, 9)}"]
    ),
    "PROTOCOL": _one("", "", "protocol ip", "protocol ip", "protocol all", "protocol ipv6", "protocol 0x800"),
    "BYTE": lambda rng: rng.choice([hex, hex, str])(rng.choice([0xB8, 0x20, 0x10, 0, 0xC0, rng.randrange(256)])),
    "MASK": _one("0xfc", "0xfc", "0xfc", "fc", "0xe0", "e0", "0xF0", "10", "0"),
    "HALF": lambda rng: hex(rng.choice([0xB8, 0x20, rng.randrange(256)]) | rng.choice([0, 0x4500])),
    "WORD": lambda rng: f"{rng.choice([0xB8, 0x20, rng.randrange(256)]) << 16:#010x}",
    "TOS": _one("tos", "dsfield", "precedence"),
    "CLASS": _one("1:1", "1:2", "1:3", "1:0x1"),
    "EVERY": _one(*_KEYS),
}
#: Filters, as far as Sojourn reads them.
FILTERS = (
    "PROTOCOL PRIO u32 match ip TOS BYTE MASK flowid CLASS",
    "PRIO PROTOCOL u32 match ip TOS BYTE MASK classid CLASS",
    "PROTOCOL PRIO u32 match u8 BYTE MASK at 1 flowid CLASS",
    "PROTOCOL PRIO u32 match u16 HALF 0x00fc at 0 flowid CLASS",
    "PROTOCOL PRIO u32 match u32 WORD 0x00fc0000 at 0 flowid CLASS",
    "PROTOCOL PRIO u32 match EVERY flowid CLASS",
    "PROTOCOL PRIO u32 match ip TOS BYTE MASK match ip TOS BYTE MASK flowid CLASS",
    "PROTOCOL PRIO matchall flowid CLASS",
)
_CODEL: dict[str, Draw | None] = {"limit": _LIMIT, "target": _TARGET, "interval": _TARGET, "ce_threshold": _TARGET}
_PIE: dict[str, Draw | None] = {
    **{
        "limit": _LIMIT,
        "target": _TARGET,
        "tupdate": _time(1000, 4e8),
        "alpha": _number(0, 33),
        "beta": _number(0, 33),
    },
    **{"ecn": None, "noecn": None, "bytemode": None, "dq_rate_estimator": None, "no_dq_rate_estimator": None},
}

_CAKE = """
unlimited autorate-ingress besteffort precedence diffserv diffserv3 diffserv4 diffserv8 flowblind srchost dsthost hosts
flows dual-srchost dual-dsthost triple-isolate wash nowash split-gso no-split-gso ack-filter ack-filter-aggressive
no-ack-filter raw conservative ipoa-vcmux ipoa-llcsnap bridged-vcmux bridged-llcsnap pppoa-vcmux pppoa-llc pppoe-vcmux
pppoe-llcsnap pppoe-ptm bridged-ptm via-ethernet ethernet ether-vlan docsis atm noatm ptm ingress egress datacentre lan
metro regional internet oceanic satellite interplanetary
"""


def _bands(count: int) -> Draw:
    return lambda rng: " ".join(str(rng.randrange(3)) for _ in range(count))


_CLASS: dict[str, Draw | None] = {
    **{"ceil": _rate(8e4, 9e11), "burst": _size(1, 2e6), "cburst": _size(1, 2e6), "buffer": _size(1000, 1e5)},
    **{"cmaxburst": _size(1000, 1e5), "cbu": _size(1000, 1e5), "prio": _plain(0, 20), "quantum": _plain(1, 70_000)},
    **{"mtu": _plain(1, 70_000), "overhead": _plain(0, 70_000), "mpu": _plain(0, 300), "linklayer": _LAYER},
}
_THREE = "".join(f"\nclass add dev d0 parent 1: classid 1:{n} htb rate {n}mbit" for n in (1, 2, 3))
#: What stands before the words, where it is not the kind.
LEADS = {
    "tbf by latency": "tbf",
    "tbf with a peak rate": "tbf",
    "tbf with a peak rate by latency": "tbf",
    "class of htb": "htb default 10 r2q 7\nclass add dev d0 parent 1: classid 1:10 htb",
    "class below one of htb": "htb\nclass add dev d0 parent 1: classid 1:1 htb rate 1gbit ceil 2gbit\n"
    "class add dev d0 parent 1:1 classid 1:10 htb rate 1mbit\nclass replace dev d0 parent 1:1 classid :0xfff0 htb",
    "class of drr": "drr\nclass add dev d0 parent 1: classid 1:a drr",
    "filters of prio": "prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
    "filters of htb": "htb default 3" + _THREE,
}
#: Of each kind: the words that must stand, and others.
KINDS: dict[str, tuple[dict[str, Draw | None], dict[str, Draw | None]]] = {
    "pfifo": ({}, {"limit": _size(1, 1e6)}),
    "bfifo": ({}, {"limit": _size(1, 1e9)}),
    "codel": ({}, {**_CODEL, "ecn": None, "noecn": None}),
    "fq_codel": (
        {},
        {
            **{**_CODEL, "ecn": None, "noecn": None, "flows": _number(1, 70_000), "quantum": _number(1, 1 << 20)},
            **{"memory_limit": _size(1000, 2e9), "drop_batch": _number(1, 4096)},
        },
    ),
    "pie": ({}, _PIE),
    "fq_pie": (
        {},
        {
            **{**_PIE, "flows": _number(1, 66_000), "quantum": _size(1, 1 << 20), "memory_limit": _size(1000, 4e9)},
            **{"ecn_prob": _number(0, 101)},
        },
    ),
    "sfq": (
        {},
        {
            **{"limit": _number(1, 70_000), "depth": _number(1, 300), "flows": _number(1, 66_000), "headdrop": None},
            **{
                "divisor": _one("64", "1024", "0x800", "65536", "1000"),
                "quantum": _size(300, 2e5),
                "perturb": _number(0, 90),
            },
        },
    ),
    "red": (
        {"limit": _size(2e5, 2e6), "avpkt": _size(500, 1600), "min": _size(1e4, 3e4), "max": _size(4e4, 1e5)},
        {
            **{"burst": _number(20, 90), "bandwidth": _rate(1e6, 1e9), "ecn": None, "harddrop": None, "nodrop": None},
            **{"adaptive": None, "adaptative": None, "probability": _one("0.1", "1", "2e-2", "1.0", ".5", "1.5")},
        },
    ),
    "tbf": (
        {"rate": _rate(8e4, 9e11), "burst": _size(1600, 2e6), "limit": _size(3000, 9e7)},
        {
            **{"mpu": _size(1, 300), "overh": _plain(0, 300), "linklayer": _LAYER, "buffer": _size(1600, 1e5)},
            **{"mtu": _size(64, 1e5), "overhead": _plain(0, 70_000), "peak": _rate(8e4, 9e11)},
        },
    ),
    "tbf by latency": (
        {"rate": _rate(8e4, 9e8), "maxburst": _size(1600, 2e6), "latency": _time(100, 5e6)},
        {"mpu": _size(1, 300), "overhead": _plain(0, 300), "linklayer": _LAYER},
    ),
    "tbf with a peak rate": (
        {
            **{"rate": _rate(8e4, 9e8), "burst": _size(1600, 2e6), "limit": _size(3000, 9e7)},
            **{"peakrate": _rate(5e8, 9e11), "minburst": _size(64, 1e5)},
        },
        {"mpu": _size(1, 300), "overhead": _plain(0, 300), "linklayer": _LAYER, "mtu": _size(64, 1e5)},
    ),
    "tbf with a peak rate by latency": (
        {
            **{"rate": _rate(8e4, 9e8), "burst": _size(1600, 2e6), "latency": _time(100, 5e6)},
            **{"peakrate": _rate(5e8, 9e11), "mtu": _size(64, 1e5)},
        },
        {"mpu": _size(1, 300), "overhead": _plain(0, 300), "linklayer": _LAYER},
    ),
    "netem": ({}, {"limit": _size(1, 1e5), "lim": _size(1, 1e5)}),
    "fq": (
        {},
        {
            **{"limit": _LIMIT, "flow_limit": _LIMIT, "quantum": _number(256, 1 << 20), "maxrate": _rate(8e4, 3e10)},
            **{"initial_quantum": _number(1, 1 << 20), "low_rate_threshold": _rate(8, 3e10), "pacing": None},
            **{"buckets": _one("64", "1024", "0x4000"), "orphan_mask": _number(0, 4_000_000_000), "nopacing": None},
            **{"refill_delay": _time(1, 4e9), "timer_slack": _nanos(1e-3, 4e6), "horizon": _time(1, 4e9)},
            **{"ce_threshold": _time(1, 4e9), "horizon_cap": None, "horizon_drop": None, "defrate": _rate(8e4, 3e10)},
        },
    ),
    "cake": (
        {},
        {
            **{"bandwidth": _rate(8e4, 9e11), "rtt": _time(1, 4e9), "memlimit": _size(1, 4e9)},
            **{"overhead": lambda rng: str(rng.randint(-66, 258)), "mpu": _plain(0, 258)},
            **dict.fromkeys(_CAKE.split()),
        },
    ),
    "prio": ({}, {"bands": _plain(1, 17), "priomap": _bands(16)}),
    "ets": (
        {"bands": _plain(3, 16)},
        {"strict": _plain(1, 5), "quanta": _one("3000 1514", "1514"), "priomap": _bands(9)},
    ),
    "drr": ({}, {}),
    "class of htb": ({"rate": _rate(8e4, 9e11)}, _CLASS),
    "class below one of htb": ({"rate": _rate(8e4, 9e9)}, _CLASS),
    "class of drr": ({}, {"quantum": _size(256, 1 << 20)}),
    "filters of prio": ({"": _filters}, {}),
    "filters of htb": ({"": _filters}, {}),
    "htb": ({}, {"default": _one("1", "0x12", "fffe", "20"), "r2q": _plain(1, 90), "direct_qlen": _plain(1, 9000)}),
}

#: Those that iproute2 and Linux have had for some time only, or read in another way before.
NEW: dict[str, tuple[dict[str, Draw | None], dict[str, Draw | None]]] = {
    "dualpi2": (
        {},
        {
            **{"limit": _plain(1, 200_000), "memlimit": _plain(2000, 4_000_000_000), "target": _TARGET},
            **{"tupdate": _time(1000, 4e6), "alpha": _REAL, "beta": _REAL, "coupling_factor": _number(1, 256)},
            **{"step_thresh": lambda rng: rng.choice([_time(1, 1e6), _one("5p", "12pkts", "1packet")])(rng)},
            **{"min_qlen_step": _plain(0, 50), "classic_protection": _PERCENT, "max_rtt": _time(1e3, 1e7)},
            **dict.fromkeys(["drop_on_overload", "overflow", "drop_enqueue", "drop_dequeue", "l4s_ect", "any_ect"]),
            **{"typical_rtt": _time(1e3, 1e6)},
        },
    ),
    "netem": (
        {},
        {"limit": _size(1, 1e5), "lim": _size(1, 1e5), "delay": _nanos(1e-3, 4e8), "latency": _nanos(1, 1e6)},
    ),
    "fq": ({}, {**KINDS["fq"][1], "bands 3 priomap": _bands(16)}),
    "fq_codel": ({}, {**KINDS["fq_codel"][1], "ce_threshold 1ms ce_threshold_selector": _MASKED}),
}


def line(rng: random.Random, *, new: bool) -> str:
    """Return a text: some words of a kind in any order, some twice, and now and then one that is wrong."""
    kinds = {**KINDS, **(NEW if new else {})}
    kind = rng.choice(sorted(kinds))
    must, may = kinds[kind]
    some = rng.sample(sorted(may), min(len(may), rng.choice([0, 1, 1, 2, 3, 5])))
    if some and rng.random() < 0.1:
        some.append(rng.choice(some))
    words = [*must, *some]
    if rng.random() < 0.7:
        rng.shuffle(words)
    parts = [LEADS.get(kind, kind)]
    for word in words:
        draw = must.get(word, may.get(word))
        parts += [word] if draw is None else [word, draw(rng)]
    if rng.random() < 0.03:
        at = rng.randrange(1, len(parts) + 1)
        parts[at:at] = [
            rng.choice(["-1", "limit", "x", "5mb", "0x", "1.5", "ecn", "target 1x", "flows 1e3", "rate 5mib"])
        ]
    return " ".join(part for part in parts if part)
