"""The rule of thumb that the map suggests.

With P the time that the link takes for a full-sized packet and R the base RTT:

- The pipe holds fewer than 40 packets (R < 40 P): target P, and an interval of R / 4, but no less than 25 ms.
- It holds more: target R / 8, interval 4 R.

In a short pipe one or two packets in the queue keep the link busy, and all else is delay. In a long one a flow that
has lost a packet needs a queue of a good part of a round trip to keep the link busy while it recovers, and what
helps most is to wait before dropping again until the flow has recovered, which takes several round trips.

docs/tuning.md says how far it holds; tests/test_tuning_rule.py tries it on links that are not in the map.
"""

from __future__ import annotations

#: Packets in the pipe that part the two cases.
LONG_PIPE = 40
SHORTEST_INTERVAL_MS = 25.0


def rule(packet_ms: float, rtt_ms: float) -> tuple[float, float]:
    """Return a target and an interval for CoDel or FQ-CoDel, in ms.

    - `packet_ms`: the time that the link takes for a full-sized packet.
    - `rtt_ms`: the base RTT of the paths that matter; of several, the longest.
    """
    if rtt_ms < LONG_PIPE * packet_ms:
        return packet_ms, max(SHORTEST_INTERVAL_MS, rtt_ms / 4)
    return rtt_ms / 8, 4 * rtt_ms
