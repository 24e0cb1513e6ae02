"""The paper's picture in round numbers: made-up evidence that bears every claim out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    PAGES,
    PURE_SCHEDULERS,
    RRUL,
    RTT_FAIRNESS,
    SPARED,
    VOIP,
    VOIP_RRUL,
    WEB,
    WEB_IDLE,
    WEB_RRUL,
    Cell,
    Collision,
    Evidence,
)
from sojourn.papers.good_bad_wifi.judges import LOADS
from sojourn.papers.good_bad_wifi.observation import Observation, observe
from sojourn.papers.good_bad_wifi.section7 import (
    SHALLOW,
    SLOW_LINKS,
    STRONG_LAPTOP,
    STRONG_POINT,
    TABLE_3,
    WIFI_RRUL,
    WIFI_VOIP,
    WIFI_VOIP_RRUL,
    WIFI_WEB,
    WIFI_WEB_RRUL,
)
from sojourn.papers.good_bad_wifi.tables import LINK_OF_COLUMN, stated_loss
from tests.synthetic import DEFAULTS, record

REPEATS = 6
COLUMN_OF_LINK = {link: column for column, link in LINK_OF_COLUMN.items()}
LATENCY = {FIFO: 200.0, "ared": 20.0, "pie": 40.0, "codel": 30.0, "sfq": 9.0, "fq_codel": 1.0, "fq_nocodel": 1.0}
GOODPUT = {FIFO: 9.2, "ared": 8.6, "pie": 9.0, "codel": 8.8, "sfq": 9.4, "fq_codel": 9.3, "fq_nocodel": 9.4}
SCALE = {"100/100": 10.0, "10/10": 1.0, "10/1": 1.0}
#: Until when the round-trip time is at its peak (s), the peak, and from then on (ms).
CURVES: dict[str, dict[str, tuple[float, float, float]]] = {
    "100/100": {FIFO: (1, 130, 130), "ared": (1, 71, 70), "pie": (3, 80, 65), "codel": (23, 180, 70)},
    "10/10": {FIFO: (1, 200, 200), "ared": (1, 71, 70), "pie": (6, 260, 90), "codel": (4, 180, 80)},
    "10/1": {FIFO: (1, 350, 350), "ared": (1, 80, 78), "pie": (8, 340, 150), "codel": (3, 300, 110)},
}
RTTS = (10.0, 50.0, 200.0, 500.0)
#: Shares of the four flows at the rates other than 100 Mbit/s, and there.
SHARES: dict[str, tuple[float, ...]] = {
    FIFO: (0.20, 0.30, 0.25, 0.19),
    "ared": (0.50, 0.30, 0.10, 0.04),
    "pie": (0.48, 0.30, 0.11, 0.05),
    "codel": (0.51, 0.30, 0.09, 0.04),
    "sfq": (0.235,) * 4,
    "fq_codel": (0.25, 0.24, 0.23, 0.22),
    "fq_nocodel": (0.235,) * 4,
}
SHARES_AT_100 = {
    **SHARES,
    FIFO: (0.42, 0.28, 0.15, 0.09),
    "sfq": (0.30, 0.27, 0.22, 0.15),
    "fq_codel": (0.35, 0.28, 0.19, 0.12),
    "fq_nocodel": (0.30, 0.27, 0.22, 0.15),
}
SHARES_AT_1 = {**SHARES, "ared": (0.35, 0.37, 0.08, 0.046), "fq_codel": (0.215, 0.24, 0.225, 0.213)}
DELAY = {FIFO: 100.0, "ared": 8.0, "pie": 30.0, "codel": 20.0, "sfq": 1.0, "fq_codel": 1.0, "fq_nocodel": 1.0}
UNLOADED = {"google": 0.3, "huffpost": 2.0}
#: Over Wi-Fi, where the link waits in its drivers.
WIFI_LATENCY = {FIFO: 300.0, "ared": 120.0, "pie": 180.0, "codel": 190.0, "sfq": 105.0, "fq_codel": 100.0}
WIFI_LATENCY["fq_nocodel"] = 104.0


def rrul(link: str, qdisc: str) -> dict[str, Any]:
    """Return the values of a run under RRUL."""
    down, up = link.split("/")
    values: dict[str, Any] = {
        "rates": (f"{down}mbit", f"{up}mbit"),
        "latency": LATENCY[qdisc],
        "down": GOODPUT[qdisc] * SCALE[link],
        "up": GOODPUT[qdisc] * (0.1 if link == "10/1" else SCALE[link]),
        "curve": (50.0, *CURVES[link].get(qdisc, (0.0, 50.2, 50.2))),
    }
    if qdisc == "sfq" and link != "10/10":
        values["latency"] = 1.5 if link == "100/100" else 18.0
    if qdisc == "ared":
        values |= {"backlog": (2.0, 40.0), "drops": (0.0, 9.0), "sojourn": 20.0}
        if link == "10/1":
            values["up"] = 0.7
    if qdisc == "pie":
        values |= {"backlog": (15.0, 17.0), "drops": (0.2, 0.2), "sojourn": 7.0 if link == "100/100" else 20.0}
        if link == "100/100":
            values |= {"up": 86.0, "down": 86.0, "latency": 25.0}
    if qdisc == "fq_codel":
        values |= {"cwnd": 8.0, "wait": 9.0}
    if qdisc in ("codel", "pie"):
        values |= {"first_drop": {"congestion": 0.15}, "spike": 40.0}
    return values


def fairness(link: str, qdisc: str) -> dict[str, Any]:
    """Return the values of a run of the RTT fairness test."""
    down, up = link.split("/")
    shares = {"100/100": SHARES_AT_100, "10/10": SHARES, "10/1": SHARES_AT_1}[link][qdisc]
    aqm = qdisc in AQMS
    return {
        "rates": (f"{down}mbit", f"{up}mbit"),
        "fair": {
            "rtts": RTTS,
            "goodputs": tuple(share * float(up) for share in shares),
            "timeouts": (300, 10, 5, 5),
            "windows": ((30.0, 10.0), *(((10.0, 10.0),) * 3)),
            "wait": 20.0 if aqm else 100.0,
            "cv": 1.0 if aqm else 3.0,
        },
    }


def voice(experiment: str, link: str, qdisc: str) -> dict[str, Any]:
    """Return the values of a run with a voice flow."""
    rrul_too = experiment == VOIP_RRUL
    long = rrul_too and qdisc in ("codel", "pie") and link != "100/100"
    crowded = rrul_too and link == "10/1" and qdisc in ("sfq", "fq_codel")
    stream = {
        "delay": DELAY[qdisc],
        "tail": 5.0 if long else 1.0,
        "tail_from": 0.0,
        "most": 30.0 if crowded else 0.0,
        "loss": stated_loss(LOADS[experiment], qdisc, COLUMN_OF_LINK[link]),
    }
    return {**rrul(link, qdisc), "voice": stream}


def web_time(traffic: str, page: str, link: str, qdisc: str) -> float:
    """Return a fetch time as a multiple of the unloaded time."""
    if traffic == WEB_IDLE:
        return 1.0
    slow = traffic == WEB_RRUL and link != "100/100"
    if qdisc == FIFO:
        return {WEB: 4.0, WEB_RRUL: 3.0}[traffic]
    if qdisc in FAIR:
        odd = slow and page == "huffpost" and link == "10/10"
        return 2.0 if odd else 1.5 if slow else 1.05
    if qdisc == "ared" and link == "10/1":
        return 1.7 if page == "google" else 2.8
    return 1.6 if slow else 1.1


def web(traffic: str, page: str, link: str, qdisc: str) -> dict[str, Any]:
    """Return the values of a run with page fetches."""
    struck = qdisc == "ared" and link == "10/1" and traffic != WEB_IDLE
    clients = {
        "time": web_time(traffic, page, link, qdisc) * UNLOADED[page],
        "syn_share": 0.5 if struck else 0.0,
        "syn_cost": 2.0 if struck else 0.0,
        "noise": 0.1 if struck else 0.0,
    }
    return {**rrul(link, qdisc), "web": clients, "syn": {"offered": 100, "dropped": 20 if traffic == WEB else 10}}


def over_wifi(experiment: str, link: str, qdisc: str) -> dict[str, Any]:
    """Return the values of a run with a Wi-Fi link."""
    if link in SLOW_LINKS:
        return rrul(link, qdisc) | ({"spike": 15.0} if qdisc in FAIR else {})
    name, _, page = experiment.partition(":")
    latency = WIFI_LATENCY[qdisc]
    values = rrul(link, qdisc) | {
        "latency": latency,
        "curve": (52.0, 1.0, 52 + latency, 52 + latency),
        "up": 2.0,
        "down": 50.0,
    }
    if name == SHALLOW:
        values["latency"] = 20.0
    if name == STRONG_LAPTOP:
        values |= {"up": 50.0, "down": 2.0}
    if name in (WIFI_VOIP, WIFI_VOIP_RRUL):
        alone = name == WIFI_VOIP
        stream = {"delay": 80.0 if alone else latency, "tail": 1.0, "tail_from": 0.0, "most": 0.0}
        values["voice"] = stream | {"loss": TABLE_3[qdisc][0 if alone else 1]}
    if name in (WIFI_WEB, WIFI_WEB_RRUL):
        wired = web(WEB_RRUL, page, link, qdisc)["web"]
        slower = 2.0 if qdisc in ("pie", "codel") else 3.0 if qdisc == FIFO else 1.2
        values["web"] = wired | {"time": UNLOADED[page] if name == WIFI_WEB else wired["time"] * slower}
    return values


def picture(cell: Cell) -> dict[str, Any]:
    """Return the values of a cell."""
    experiment, link, qdisc, _ = cell
    if "wifi_" in experiment:
        return over_wifi(experiment, link, qdisc)
    if experiment == SPARED:
        return {"down": 9.4}
    if experiment == "rrul short fifo":
        return {"up": 80.0, "down": 80.0}
    if experiment == "rtt_fairness long queue":
        return fairness("100/100", qdisc) | {"fair": {**fairness("10/10", qdisc)["fair"]}}
    if experiment == RTT_FAIRNESS:
        return fairness(link, qdisc)
    if experiment in (VOIP, VOIP_RRUL):
        return voice(experiment, link, qdisc)
    if ":" in experiment:
        traffic, page = experiment.split(":")
        if page not in PAGES:
            found = web(traffic, "huffpost", link, qdisc)
            return found | {"web": {**found["web"], "time": 2.0 if qdisc in FAIR else 2.4}}
        return web(traffic, page, link, qdisc)
    return rrul(link, qdisc)


def all_cells() -> list[Cell]:
    """Return every cell that some claim needs."""
    grid = [(link, qdisc) for link in LINKS for qdisc in DISCIPLINES]
    cells = [Cell(one, *place, cc) for one in (RRUL, RTT_FAIRNESS) for place in grid for cc in ("cubic", "reno")]
    cells += [Cell(one, *place) for one in (VOIP, VOIP_RRUL) for place in grid]
    cells += [Cell(f"{traffic}:{page}", *place) for traffic in (WEB, WEB_RRUL) for page in PAGES for place in grid]
    cells += [Cell(f"{WEB_IDLE}:{page}", link, FIFO) for page in PAGES for link in LINKS]
    cells += [Cell(SPARED, "10/1", FIFO), Cell("rrul short fifo", "100/100", FIFO)]
    cells += [Cell("rtt_fairness long queue", "100/100", "fq_nocodel")]
    cells += [Cell(f"{WEB_RRUL}:huffpost large objects", "10/10", qdisc) for qdisc in ("codel", *FAIR)]
    wifi = [WIFI_RRUL, WIFI_VOIP, WIFI_VOIP_RRUL]
    wifi += [f"{traffic}:{page}" for traffic in (WIFI_WEB, WIFI_WEB_RRUL) for page in PAGES]
    cells += [Cell(one, "100/100", qdisc) for one in wifi for qdisc in DISCIPLINES]
    cells += [Cell(WIFI_RRUL, link, qdisc) for link in SLOW_LINKS for qdisc in DISCIPLINES]
    cells += [Cell(SHALLOW, "100/100", qdisc) for qdisc in FAIR]
    cells += [Cell(one, "100/100", FIFO) for one in (STRONG_POINT, STRONG_LAPTOP)]
    return cells


def observed(values: dict[str, Any], n: int = REPEATS) -> tuple[Observation, ...]:
    """Return repeats with these values."""
    return tuple(observe(record(seed, {**DEFAULTS, **values})) for seed in range(1, n + 1))


def struck(experiment: str, qdisc: str, **changed: Any) -> dict[tuple[str, str], Collision]:
    """Return a run in which a probe shares a queue."""
    probe = "ping" if experiment == RRUL else "voip"
    values = {**DEFAULTS, **picture(Cell(experiment, "10/1", qdisc)), "shared": [probe], **changed}
    run = observe(record(77, values))
    return {(experiment, qdisc): Collision(run=run, probe=probe, flow="tcp_up_1", tried=77)}


def struck_voice(qdisc: str, delay: float) -> dict[tuple[str, str], Collision]:
    """Return a run in which voice shares a queue and has this delay."""
    stream = voice(VOIP_RRUL, "10/1", qdisc)["voice"]
    return struck(VOIP_RRUL, qdisc, voice={**stream, "delay": delay})


@functools.cache
def world() -> Evidence:
    """Return the evidence that bears every claim out."""
    collisions = struck(RRUL, "fq_nocodel", latency=150.0)
    for qdisc in PURE_SCHEDULERS:
        collisions |= struck_voice(qdisc, 50.0)
    return Evidence(cells={cell: observed(picture(cell)) for cell in all_cells()}, collisions=collisions)


def altered(change: Callable[[Cell, dict[str, Any]], dict[str, Any] | None]) -> Evidence:
    """Return that evidence with some cells made anew: `change` returns a cell's new values, or `None`."""
    cells = dict(world().cells)
    for cell in cells:
        values = change(cell, picture(cell))
        if values is not None:
            cells[cell] = observed(values)
    return Evidence(cells=cells, collisions=world().collisions)
