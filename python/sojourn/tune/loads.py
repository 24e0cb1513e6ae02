"""The traffic that a setting is tuned under."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.errors import ParamError
from sojourn.scenario import Direction, Flow, Scenario, Tcp
from sojourn.tune.link import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A named traffic.

    Attributes
    ----------
    name
        What one types.
    says
        What it is.
    directions
        Which directions have the discipline under test; the first sets ranges, buffer and lengths.
    metrics
        What can be measured under it.
    congestion_control
        Of its flows, unless another is asked for.
    build
        Makes the scenario, without its discipline, from the link and the congestion control.
    """

    name: str
    says: str
    directions: tuple[Direction, ...]
    metrics: tuple[str, ...]
    congestion_control: str
    build: Callable[[Link, str], Scenario]

    def scenario(self, link: Link, *, qdisc: str, rtt_ms: float, seed: int, cc: str | None = None) -> Scenario:
        """Return the scenario of a setting at an RTT.

        Parameters
        ----------
        link
            The link.
        qdisc
            The discipline under test, as `tc` reads it.
        rtt_ms
            Base RTT.
        seed
            Of the run.
        cc
            Congestion control of all flows; `None` is the load's own.
        """
        given = dataclasses.replace(
            self.build(link, cc or self.congestion_control),
            experiment=f"tune-{self.name}",
            duration=f"{round(link.duration_s * 1e3)}ms",
            sample_interval=f"{round(link.duration_s * 1e3)}ms",
            lead="0s",
            up=link.up,
            down=link.down,
            rtt=f"{round(rtt_ms * 1e3)}us",
            seed=seed,
        )
        fields = {f"qdisc_{direction}": qdisc for direction in self.directions}
        return dataclasses.replace(given, **fields)  # type: ignore[arg-type]


def named(name: str) -> Load:
    """Return a load.

    Raises
    ------
    ParamError
        If there is none of that name.
    """
    if name not in LOADS:
        message = f"load is {name!r}, but must be one of {', '.join(LOADS)}"
        raise ParamError(message)
    return LOADS[name]


def _return_path() -> str:
    """Return the discipline of a direction that is not under test: the rural study's 25 packets."""
    return "pfifo limit 25"


def _bulk(_link: Link, cc: str) -> Scenario:
    flows = tuple(Flow(name=f"bulk_{number}", direction="up", congestion_control=cc) for number in (1, 2))
    return Scenario(experiment="tune", flows=flows, qdisc_down=_return_path(), start_jitter="1s")


_EVERY_QUEUE = ("utilisation", "delay", "delay_p95", "loss")

LOADS: dict[str, Load] = {
    load.name: load
    for load in (
        Load(
            name="bulk",
            says="two TCP transfers up for the whole run",
            directions=("up",),
            metrics=_EVERY_QUEUE,
            congestion_control="cubic",
            build=_bulk,
        ),
    )
}
#: The load where none is named.
DEFAULT = "bulk"
