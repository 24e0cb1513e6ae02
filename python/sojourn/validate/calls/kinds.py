"""What a sequence must know of a kind of discipline, and the disciplines that are compared.

A new kind is one entry of `KINDS` with the disciplines to try.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from sojourn import _native, units
from sojourn.kernel.cache import version_key
from sojourn.kernel.find import Kernel

#: Rates of the shaper above a discipline, bit/s: a byte takes a whole number of nanoseconds at each.
RATES = (1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000)
#: What the load is drawn for where the discipline tells no rate, bit/s.
_NO_RATE = 10_000_000

#: RED shapes nothing: its bandwidth says how fast its average falls.
_RATE = re.compile(r"^(?!red\b).*?\b(?:rate|bandwidth|maxrate) ([0-9.]+[kmg]?bit)\b")
_DELAY = re.compile(r"\bdelay ")
#: Disciplines that draw random numbers which matter. CAKE does once memory has overflowed, and DualPI2 never while it
#: aims at a delay that no queue reaches, for then its probability stays 0.
_RANDOM = re.compile(r"^(red|pie|fq_pie)\b|^cake\b.* memlimit [1-9]|^dualpi2\b(?!.* target 4s )")
_FILTER = re.compile(r" ack-filter(-aggressive)?\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a sequence must know of a kind."""

    #: The disciplines that are compared decision by decision; each gets its share of the sequences.
    texts: tuple[str, ...]
    #: Those that draw random numbers (`is_random`): what becomes of packets is compared on average.
    shares: tuple[str, ...] = ()
    #: The word that says how many queues there are, where a packet's priority names one: so both sides agree on the
    #: queue of each flow without a hash.
    queues: str | None = None
    #: Whether it tells hosts apart.
    hosts: bool = False
    #: Whether it reads the code point.
    dscp: bool = False
    #: The simulator's variant that counts as the kernel does to the last nanosecond, where the default does not.
    variant: str | None = None
    #: The kernel's counter of flows, where flows that share a queue by their hashes can only be seen by it.
    counted: str | None = None
    #: How many seeds of the simulator are tried. More than one is for a kind whose kernel draws a random number now
    #: and then that seldom matters: a sequence agrees if it does with one of them.
    seeds: int = 1
    #: How long a sequence waits from the setup of the discipline. PIE's timer of `tupdate` first goes off half a
    #: second after the setup (Linux `pie_init`), and there is no probability before.
    lead_ns: int = 0
    #: The first version of Linux that has it; empty for one that every kernel here has.
    since: tuple[int, ...] = ()


