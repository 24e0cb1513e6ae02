"""programs [SEEDS]: iperf3 in a guest beside the agent's own flow: goodput and mean window of twelve cells.

    python -m tools.bench.programs 5

Both are measured for 30 s from the third second on: iperf3's by itself (`-O 2`), the flow's by the bins of its record.
One line a cell: the means over the seeds, and by how much iperf3's are off. The status is 1 if goodput is off by more
than 0.5 % in a cell, or the window by more than 2 %.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from statistics import mean

from sojourn import api
from sojourn.execution import execute, scenario
from sojourn.scenario import Flow, Scenario

DISCIPLINES, RATES, RTTS = ("pfifo limit 100", "fq_codel", "cake"), ("5mbit", "20mbit"), ("20ms", "80ms")
BEGIN_S, MEASURED_S, BIN_S = 2, 30, 0.2
PAYLOAD = 1448
GOODPUT, WINDOW = 0.005, 0.02


def of_iperf3(qdisc: str, rate: str, rtt: str, seed: int) -> tuple[float, float]:
    """Return goodput, Mbit/s, and mean window, segments, as iperf3 tells them."""
    words = f"iperf3 -c SERVER -J -O {BEGIN_S} -t {MEASURED_S} -i {BIN_S}".split()
    ran = execute(scenario(words, server="iperf3 -s", rate=rate, rtt=rtt, qdisc=qdisc, duration="40s", seed=seed))
    told = json.loads(ran.stdout)
    windows = [
        stream["snd_cwnd"] / PAYLOAD
        for interval in told["intervals"]
        for stream in interval["streams"]
        if not stream["omitted"]
    ]
    return told["end"]["sum_received"]["bits_per_second"] / 1e6, mean(windows)


def of_the_agent(qdisc: str, rate: str, rtt: str, seed: int) -> tuple[float, float]:
    """Return the same of a flow of a scenario."""
    flows = (Flow(name="up", direction="up"),)
    length = f"{BEGIN_S + MEASURED_S}s"
    cell = Scenario(experiment="cell", duration=length, flows=flows)
    run = api.run(cell, rate=rate, rtt=rtt, qdisc=qdisc, seed=seed, backend="linux")
    series = run.record.series
    goodput, windows = series.goodput_mbit["up"], series.cwnd_segments["up"]
    first = round(BEGIN_S / BIN_S)
    return mean(goodput[first:]), mean(windows[first:])


def main() -> int:
    """Compare them."""
    seeds = range(1, 1 + int(sys.argv[1]) if len(sys.argv) > 1 else 6)
    status = 0
    for cell in product(DISCIPLINES, RATES, RTTS):
        theirs, ours = ([measure(*cell, seed) for seed in seeds] for measure in (of_iperf3, of_the_agent))
        means = [[mean(values) for values in zip(*side, strict=True)] for side in (theirs, ours)]
        off = [their / our - 1 for their, our in zip(*means, strict=True)]
        bad = abs(off[0]) > GOODPUT or abs(off[1]) > WINDOW
        status |= bad
        columns = [
            f"{name} {their:7.3f} {our:7.3f} {100 * by:+6.2f} %"
            for name, their, our, by in zip(("goodput", "window"), *means, off, strict=True)
        ]
        print(f"{cell[0]:16} {cell[1]:6} {cell[2]:5}", *columns, "beyond a bar" if bad else "", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
