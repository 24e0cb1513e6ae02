"""The cell of a bed: radios of one kernel in namespaces of their own, in place of the link between client and `r1`.

    client   wlan1 )))
    client2  wlan2 )))  ((( wlan0 r1 r1m ---- mr1 delay ...
    client3  wlan3 )))

Radio 0 is the access point's and radio `i + 1` that of station `i`; all are on one channel, which is the radio
driver's own (`kernel/sojourn_radio`). Addresses are fixed, and neighbours are entered by hand, as on wires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sojourn.backends.linux import access_point, messages, nl80211
from sojourn.backends.linux.disciplines import below, encoded, queue_length
from sojourn.backends.linux.load import Cell, Limits, Link

if TYPE_CHECKING:
    from sojourn.backends.linux.steps import Steps

#: Where a guest begins, and radios are at first; a name of the agent.
OUTSIDE = "outside"
ROUTER_IP = "10.0.1.2"
DRIVER = "sojourn_radio"

_NET = "10.0.1"
_FIRST_STATION = 11
_CATEGORIES = 4
_ONE_AT_A_TIME = 1
_DISCIPLINE = 0x10
#: Limits of pending airtime that never matter, for nodes that have none in a scenario.
_NO_LIMITS = Limits(low_us=10_000_000, high_us=10_000_000, total_us=10_000_000)
#: Of sockets other than TCP's, bytes: more than any queue holds.
_SEND_BUFFER = 64 << 20
#: What mac80211 tells of each station.
_FILES = ("airtime", "aql", "aqm", "agg_status", "rc_stats")
#: And of the radio of the access point.
_RADIO_FILES = ("aqm", "airtime_flags", "aql_enable", "aql_pending", "aql_threshold", "aql_txq_limit")


def station_host(station: int) -> str:
    """Return the namespace of a station."""
    return "client" if station == 0 else f"client{station + 1}"


def station_ip(station: int) -> str:
    """Return the address of a station."""
    return f"{_NET}.{_FIRST_STATION + station}"


def hardware_address(radio: int) -> str:
    """Return the hardware address of a radio, from a range for private use."""
    return f"02:00:00:00:01:{radio:02x}"


def command_line(cell: Cell, seed: int) -> tuple[str, ...]:
    """Return what the driver is told on the kernel's command line."""
    own, stations = cell.access_point, cell.station
    words = {
        "radios": len(cell.stations) + 1,
        "seed": seed,
        "aql": int(cell.aql is not None),
        "fairness": int(cell.airtime_flags != 0),
        "fifo": own.fifo,
        "station_fifo": stations.fifo,
        "backpressure": int(own.qdisc is not None or stations.qdisc is not None),
        "hardware_queue": cell.hardware_queue,
        "aggregate_frames": cell.aggregate_frames,
        "aggregate_us": cell.aggregate_us,
        "retries": cell.retries,
        "rate_control": "fixed",
    }
    return tuple(f"{DRIVER}.{name}={value}" for name, value in words.items())


class Radio(Struct, frozen=True):
    """The part `radio` of a bed: the devices, what their driver counts, and the files that are read of them."""

    devices: list[str]
    stats: str
    files: dict[str, str]


def radio(cell: Cell) -> Radio:
    """Return the radios of a cell."""
    files = {name: f"ieee80211/phy0/{name}" for name in _RADIO_FILES}
    for station, one in enumerate(cell.stations):
        number = station + 1
        at_access_point = f"ieee80211/phy0/netdev:wlan0/stations/{hardware_address(number)}"
        at_station = f"ieee80211/phy{number}/netdev:wlan{number}/stations/{hardware_address(0)}"
        for name in _FILES:
            files[f"down/{one.name}/{name}"] = f"{at_access_point}/{name}"
            files[f"up/{one.name}/{name}"] = f"{at_station}/{name}"
    devices = [f"wlan{number}" for number in range(len(cell.stations) + 1)]
    return Radio(devices=devices, stats=f"{DRIVER}/stats", files=files)


