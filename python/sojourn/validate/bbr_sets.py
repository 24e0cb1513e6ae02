"""BBR as Google's own regression tests load it: four sets of cells, each with its parameters.

The source of the parameters is `run_tests.sh` of github.com/google/bbr (gtests/net/tcp/bbr/nsperf), whose queue is a
FIFO that counts packets. All flows go up.

| name            | what                                          | their link       | ours                     |
|-----------------|-----------------------------------------------|------------------|--------------------------|
| bbr-coexist     | one CUBIC flow, one BBR flow 2 s later;       | 50 Mbit/s, 30 ms | the same, 60 s for 180 s |
|                 | buffers of 0.1 to 16 BDP                      |                  |                          |
| bbr-loss        | one BBR flow, a buffer of a BDP; random loss  | 1 Gbit/s, 100 ms | 100 Mbit/s, 30 s for 60  |
|                 | of 0.00001 to 20 %                            |                  | s; from 0.001 % on       |
| bbr-shallow     | 1, 10, 30 BBR flows, each 139 ms later; a     | 1 Gbit/s, 100 ms | 100 Mbit/s, 30 s for 300 |
|                 | buffer of 0.02 BDP                            |                  | s                        |
| bbr-bufferbloat | two BBR flows, the second 2 s later; buffers  | 50 Mbit/s, 30 ms | the same, 60 s for 120 s |
|                 | of 1 to 100 BDP                               |                  |                          |

Deviation: 1 Gbit/s is a tenth here, and a run is shorter, because a kernel in virtual time forwards some 16,000 full
frames in a second of a core. Buffers are the same in BDP. `shallow` has no 60 and 100 flows: at a tenth of the rate
each would have a window of one segment. A loss of 0.00001 % would be none in such a run. `ecn_bulk` is about BBRv2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.experiments.options import ping
from sojourn.scenario import Flow, Scenario
from sojourn.validate.grid import PlannedCell

COEXIST = "bbr-coexist"
#: Both links, in kbit/s and ms.
_HOME, _LONG = (50_000, 30), (100_000, 100)
#: The downlink, which has acknowledgements alone.
_BACK = "1gbit"
_FRAME = 1514
#: Random loss, per cent.
LOSSES = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 3, 10, 15, 20)


def cells_of(name: str, *, seed: int, duration: str | None) -> tuple[PlannedCell, ...]:
    """Return the cells of a set; all are checked."""
    return tuple(_SETS[name](seed, duration))


def packets(kbit: int, rtt_ms: int, bdp: float) -> int:
    """Return a buffer in full frames, at least one: the whole part, as the tests count."""
    return max(int(kbit * rtt_ms / (8 * _FRAME) * bdp), 1)


def _cell(
    name: str, row: str, flows: tuple[Flow, ...], *, link: tuple[int, int], buffer: float, seed: int, **other: Any
) -> PlannedCell:
    kbit, rtt_ms = link
    scenario = Scenario(
        experiment=name,
        up=f"{kbit}kbit",
        down=_BACK,
        rtt=f"{rtt_ms}ms",
        qdisc_up=f"pfifo limit {packets(kbit, rtt_ms, buffer)}",
        qdisc_down="pfifo limit 1000",
        flows=flows,
        probes=(ping(),),
        seed=seed,
        **other,
    )
    scenario.normalized()
    return PlannedCell(name=f"{name} {row}", link=row, qdisc="pfifo", scenario=scenario)


def _flows(*controls: str, each_s: float) -> tuple[Flow, ...]:
    """Return flows of these controls, one after the other."""
    return tuple(
        Flow(
            name=f"{control}_{place}",
            direction="up",
            congestion_control=control,
            start=f"{round(1000 * each_s * (place - 1))}ms",
        )
        for place, control in enumerate(controls, 1)
    )


def _coexist(seed: int, duration: str | None) -> list[PlannedCell]:
    flows = _flows("cubic", "bbr", each_s=2)
    return [
        _cell(COEXIST, f"{bdp:g} BDP", flows, link=_HOME, buffer=bdp, seed=seed, duration=duration or "60s")
        for bdp in (0.1, 1, 2, 4, 8, 16)
    ]


def _loss(seed: int, duration: str | None) -> list[PlannedCell]:
    flows = _flows("bbr", each_s=0)
    return [
        _cell(
            "bbr-loss",
            f"{percent:g} %",
            flows,
            link=_LONG,
            buffer=1,
            seed=seed,
            duration=duration or "30s",
            loss_up=percent / 100,
        )
        for percent in LOSSES
    ]


def _shallow(seed: int, duration: str | None) -> list[PlannedCell]:
    return [
        _cell(
            "bbr-shallow",
            f"{count} flow{'s' if count > 1 else ''}",
            _flows(*("bbr",) * count, each_s=0.139),
            link=_LONG,
            buffer=0.02,
            seed=seed,
            duration=duration or "30s",
        )
        for count in (1, 10, 30)
    ]


def _bufferbloat(seed: int, duration: str | None) -> list[PlannedCell]:
    flows = _flows("bbr", "bbr", each_s=2)
    return [
        _cell("bbr-bufferbloat", f"{bdp:g} BDP", flows, link=_HOME, buffer=bdp, seed=seed, duration=duration or "60s")
        for bdp in (1, 10, 50, 100)
    ]


_SETS: dict[str, Callable[[int, str | None], list[PlannedCell]]] = {
    COEXIST: _coexist,
    "bbr-loss": _loss,
    "bbr-shallow": _shallow,
    "bbr-bufferbloat": _bufferbloat,
}
#: The names of the sets.
SETS = tuple(_SETS)
