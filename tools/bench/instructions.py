"""instructions: measures what a bottleneck packet costs: RRUL at 100/100 Mbit/s and 50 ms, the whole program.

It builds the example `scenario` of sojourn-sim, or takes --program. Without --time it counts with callgrind, which
repeats exactly: instructions, mispredicted branches and misses of the first-level caches for each packet. With --time N
it measures processor time in ns for each packet, the least of N runs in turn, and what 256 flows cost against 8. More
than one --program is measured side by side.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

from tools.bench import built, head, row, spent

QDISCS = ("pfifo limit 1000", "codel noecn", "fq_codel noecn", "cake bandwidth 99mbit")


def scenario(qdisc: str, flows: int, seconds: int) -> str:
    """Return RRUL with so many bulk flows, half in each direction."""
    bulk = [{"name": f"tcp_{d}_{i}", "direction": d} for i in range(flows // 2) for d in ("up", "down")]
    probes = [{"name": "ping", "kind": "icmp"}, {"name": "udp_rr", "kind": "udp_rr"}]
    links = {"up": "100mbit", "down": "100mbit", "rtt": "50ms", "qdisc_up": qdisc, "qdisc_down": qdisc}
    return json.dumps({"duration": f"{seconds}s", **links, "flows": bulk, "probes": probes})


def packets(program: str, text: str) -> int:
    """Return how many packets left the bottleneck."""
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout)["cost"]["packets"])


def count(program: str, text: str) -> list[float]:
    """Return events for each packet: instructions, mispredicted branches, misses of instructions and of data."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        tool = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", f"--callgrind-out-file={out}"]
        subprocess.run([*tool, program], input=text, capture_output=True, text=True, check=True)
        lines = out.read_text()
    names, total = (re.findall(rf"^(?:{key}): (.*)$", lines, re.MULTILINE)[0] for key in ("events", "summary|totals"))
    found = dict(zip(names.split(), map(int, total.split()), strict=False))
    sums = [found["Ir"], found["Bcm"] + found["Bim"], found["I1mr"], found["D1mr"] + found["D1mw"]]
    return [value / packets(program, text) for value in sums]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="instructions", description=__doc__)
    parser.add_argument("--program", action="append", help="a built example; the default is to build it")
    parser.add_argument("--seconds", type=int, help="simulated time (10, with --time 60)")
    parser.add_argument("--flows", type=int, nargs="+", help="numbers of bulk flows (8, with --time 8 256)")
    parser.add_argument("--time", type=int, metavar="N", help="measure time, the least of N runs")
    args = parser.parse_args()
    programs = args.program or [str(built("sojourn-sim", "example", "scenario"))]
    flows = args.flows or ([8, 256] if args.time else [8])
    seconds = args.seconds or (60 if args.time else 10)
    if args.time:
        head("discipline", "program", *(f"{n} flows, ns" for n in flows), "last over first")
    else:
        head(
            "discipline", "flows", "program", "instructions", "mispredicted", "L1 instruction misses", "L1 data misses"
        )
    for qdisc in QDISCS:
        texts = [scenario(qdisc, number, seconds) for number in flows]
        if args.time:
            turns = [(p, text) for _ in range(args.time) for p in programs for text in texts]
            took = [(turn, spent([turn[0]], turn[1]).processor) for turn in turns]
            for p in programs:
                least = [min(time for turn, time in took if turn == (p, text)) for text in texts]
                costs = [time * 1e9 / packets(p, text) for time, text in zip(least, texts, strict=True)]
                row(f"`{qdisc}`", p, *(f"{cost:.0f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}")
            continue
        for number, text in zip(flows, texts, strict=True):
            for p in programs:
                instructions, *others = count(p, text)
                row(f"`{qdisc}`", number, p, f"{instructions:.1f}", *(f"{value:.2f}" for value in others))


if __name__ == "__main__":
    main()
