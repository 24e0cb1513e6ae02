"""Records of every experiment of "The Good, the Bad and the WiFi", made up from a few numbers for each discipline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn.record import Record
from tests.records import record_of

SEVEN = ("pfifo_fast", "ared", "pie", "codel", "sfq", "fq_codel", "fq_nocodel")
LINKS = ("100/100", "10/10", "10/1")
#: Queueing delay (ms) at 10/1, spike when flows start (ms) and loss of voice (share) of each discipline.
DELAY_MS = dict(zip(SEVEN, (900.0, 25.0, 60.0, 40.0, 15.0, 2.0, 3.0), strict=True))
SPIKE_MS = dict(zip(SEVEN, (0.0, 5.0, 1500.0, 700.0, 0.0, 0.0, 0.0), strict=True))
LOSS = dict(zip(SEVEN, (0.085, 0.26, 0.14, 0.1, 0.004, 0.0004, 0.0), strict=True))
#: How much of it there is on each link.
SCALE = {"100/100": 0.08, "10/10": 0.2, "10/1": 1.0}
RTTS = (10.0, 50.0, 200.0, 500.0)


def body(seed: int, changed: dict[str, float] | None = None, **parts: Any) -> Record:
    """Return a record with the keys that every record has; `changed` are values of its summary."""
    summary = {
        "goodput_up_mbit": 0.9,
        "goodput_down_mbit": 9.0,
        "induced_latency_ms": 10.0,
        "rtt_ms": {
            "count": 100,
            "mean": 60.0,
            "median": 60.0,
            "p5": 50.0,
            "p95": 80.0,
            "p99": 90.0,
            "min": 50.0,
            "max": 95.0,
        },
        "page_fetch_s": None,
        "probe_loss": 0.0,
        "jain_up": 0.9,
        "jain_down": 0.9,
        **(changed or {}),
    }
    record = {"seed": seed, "summary": summary, "flows": [], "probes": [], "web": [], "series": {"rtt": {}}}
    return record_of({**record, **parts})


def rrul(link: str, qdisc: str, seed: int, *, end_s: float = 60.0) -> Record:
    """Return a run whose latency starts with a spike and settles."""
    rng = np.random.default_rng(seed)
    times = np.arange(-5, end_s, 0.2) + rng.uniform(0, 0.2)
    level = DELAY_MS[qdisc] * SCALE[link]
    after = np.where(times > 0, 1.0, 0.0)
    rise = 1 - np.exp(-np.clip(times, 0, None) / 0.5)
    spike = SPIKE_MS[qdisc] * SCALE[link] * np.exp(-np.clip(times, 0, None) / 3)
    rtt = 50 + after * (level * rise * rng.uniform(0.8, 1.2, len(times)) + spike * rise) + rng.uniform(0, 1, len(times))
    down, up = (float(rate) for rate in link.split("/"))
    summary = {
        "goodput_up_mbit": 0.93 * up * (1 + 0.01 * rng.normal()),
        "goodput_down_mbit": 0.94 * down * (1 + 0.01 * rng.normal()),
        "induced_latency_ms": level * (1 + 0.08 * rng.normal()),
    }
    return body(seed, summary, series={"rtt": {"ping": {"t_s": times.tolist(), "rtt_ms": rtt.tolist()}}})


def voip(link: str, qdisc: str, seed: int, *, share: float = 1.0) -> Record:
    """Return a run of 60 s with a voice stream; `share` scales delay and loss."""
    rng = np.random.default_rng(seed)
    delay = 25.3 + rng.gamma(2.0, share * DELAY_MS[qdisc] * SCALE[link] / 2, 300)
    delay[0] = 25.3
    lost = rng.binomial(10, share * LOSS[qdisc] * SCALE[link] ** 2, 300)
    values = [None if gone == 10 else float(value) for gone, value in zip(lost, delay, strict=True)]
    series = {"t_s": [0.2 * (k + 1) for k in range(300)], "delay_ms": values, "sent": [10] * 300, "lost": lost.tolist()}
    probe = {
        "name": "voip",
        "kind": "voip",
        "direction": "up",
        "codec": "g711",
        "sent": 3000,
        "lost": int(lost.sum()),
        "delay_ms": {"mean": float(delay.mean())},
        "ipdv_ms": 0.1 * float(delay.mean() - 25.3),
    }
    return body(seed, probes=[{"name": "ping", "kind": "icmp"}, probe], series={"rtt": {}, "voip": {"voip": series}})


def web(link: str, qdisc: str, seed: int, *, page: str = "google", share: float = 1.0) -> Record:
    """Return a run with a web client; `share` scales what the queue adds to the fetch time."""
    rng = np.random.default_rng(seed)
    base = {"google": 0.35, "huffpost": 2.5}[page] + {"google": 0.05, "huffpost": 24.0}[page] / float(
        link.split("/")[0]
    )
    mean = base + share * (4 if page == "google" else 12) * DELAY_MS[qdisc] * SCALE[link] / 1000
    fetches = [{"start_s": float(k), "time_s": float(mean * rng.uniform(0.9, 1.3))} for k in range(10)]
    return body(seed, web=[{"name": "web", "page": page, "fetches": fetches, "completed": len(fetches)}])


def rtt_fairness(link: str, qdisc: str, seed: int, *, share: float = 1.0) -> Record:
    """Return a run with four flows whose shares fall with their round-trip time; `share` scales what they carry."""
    rng = np.random.default_rng(seed)
    power = 0.05 if "fq" in qdisc else 0.6 if qdisc in ("pie", "codel", "ared") else 0.35
    weight = np.array(RTTS) ** -power * rng.uniform(0.9, 1.1, 4)
    rates = share * 0.95 * float(link.split("/")[1]) * weight / weight.sum()
    flows = [
        {"name": f"tcp_up_{k}", "direction": "up", "base_rtt_ms": rtt, "goodput_mbit": float(rate)}
        for k, (rtt, rate) in enumerate(zip(RTTS, rates, strict=True), start=1)
    ]
    return body(seed, flows=flows)


def experiments(n: int = 6) -> dict[str, dict[tuple[str, str], list[Record]]]:
    """Return every experiment of the plan, `n` runs of each cell."""

    def cells(make: Callable[..., Record], **options: Any) -> dict[tuple[str, str], list[Record]]:
        return {
            (link, qdisc): [make(link, qdisc, seed, **options) for seed in range(1, n + 1)]
            for link in LINKS
            for qdisc in SEVEN
        }

    def pages(**options: Any) -> dict[tuple[str, str], list[Record]]:
        google, huffpost = (cells(web, page=page, **options) for page in ("google", "huffpost"))
        return {cell: google[cell] + huffpost[cell] for cell in google}

    idle = {(link, "fq_codel"): runs for (link, qdisc), runs in pages(share=0.0).items() if qdisc == "fq_codel"}
    return {
        "rrul": cells(rrul),
        "voip": cells(voip, share=0.4),
        "voip_rrul": cells(voip),
        "web": pages(share=0.5),
        "web_rrul": pages(),
        "web_idle": idle,
        "rtt_fairness": cells(rtt_fairness),
    }
