"""The options every experiment shares: the link, the disciplines, the window and the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn.errors import ParamError
from sojourn.scenario import DEFAULT_DURATION, Direction, Flow, Probe, Scenario, Web

#: What a built-in experiment uses where nothing is said.
DEFAULTS: dict[str, Any] = {
    "duration": DEFAULT_DURATION,
    "up": "10mbit",
    "down": "10mbit",
    "rtt": "50ms",
    "qdisc_up": "fq_codel",
    "qdisc_down": "fq_codel",
    "seed": 1,
}
DEFAULT_CC = "cubic"

#: Who takes the options of the Wi-Fi experiments.
_WIFI = {
    "scheme": "the experiments wifi_tcp, wifi_udp, wifi_voip and wifi_dense take",
    "stations": "the experiment wifi_dense takes",
    "protocol": "the experiment wifi_dense takes",
    "dscp": "the experiment wifi_voip takes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for; `None` leaves the experiment's default.

    Attributes
    ----------
    up, down
        Rate text (default `"10mbit"`).
    rtt
        Time text (default `"50ms"`).
    qdisc_up, qdisc_down
        Discipline of each direction (default `"fq_codel"`).
    cc
        Congestion control of all flows and web clients (default `"cubic"`).
    duration
        Time text (default `"60s"`).
    seed
        Default 1.
    flows_up, flows_down
        Number of flows, for `bulk` only.
    page
        Name of the page, for the web experiments only (default `"google"`).
    spare_acks
        Whether the bottleneck never drops pure acknowledgements.
    load
        `"low"` or `"high"`, for `rural` only (default `"low"`).
    traffic
        `"ns2"` or `"emulation"`, for `rural` only (default `"ns2"`).
    scheme
        How the access point queues, for the Wi-Fi experiments only (default `"airtime"`).
    stations
        Number of stations, for `wifi_dense` only (default 10).
    protocol
        `"tcp"` or `"udp"`, for `wifi_dense` only (default `"tcp"`).
    dscp
        Code point of the voice stream, for `wifi_voip` only (default `"CS0"`).
    """

    up: str | None = None
    down: str | None = None
    rtt: str | None = None
    qdisc_up: str | None = None
    qdisc_down: str | None = None
    cc: str | None = None
    duration: str | None = None
    seed: int | None = None
    flows_up: int | None = None
    flows_down: int | None = None
    page: str | None = None
    spare_acks: bool | None = None
    load: str | None = None
    traffic: str | None = None
    scheme: str | None = None
    stations: int | None = None
    protocol: str | None = None
    dscp: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the scenario fields that were asked for."""
        names = ("up", "down", "rtt", "qdisc_up", "qdisc_down", "duration", "seed", "spare_acks")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def refuse_foreign(
        self,
        experiment: str,
        *,
        flow_counts: bool = False,
        page: bool = False,
        load: bool = False,
        wifi: tuple[str, ...] = (),
    ) -> None:
        """Raise `ParamError` if an option was given that this experiment does not take."""
        for field, value in (("flows-up", self.flows_up), ("flows-down", self.flows_down)):
            if value is not None and not flow_counts:
                message = f"{field} is {value}, but only the experiment bulk takes it; {experiment} has fixed flows"
                raise ParamError(message)
        if self.page is not None and not page:
            message = (
                f"page is {self.page!r}, but only the experiments web, web_rrul and web_idle take it; "
                f"{experiment} has no page to choose"
            )
            raise ParamError(message)
        for field, word in (("load", self.load), ("traffic", self.traffic)):
            if word is not None and not load:
                message = f"{field} is {word!r}, but only the experiment rural takes it; {experiment} has fixed flows"
                raise ParamError(message)
        for field, takers in _WIFI.items():
            if (given := getattr(self, field)) is not None and field not in wifi:
                message = f"{field} is {given!r}, but only {takers} it; {experiment} has no such choice"
                raise ParamError(message)


def scenario(
    experiment: str,
    options: Options,
    *,
    flows_up: int,
    flows_down: int,
    probes: tuple[Probe, ...],
    web: tuple[Web, ...] = (),
) -> Scenario:
    """Return the scenario of so many flows each way, with the options laid over the defaults."""
    return Scenario(
        experiment=experiment,
        flows=_flows("up", flows_up, options.cc) + _flows("down", flows_down, options.cc),
        probes=probes,
        web=web,
        **{**DEFAULTS, **options.given()},
    )


def ping() -> Probe:
    """Return the ICMP echo of Flent's tests: 98 bytes on the wire each 200 ms."""
    return Probe(name="ping", kind="icmp", interval="200ms", size=98)


def _flows(direction: Direction, count: int, cc: str | None) -> tuple[Flow, ...]:
    return tuple(
        Flow(name=f"tcp_{direction}_{number}", direction=direction, congestion_control=cc or DEFAULT_CC)
        for number in range(1, count + 1)
    )
