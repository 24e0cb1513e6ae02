"""stacks PROGRAM SEEDS [STACK:CC ...]: stacks in the simulator beside the same ones over UDP sockets in a guest.

    python -m tools.bench.stacks .venv/bin/sojourn-stacks 3 quinn:cubic

One line for each of twelve cells: what passed the bottleneck, mean time in its queue, and drops there, means over the
seeds, of the guest and of the simulator. A cell is beyond a bar if the first is off by more than 2 %, the time by more
than 10 % and 1 ms, or the drops by more than a factor of 1.5. The status is 1 if more than one cell of a stack is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from sojourn import api
from sojourn.execution import execute, scenario
from sojourn.record import Record
from sojourn.scenario import Flow, Scenario

STACKS = ("quinn:cubic", "noq:bbr3")
DISCIPLINES, RATES, RTTS = ("pfifo limit 100", "codel", "fq_codel"), ("5mbit", "20mbit"), ("20ms", "80ms")
SECONDS = 20
GOODPUT, DELAY, LEAST_MS, LOSSES = 0.02, 0.10, 1.0, 1.5

#: What passed the bottleneck, Mbit/s; mean time in the queue, ms; drops.
Numbers = tuple[float, float, float]


def in_guest(program: str, stack: str, control: str, link: Mapping[str, Any], seed: int) -> Numbers:
    """Return what the stack does over sockets."""
    # Both are ended with the window.
    ends = ["--seconds", str(2 * SECONDS), "--seed", str(seed)]
    words = [program, "send", stack, "SERVER:4433", "--cc", control, *ends]
    server = [program, "receive", stack, "--address", "0.0.0.0", *ends]
    return _numbers(execute(scenario(words, server=server, **link, duration=f"{SECONDS}s", seed=seed)).record)


def in_simulator(program: str, stack: str, control: str, link: Mapping[str, Any], seed: int) -> Numbers:
    """Return the same of a flow of a scenario, whose datagrams are not ECN-capable either."""
    flow = Flow(name="up", direction="up", kind=None, stack=stack, congestion_control=control, ecn=False)
    cell = Scenario(experiment="cell", duration=f"{SECONDS}s", flows=(flow,), start_jitter="0s")
    return _numbers(api.run(replace(cell, seed=seed), backend=f"sim:{program}", **link).record)


def _numbers(record: Record) -> Numbers:
    up = record.bottleneck["up"]
    return up.bytes * 8 / 1e6 / SECONDS, up.sojourn_ms.mean or 0.0, sum(up.drops.values())


def beyond(guest: Numbers, ours: Numbers) -> list[str]:
    """Return in what the two differ beyond a bar."""
    found = []
    if abs(ours[0] / guest[0] - 1) > GOODPUT:
        found.append("goodput")
    if abs(ours[1] - guest[1]) > max(DELAY * guest[1], LEAST_MS):
        found.append("delay")
    low, high = sorted((guest[2], ours[2]))
    # A loss more or less among few is chance.
    if high > max(LOSSES * low, low + 2):
        found.append("losses")
    return found


def main() -> int:
    """Compare them."""
    program = str(Path(sys.argv[1]).resolve())
    seeds = range(1, 1 + int(sys.argv[2]))
    status = 0
    for of in sys.argv[3:] or STACKS:
        stack, control = of.split(":")
        count = 0
        for qdisc, rate, rtt in product(DISCIPLINES, RATES, RTTS):
            link = {"qdisc": qdisc, "rate": rate, "rtt": rtt}
            guest, ours = (
                [
                    mean(values)
                    for values in zip(*(side(program, stack, control, link, seed) for seed in seeds), strict=True)
                ]
                for side in (in_guest, in_simulator)
            )
            bad = beyond((guest[0], guest[1], guest[2]), (ours[0], ours[1], ours[2]))
            count += bool(bad)
            numbers = [
                f"{their:7.{digits}f} {our:7.{digits}f}"
                for their, our, digits in zip(guest, ours, (3, 2, 1), strict=True)
            ]
            print(f"{stack} {control:5} {qdisc:16} {rate:6} {rtt:5}", *numbers, ", ".join(bad), sep="  ", flush=True)
        print(f"{of}: {count} of 12 cells are beyond a bar")
        status |= count > 1
    return status


if __name__ == "__main__":
    sys.exit(main())
