"""Observations of runs made up from a few values: for each paper one maker, of a cell, a seed and the cell's values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn.papers.cake import evidence as cake
from sojourn.papers.flusher import evidence as flusher
from sojourn.papers.good_bad_wifi import section7, tables
from sojourn.papers.good_bad_wifi.evidence import Collision
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.papers.l4s_pam2025 import evidence as l4s
from sojourn.papers.wifi_stack import evidence as wifi_stack
from sojourn.store.cell import DisciplineRuns
from sojourn.store.comparison import Comparison
from sojourn.study.cell import Cell, Observation
from tests.synthetic import DEFAULTS, record

Values = Mapping[str, Any]
measured = l4s.measured


def scaled(value: Any, factor: float) -> Any:
    """Return a value with its floats times a factor, in tables and tuples as well; whole numbers are what they are."""
    if isinstance(value, Mapping):
        return {name: scaled(one, factor) for name, one in value.items()}
    if isinstance(value, tuple):
        return tuple(scaled(one, factor) for one in value)
    return value * factor if isinstance(value, float) else value


def of_good_bad_wifi(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return what is observed of a made-up record; the fairness test's `shares` are those of the upload."""
    fair = dict(values.get("fair") or {})
    if shares := fair.pop("shares", None):
        fair["goodputs"] = tuple(share * float(values["rates"][1].removesuffix("mbit")) for share in shares)
    return observe(record(seed, {**DEFAULTS, **values, "fair": fair or None}))


def comparison(study: Any) -> Comparison:
    """Return the RRUL runs with CUBIC, whole."""
    cells = [cell for cell in study.usual if (cell.experiment, cell.cc) == ("rrul", "cubic")]
    return Comparison(
        experiment="rrul",
        cells=tuple(
            DisciplineRuns(
                link=cell.link,
                qdisc=f"gbw:{cell.qdisc}",
                runs=tuple(record(seed, {**DEFAULTS, **study.values(cell)}) for seed in range(1, 7)),
            )
            for cell in cells
        ),
    )


def collision(study: Any, experiment: str, qdisc: str, **changed: Any) -> dict[tuple[str, str], Collision]:
    """Return a run at 10/1 in which a probe shares a queue."""
    cell, probe = study.cell(experiment, "10/1", qdisc), "ping" if experiment == "rrul" else "voip"
    run = study.make(cell, 77, study.changed(cell, [{"set": {"shared": [probe], **changed}}], study.values(cell)))
    return {(experiment, qdisc): Collision(run=run, probe=probe, flow="tcp_up_1", tried=77)}


def struck_voice(study: Any, **delays: float) -> dict[tuple[str, str], Collision]:
    """Return runs in which voice shares a queue and has this delay, by discipline."""
    return {
        key: run
        for qdisc, delay in delays.items()
        for key, run in collision(study, "voip_rrul", qdisc, voice={"delay": delay}).items()
    }


def capped_steps(steps: list[Any]) -> list[Any]:
    """Return steps of PIE that add no more than 0.02 to the probability."""
    return [dataclasses.replace(step, after=min(step.after, step.before + 0.02)) for step in steps]


OF_GOOD_BAD_WIFI = {
    "capped_steps": capped_steps,
    "collision": collision,
    "struck_voice": struck_voice,
    "stated_loss": tables.stated_loss,
    "TABLE_3": section7.TABLE_3,
}


def of_rural(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run whose noise differs by seed, not by cell."""
    return Observation(seed=seed, **scaled(values, 1 + 0.0005 * ((seed * 7) % 5 - 2)))


def of_l4s(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run of which the L4S side has a little more with each seed."""
    return Observation(seed=seed, **{**values, "l4s_mbit": values["l4s_mbit"] * (1 + 5e-4 * seed)})


def of_flusher(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run of a minute; a number in the place of a curve is a constant one."""
    near, ranks, t = 1 + 1e-4 * seed, flusher.RANKS.size, np.arange(600) / 10

    def curve(value: Any, size: int) -> Any:
        return np.full(size, value) if isinstance(value, float) else np.asarray(value)

    return Observation(
        seed=seed,
        **{name: value * near if isinstance(value, float) else value for name, value in values.items()}
        | {name: curve(values[name], ranks) for name in ("rtt", "flusher_rtt", "sender_rtt")}
        | {"per_second": curve(values["per_second"], 60)}
        | {"after": tuple(curve(one, 40) for one in values["after"].values()) if values["after"] else None}
        | {"course": flusher.Course(t=t, **{name: curve(one, t.size) for name, one in values["course"].items()})},
    )


def of_wifi_stack(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run of 10 s; `station` is what each of its stations has, `ping` the medians of the pings."""
    near = scaled(values, 1 + 0.002 * (seed % 3))
    spread = (1 + values["spread"] * np.linspace(-0.5, 0.5, 101)) * (1 + 0.001 * seed)
    return Observation(
        seed=seed,
        duration_s=10.0,
        stations={
            name: wifi_stack.StationObservation(**near["station"] | one) for name, one in near["stations"].items()
        },
        goodput=near["goodput"],
        loss=near["loss"],
        ping_ms={name: median * spread for name, median in values["ping"].items()},
        voices={
            name: wifi_stack.VoiceObservation(**{"delay_ms": 10.0, "lost": 0, "sent": 500, "mos": None} | one)
            for name, one in near["voices"].items()
        },
        collisions=0,
        transmissions=1000,
    )


def of_next_steps(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run with these numbers."""
    return Observation(seed=seed, numbers=scaled(values, 1 + 1e-4 * seed))


def of_cake(_cell: Cell, seed: int, values: Values) -> Observation:
    """Return a run, each with a little more goodput and latency than the one before.

    A number in the place of a direction's flows is shared by four, and four numbers are those of the marked flows.
    """
    near = scaled(values, 1 + 1e-4 * seed)

    def flows(way: str) -> dict[str, float]:
        mbit = near.get(way, {})
        if isinstance(mbit, dict):
            return mbit
        each = dict(zip(cake.MARKS, mbit, strict=True)) if isinstance(mbit, tuple) else dict.fromkeys("1234", mbit / 4)
        return {f"tcp_{way}_{name}": one for name, one in each.items()}

    return Observation(
        seed=seed,
        up=flows("up"),
        down=flows("down"),
        echoes={name: cake.Echo(mean_ms=ms, p95_ms=near.get("late", 2 * ms)) for name, ms in near["echoes"].items()},
        voice_ms=near.get("voice_ms"),
        voice_loss=values.get("voice_loss"),
    )
