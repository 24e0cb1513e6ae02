"""bottleneck [SOJOURND]: measures `sojournd bottleneck` from outside: rate at a receiver, delay by ping, highest rate.

Beside what the bottleneck says of itself stands the floor: how late, in the same run, a thread of the same process woke
up that did nothing but sleep (`--floor`). The rate is that of frames (Ethernet's 14 bytes counted) at the receiver of
UDP datagrams that are offered at twice the rate, between the first second and the last arrival. As root it runs under
SCHED_FIFO, which is as near to an idle machine as a busy one comes. It needs ping and iperf3.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.bench import head, row

#: How often the floor's thread wakes up: as often as packets of the pings leave, both directions together.
FLOOR = ("--floor", "5ms")
RATES_MBIT = (1, 2, 5, 10, 20, 50, 100)
SERVER = "10.0.0.2"
PAYLOAD = 1400
FRAME = PAYLOAD + 28 + 14
#: What columns of a lateness are called, and its keys.
LATE = ("late p50, us", "p99", "max")
QUANTILES = ("p50_us", "p99_us", "max_us")

RECEIVE = """
import json, os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
s.bind(("10.0.0.2", 9000))
s.recv(2000)
s.settimeout(2)
begin, times = time.monotonic(), []
try:
    while True:
        s.recv(2000)
        times.append(time.monotonic() - begin)
except TimeoutError:
    pass
with open(sys.argv[1] + ".part", "w") as part:
    part.write(json.dumps(times))
os.rename(part.name, sys.argv[1])
"""

SEND = """
import os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.0.0.2", 9000))
gap, end, data = float(sys.argv[1]), float(sys.argv[2]), bytes(1400)
begin, sent = time.monotonic(), 0
while (now := time.monotonic() - begin) < end:
    while sent * gap < now:
        s.send(data)
        sent += 1
    time.sleep(gap)
while not os.path.exists(sys.argv[3]):
    time.sleep(0.1)
"""


def bottleneck(program: str, folder: Path, *words: str) -> tuple[str, Any]:
    """Run the bottleneck, which ends with this process; return what its program prints, and its report."""
    report = folder / "report"
    places = ("--master", str(os.getpid()), "--control", folder / "socket", "--json", report)
    done = subprocess.run([program, "bottleneck", *places, *words], check=True, capture_output=True, text=True)
    return done.stdout, json.loads(report.read_text())


def rate(program: str, mbit: float, seconds: float) -> tuple[float, Any]:
    """Return the rate that a receiver saw, Mbit/s, and what the bottleneck says."""
    with tempfile.TemporaryDirectory() as name:
        folder, seen = Path(name), Path(name, "seen")
        (folder / "receive.py").write_text(RECEIVE)
        (folder / "send.py").write_text(SEND)
        gap = FRAME * 8 / (2e6 * mbit)
        server = f"exec {sys.executable} -S {folder}/receive.py {seen}"
        words = ("--rate", f"{mbit}mbit", *FLOOR, "--qdisc", f"bfifo limit {max(200_000, int(mbit * 25_000))}")
        send = ("--", sys.executable, "-S", f"{folder}/send.py", str(gap), str(seconds), str(seen))
        _, report = bottleneck(program, folder, *words, "--server", server, *send)
        # While it is offered twice as much there is a queue; 0.2 s of it are sent after the end.
        times = [t for t in json.loads(seen.read_text()) if 1 <= t <= seconds]
        return (len(times) - 1) * FRAME * 8 / (times[-1] - times[0]) / 1e6, report


def delay(program: str, *more: str) -> tuple[list[float], Any]:
    """Return what pings took beyond the 50 ms of the path, ms, sorted, and what the bottleneck says."""
    with tempfile.TemporaryDirectory() as name:
        ping = ("--", "ping", "-i", "0.01", "-c", "1000", SERVER)
        text, report = bottleneck(program, Path(name), "--rate", "100mbit", *FLOOR, "--delay", "25ms", *more, *ping)
        return sorted(float(found) - 50 for found in re.findall(r"time=([\d.]+) ms", text)), report


def highest(program: str, *client: str) -> tuple[float, float]:
    """Return what iperf3 received, Mbit/s, and thousands of packets a second, in both directions of the bottleneck."""
    with tempfile.TemporaryDirectory() as name:
        words = ("--rate", "40gbit", "--qdisc", "pfifo limit 1000", "--server", "iperf3 -s")
        began = time.monotonic()
        text, report = bottleneck(program, Path(name), *words, "--", "iperf3", "-c", SERVER, "-t", "5", "-J", *client)
        end = json.loads(text)["end"]
        packets = sum(report[way]["qdiscs"][0]["packets"] for way in ("up", "down"))
        mbit = end.get("sum_received", end.get("sum"))["bits_per_second"] / 1e6
        return mbit, packets / min(5.0, time.monotonic() - began) / 1000


def main() -> None:
    """Measure, and print."""
    if os.geteuid() == 0:
        # So that what else runs on the machine does not matter.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    program = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/sojournd").resolve())
    load = os.getloadavg()[0]
    print(f"Processors: {os.cpu_count()}; load at the beginning: {load:.1f}; kernel {os.uname().release}\n")
    head("rate set, Mbit/s", "at the receiver", "error", *LATE, "floor p50, us", "p99", "max")
    for mbit in RATES_MBIT:
        measured, report = rate(program, mbit, 8)
        late = [f"{of[key]:.0f}" for of in (report["up"]["lateness"], report["floor"]) for key in QUANTILES]
        row(mbit, f"{measured:.3f}", f"{100 * (measured / mbit - 1):+.2f} %", *late)
    print()
    ways = ("late up p50, us", "p99", "max", "late down p50", "p99", "max", "floor p50, us", "p99", "max")
    head("busy-poll", "RTT beyond 50 ms: p50", "p99", "max", *ways)
    for poll in ("0us", "100us"):
        added, report = delay(program, "--busy-poll", poll)
        parts = (report["up"]["lateness"], report["down"]["lateness"], report["floor"])
        times = (statistics.median(added), added[int(0.99 * len(added))], added[-1])
        row(poll, *(f"{ms:.2f} ms" for ms in times), *(f"{of[key]:.0f}" for of in parts for key in QUANTILES))
    print()
    head("load", "Mbit/s", "thousand packets a second")
    for name, words in {"TCP, 1 flow": "", "TCP, 4 flows": "-P 4", "UDP, 100 bytes": "-u -b 0 -l 100"}.items():
        row(name, *(f"{value:.0f}" for value in highest(program, *words.split())))


if __name__ == "__main__":
    main()
