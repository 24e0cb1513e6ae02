"""The rule of thumb that the map suggests; docs/tuning.md says where it holds, and the tests try it on other links."""

from __future__ import annotations


def rule(packet_ms: float, rtt_ms: float, *, fair: bool) -> tuple[float, float]:
    """Return a target and an interval, in ms.

    Parameters
    ----------
    packet_ms
        The time that the link takes for a full-sized packet.
    rtt_ms
        The base RTT of the paths that matter; of several, the longest.
    fair
        Whether each flow has a queue of its own (fq_codel).
    """
    del fair
    target = max(5.0, 2 * packet_ms, 0.1 * rtt_ms)
    return target, max(100.0, rtt_ms)
