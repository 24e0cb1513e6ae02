"""htsim FOLDER: measures a bottleneck packet in turn with htsim, whose source (Broadcom/csg-htsim) is in FOLDER.

Both carry bulk flows both ways at 100/100 Mbit/s and 50 ms for 60 s, first without links between hosts and routers, and
then with such links of 1 Gbit/s. htsim has a FIFO of 1000 packets, and NewReno without SACK and delayed
acknowledgements. The time is processor time of the whole program, the least of N runs in turn. Needs g++ and make.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from tools.bench import ROOT, built, head, row, spent
from tools.bench.instructions import QDISCS, packets, scenario

SECONDS = 60


def peer(source: Path) -> Path:
    """Build htsim and the driver, and return its path."""
    program = ROOT / "out/htsim/bulk"
    program.parent.mkdir(parents=True, exist_ok=True)
    optimised = ("-std=c++11", "-O3", "-march=native", "-DNDEBUG", "-w")
    subprocess.run(["make", "-s", "-C", source / "sim", "libhtsim.a", f"CFLAGS={' '.join(optimised)}"], check=True)
    words: list[str | Path] = [
        "g++",
        *optimised,
        "-I",
        source / "sim",
        ROOT / "tools/bench/htsim.cpp",
        source / "sim/libhtsim.a",
    ]
    subprocess.run([*words, "-o", program], check=True)
    return program


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="htsim", description=__doc__)
    parser.add_argument("source", type=Path, metavar="FOLDER", help="the source of csg-htsim")
    parser.add_argument("--program", help="a built example; the default is to build it")
    parser.add_argument("--time", type=int, default=5, metavar="N", help="the least of N runs (5)")
    args = parser.parse_args()
    theirs, ours = str(peer(args.source)), args.program or str(built("sojourn-sim", "example", "scenario"))
    head("links of hosts", "flows", "what", "ns a packet", "million a second", "times htsim")
    for edges in ((), ("edges",)):
        for flows in (8, 256):
            command = [theirs, str(flows), str(SECONDS), "1000", *edges]
            counted = subprocess.run(command, capture_output=True, text=True, check=True)
            runs = {"htsim, FIFO": (command, "", int(counted.stderr))}
            for qdisc in QDISCS:
                one = json.loads(scenario(qdisc, flows, SECONDS)) | ({"edge_rate": "1gbit"} if edges else {})
                text = json.dumps(one)
                runs[f"`{qdisc}`"] = ([ours], text, packets(ours, text))
            least = dict.fromkeys(runs, float("inf"))
            for _ in range(args.time):
                for name, (words, text, _) in runs.items():
                    least[name] = min(least[name], spent(words, text).processor)
            rates = {name: count / least[name] / 1e6 for name, (_, _, count) in runs.items()}
            for name, rate in rates.items():
                times = rate / rates["htsim, FIFO"]
                row("1 Gbit/s" if edges else "none", flows, name, f"{1e3 / rate:.0f}", f"{rate:.2f}", f"{times:.2f}")


if __name__ == "__main__":
    main()