#: What is compared, by kind.
KINDS: dict[str, Kind] = {
    "pfifo": Kind(texts=("pfifo limit 5", "pfifo limit 30")),
    "bfifo": Kind(texts=("bfifo limit 3000", "bfifo limit 20000")),
    "pfifo_fast": Kind(texts=("pfifo_fast limit 10", "pfifo_fast limit 40"), dscp=True),
    "codel": Kind(
        texts=(
            "codel",
            "codel target 1ms interval 10ms",
            "codel target 1ms interval 10ms limit 20 ecn",
            "codel target 500us interval 5ms ecn ce_threshold 2ms",
        ),
        variant="linux-ticks",
    ),
    "fq_codel": Kind(
        texts=(
            "fq_codel",
            "fq_codel target 1ms interval 10ms quantum 300",
            "fq_codel target 1ms interval 10ms limit 30 drop_batch 4 flows 16 noecn",
            "fq_codel target 1ms interval 10ms memory_limit 20000 flows 64",
            "fq_codel target 2ms interval 20ms ce_threshold 1ms ce_threshold_selector 0x01/0x01",
            "fq_codel target 2ms interval 20ms ce_threshold 1ms ce_threshold_selector 0xb8/0xfc",
        ),
        queues="flows",
        dscp=True,
        variant="linux-ticks",
    ),
    "sfq": Kind(
        texts=("sfq", "sfq limit 20 depth 5", "sfq quantum 500 limit 30 headdrop", "sfq divisor 16 flows 4 limit 40"),
        queues="divisor",
        variant="linux-7.3",
    ),
    # Rates below 9.8 Mbit/s: the quantum of a queue is 300 bytes then, which two and three flows of a host share
    # evenly. The kernel rounds an uneven share up or down at random.
    "cake": Kind(
        texts=(
            "cake besteffort flowblind",
            "cake bandwidth 8mbit besteffort",
            "cake bandwidth 5mbit besteffort flows rtt 10ms",
            "cake bandwidth 9mbit diffserv3",
            "cake bandwidth 5mbit diffserv4 dual-srchost",
            "cake bandwidth 9mbit diffserv8 dual-dsthost overhead 38 mpu 84",
            "cake bandwidth 8mbit besteffort hosts atm overhead 40",
            "cake bandwidth 5mbit precedence wash",
            "cake bandwidth 5mbit besteffort ingress",
            "cake bandwidth 5mbit besteffort srchost ptm",
            "cake bandwidth 2mbit besteffort ack-filter",
            "cake bandwidth 2mbit besteffort ack-filter-aggressive",
            "cake bandwidth 3mbit besteffort flowblind ingress ack-filter",
            "cake bandwidth 1mbit diffserv4 dual-srchost ack-filter-aggressive",
        ),
        # So little memory that queues overflow, upon which BLUE raises its probability.
        shares=(
            "cake bandwidth 5mbit besteffort flowblind rtt 10ms memlimit 30000",
            "cake bandwidth 10mbit besteffort flows rtt 10ms memlimit 60000",
            "cake bandwidth 5mbit besteffort flows ingress memlimit 40000",
        ),
        hosts=True,
        dscp=True,
        seeds=1000,
    ),
    "fq": Kind(
        texts=(
            "fq refill_delay 1s",
            "fq refill_delay 1s limit 30 flow_limit 10",
            "fq refill_delay 1s quantum 1000 initial_quantum 2000 flow_limit 20",
            "fq refill_delay 1s ce_threshold 2ms",
            "fq refill_delay 1s maxrate 1mbit timer_slack 1us",
        ),
        counted="flows",
    ),
    "dualpi2": Kind(
        since=(6, 17),
        texts=(
            "dualpi2 target 4s",
            "dualpi2 target 4s limit 30 classic_protection 50%",
            "dualpi2 target 4s step_thresh 3p min_qlen_step 2 any_ect",
            "dualpi2 target 4s step_thresh 3ms classic_protection 80% overflow",
        ),
        shares=("dualpi2 target 5ms", "dualpi2 target 5ms drop_enqueue coupling_factor 1"),
    ),
    "prio": Kind(texts=("prio", "prio bands 4 priomap 3 2 1 0 1 2 3 0 1 2 3 0 1 2 3 0"), dscp=True),
    "drr": Kind(
        texts=(
            "drr ; class parent 1: classid 1:1 drr quantum 1000 ; class parent 1: classid 1:2 drr quantum 2000 ; "
            "filter parent 1: dscp CS1 flowid 1:1 ; filter parent 1: matchall flowid 1:2",
            "drr ; class parent 1: classid 1:1 drr quantum 500 ; class parent 1: classid 1:2 drr quantum 1500 ; "
            "class parent 1: classid 1:3 drr quantum 700 ; filter parent 1: dscp EF flowid 1:1 ; "
            "filter parent 1: dscp CS1 flowid 1:3 ; filter parent 1: matchall flowid 1:2",
        ),
        dscp=True,
    ),
    "htb": Kind(
        texts=(
            "htb default 10 ; class parent 1: classid 1:1 htb rate 8mbit ; "
            "class parent 1:1 classid 1:10 htb rate 1mbit ceil 4mbit",
            "htb default 12 ; class parent 1: classid 1:1 htb rate 10mbit ceil 10mbit ; "
            "class parent 1:1 classid 1:11 htb rate 1mbit ceil 3mbit prio 1 ; "
            "class parent 1:1 classid 1:12 htb rate 2mbit ceil 9mbit prio 2 ; "
            "class parent 1:1 classid 1:13 htb rate 2mbit ceil 9mbit prio 3 ; "
            "filter parent 1: dscp EF flowid 1:11 ; filter parent 1: dscp CS6 flowid 1:11 ; "
            "filter parent 1: dscp CS1 flowid 1:13",
        ),
        dscp=True,
    ),
    "ets": Kind(
        texts=(
            "ets strict 1 quanta 3000 1000 ; filter parent 1: dscp EF flowid 1:1 ; "
            "filter parent 1: dscp CS1 flowid 1:2",
            "ets bands 4 quanta 1500 500 2000 ; filter parent 1: dscp EF flowid 1:3 ; "
            "filter parent 1: dscp CS1 flowid 1:4",
        ),
        dscp=True,
    ),
    "tbf": Kind(
        texts=(
            "tbf rate 2mbit burst 5000 limit 20000",
            "tbf rate 10mbit burst 1514 limit 6000",
            "tbf rate 3mbit burst 3000 limit 15000",
        )
    ),
    "netem": Kind(texts=("netem delay 5ms", "netem delay 1ms limit 10", "netem delay 3333us limit 40")),
    "red": Kind(
        texts=(),
        shares=(
            "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 probability 0.1 bandwidth 10mbit",
            "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 probability 0.2 bandwidth 10mbit ecn adaptive",
        ),
    ),
    "pie": Kind(texts=(), shares=("pie target 5ms", "pie target 5ms ecn limit 60"), lead_ns=600_000_000),
    "fq_pie": Kind(texts=(), shares=("fq_pie target 5ms flows 16",), queues="flows", lead_ns=600_000_000),
}


