"""A scenario: everything that is needed to do a run again, as frozen values.

The fields are those of the scenario that the compiled part reads, so each carries its unit in its text, in the
spelling of `tc`: `"10mbit"`, `"50ms"`, `"3028b"`. Nothing is checked here: the compiled part is the one
validator, and `Scenario.normalized` or a run raises `ParamError` with one sentence.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from sojourn import _native, bounded, scenario_flusher
from sojourn.bounds import check_integers
from sojourn.errors import ParamError
from sojourn.scenario_flusher import Flusher
from sojourn.scenario_wifi import Wifi, from_plain

Direction = Literal["up", "down"]

#: Fields of a scenario that are values of their own.
_NESTED = {"tcp", "flows", "probes", "web", "downloads", "wifi", "flusher"}

#: The measured window where none is given.
DEFAULT_DURATION = "60s"


def _given(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that were given, as plain values (`None` means: the default)."""
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if item is None:
            continue
        if dataclasses.is_dataclass(item):
            item = _given(item)
        elif isinstance(item, tuple):
            item = [_given(part) if dataclasses.is_dataclass(part) else part for part in item]
        plain[field.name] = item
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """What all TCP flows of a run share; `None` leaves the default of the compiled part.

    Attributes
    ----------
    variant
        `"linux-6.1"` (default), `"linux-6.12"` (the same, but segments take more memory, so that small queues hold
        fewer) or `"linux-3.14"`: whose loss recovery and acknowledgement policy.
    initial_window
        Segments (default 10).
    receive_window
        Size text: the largest window (default `"3145728b"`, half of Linux's `tcp_rmem` maximum).
    receive_buffer
        `"auto"` (default): the window grows with what is read, as where nobody sets a buffer. `"locked"`: it is whole
        after some hundred segments at most, as with a buffer of twice `receive_window` that its application has set and
        with room beside it; on the kernel in cells alone, whose hosts have theirs always locked.
    ecn
        Whether flows negotiate ECN (default no, as in the papers).
    hystart
        Whether slow start ends on rising delay (default yes).
    mss
        Bytes of payload in a segment (default 1448).
    delayed_ack
        Whether the receiver delays acknowledgements (default yes).
    min_rto
        Time text: the shortest retransmission timeout (default Linux's 200 ms).
    save_metrics
        Whether hosts remember of each other, from one connection to the next, slow-start threshold, RTT and reordering
        (default no).
    """

    variant: str | None = None
    initial_window: int | None = None
    receive_window: str | None = None
    receive_buffer: str | None = None
    ecn: bool | None = None
    hystart: bool | None = None
    mss: int | None = None
    delayed_ack: bool | None = None
    min_rto: str | None = None
    save_metrics: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One TCP flow, or a UDP flood.

    Attributes
    ----------
    name
        Unique within the scenario.
    direction
        `"up"` (client to server) or `"down"`.
    kind
        `"tcp"`; `None` with the protocol `"udp"`.
    protocol
        `"tcp"` (default), or `"udp"`: datagrams of 1472 bytes of payload at a constant `rate`.
    congestion_control
        As `sojourn list` names them.
    rtt
        Base round-trip time of this flow (time text; default: the path's).
    start
        Time text, relative to the start of the measured window.
    bytes
        Stop after so many bytes of payload; `None` runs to the end.
    rate
        Rate text: the application writes no faster than this; `None` is as fast as TCP allows. UDP needs one.
    write, write_interval
        Size and time text: the application writes so much at each interval, from the start on, and each write leaves
        at once (a thin stream). Both or neither, and not with `rate`.
    station, dscp
        In a cell: at which station (default: the first), and the code point of both directions' packets, a number or
        a name such as `"EF"` (default 0), whose upper three bits are the traffic identifier.
    """

    name: str
    direction: Direction
    kind: str | None = "tcp"
    protocol: str | None = None
    congestion_control: str | None = None
    rtt: str | None = None
    start: str | None = None
    bytes: int | None = None
    rate: str | None = None
    write: str | None = None
    write_interval: str | None = None
    station: str | None = None
    dscp: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One measuring flow, which is not counted as goodput.

    Attributes
    ----------
    name
        Unique within the scenario.
    kind
        `"icmp"` (an echo every `interval`), `"udp_rr"` (the next question leaves when the answer is there),
        `"isochronous"` (one way), `"poisson"` (one way, at random intervals) or `"voip"` (one way, as a voice call).
    direction
        For the one-way kinds: `"up"` or `"down"`.
    interval
        Time text between two packets; of `"poisson"`, the mean.
    timeout
        Time text after which a lost answer is given up (`"udp_rr"`).
    size
        Bytes on the wire.
    rtt
        Base round-trip time of this probe (time text; default: the path's).
    codec
        Of `"voip"`: `"g711"` (default; 64 kbit/s) or `"opus"` (24 kbit/s).
    frame
        Of `"voip"`: time text between two packets (default 20 ms).
    bitrate
        Of `"voip"`: rate text of the coded speech, if not the codec's.
    headers
        Of `"voip"`: bytes beside the speech in each packet, without Ethernet's 14 (default 40: RTP, UDP, IPv4).
    station, dscp
        As those of a flow.
    """

    name: str
    kind: str
    direction: Direction | None = None
    interval: str | None = None
    timeout: str | None = None
    size: int | None = None
    rtt: str | None = None
    codec: str | None = None
    frame: str | None = None
    bitrate: str | None = None
    headers: int | None = None
    station: str | None = None
    dscp: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """A web client that fetches one page again and again. Its traffic is not counted as goodput.

    Attributes
    ----------
    name
        Unique within the scenario.
    objects
        Bytes of the main document, then of the other objects in the order in which they are asked for.
    page
        A free name of the page.
    workers
        Most connections at a time (default 4).
    interval
        Time text: from the beginning of a fetch to that of the next (default 200 ms); one that takes longer is
        followed at once.
    congestion_control
        Of client and server; as `sojourn list` names them.
    rtt
        Base round-trip time to the server (time text; default: the path's).
    start
        Time text, relative to the start of the measured window.
    think_time
        Time text: what the server waits before each answer (default 0 s).
    request_bytes
        Bytes of each request (default 100).
    header_bytes
        Bytes before the object in each answer (default 300).
    dns
        Whether each connection begins with a look-up of the server's name (default yes).
    station, dscp
        As those of a flow.
    """

    name: str
    objects: tuple[int, ...]
    page: str | None = None
    workers: int | None = None
    interval: str | None = None
    congestion_control: str | None = None
    rtt: str | None = None
    start: str | None = None
    think_time: str | None = None
    request_bytes: int | None = None
    header_bytes: int | None = None
    dns: bool | None = None
    station: str | None = None
    dscp: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """Files of one size, one after the other, each over a TCP connection of its own. They are not counted as goodput.

    Attributes
    ----------
    name
        Unique within the scenario.
    direction
        `"up"` (the client sends) or `"down"`.
    bytes
        Of each file.
    gap
        Time text: mean of the exponential time between the end of one file and the start of the next.
    congestion_control
        Of the senders; as `sojourn list` names them.
    rtt
        Base round-trip time (time text; default: the path's).
    start
        Time text, relative to the start of the measured window.
    station, dscp
        As those of a flow.
    """

    name: str
    direction: Direction
    bytes: int
    gap: str
    congestion_control: str | None = None
    rtt: str | None = None
    start: str | None = None
    station: str | None = None
    dscp: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run, in full. `None` leaves the default of the compiled part; `normalized` writes every default out.

    Attributes
    ----------
    experiment
        A free name.
    duration
        Time text: the measured window, which starts with the flows.
    lead
        Time text: probes begin this long before the flows.
    up, down
        Rate text of the bottleneck in each direction.
    edge_rate
        Rate text of the links at the edges; `None` is infinitely fast.
    edge_burst
        Size text: depth of the token buckets that shape those links, as on a kernel's bed (`None`: wires, over which a
        frame has arrived when its last bit has); only with `edge_rate`.
    edge_limit
        Packets that the queue before each of those links holds (default 1000); only with `edge_rate`.
    loss_up, loss_down
        Probability that a packet is lost on the long link, after the bottleneck's queue (default 0).
    jitter_up, jitter_down
        Time text: each packet takes longer there by a time uniform in 0 to this; none overtakes another (default 0 s).
    delay_tick
        Time text: the path's delay lets packets out at multiples of this only (default `"0s"`: at once).
    rtt
        Time text: base round-trip time of the path.
    qdisc_up, qdisc_down
        Queue discipline of each direction: `tc` text or a preset such as `"gbw:codel"`.
    burst_up, burst_down
        Size text: how much the rate limiter may send at once.
    start_jitter
        Time text: each flow starts up to this much later, drawn from the seed.
    spare_acks
        Whether the bottleneck never drops pure acknowledgements (an ablation).
    sample_interval
        Time text: the bins of all time series.
    tcp, flows, probes, web, downloads
        The traffic.
    wifi
        The cell between the clients and the bottleneck; `None` is a wire.
    flusher
        A queue flusher on the path; `None` is none.
    seed
        The whole run is a function of the scenario, this number included.
    """

    experiment: str
    duration: str | None = None
    lead: str | None = None
    up: str | None = None
    down: str | None = None
    edge_rate: str | None = None
    edge_burst: str | None = None
    edge_limit: int | None = None
    loss_up: float | None = None
    loss_down: float | None = None
    jitter_up: str | None = None
    jitter_down: str | None = None
    delay_tick: str | None = None
    rtt: str | None = None
    qdisc_up: str | None = None
    qdisc_down: str | None = None
    burst_up: str | None = None
    burst_down: str | None = None
    start_jitter: str | None = None
    spare_acks: bool | None = None
    sample_interval: str | None = None
    tcp: Tcp | None = None
    flows: tuple[Flow, ...] = ()
    probes: tuple[Probe, ...] = ()
    web: tuple[Web, ...] = ()
    downloads: tuple[Download, ...] = ()
    wifi: Wifi | None = None
    flusher: Flusher | None = None
    seed: int | None = None

    def to_json(self) -> str:
        """Return the scenario as one line of JSON with sorted keys, defaults left out.

        Raises
        ------
        ParamError
            If a value has no place in JSON, such as a number of thousands of digits.
        """
        return _json(_given(self), sort_keys=True, separators=(",", ":"))

    def normalized(self, backend: str = "sim") -> str:
        """Return the canonical JSON: every default written out, keys sorted.

        Parameters
        ----------
        backend
            What is to run it: `"sim"`; `"linux"`, which has disciplines of its own and no variants; or `"live"`.

        Raises
        ------
        ParamError
            If a value is refused, or the back end cannot do what is asked.
        """
        return _native.normalize(self.to_json(), backend)

    @classmethod
    def from_json(cls, text: str, backend: str = "sim") -> Self:
        """Read a scenario from JSON, canonical or not; it must be one that `backend` can run.

        Raises
        ------
        ParamError
            If the text is not a scenario, has an unknown key, or a value is refused.
        """
        _native.normalize(text, backend)
        plain = json.loads(text)
        return cls(
            **{key: plain[key] for key in plain.keys() - _NESTED},
            tcp=Tcp(**plain["tcp"]) if "tcp" in plain else None,
            wifi=from_plain(plain["wifi"]) if "wifi" in plain else None,
            flusher=scenario_flusher.from_plain(plain["flusher"]) if "flusher" in plain else None,
            flows=tuple(_flow(flow) for flow in plain.get("flows", [])),
            probes=tuple(Probe(**probe) for probe in plain.get("probes", [])),
            web=tuple(Web(**{**client, "objects": tuple(client["objects"])}) for client in plain.get("web", [])),
            downloads=tuple(Download(**download) for download in plain.get("downloads", [])),
        )

    @classmethod
    def from_toml(cls, path: Path, backend: str = "sim") -> Self:
        """Read a scenario that `backend` can run from a TOML file with the keys of the JSON.

        The experiment's name defaults to the file's, and the duration to 60 s.

        Raises
        ------
        SojournError
            If the file cannot be read.
        ParamError
            If it is not TOML, has an unknown key, or a value is refused.
        """
        plain = bounded.read_toml(path, "an experiment file")
        plain = {"experiment": path.stem, "duration": DEFAULT_DURATION, **plain}
        try:
            return cls.from_json(_json(plain, default=str), backend)
        except ParamError as error:
            message = f"{path}: {error}"
            raise ParamError(message) from error


def _flow(plain: dict[str, Any]) -> Flow:
    """Return the flow that plain values stand for; one of UDP has no kind."""
    return Flow(**({"kind": None, **plain} if plain.get("protocol") == "udp" else plain))


def _json(plain: dict[str, Any], **keywords: Any) -> str:
    """Return plain values as JSON."""
    check_integers(plain)
    try:
        return json.dumps(plain, **keywords)
    except TypeError as error:
        message = f"the scenario has a value that is no text, number, list or table: {error}"
        raise ParamError(message) from error
