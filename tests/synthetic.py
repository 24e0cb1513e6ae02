"""Records made up from a few numbers, to judge claims whose answer is known."""

from __future__ import annotations

from sojourn.store.run import Run
from tests import records
from tests.records import Json, flow, run_of

#: What a made-up run is made of.
DEFAULTS: Json = {
    "latency": 10.0,
    "up": 9.0,
    "down": 9.0,
    "uncounted": 0.0,
    "ack_drops": 100.0,
    "cwnd": 20.0,
    "wait": 30.0,
    "sojourn": 8.0,
    "entries": 60.0,
    "backlog": (10.0, 20.0),
    "drops": (1.0, 1.0),
    "packets": 1000.0,
    "shared": [],
    "rates": ("10mbit", "10mbit"),
    "mss": 1448,
    # Round-trip time: before the start, until when it is at its peak (s), the peak, and from then on.
    "curve": (50.0, 0.0, 60.0, 60.0),
    # By how much one bin, long after the start, is above the rest.
    "spike": 0.0,
    "first_drop": {},
    "syn": {"offered": 0, "dropped": 0},
    "voice": None,
    "web": None,
    "fair": None,
}
BINS = 100
SECONDS = 60.0
WEB = {"name": "web", "interval": "0s"}
PROBE = {"name": "ping", "kind": "icmp", "size": 98, "sent": 300}


def wobble_of(seed: int) -> float:
    """Return what is measured varies by with the seed: the same in all runs of that seed."""
    return 1 + 0.001 * ((seed * 7) % 5 - 2)


def record(seed: int, values: Json) -> Run:
    """Return a run."""
    wobble = wobble_of(seed)
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
        "bytes": 10_000_000,
        "ack_drops": values["ack_drops"],
        "sojourn_ms": {"mean": values["sojourn"] * wobble},
        "extra": {"drop_state_entries": values["entries"]},
        "first_drop_s": values["first_drop"],
        "syn": values["syn"],
    }
    both = {
        "backlog_packets": alternate(values["backlog"]),
        "drops": cumulate(values["drops"]),
        "packets": cumulate((values["packets"], values["packets"])),
    }
    flows = _fair_flows(values, wobble) if values["fair"] else _flows(values, wobble)
    totals = {way: sum(flow["goodput_mbit"] for flow in flows if flow["direction"] == way) for way in ("up", "down")}
    down, up = values["rates"]
    probes: list[Json] = [PROBE]
    series: Json = {"t_s": times, **{name: {"up": value, "down": value} for name, value in both.items()}}
    series["cwnd_segments"] = {
        flow["name"]: [flow["early"] if time <= 30 else flow["late"] for time in times] for flow in flows
    }
    series["rtt"] = {"ping": _curve(values["curve"], values["spike"], wobble)}
    if values["voice"]:
        probes = [*probes, _voice(values["voice"])]
        series["voip"] = {"voip": _delays(values["voice"], wobble)}
    body = records.record(
        seed,
        scenario={"up": up, "down": down, "tcp": {"mss": values["mss"]}, "probes": [PROBE], "web": [WEB]},
        summary={
            "induced_latency_ms": values["latency"] * wobble,
            "goodput_up_mbit": totals["up"] + values["uncounted"],
            "goodput_down_mbit": totals["down"],
            "rtt_ms": {"count": 100},
        },
        flows=flows,
        probes=probes,
        bottleneck={"up": end, "down": end},
        series=series,
        web=[_web(values["web"], seed)] if values["web"] else [],
    )
    return run_of(body)


def _whole(goodput: float) -> float:
    """Return the goodput (Mbit/s) rounded to whole segments of 1448 bytes."""
    return round(goodput * 1e6 * SECONDS / 8 / 1448) * 1448 * 8 / SECONDS / 1e6


def _flows(values: Json, wobble: float) -> list[Json]:
    return [
        flow(
            f"tcp_{way}_1",
            way,
            _whole(values[way] * wobble),
            base_rtt_ms=50.0,
            timeouts=0,
            mean_cwnd_segments=values["cwnd"] * wobble,
            sojourn_ms={"mean": values["wait"] * wobble},
            queue_shared_with=values["shared"] if way == "up" else [],
            early=20.0,
            late=20.0,
        )
        for way in ("up", "down")
    ]


def _fair_flows(values: Json, wobble: float) -> list[Json]:
    fair = values["fair"]
    return [
        flow(
            f"tcp_up_{rtt:g}",
            "up",
            _whole(goodput * wobble),
            base_rtt_ms=rtt,
            timeouts=timeouts,
            mean_cwnd_segments=10.0,
            sojourn_ms={"mean": fair["wait"] * wobble},
            queue_shared_with=[],
            drop_gaps_ms={"count": 50, "mean": 100.0, "cv": fair["cv"] * wobble},
            early=early * wobble,
            late=late * wobble,
        )
        for rtt, goodput, timeouts, (early, late) in zip(
            fair["rtts"], fair["goodputs"], fair["timeouts"], fair["windows"], strict=True
        )
    ]


def _curve(curve: tuple[float, float, float, float], spike: float, wobble: float) -> Json:
    before, until, peak, steady = curve
    times = [0.2 * k + 0.1 for k in range(-5, 300)]
    trips = [before if time < 0 else peak if time < until else steady for time in times]
    trips[205] += spike  # at 40.1 s
    return {"t_s": times, "rtt_ms": [before + (trip - before) * wobble for trip in trips]}


def _voice(voice: Json) -> Json:
    sent = 1_000_000
    return {
        "name": "voip",
        "kind": "voip",
        "codec": "g711",
        "frame_ms": 20.0,
        "base_delay_ms": 25.0,
        "sent": sent,
        "lost": round(voice["loss"] * sent / 100),
        "delay_ms": {"mean": 25.0 + voice["delay"]},
        "ipdv_ms": 0.1 * voice["delay"],
    }


def _delays(voice: Json, wobble: float) -> Json:
    times = [0.2 * (k + 1) for k in range(250)]
    delays = [
        voice["delay"] * wobble * (voice["tail"] if voice["tail_from"] < time <= voice["tail_from"] + 2 else 1)
        for time in times
    ]
    most = [max(delay, voice["most"]) for delay in delays]
    # One bin in which no packet arrived.
    return {
        "t_s": [*times, 50.2],
        "delay_ms": [*(25 + delay for delay in delays), None],
        "max_ms": [*(25 + delay for delay in most), None],
    }


def _web(web: Json, seed: int) -> Json:
    noise = 1 + web["noise"] * (seed % 3 - 1)
    fetches = []
    for k in range(20):
        lost = int(k % 10 < 10 * web["syn_share"])
        time = (web["time"] + web["syn_cost"] * lost) * noise * wobble_of(seed) * (1 + 0.01 * (k % 4))
        fetches.append({"time_s": time, "syn_retransmitted": lost, "dns_retried": 0})
    # One after the other, the last until the end.
    began = SECONDS
    for fetch in reversed(fetches):
        began -= fetch["time_s"]
        fetch["start_s"] = began
    return {"name": "web", "page": "google", "fetches": fetches}
