"""The traffic that a setting is tuned under. One direction has the discipline under test."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.errors import refused
from sojourn.scenario import Direction, Download, Flow, Scenario, Tcp
from sojourn.tune.link import FILE_BYTES, FILE_GAP_S, Link

#: Makes the traffic in the direction under test, with a congestion control.
Build = Callable[[Direction, str], Scenario]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A named traffic."""

    #: What one types.
    name: str
    #: What it is.
    says: str
    #: What can be measured under it.
    metrics: tuple[str, ...]
    #: Of its flows, unless another is asked for.
    congestion_control: str
    #: Makes it.
    build: Build
    #: Discipline of the direction that is not under test.
    other: str = "pfifo limit 1000"

    def scenario(
        self, link: Link, direction: Direction, *, qdisc: str, rtt_ms: float, seed: int, cc: str | None = None
    ) -> Scenario:
        """Return the scenario of a setting at an RTT.

        - `link`, `direction`: the link, and which of its directions has the discipline under test.
        - `qdisc`: that discipline, as `tc` reads it.
        - `rtt_ms`: base RTT.
        - `seed`: of the run.
        - `cc`: congestion control of all flows; `None` is the load's own.
        """
        length = f"{round(link.duration_s * 1e3)}ms"
        scenario = dataclasses.replace(
            self.build(direction, cc or self.congestion_control),
            duration=length,
            sample_interval=length,
            lead="0s",
            up=link.up,
            down=link.down,
            rtt=f"{round(rtt_ms * 1e3)}us",
            seed=seed,
        )
        if direction == "up":
            return dataclasses.replace(scenario, qdisc_up=qdisc, qdisc_down=self.other)
        return dataclasses.replace(scenario, qdisc_down=qdisc, qdisc_up=self.other)


def named(name: str) -> Load:
    """Return a load; raises `ParamError` if there is none of that name."""
    if name not in LOADS:
        raise refused(name, "load", f"must be one of {', '.join(LOADS)}")
    return LOADS[name]


def _bulk(number: int, way: Direction, cc: str, name: str = "bulk") -> tuple[Flow, ...]:
    return tuple(Flow(name=f"{name}_{count}", direction=way, congestion_control=cc) for count in range(1, number + 1))


def _thin(number: int, way: Direction, cc: str) -> tuple[Flow, ...]:
    """Return thin streams as in seed 001: 150 bytes each 300 ms."""
    return tuple(
        Flow(name=f"thin_{count}", direction=way, congestion_control=cc, write="150b", write_interval="300ms")
        for count in range(1, number + 1)
    )


def _files(number: int, way: Direction, cc: str) -> tuple[Download, ...]:
    """Return repeated downloads as in seed 001: 1.7 MB, idle times of 9.5 s on average."""
    return tuple(
        Download(
            name=f"file_{count}",
            direction=way,
            bytes=FILE_BYTES,
            gap=f"{round(FILE_GAP_S * 1e3)}ms",
            congestion_control=cc,
        )
        for count in range(1, number + 1)
    )


def _only_bulk(way: Direction, cc: str) -> Scenario:
    return Scenario(experiment="tune-bulk", flows=_bulk(2, way, cc), start_jitter="1s")


def _rural(number: int, name: str) -> Build:
    def build(way: Direction, cc: str) -> Scenario:
        return Scenario(
            experiment=f"tune-{name}",
            flows=_bulk(number, way, cc) + _thin(number, way, cc),
            downloads=_files(number, way, cc),
            tcp=Tcp(initial_window=3),
            start_jitter="1s",
        )

    return build


def _home(way: Direction, cc: str) -> Scenario:
    back: Direction = "down" if way == "up" else "up"
    return Scenario(
        experiment="tune-home",
        flows=_bulk(2, way, cc) + _bulk(2, back, cc, "back") + _thin(1, way, cc),
        downloads=_files(1, way, cc),
        start_jitter="1s",
    )


_QUEUE = ("utilisation", "delay", "delay_p95", "loss")
_ALL = ("utilisation", "delay", "delay_p95", "fct", "loss", "thin_delay")

LOADS: dict[str, Load] = {
    load.name: load
    for load in (
        Load(
            name="rural-low",
            says="the rural study's low load: a bulk transfer, repeated downloads of 1.7 MB, and a thin stream of "
            "150 bytes each 300 ms, with Reno and an initial window of 3; nothing against them",
            metrics=_ALL,
            congestion_control="reno",
            build=_rural(1, "rural-low"),
        ),
        Load(
            name="rural-high",
            says="its high load: two of each",
            metrics=_ALL,
            congestion_control="reno",
            build=_rural(2, "rural-high"),
        ),
        Load(
            name="home",
            says="two bulk transfers each way, and in the direction under test repeated downloads and a thin stream, "
            "with CUBIC; the other direction has fq_codel",
            metrics=_ALL,
            congestion_control="cubic",
            build=_home,
            other="fq_codel",
        ),
        Load(
            name="bulk",
            says="two bulk transfers with CUBIC; nothing against them",
            metrics=_QUEUE,
            congestion_control="cubic",
            build=_only_bulk,
        ),
    )
}
#: The load where none is named.
DEFAULT = "rural-low"
