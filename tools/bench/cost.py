"""cost [WORD...]: compares the estimate of what a run needs (crates/sojourn-scenario/src/cost.rs) with runs.

Each case runs twice in fresh processes: once as `sojourn run --json`
does it, once as a store does. Memory is what the process grew by at its peak; time is the processor's. It prints a
table of Markdown, and says which cases take more memory than the estimate and 10 MB (status 1), or less than a quarter.
"""

from __future__ import annotations

import json
import subprocess
import sys

from sojourn import _native
from tools.bench import head, row

CHILD = """
import json, sys, time
from sojourn import _native

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

text, how = sys.stdin.read(), sys.argv[1]
_native.run('{"duration": "1s"}')
before, began = status("VmRSS"), time.process_time()
if how == "json":
    record = json.loads(_native.run(text))
    events = record["cost"]["events"]
else:
    parts = _native.run_stored(text, "0" * 32)
    events = json.loads(parts[0])["cost"]["events"]
print(json.dumps([status("VmHWM") - before, time.process_time() - began, events]))
"""


def _many(letter: str, number: int, **keys: object) -> list[dict[str, object]]:
    """Return so many flows, probes or stations that differ in their names."""
    return [{"name": f"{letter}{i}", **keys} for i in range(number)]


def flows(number: int, direction: str = "up", **more: object) -> list[dict[str, object]]:
    """Return so many flows of a direction; those down are named `d0` and so on."""
    return _many("f" if direction == "up" else "d", number, direction=direction, **more)


def probes(number: int, kind: str, **more: object) -> list[dict[str, object]]:
    """Return so many probes of a kind."""
    return _many("p", number, kind=kind, **more)


def stations(number: int, **more: object) -> dict[str, object]:
    """Return a cell of so many stations."""
    return {"stations": _many("s", number, rate="ht mcs 7 20mhz", **more)}


PAGE = {"objects": [10_000] * 20, "interval": "50ms", "workers": 6}
FAST = {"up": "1gbit", "down": "1gbit"}
BINS = {"duration": "20s", "sample_interval": "1ms"}
WIDE = {"duration": "50s", "up": "100mbit", "down": "100mbit"}
SHORT = {"duration": "20s", "down": "1gbit", "rtt": "1ms"}
BUFFER = "pfifo limit 4000000"
LONG = {"up": "10gbit", "down": "10gbit", "rtt": "300ms", "qdisc_up": BUFFER, "tcp": {"receive_window": "16776960b"}}
QUEUES = "fq_codel flows 65536"
TO_STATIONS = [{"name": f"f{i}", "direction": "down", "station": f"s{i}"} for i in range(10)]
#: The keys of a scenario, by the name of a case.
CASES: dict[str, dict[str, object]] = {
    "the default rrul": dict(
        duration="60s", flows=flows(4) + flows(4, "down"), probes=[*probes(1, "icmp"), {"name": "u", "kind": "udp_rr"}]
    ),
    "1 Gbit/s for 30 s": dict(duration="30s", **FAST, flows=flows(4)),
    "a flow of 10 Gbit/s over 300 ms": dict(duration="10s", **LONG, flows=flows(40)),
    "50 flows of 20,000 bins": dict(**BINS, flows=flows(50)),
    "50 datagram flows of 20,000 bins": dict(**BINS, flows=flows(50, protocol="udp", rate="100kbit")),
    "300 flows of 3,000 bins": dict(duration="3s", sample_interval="1ms", flows=flows(300)),
    "200,000 bins": dict(duration="200s", sample_interval="1ms"),
    "20 echoes of 1 ms": dict(**WIDE, probes=probes(20, "icmp", interval="1ms")),
    "20 Poisson streams of 1 ms": dict(**WIDE, probes=probes(20, "poisson", interval="1ms")),
    "a transaction at a time over 100 us": dict(duration="50s", **FAST, rtt="100us", probes=probes(2, "udp_rr")),
    "50 voice streams": dict(duration="200s", up="100mbit", probes=probes(50, "voip")),
    "10 voice streams of 20,000 bins": dict(**BINS, up="100mbit", probes=probes(10, "voip")),
    "a web client": dict(duration="60s", down="100mbit", rtt="10ms", web=_many("w", 1, **PAGE)),
    "20 web clients without pause": dict(
        **SHORT, up="1gbit", web=_many("w", 20, objects=[500] * 4, interval="1ms", workers=4)
    ),
    "20 downloads without pause": dict(**SHORT, downloads=flows(20, "down", bytes=50_000, gap="5ms")),
    "thin streams": dict(duration="100s", up="100mbit", flows=flows(20, write="100b", write_interval="1ms")),
    "5,000 flows": dict(duration="2s", up="1gbit", flows=flows(5000, bytes=20_000)),
    "2,000 flows, each with a path of its own": dict(
        duration="1s", flows=[{**flow, "rtt": f"{10 + i}us"} for i, flow in enumerate(flows(2000, bytes=1000))]
    ),
    "a flood into a large queue": dict(
        duration="10s", up="10mbit", qdisc_up=BUFFER, flows=flows(1, protocol="udp", rate="1gbit")
    ),
    "datagrams under way for 1 s": dict(
        duration="10s", up="1gbit", rtt="2s", flows=flows(1, protocol="udp", rate="900mbit")
    ),
    "65,536 queues": dict(duration="1s", qdisc_up=QUEUES, qdisc_down=QUEUES),
    "a cell of 10": dict(duration="10s", **FAST, rtt="1ms", wifi=stations(10), flows=TO_STATIONS),
    "a cell of 300": dict(duration="1s", wifi=stations(300)),
    "a cell of 100 with 4,096 queues each": dict(duration="1s", wifi=stations(100, scheme="fq_mac")),
    "a cell of 100 with fq_codel each": dict(duration="1s", wifi=stations(100, scheme="fq_codel")),
    "a flusher, 20,000 bins": dict(**BINS, qdisc_up="pfifo limit 1000", flows=flows(4), flusher={}),
}


def child(how: str, text: str) -> tuple[int, float, int]:
    """Return what a run in a fresh process needs: bytes and processor seconds; and its events."""
    done = subprocess.run([sys.executable, "-c", CHILD, how], input=text, capture_output=True, text=True, check=True)
    memory, seconds, events = json.loads(done.stdout)
    return memory, seconds, events


def main() -> int:
    """Run all cases, or those whose names hold an argument."""
    head("case", "packets", "events", "estimate MB", "as JSON MB", "stored MB", "estimate s", "s")
    beyond = []
    for name in (one for one in CASES if all(word in one for word in sys.argv[1:])):
        text = json.dumps(CASES[name])
        estimate = json.loads(_native.estimate(text))
        (as_json, _, events), (stored, seconds, _) = child("json", text), child("stored", text)
        sizes = [f"{size / 1e6:.1f}" for size in (estimate["memory"], as_json, stored)]
        row(name, estimate["packets"], events, *sizes, f"{estimate['seconds']:.2f}", f"{seconds:.2f}")
        memory = max(as_json, stored)
        if memory > estimate["memory"] + 10e6:
            beyond.append(f"{name}: {memory / 1e6:.1f} MB, but estimated {estimate['memory'] / 1e6:.1f}")
        if memory > 10e6 and estimate["memory"] > 4 * memory:
            print(f"  {name}: the estimate is {estimate['memory'] / memory:.1f} times as much", file=sys.stderr)
    print("\n".join(beyond), file=sys.stderr)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
