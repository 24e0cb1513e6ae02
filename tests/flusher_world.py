"""The thesis's picture of the queue flusher in round numbers: runs that bear its claims out, or contradict one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from sojourn.papers.flusher.evidence import (
    CAPACITY_MBIT,
    CODEL,
    CUBIC,
    DESCRIBED,
    FIFO,
    FLOOR_MS,
    FOUR,
    FQ_CODEL,
    ONE,
    PAIR,
    PIE,
    RANKS,
    RENO,
    SLOT_MS,
    THRESHOLDS,
    TIMED,
    Cell,
    Course,
    Evidence,
    Observation,
)
from sojourn.papers.flusher.plan import THE_OTHER, cells

REPEATS = 4
#: What the flusher gains of the mean RTT with 100 packets (ms), and loses of the throughput (per cent), by base RTT and
#: threshold with Reno; CUBIC gains so much more.
GAINS = {10: (112.0, 112.0, 112.0), 50: (105.0, 102.0, 95.0), 100: (97.0, 93.0, 80.0)}
CUBIC_MORE = {10: 1.0, 50: 2.0, 100: -5.0}
LOSSES = {10: (9.0, 9.0, 9.0), 50: (8.0, 7.0, 5.0), 100: (5.0, 2.5, 2.2)}
#: Throughput and mean queue of the AQMs by base RTT.
AQM_MBIT = {
    CODEL: {10: 4.75, 50: 4.6, 100: 4.48},
    PIE: {10: 4.76, 50: 4.7, 100: 4.55},
    "codel 2.5 %": {100: 4.4},
    "codel 10 %": {100: 4.6},
}
AQM_MS = {CODEL: 8.0, PIE: 20.0}
#: A tenth of a second each: the goodput and the round trip from 1 s before a flush to 3 s after it.
AFTER = (
    np.array([4.7] * 12 + [2.0] + [4.6] * 27),
    np.array([150.0] * 10 + [200.0] * 5 + [80.0] * 25),
)


def course(**columns: float) -> Course:
    """Return a minute in which a queue stands on a full link, each column a constant but for those given."""
    t = np.arange(600) / 10
    usual = {name: 1.0 for name in Course.__dataclass_fields__ if name != "t"}
    usual |= {"goodput": CAPACITY_MBIT, "backlog": 50.0, "flusher_mbit": 5.5, **columns}
    return Course(t=t, **{name: np.full(t.size, value) for name, value in usual.items()})


COURSE = course()


def observation(seed: int, **values: Any) -> Observation:
    """Return a run with these values; times, rates and numbers differ a little from seed to seed."""
    near = 1 + 1e-4 * seed
    plain: dict[str, Any] = {
        "std": 40.0,
        "flow_mbit": (1.2,),
        "per_second": np.array([4.0] * 5 + [4.7] * 4 + [4.78]),
        "forced": (),
        "packets": 100,
        "at_flush": (),
        "reaction_ms": (),
        "near_flush": None,
        "flushes": (),
        "drop_rise": 1.1,
        "after": None,
        "together": None,
        "course": COURSE,
        **values,
    }
    noisy: dict[str, Any] = {name: one * near if isinstance(one, float) else one for name, one in plain.items()}
    return Observation(seed=seed, **noisy)


def loss(cell: Cell) -> float:
    """Return what a flusher before a FIFO costs, per cent."""
    if cell.variant == "threshold 1.05":
        return 40.0
    if cell.variant == "one sample":
        return 50.0
    if cell.buffer == 10:
        return 0.0
    rank = THRESHOLDS.index(cell.threshold) if cell.threshold in THRESHOLDS else 1
    more = 0.2 if cell.tcp == CUBIC and cell.base == 50 else 0.0
    return (LOSSES[cell.base][rank] + more) * min(1.0, cell.buffer / 60)


def gain(cell: Cell) -> float:
    """Return what a flusher before a FIFO gains of the mean RTT, ms."""
    if cell.variant == "threshold 5":
        return 20.0
    rank = THRESHOLDS.index(cell.threshold) if cell.threshold in THRESHOLDS else 1
    found = GAINS[cell.base][rank] + (CUBIC_MORE[cell.base] if cell.tcp == CUBIC else 0.0)
    return (found + (5.0 if cell.variant == "10 packets" else 0.0)) * cell.buffer / 100


def flushed(cell: Cell, least: float) -> dict[str, Any]:
    """Return what a run with an active flusher before a FIFO has besides."""
    number = {10: 40, 50: 30, 100: 20}[cell.base]
    if cell.variant in ("one sample", "10 packets"):
        number *= 2
    if cell.tcp == CUBIC and cell.threshold == 2.0:
        number -= 10
    trigger = (max(cell.threshold * least, FLOOR_MS) - least) / SLOT_MS
    most = 8 if cell.variant == "10 packets" else 25
    return {
        "flushes": tuple(float(i) for i in range(number if cell.buffer > 30 else 0)),
        "forced": (30.0, 60.0, 90.0) if cell.variant == "no threshold" else (),
        "at_flush": tuple(trigger + grown for grown in range(1, most)),
        "reaction_ms": (2.0 * cell.base, 2.0 * cell.base),
        "near_flush": 0.9,
        "after": AFTER,
        "peaks": 20,
    }


def picture(cell: Cell) -> dict[str, Any]:
    """Return the values of a cell as the thesis has them."""
    cubic, active = cell.tcp == CUBIC, cell.active and cell.queue == FIFO
    least, most = cell.base + 1.0, cell.base + 2.4 * min(cell.buffer, 100)
    full = 2.4 * cell.buffer
    # Passive, the queue grows steadily, with CUBIC a little sooner; flushed, it is short seven times of eight.
    standing = cell.base + 20 + (full - 20) * RANKS ** (1.0 if cubic else 1.05)
    short = cell.base + (22.5 if cubic and cell.base == 10 else 23.0)
    values: dict[str, Any] = {
        "rtt": np.minimum(standing, most),
        "mean": cell.base + 0.8 * full,
        "least": least,
        "most": most,
        "mbit": 4.7,
        "cwnd": 111.5 if cubic else 110.0,
        "halvings": (50 if cubic else 40) - cell.buffer // 5,
        "peaks": 10,
        "flusher_rtt": 0.8 * standing,
        "sender_rtt": 0.8 * standing,
        "spikes": {10: 9.0, 50: 5.0, 100: 2.0}[cell.base],
        "flusher_most": most + 20,
    }
    if cell.queue in AQM_MBIT or cell.queue == FQ_CODEL:
        like = CODEL if cell.queue == FQ_CODEL else cell.queue
        values |= {"mbit": AQM_MBIT[like][cell.base], "mean": cell.base + AQM_MS.get(like, 5.0), "std": 5.0}
        values |= {"rtt": np.full(RANKS.size, cell.base + 22.0), "halvings": 60}
        values["per_second"] = np.full(60, values["mbit"])
    if active:
        values["mean"] -= gain(cell)
        values["mbit"] *= 1 - loss(cell) / 100
        values["rtt"] = np.where(RANKS < 0.88, short, 0.97 * most)
        values["halvings"] = 10
        values |= flushed(cell, least)
    if cell.scene == FOUR:
        values["together"] = 0.5 if cell.queue == FIFO else 0.1
    if cell.scene == PAIR:
        values["flow_mbit"] = (3.0, 1.0)
    return values


#: Claims that contradict others of the thesis, and what bears them out.
APART: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # With a threshold of 2 CUBIC gains more at 100 ms, where Reno does with any (flu-19).
    "flu-29": ({"tcp": RENO, "base": 100, "active": True}, {"mean": 280.0}),
    # Reno gains more at 50 ms, where CUBIC does at least as much (flu-14).
    "flu-52": ({"tcp": RENO, "base": 50, "active": True}, {"mean": 130.0}),
}

#: Cells of a flusher that sends before a FIFO, with the recommended threshold and 100 packets, and of one that looks.
SENT: dict[str, Any] = {"active": True, "queue": FIFO, "threshold": 1.7, "variant": "", "scene": ONE, "buffer": 100}
IDLE: dict[str, Any] = {"active": False, "queue": FIFO, "variant": "", "scene": ONE, "buffer": 100}
FLAT = np.full(RANKS.size, 60.0)
#: For each claim that runs can contradict: in which cells, and what they then have.
CONTRARY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flu-01": (SENT | {"base": 50}, {"mbit": 4.0}),
    "flu-02": (SENT | {"base": 50, "buffer": 70}, {"mean": 400.0}),
    "flu-03": (SENT | {"base": 50, "buffer": 30}, {"most": 200.0}),
    "flu-04": (SENT | {"base": 50}, {"near_flush": 0.5}),
    "flu-05": (IDLE | {"tcp": RENO, "base": 50}, {"halvings": 40}),
    "flu-06": (IDLE | {"tcp": CUBIC, "base": 50}, {"cwnd": 150.0}),
    "flu-10": (IDLE | {"tcp": CUBIC, "base": 50}, {"cwnd": 120.0}),
    "flu-12": (IDLE | {"tcp": CUBIC, "base": 50, "buffer": 60}, {"rtt": FLAT}),
    "flu-13": (SENT | {"tcp": CUBIC, "base": 50, "buffer": 20}, {"least": 60.0}),
    "flu-14": (SENT | {"tcp": CUBIC, "base": 10}, {"mean": 150.0}),
    "flu-15": (SENT | {"tcp": RENO, "base": 100}, {"mean": 290.0}),
    "flu-16": (SENT | {"tcp": RENO, "base": 10}, {"mean": 150.0}),
    "flu-17": (SENT | {"tcp": CUBIC, "base": 50, "threshold": 1.5}, {"mean": 150.0}),
    "flu-18": (SENT | {"tcp": CUBIC, "base": 50, "threshold": 2.0}, {"mean": 50.0}),
    "flu-19": (SENT | {"tcp": RENO, "base": 100, "threshold": 2.0}, {"mean": 250.0}),
    "flu-20": (SENT | {"tcp": RENO, "base": 100, "threshold": 1.5}, {"mean": 120.0}),
    "flu-21": (SENT | {"tcp": RENO, "base": 100}, {"mean": 150.0}),
    "flu-22": (SENT | {"tcp": RENO, "base": 50}, {"mean": 100.0}),
    "flu-23": (SENT | {"tcp": RENO, "base": 50}, {"mean": 200.0}),
    "flu-24": (SENT | {"tcp": RENO, "base": 50}, {"rtt": np.where(RANKS < 0.3, 51.0, 290.0)}),
    "flu-25": (SENT | {"tcp": RENO, "base": 10, "threshold": 2.0}, {"mean": 60.0}),
    "flu-26": (SENT | {"tcp": CUBIC, "base": 10}, {"rtt": FLAT}),
    "flu-27": (SENT | {"tcp": RENO, "base": 50, "threshold": 2.0}, {"mean": 240.0}),
    "flu-28": (SENT | {"tcp": RENO, "base": 100, "threshold": 2.0}, {"mean": 100.0}),
    "flu-29": (SENT | {"tcp": RENO, "base": 50, "threshold": 2.0}, {"mean": 100.0}),
    "flu-30": (SENT | {"tcp": RENO, "base": 50, "buffer": 20}, {"flushes": (1.0, 2.0)}),
    "flu-31": (SENT | {"tcp": RENO, "base": 100}, {"at_flush": (80.0, 90.0)}),
    "flu-32": (SENT | {"tcp": RENO, "base": 100}, {"at_flush": (5.0, 10.0)}),
    "flu-33": ({"base": 100, "variant": "10 packets", "active": True}, {"at_flush": (50.0, 60.0)}),
    "flu-34": ({"base": 100, "variant": "10 packets", "active": True}, {"mean": 250.0}),
    "flu-35": (SENT | {"tcp": RENO, "base": 50, "buffer": 40}, {"per_second": np.full(60, 4.0)}),
    "flu-36": (SENT | {"tcp": RENO, "base": 50, "buffer": 10}, {"mbit": 4.5}),
    "flu-37": (SENT | {"tcp": RENO, "base": 50, "buffer": 70}, {"mbit": 4.0}),
    "flu-38": (SENT | {"tcp": RENO, "base": 50, "buffer": 90}, {"mbit": 4.0}),
    "flu-39": (SENT | {"tcp": CUBIC, "base": 50, "buffer": 30}, {"mbit": 4.0}),
    "flu-40": (SENT | {"tcp": RENO, "base": 100}, {"mbit": 4.0}),
    "flu-41": (SENT | {"tcp": RENO, "base": 10}, {"mbit": 4.0}),
    "flu-42": (SENT | {"tcp": RENO, "base": 100, "threshold": 2.0}, {"mbit": 4.0}),
    "flu-43": (SENT | {"tcp": CUBIC, "base": 50}, {"mbit": 4.6}),
    "flu-44": (SENT | {"tcp": CUBIC, "base": 50, "threshold": 1.5}, {"mbit": 4.6}),
    "flu-45": (SENT | {"tcp": CUBIC, "base": 100}, {"mean": 210.0}),
    "flu-46": (SENT | {"tcp": RENO, "base": 100, "threshold": 2.0}, {"mbit": 4.8}),
    "flu-48": (SENT | {"base": 50}, {"after": (np.array([4.7] * 12 + [2.0] * 8 + [4.6] * 20), AFTER[1])}),
    "flu-49": (IDLE | {"base": 100}, {"course": course(goodput=4.0)}),
    "flu-50": (SENT | {"tcp": RENO, "base": 10}, {"mean": 15.0}),
    "flu-51": (SENT | {"base": 10}, {"rtt": FLAT}),
    "flu-52": (SENT | {"tcp": RENO, "base": 100}, {"mean": 250.0}),
    "flu-53": (SENT | {"tcp": RENO, "base": 10}, {"mean": 60.0}),
    "flu-54": (SENT | {"base": 10}, {"rtt": np.where(RANKS < 0.7, 40.0, 200.0)}),
    "flu-55": (SENT | {"base": 10}, {"peaks": 5}),
    "flu-56": (SENT | {"tcp": RENO, "base": 100}, {"mean": 120.0}),
    "flu-57": ({"queue": FQ_CODEL, "base": 10, "active": False}, {"mean": 30.0}),
    "flu-58": ({"queue": PIE, "base": 10, "active": True}, {"flushes": (1.0, 2.0, 3.0)}),
    "flu-59": ({"queue": CODEL, "base": 10, "active": False}, {"drop_rise": 2.0}),
    "flu-60": (SENT | {"base": 100}, {"mbit": 4.8}),
    "flu-61": ({"queue": PIE, "base": 10, "tcp": CUBIC, "active": False}, {"mbit": 4.0}),
    "flu-62": ({"queue": CODEL, "base": 100, "active": False}, {"mbit": 4.7}),
    "flu-63": ({"queue": PIE, "base": 100, "active": False}, {"mbit": 4.4}),
    "flu-64": (SENT | {"tcp": RENO, "base": 50}, {"per_second": np.full(60, 4.7)}),
    "flu-65": (SENT | {"tcp": RENO, "base": 100}, {"mbit": 4.3}),
    "flu-66": (SENT | {"tcp": CUBIC, "base": 100}, {"mbit": 4.0}),
    "flu-67": (SENT | {"tcp": CUBIC, "base": 100}, {"mbit": 4.0}),
    "flu-68": (SENT | {"base": 50, "threshold": 1.5}, {"least": 30.0}),
    "flu-69": (IDLE | {"base": 10}, {"flusher_rtt": FLAT}),
    "flu-70": (SENT | {"base": 10}, {"sender_rtt": np.full(RANKS.size, 240.0)}),
    "flu-71": (IDLE | {"base": 100, "buffer": 50}, {"course": course(flusher_mbit=8.0)}),
    "flu-72": (SENT | {"base": 100, "buffer": 50}, {"spikes": 20.0}),
    "flu-73": (SENT | {"base": 100, "buffer": 50}, {"after": (AFTER[0], np.full(40, 150.0))}),
    "flu-75": (SENT | {"base": 100, "buffer": 50}, {"flusher_most": 100.0}),
    "flu-77": ({"scene": PAIR}, {"flow_mbit": (1.0, 3.0)}),
    "flu-78": ({"scene": FOUR, "queue": PIE}, {"together": 0.6}),
    "flu-79": ({"queue": "codel 10 %", "active": False}, {"mbit": 4.0}),
    "flu-81": ({"variant": THE_OTHER}, {"flushes": (1.0, 2.0)}),
    "flu-82": ({"variant": "no threshold"}, {"forced": (10.0, 20.0, 30.0)}),
    "flu-84": (SENT | {"base": 50}, {"reaction_ms": (10.0,)}),
    "flu-85": (SENT | {"base": 50}, {"rtt": np.full(RANKS.size, 100.0)}),
    "flu-86": (SENT | {"tcp": RENO, "base": 100}, {"mean": 250.0}),
    "flu-87": ({"variant": "threshold 5"}, {"mean": 100.0}),
    "flu-88": (SENT | {"tcp": CUBIC, "base": 50, "threshold": 2.0}, {"flushes": tuple(map(float, range(50)))}),
    "flu-89": ({"variant": TIMED}, {"mean": 300.0}),
    "flu-90": (SENT | {"tcp": RENO, "base": 100}, {"halvings": 70}),
    "flu-91": (IDLE | {"tcp": RENO, "base": 50, "buffer": 80}, {"halvings": 10}),
    "flu-92": ({"variant": "one sample"}, {"mbit": 4.69}),
    "flu-93": (SENT | {"base": 10}, {"rtt": np.full(RANKS.size, 20.0)}),
    "flu-94": ({"queue": PIE, "base": 50, "active": False}, {"std": 60.0}),
    "flu-95": ({"scene": FOUR, "tcp": CUBIC, "queue": FIFO}, {"mbit": 4.0}),
    "flu-96": (SENT | {"base": 10}, {"mbit": 4.8}),
}


#: Further contradictions, each of another rule of its claim.
FURTHER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flu-48, no dip": (SENT | {"base": 50}, {"after": (np.full(40, 4.7), AFTER[1])}),
    "flu-73, no rise": (
        SENT | {"base": 100, "buffer": 50},
        {"after": (AFTER[0], np.array([150.0] * 15 + [80.0] * 25))},
    ),
    "flu-73, no fall": (
        SENT | {"base": 100, "buffer": 50},
        {"after": (AFTER[0], np.array([150.0] * 10 + [200.0] * 30))},
    ),
}


def world(where: dict[str, Any] | None = None, changed: dict[str, Any] | None = None, *, also: str = "") -> Evidence:
    """Return made-up runs of every cell, with values changed in the cells whose fields are as said.

    A list of a field's values is for any of them. `also` is a claim of `APART`.
    """
    changes = [(where, changed)] if where is not None and changed is not None else []
    if also in APART:
        changes.insert(0, APART[also])
    found = dict(usual())
    for fields, values in changes:
        chosen = [cell for cell in found if _has(cell, fields)]
        assert chosen, fields
        for cell in chosen:
            found[cell] = tuple(observation(seed, **{**picture(cell), **values}) for seed in range(REPEATS))
    return Evidence(cells=found)


@functools.cache
def usual() -> dict[Cell, tuple[Observation, ...]]:
    """Return the runs as the thesis has them, of the reading that counts."""
    there = [cell for cell in cells() if cell.reading == DESCRIBED]
    return {cell: tuple(observation(seed, **picture(cell)) for seed in range(REPEATS)) for cell in there}


def _has(cell: Cell, fields: dict[str, Any]) -> bool:
    return all(getattr(cell, name) in (one if isinstance(one, list) else [one]) for name, one in fields.items())