def modelled() -> dict[str, Kind]:
    """Return those of `KINDS` that the simulator has."""
    known = {entry["kind"] for entry in json.loads(_native.list_qdiscs())}
    return {name: kind for name, kind in KINDS.items() if name in known}


def there_in(kind: Kind, kernel: Kernel) -> bool:
    """Return whether a kernel's version has a kind."""
    return version_key(kernel.release) >= kind.since


def of(kind: str) -> Kind:
    """Return what is known of a kind; of one that is not on the list, that nothing is special about it."""
    return KINDS.get(kind, Kind(texts=()))


def exact(text: str) -> str:
    """Return a discipline in the variant that counts as the kernel does, unless its text names one."""
    words = text.split()
    variant = of(words[0]).variant if words else None
    return text if variant is None or "variant" in words else f"{text} variant {variant}"


def queues_of(kind: str, text: str) -> int | None:
    """Return how many queues a discipline, told by its canonical text, has whose numbers a packet can name."""
    word = of(kind).queues
    found = None if word is None else re.search(rf"\b{word} (\d+)\b", text)
    return None if found is None else int(found[1])


def reads_acks(text: str) -> bool:
    """Return whether a discipline, told by its canonical text, looks at acknowledgements."""
    return _FILTER.search(text) is not None


def is_random(text: str) -> bool:
    """Return whether a discipline, told by its canonical text, draws random numbers that matter."""
    return _RANDOM.search(text) is not None


def is_alone(text: str) -> bool:
    """Return whether a discipline, told by its canonical text, holds packets back by itself.

    Any other is put below a shaper, because the device takes every packet at once.
    """
    return _RATE.search(text) is not None or _DELAY.search(text) is not None


def rate_of(text: str) -> int:
    """Return the rate that a discipline shapes to, bit/s, or what stands for it where it tells none."""
    found = _RATE.search(text)
    return _NO_RATE if found is None else units.bits_per_s(found[1])
