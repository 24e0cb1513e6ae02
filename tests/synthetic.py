"""Records made up from a few numbers, to judge claims whose answer is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sojourn.claims.evidence import DISCIPLINES, LINKS, RRUL, SPARED, Cell, Evidence, Gathering
from sojourn.results import Run

#: What a made-up run is made of; functions of (link, discipline) that return a value to which a little is added.
DEFAULTS: dict[str, Any] = {
    "latency": 10.0,
    "up": 9.0,
    "down": 9.0,
    "ack_drops": 100.0,
    "cwnd": 20.0,
    "wait": 30.0,
    "sojourn": 8.0,
    "entries": 60.0,
    "backlog": (10.0, 20.0),
    "drops": (1.0, 1.0),
    "packets": 1000.0,
    "shared": [],
}
BINS = 100


def record(seed: int, values: dict[str, Any]) -> Run:
    """Return a run; what is measured varies a little with the seed, by the same amount in all runs of that seed."""
    wobble = 1 + 0.001 * ((seed * 7) % 5 - 2)
    times = [0.5 * (k + 1) for k in range(BINS)]

    def alternate(pair: tuple[float, float]) -> list[float]:
        return [pair[k % 2] * wobble for k in range(BINS)]

    def cumulate(pair: tuple[float, float]) -> list[float]:
        total, sums = 0.0, []
        for k in range(BINS):
            total += pair[k % 2]
            sums.append(total)
        return sums

    end = {
        "ack_drops": values["ack_drops"],
        "sojourn_ms": {"mean": values["sojourn"] * wobble},
        "extra": {"drop_state_entries": values["entries"]},
    }
    both = {
        "backlog_packets": alternate(values["backlog"]),
        "drops": cumulate(values["drops"]),
        "packets": cumulate((values["packets"], values["packets"])),
    }
    flows = [
        {
            "name": f"tcp_{way}_1",
            "direction": way,
            "base_rtt_ms": 50.0,
            "goodput_mbit": values[way] * wobble,
            "timeouts": 0,
            "mean_cwnd_segments": values["cwnd"] * wobble,
            "sojourn_ms": {"mean": values["wait"] * wobble},
            "queue_shared_with": values["shared"] if way == "up" else [],
        }
        for way in ("up", "down")
    ]
    body = {
        "seed": seed,
        "summary": {
            "induced_latency_ms": values["latency"] * wobble,
            "goodput_up_mbit": values["up"] * wobble,
            "goodput_down_mbit": values["down"] * wobble,
            "rtt_ms": {"count": 100},
        },
        "flows": flows,
        "probes": [{"name": "ping"}],
        "bottleneck": {"up": end, "down": end},
        "series": {"t_s": times, **{name: {"up": value, "down": value} for name, value in both.items()}},
        "cost": {"sim_s": 60.0},
    }
    return Run(text=json.dumps(body))


def evidence(
    values: Callable[[str, str], dict[str, Any]], *, spared: dict[str, Any] | None = None, n: int = 6
) -> Evidence:
    """Return evidence in which (link, discipline) has these values over the defaults, `n` repeats of each."""
    gathering = Gathering()
    for seed in range(1, n + 1):
        for link in LINKS:
            for qdisc in DISCIPLINES:
                gathering.add(Cell(RRUL, link, qdisc), record(seed, {**DEFAULTS, **values(link, qdisc)}))
        gathering.add(Cell(SPARED, "10/1", "pfifo_fast"), record(seed, {**DEFAULTS, **(spared or {})}))
    return gathering.evidence()
