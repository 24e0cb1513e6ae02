"""The simulator beside numbers that Linux 6.1 gave: RRUL at 10/10 Mbit/s and 50 ms, ten seeds of each."""

import json
from statistics import fmean

import pytest

from sojourn import _native

FLOWS = [{"name": f"{way}{i}", "direction": way} for way in ("up", "down") for i in range(4)]
PROBES = [{"name": name, "kind": "icmp", "interval": "200ms", "size": size} for name, size in (("a", 98), ("b", 106))]
RRUL = {"duration": "60s", "lead": "2s", "up": "10mbit", "down": "10mbit", "rtt": "50ms", "start_jitter": "50ms"}
RRUL |= {"burst_up": "3028b", "burst_down": "3028b", "tcp": {"receive_window": "2017984b"}}


# A discipline, and the kernel's mean latency beyond the path's (ms) and goodputs up and down (Mbit/s).
@pytest.mark.parametrize(
    ("qdisc", "latency", "up", "down"),
    [
        ("pfifo limit 127", 109.93, 9.188, 9.188),
        ("red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive", 24.33, 8.881, 8.880),
        ("pie limit 1000 target 20ms tupdate 30ms noecn", 107.01, 8.564, 8.479),
        ("codel limit 1000 target 5ms interval 100ms noecn", 41.04, 8.939, 8.928),
        ("sfq limit 127", 8.61, 9.306, 9.305),
        ("fq_codel limit 10240 target 5ms interval 100ms noecn", 1.28, 9.083, 9.060),
        ("fq_codel limit 127 target 100s interval 100s noecn", 1.35, 9.315, 9.314),
    ],
)
def test_latency_and_goodput_are_those_of_the_kernel(qdisc: str, latency: float, up: float, down: float) -> None:
    records = []
    for seed in range(1, 11):
        scenario = RRUL | {"qdisc_up": qdisc, "qdisc_down": qdisc, "flows": FLOWS, "probes": PROBES, "seed": seed}
        records.append(json.loads(_native.run(json.dumps(scenario))))
    echoes = [record["series"]["rtt"]["a"] for record in records]
    times = [
        [ms for s, ms in zip(one["t_s"], one["rtt_ms"], strict=True) if s >= 0 and ms is not None] for one in echoes
    ]
    assert fmean(map(fmean, times)) - 50 == pytest.approx(latency, rel=0.15, abs=2)
    for way, goodput in {"up": up, "down": down}.items():
        assert fmean(record["summary"][f"goodput_{way}_mbit"] for record in records) == pytest.approx(goodput, rel=0.03)
