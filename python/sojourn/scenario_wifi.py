"""The cell of a scenario: an access point and its stations, key `wifi`.

As in `sojourn.scenario`, every field carries its unit in its text, `None` leaves the default of the compiled part, and
the compiled part is the one validator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How an access category contends.

    Attributes
    ----------
    aifsn
        Slots after SIFS before it counts down.
    cw_min, cw_max
        Contention window (slots).
    txop
        Time text: how long it may send once it has won; `"0s"` is one frame exchange.
    """

    aifsn: int | None = None
    cw_min: int | None = None
    cw_max: int | None = None
    txop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The access categories of a node: background, best effort, video and voice."""

    bk: Access | None = None
    be: Access | None = None
    vi: Access | None = None
    vo: Access | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edca:
    """How the access point and the stations contend; the defaults are those of 802.11 and of hostapd."""

    ap: Categories | None = None
    station: Categories | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A station.

    Attributes
    ----------
    name
        Unique; flows, probes, web clients and downloads name it as their `station`.
    rate
        What the access point sends to it at, such as `"ht mcs 15 20mhz sgi"`, `"vht mcs 9 nss 2 80mhz sgi"` or
        `"ofdm 54mbit"`.
    rate_up
        What it sends at (default: the same).
    error, error_up
        Probability that a frame within an aggregate is lost (default 0, and as `error`).
    weight
        Of its airtime, 256 is one (default); only with the scheme `"airtime"`.
    scheme, qdisc, driver_frames
        Of what it sends: the scheme (default `"fifo"`), the discipline above its driver, and how many frames the
        driver holds of each access category (default 256).
    aggregate_frames
        Frames in an aggregate that it sends at most (default: as all nodes); 1 for a driver that sends none.
    group
        Of `Wifi.groups` (default: none, it is one of its own).
    min_rate
        Rate text: of delivered packets, for which its weight is raised while it has data queued.
    """

    name: str
    rate: str
    rate_up: str | None = None
    error: float | None = None
    error_up: float | None = None
    weight: int | None = None
    scheme: str | None = None
    qdisc: str | None = None
    driver_frames: int | None = None
    aggregate_frames: int | None = None
    group: str | None = None
    min_rate: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Stations that are scheduled together.

    Attributes
    ----------
    name
        Unique; stations name it as their `group`.
    weight
        Of the airtime of all its stations together, 256 is one (default).
    cap
        Share of all time that their frames may take, above 0 and up to 1 (default: no cap).
    """

    name: str
    weight: int | None = None
    cap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wifi:
    """A cell, which takes the place of the links between the clients and the first router.

    Attributes
    ----------
    stations
        At least one.
    scheme
        How the access point queues: `"airtime"` (default), `"fq_mac"`, `"fq_codel"` or `"fifo"`.
    variant
        Of all nodes that queue in the MAC: whose scheduler and airtime queue limits, `"paper"` (default) or
        `"linux-6.12"`.
    qdisc
        Of the access point, above the driver; only with the schemes `"fifo"` (default `pfifo_fast limit 1000`, with
        the variant `paper` that of `linux-3.14`) and `"fq_codel"`.
    band
        `"5ghz"` (default) or `"2.4ghz"`.
    driver_frames, hardware_queue
        Of the access point: frames that the driver holds of each access category below a discipline (default 123), and
        aggregates that wait in the hardware (default 2).
    aggregate_frames, aggregate_time, retries
        Of all nodes: frames (unless a station has its own) and time of an aggregate at most (default 32, 4 ms),
        transmissions of a frame at most (10).
    queues, limit, memory, quantum
        Of the flow queues inside the MAC: how many (4096), packets (8192) and memory (16 MB) of all, bytes of a turn.
    airtime_quantum, airtime_tx, airtime_rx
        Of the airtime scheduler: time of a turn (300 us; with `linux-6.12` left out, a turn is the weight in us), and
        whether sending and receiving are charged.
    codel_target, codel_interval, ecn, slow_station_codel
        Of CoDel inside the MAC (20 ms, 100 ms, yes), and whether slow stations have 50 ms and 300 ms.
    edca
        How nodes contend.
    rate_control
        `"fixed"` (default) or `"simple"`.
    aql, aql_high, aql_total
        Of the access point, as what follows: airtime of built aggregates that may be pending for each station and
        access category (default: no limit), and that of one (12 ms) while all together have less than so much (24 ms).
    defer, build_time
        How long before the expected end of what is on the air the next aggregate is built (default: ahead, as
        `hardware_queue` says), and how long building takes (0).
    retry_time, retry_sojourn
        Time after its first transmission, and after its arrival, at which a frame that failed is given up.
    dense_stations, dense_aggregate_time
        While so many stations have data queued, the longest aggregate.
    groups
        Stations that are scheduled together; these and what follows only with the scheme `"airtime"`.
    scheduler, accounting_delay
        `"deficit"` (default) or `"credit"`, and how late airtime is charged (0).
    vo_in_aggregate, vo_in_aggregate_max, vo_in_aggregate_hold
        Whether voice frames go at the head of the station's other aggregates, how many at most (8), and how many wait
        for one (0).
    demote
        Waiting time from which a voice or video flow goes on as best effort.
    qos
        `"priority"` (default) or `"fairness"`: which is chosen first, the access category or the station.
    """

    stations: tuple[Station, ...]
    scheme: str | None = None
    variant: str | None = None
    qdisc: str | None = None
    band: str | None = None
    driver_frames: int | None = None
    hardware_queue: int | None = None
    aggregate_frames: int | None = None
    aggregate_time: str | None = None
    retries: int | None = None
    queues: int | None = None
    limit: int | None = None
    memory: str | None = None
    quantum: int | None = None
    airtime_quantum: str | None = None
    airtime_tx: bool | None = None
    airtime_rx: bool | None = None
    codel_target: str | None = None
    codel_interval: str | None = None
    ecn: bool | None = None
    slow_station_codel: bool | None = None
    edca: Edca | None = None
    rate_control: str | None = None
    aql: str | None = None
    aql_high: str | None = None
    aql_total: str | None = None
    defer: str | None = None
    build_time: str | None = None
    retry_time: str | None = None
    retry_sojourn: str | None = None
    dense_stations: int | None = None
    dense_aggregate_time: str | None = None
    groups: tuple[Group, ...] | None = None
    scheduler: str | None = None
    accounting_delay: str | None = None
    vo_in_aggregate: bool | None = None
    vo_in_aggregate_max: int | None = None
    vo_in_aggregate_hold: int | None = None
    demote: str | None = None
    qos: str | None = None


def from_plain(plain: dict[str, Any]) -> Wifi:
    """Return the cell that plain values, as JSON has them, stand for; the compiled part has checked them."""
    edca, groups = plain.get("edca"), plain.get("groups")
    return Wifi(
        **{key: plain[key] for key in plain.keys() - {"stations", "edca", "groups"}},
        groups=None if groups is None else tuple(Group(**group) for group in groups),
        stations=tuple(Station(**station) for station in plain["stations"]),
        edca=None if edca is None else Edca(**{node: _categories(found) for node, found in edca.items()}),
    )


def _categories(plain: dict[str, Any]) -> Categories:
    return Categories(**{name: Access(**found) for name, found in plain.items()})