def add(steps: Steps, cell: Cell, namespaces: tuple[str, ...], mtu: int) -> None:
    """Add the steps that set the cell up: radios, access point, stations, and what each queues in.

    Raises
    ------
    SojournError
        If hostapd is not installed.
    """
    hosts = ["r1", *(station_host(station) for station in range(len(cell.stations)))]
    for number, host in enumerate(hosts):
        place = messages.NAMESPACE_DESCRIPTOR + namespaces.index(host)
        request = nl80211.move(wiphy=number, namespace=place)
        steps.nl80211(OUTSIDE, f"move the radio phy{number} to {host}", request)
        request = messages.hardware_address(hardware_address(number))
        steps.send(host, f"give wlan{number} its hardware address", request, device=f"wlan{number}")
    # A flood from a station is held back by no socket's buffer: what its queue cannot hold is lost there.
    steps.sysctl(OUTSIDE, "net/core/wmem_default", _SEND_BUFFER)
    _medium(steps, cell)
    _queues(steps, cell)
    configuration = access_point.configuration("wlan0", channel_mhz=cell.channel_mhz, vht=cell.vht)
    steps.file("r1", "hostapd.conf", configuration)
    steps.program("r1", "start the access point", [str(access_point.hostapd()), "/tmp/hostapd.conf"])  # noqa: S108
    steps.carrier("r1", "wlan0")
    for number, host in enumerate(hosts):
        device = f"wlan{number}"
        request = messages.link_up(index=0, mtu=mtu, gso_max_segs=_ONE_AT_A_TIME)
        steps.send(host, f"set {device} up", request, device=device)
        off = messages.features_off(name=device, features=messages.OFFLOADS)
        steps.ethtool(host, f"turn the offloads of {device} off", off)
        if number > 0:
            steps.nl80211(host, f"let {device} never sleep", nl80211.power_save_off(), device=device)
            join = nl80211.connect(ssid=access_point.SSID, mhz=access_point.CHANNEL_MHZ)
            steps.join(host, f"join the access point by {device}", join, device=device)
    _discipline(steps, cell, hosts)
    _addresses(steps, hosts)
    # A radio that does not announce airtime fairness takes no weights, and needs none.
    for station, one in enumerate(cell.stations if cell.airtime_flags else ()):
        request = nl80211.airtime_weight(mac=hardware_address(station + 1), weight=one.weight)
        steps.nl80211("r1", f"give {one.name} the airtime weight {one.weight}", request, device="wlan0")


def _medium(steps: Steps, cell: Cell) -> None:
    """Set rates, errors and contention of all radios."""
    links = []
    for number, one in enumerate(cell.stations, start=1):
        links += [_link(0, number, one.down), _link(number, 0, one.up)]
    steps.debugfs(OUTSIDE, f"{DRIVER}/links", "".join(links))
    contention = []
    for number in range(len(cell.stations) + 1):
        table = cell.edca_access_point if number == 0 else cell.edca_station
        for category, own in enumerate(table):
            contention.append(f"{number} {category} {own.aifsn} {own.cw_min} {own.cw_max} {own.txop_us}\n")
    steps.debugfs(OUTSIDE, f"{DRIVER}/edca", "".join(contention))


def _link(sender: int, receiver: int, link: Link) -> str:
    guard = "sgi" if link.short_guard else "lgi"
    return f"{sender} {receiver} {link.format} {link.mcs} {link.streams} {link.mhz} {guard} {link.error}\n"


def _queues(steps: Steps, cell: Cell) -> None:
    """Set what mac80211 has as knobs: the size of its queues, whom it charges, and the airtime that may be pending."""
    own = "ieee80211/phy0"
    knobs = {"fq_limit": cell.fq_limit, "fq_memory_limit": cell.fq_memory, "fq_quantum": cell.fq_quantum}
    for knob, value in knobs.items():
        steps.debugfs(OUTSIDE, f"{own}/aqm", f"{knob} {value}")
    steps.debugfs(OUTSIDE, f"{own}/airtime_flags", str(cell.airtime_flags))
    if cell.aql is None:
        return
    for number in range(len(cell.stations) + 1):
        limits = (cell.aql if number == 0 else cell.station_aql) or _NO_LIMITS
        phy = f"ieee80211/phy{number}"
        for category in range(_CATEGORIES):
            steps.debugfs(OUTSIDE, f"{phy}/aql_txq_limit", f"{category} {limits.low_us} {limits.high_us}")
        steps.debugfs(OUTSIDE, f"{phy}/aql_threshold", str(limits.total_us))


def _discipline(steps: Steps, cell: Cell, hosts: list[str]) -> None:
    """Put the discipline of a scheme that has one on the devices: mac80211's have one queue for all categories."""
    for number, host in enumerate(hosts):
        discipline = (cell.access_point if number == 0 else cell.station).qdisc
        if discipline is None:
            continue
        device = f"wlan{number}"
        length = queue_length(discipline)
        if length is not None:
            steps.send(host, f"set the queue of {device}", messages.queue_length(0, length), device=device)
        kind, options = encoded(discipline)
        number_of = messages.handle(_DISCIPLINE)
        request = messages.qdisc(index=0, parent=messages.ROOT, number=number_of, kind=kind, options=options)
        steps.send(host, f"add {kind} to {device}", request, device=device)
        for says, request in below(discipline, index=0, major=_DISCIPLINE):
            steps.send(host, f"{says} on {device}", request, device=device)


def _addresses(steps: Steps, hosts: list[str]) -> None:
    for number, host in enumerate(hosts):
        device = f"wlan{number}"
        ip = ROUTER_IP if number == 0 else station_ip(number - 1)
        steps.send(host, f"give {device} its address", messages.address(index=0, ip=ip, prefix=24), device=device)
        neighbours = range(1, len(hosts)) if number == 0 else (0,)
        for other in neighbours:
            ip = ROUTER_IP if other == 0 else station_ip(other - 1)
            request = messages.neighbour(index=0, ip=ip, mac=hardware_address(other))
            steps.send(host, f"enter the neighbour {ip}", request, device=device)
