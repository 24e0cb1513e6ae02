"""real_time (virtual|live|judge) FILE...: what programs tell behind a link, in virtual time and in real time.

    python -m tools.bench.real_time virtual out/virtual.json
    python -m tools.bench.real_time live out/live.json        # on a machine that is quiet
    python -m tools.bench.real_time judge out/virtual.json out/live.json

Five programs behind two links, ten runs each. `judge` prints medians and the two-sample test of Kolmogorov and Smirnov,
and its status is 1 if that rejects at 1 % in more than one of the ten cells.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from statistics import median

from scipy.stats import ks_2samp

RUNS, LEVEL = 10, 0.01
LINKS = {
    "5mbit 40ms fq_codel": ["--rate", "5mbit", "--rtt", "40ms", "--qdisc", "fq_codel"],
    "20mbit 80ms pfifo": ["--rate", "20mbit", "--rtt", "80ms", "--qdisc", "pfifo limit 200"],
}
_COUNT, _QUIC = "out/count", "examples/programs/aioquic/count.py"
#: A server, a command, and the number that it tells.
PROGRAMS = {
    "iperf3 bit/s": (
        "iperf3 -s",
        ["iperf3", "-c", "SERVER", "-t", "4", "-J"],
        r'"sum_received":[^}]*"bits_per_second":\s*([\d.e+]+)',
    ),
    "curl s": (
        "python3 -m http.server 8000 --directory out",
        ["curl", "-s", "-o", "/dev/null", "-w", "%{time_total}\n", "http://SERVER:8000/three-megabytes"],
        r"([\d.]+)",
    ),
    "quic-go s": (f"{_COUNT} serve :4433", [_COUNT, "fetch", "SERVER:4433", "3000000"], r"in ([\d.]+)s"),
    "aioquic s": (
        f"{sys.executable} {_QUIC} serve 4433",
        [sys.executable, _QUIC, "SERVER", "4433", "1000000"],
        r"in ([\d.]+) s",
    ),
    "ping ms": (
        "iperf3 -s",
        ["sh", "-c", "iperf3 -c SERVER -t 4 >/dev/null & sleep 1; ping -q -c 14 -i 0.2 SERVER; wait"],
        r"= [\d.]+/([\d.]+)/",
    ),
}


def measure(backend: str, link: str, program: str, seed: int) -> float:
    """Return the number that a run tells."""
    server, words, pattern = PROGRAMS[program]
    command = [sys.executable, "-m", "sojourn", "exec", "--backend", backend, "--seed", str(seed), *LINKS[link]]
    done = subprocess.run([*command, "--server", server, "--", *words], capture_output=True, text=True, check=True)
    told = re.search(pattern, done.stdout)
    assert told is not None, done.stdout
    return float(told[1])


def judge(first: Path, second: Path) -> int:
    """Print the cells, and return whether too many are told apart."""
    virtual, live = (json.loads(path.read_text()) for path in (first, second))
    apart = 0
    for cell, values in virtual.items():
        p = float(ks_2samp(values, live[cell]).pvalue)
        apart += p < LEVEL
        print(f"{cell:34} virtual {median(values):13.3f} live {median(live[cell]):13.3f} p {p:.4f}")
    print(f"{apart} of {len(virtual)} cells are told apart at {100 * LEVEL:g} %")
    return int(apart > 1)


def main(mode: str, *files: str) -> int:
    """Measure, or judge."""
    paths = [Path(name) for name in files]
    if mode == "judge":
        return judge(*paths)
    Path("out/three-megabytes").write_bytes(bytes(3_000_000))
    backend = "linux" if mode == "virtual" else "live"
    found = {}
    for link, program in product(LINKS, PROGRAMS):
        cell = f"{program}, {link}"
        found[cell] = [measure(backend, link, program, seed) for seed in range(1, RUNS + 1)]
        print(cell, found[cell], flush=True)
    paths[0].write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
