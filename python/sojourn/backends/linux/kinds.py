"""The options of the disciplines that a bed itself is built with."""

from __future__ import annotations

import struct

from sojourn.backends.linux.disciplines import Discipline, Encoded, encoded

#: The discipline below a shaper has the limit.
_NO_LIMIT = 2**30


def _options(kind: str, **options: int) -> Encoded | None:
    return encoded(Discipline(kind, {**options}))[1]


def fifo(*, limit: int) -> Encoded | None:
    """Return pfifo's options: how many packets it holds."""
    return _options("pfifo", limit=limit)


def tbf(*, rate_bps: int, burst_bytes: int) -> Encoded | None:
    """Return tbf's options: a rate in bit/s, rounded to whole bytes a second as the kernel has them, and a depth."""
    return _options("tbf", rate_bps=rate_bps, burst_bytes=burst_bytes, limit_bytes=_NO_LIMIT)


def netem(*, delay_ns: int, limit: int, loss: int = 0, jitter_ns: int = 0) -> Encoded | None:
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
        Each waits up to so much longer, uniformly, and none overtakes another.
    """
    return _options("netem", delay_ns=delay_ns, limit=limit, loss=loss, jitter_ns=jitter_ns)


def prio(*, bands: int) -> Encoded:
    """Return prio's options, `struct tc_prio_qopt`: so many bands; what no filter picks goes to the first."""
    return Encoded(payload=struct.pack("=i16x", bands))
