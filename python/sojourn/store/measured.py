"""What a run measured, of what its record says."""

from __future__ import annotations

from typing import Any

from sojourn.record import Summary


def measured(summary: Summary) -> dict[str, Any]:
    """Return a summary with `None` where nothing was measured, of which a record says 0, or 1 of a fairness.

    Latencies need an echo that came back, a loss of probes an echo that was sent, and a fairness something to share.
    """
    found: dict[str, Any] = {**summary}
    echoes = summary["rtt_ms"]["count"]
    if echoes == 0:
        found["induced_latency_ms"] = None
        found["rtt_ms"] = {name: None for name in summary["rtt_ms"] if name != "count"} | {"count": 0}
        # All were lost, or none was sent.
        found["probe_loss"] = summary["probe_loss"] or None
    for direction in ("up", "down"):
        if found[f"goodput_{direction}_mbit"] == 0:
            found[f"jain_{direction}"] = None
    return found
