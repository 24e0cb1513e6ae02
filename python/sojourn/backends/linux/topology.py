"""The bed: five namespaces in a row, or a cell in place of the first wire, as the steps that build it.

    client c0 ---- r1c r1 r1m ---- mr1 delay mr2 ---- r2m r2 r2s ---- s0 server

The bottleneck up is the egress `r1m`: tbf (handle 1:) with the discipline under test (10:) below it; the bottleneck
down is `r2m`. The delay is netem at both egresses of `delay`, which runs no TCP: on a host, netem would hold back that
host's own segments, and TCP Small Queues would count them. Where paths have different round-trip times the server has
an address for each, and the delay box a class. Addresses, interface numbers and hardware addresses are fixed, and every
neighbour is entered by hand, so no ARP crosses a full queue and each run is the same to the byte.

Hosts after the first are further addresses of `c0` and `s0`: host N on the client's side is 10.N.1.1, and on the
server's side 10.N.4.x.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from msgspec import Struct, field

from sojourn import units
from sojourn.backends.linux import cell, kinds, messages
from sojourn.backends.linux.disciplines import Encoded, below, encoded, queue_length
from sojourn.backends.linux.load import Cell, FlusherPlan, Program, Side, Tcp, Traffic, ipv6_of
from sojourn.backends.linux.steps import Step, Steps
from sojourn.errors import ParamError

NAMESPACES = ("client", "r1", "delay", "r2", "server")

#: Those that run TCP.
_HOSTS = frozenset({"client", "server"})

#: Classes of a prio discipline, and so paths of different length.
MOST_PATHS = 16

#: What `tcp.ecn` is for AccECN (RFC 9768).
ACCURATE_ECN = "accecn"
#: The first kernel whose AccECN was compared with the simulator's.
_HAS_ACCURATE_ECN = (7, 3)

_CLIENT_NET = "10.0.1"
_SERVER_NET = "10.0.4"
_FIRST_SERVER = 11
_IP_AND_TCP = 52  # IPv4 20, TCP 20, time stamps 12
_NETEM_LIMIT = 1_000_000
#: Length of the prefix in IPv6, by that in IPv4.
_IPV6_PREFIX = {0: 0, 24: 64, 32: 128}
_LINUX_MIN_RTO = "200ms"
_RTO_MIN_LOCKED = 1 << 13
_TBF, _CHILD, _NETEM = 1, 0x10, 0x20


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One end of a link.

    Attributes
    ----------
    host
        Its namespace.
    name, index
        As the kernel has them.
    ip
        Its address; the prefix has 24 bits.
    """

    host: str
    name: str
    index: int
    ip: str

    @property
    def mac(self) -> str:
        """Its hardware address, from a range for private use."""
        return f"02:00:00:00:00:{self.index:02x}"


_C0 = Device(host="client", name="c0", index=10, ip=f"{_CLIENT_NET}.1")
_R1C = Device(host="r1", name="r1c", index=11, ip="10.0.1.2")
_R1M = Device(host="r1", name="r1m", index=12, ip="10.0.2.1")
_MR1 = Device(host="delay", name="mr1", index=13, ip="10.0.2.2")
_MR2 = Device(host="delay", name="mr2", index=14, ip="10.0.3.1")
_R2M = Device(host="r2", name="r2m", index=15, ip="10.0.3.2")
_R2S = Device(host="r2", name="r2s", index=16, ip=f"{_SERVER_NET}.2")
_S0 = Device(host="server", name="s0", index=17, ip=f"{_SERVER_NET}.1")

#: The addresses of the first hosts of wires, from which a program answers that was bound to any: by the hosts' names.
FIRST_HOSTS = {"client": _C0.ip, "server": _S0.ip}

_LINKS = ((_C0, _R1C), (_R1M, _MR1), (_MR2, _R2M), (_R2S, _S0))


class Network(Struct, frozen=True, kw_only=True):
    """What is read of a load plan: what a bed is built from.

    Attributes
    ----------
    up, down
        The bottleneck.
    edge_rate_bps
        Rate of the links at the edges, bit/s; `None` for no limit.
    edge_burst_bytes
        Depth of their token buckets, bytes; `None` for one frame.
    edge_limit
        Packets that the queue before each of them holds.
    cell
        In place of the first wire; `None` for a wire.
    paths_ns
        Base RTT of each path, ns.
    tcp
        What may be set on the kernels' TCP.
    flows, probes, web, downloads
        The traffic.
    flusher
        On the path; `None` for none.
    programs
        In its hosts.
    kernel_has_ipv6
        No part of a plan: whether the kernel does.
    seed, lead_ns, duration_ns
        Of the run.
    """

    up: Side
    down: Side
    edge_rate_bps: int | None
    paths_ns: list[int] = field(name="paths")
    tcp: Tcp
    edge_burst_bytes: int | None = None
    edge_limit: int = 1000
    cell: Cell | None = field(name="wifi", default=None)
    flows: list[Traffic] = []
    probes: list[Traffic] = []
    web: list[Traffic] = []
    downloads: list[Traffic] = []
    flusher: FlusherPlan | None = None
    programs: list[Program] = []
    kernel_has_ipv6: bool = True
    seed: int
    lead_ns: int
    duration_ns: int

    @property
    def clients(self) -> int:
        """Number of hosts on the client's side of a wire."""
        return 1 + max((one.client for one in self._traffic), default=0)

    @property
    def servers(self) -> int:
        """Number of hosts on the server's side."""
        return 1 + max((one.server for one in self._traffic), default=0)

    @property
    def _traffic(self) -> list[Traffic]:
        return [*self.flows, *self.probes, *self.web, *self.downloads]

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All hosts; stations after the first come last."""
        others = range(1, 1 if self.cell is None else len(self.cell.stations))
        stations = tuple(cell.station_host(station) for station in others)
        return NAMESPACES + stations + tuple(f"{side}{number + 1}" for side, number in self.program_hosts)

    @property
    def program_hosts(self) -> list[tuple[str, int]]:
        """The hosts of wires after the first that run programs: side, and number counted from 0."""
        further = {program.further for program in self.programs}
        return sorted(host for host in further if host is not None and (self.cell is None or host[0] == "server"))

    @property
    def has_ipv6(self) -> bool:
        """Whether hosts have IPv6 addresses."""
        return bool(self.programs) and self.cell is None and self.kernel_has_ipv6

    @property
    def hosts(self) -> dict[str, str]:
        """The address of each host that may run a program, by its name."""
        stations = 0 if self.cell is None else len(self.cell.stations)
        clients = {cell.station_host(i): cell.station_ip(i) for i in range(stations)}
        further = {f"{side}{number + 1}": _first_address(side, number) for side, number in self.program_hosts}
        return {**FIRST_HOSTS, **clients, **further, "router": _R1C.ip}

    @property
    def mtu(self) -> int:
        """The largest packet."""
        return self.tcp.mss + _IP_AND_TCP

    def train(self, device: Device) -> int | None:
        """Return the most segments that a device takes as one packet; `None` for as many as it takes by itself.

        The trains of hosts are cut at their own devices, whose offloads are off.
        """
        return None if self.tcp.gso and device.host in _HOSTS else 1

    @property
    def links(self) -> tuple[tuple[Device, Device], ...]:
        """The wires."""
        return _LINKS if self.cell is None else _LINKS[1:]

    @property
    def client_addresses(self) -> list[str]:
        """The addresses of the clients."""
        if self.cell is None:
            return [client_address(host) for host in range(self.clients)]
        return [cell.station_ip(i) for i in range(len(self.cell.stations))]

    @property
    def server_addresses(self) -> list[str]:
        """The addresses of the servers; those of a host follow each other."""
        return [server_address(path, host) for host in range(self.servers) for path in range(len(self.paths_ns))]

    @property
    def further_nets(self) -> list[tuple[str, Device]]:
        """The networks of hosts after the first, and the device that has their addresses."""
        clients = [(_net(_CLIENT_NET, host), _C0) for host in range(1, self.clients)]
        servers = [(_net(_SERVER_NET, host), _S0) for host in range(1, self.servers)]
        first = {"client": (_CLIENT_NET, _C0), "server": (_SERVER_NET, _S0)}
        programs = [(_net(first[side][0], number), first[side][1]) for side, number in self.program_hosts]
        return clients + servers + programs


def _net(first: str, host: int) -> str:
    """Return the network of a host on a side: the second octet of host N is N, of the first host 0."""
    return first if host == 0 else first.replace(".0.", f".{host + 1}.")


def client_address(host: int) -> str:
    """Return the address of a host on the client's side of a wire, counted from 0."""
    return f"{_net(_CLIENT_NET, host)}.1"


def server_address(path: int, host: int = 0) -> str:
    """Return the address of a host on the server's side on a path, both counted from 0."""
    return f"{_net(_SERVER_NET, host)}.{_FIRST_SERVER + path}"


def _first_address(side: str, host: int) -> str:
    return client_address(host) if side == "client" else server_address(0, host)


def check_kernel(network: Network, release: str) -> None:
    """Refuse a network whose TCP the kernel of a release does not have.

    Raises
    ------
    ParamError
        If it asks for AccECN, and the kernel is older than the first that was compared.
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    if network.tcp.ecn == ACCURATE_ECN and numbers < _HAS_ACCURATE_ECN:
        message = (
            f'tcp.ecn is "{ACCURATE_ECN}", but the kernel is Linux {release}, and must be 7.3 or later for it: '
            "name another kernel, or leave it out"
        )
        raise ParamError(message)


class Watch(Struct, frozen=True):
    """Where packets of one direction are watched: a host, and the devices that they come in by and leave by."""

    host: str
    came_in: str = field(name="in")
    out: str


class Bed(Struct, frozen=True, kw_only=True):
    """The part `bed` of a job, as the agent takes it."""

    namespaces: list[str]
    steps: list[Step]
    clients: list[str]
    server: list[str]
    watch: dict[str, Watch]
    radio: cell.Radio | None


def bed(network: Network) -> Bed:
    """Return the bed of a network.

    Raises
    ------
    ParamError
        If there are more paths than the delay box has classes.
    SojournError
        If a cell has no program for its access point.
    """
    paths = len(network.paths_ns)
    if paths > MOST_PATHS:
        message = f"number of different rtt values is {paths}, but must be at most {MOST_PATHS} on the linux back end"
        raise ParamError(message)
    _check_programs(network)
    steps = Steps()
    _links(steps, network)
    if network.cell is not None:
        cell.add(steps, network.cell, network.namespaces, network.mtu)
    _routes(steps, network)
    _hosts(steps, network)
    _bottlenecks(steps, network)
    _delay(steps, network)
    for side, number in network.program_hosts:
        _program_host(steps, network, side, number)
    came_in = _R1C.name if network.cell is None else "wlan0"
    return Bed(
        namespaces=list(network.namespaces),
        steps=steps.steps,
        clients=network.client_addresses,
        server=network.server_addresses,
        watch={"up": Watch("r1", came_in, _R1M.name), "down": Watch("r2", _R2S.name, _R2M.name)},
        radio=None if network.cell is None else cell.radio(network.cell),
    )


def _check_programs(network: Network) -> None:
    if network.programs and len(network.paths_ns) > 1:
        message = f"number of different rtt values is {len(network.paths_ns)}, but must be 1 with programs"
        raise ParamError(message)
    for side, number in network.program_hosts:
        others = network.clients if side == "client" else network.servers
        if number < others:
            message = (
                f"host of a program is {side}{number + 1}, but must come after those of other traffic, which has "
                f"{side} {others}"
            )
            raise ParamError(message)


def _links(steps: Steps, network: Network) -> None:
    for host in network.namespaces:
        steps.send(host, "bring lo up", messages.link_up(index=1))
        if network.has_ipv6:
            steps.sysctl(host, "net/ipv6/conf/lo/disable_ipv6", 0)
    _join(steps, network, network.links)
    for one, other in network.links:
        for device, peer in ((one, other), (other, one)):
            there = [peer.ip]
            if peer is _S0:
                there += [server_address(path) for path in range(len(network.paths_ns))]
            for ip in there:
                _neighbour(steps, network, device, ip, peer.mac)
    further = [] if network.cell is not None else network.client_addresses[1:]
    for device, addresses in ((_S0, network.server_addresses), (_C0, further)):
        for ip in addresses:
            _address(steps, network, device, ip, 32)


def _join(steps: Steps, network: Network, links: tuple[tuple[Device, Device], ...]) -> None:
    """Make links, and give their ends the addresses."""
    for one, other in links:
        pair = messages.veth(
            name=one.name,
            index=one.index,
            mac=one.mac,
            peer=other.name,
            peer_index=other.index,
            peer_mac=other.mac,
            peer_namespace=network.namespaces.index(other.host),
        )
        steps.send(one.host, f"add the link {one.name}-{other.name}", pair)
    for link in links:
        for device in link:
            steps.send(
                device.host,
                f"set {device.name} up",
                messages.link_up(index=device.index, mtu=network.mtu, gso_max_segs=network.train(device)),
            )
            steps.ethtool(
                device.host,
                f"turn the offloads of {device.name} off",
                messages.features_off(name=device.name, features=messages.OFFLOADS),
            )
            if network.has_ipv6:
                # Nothing is asked for, and no address is made up: a bed is quiet.
                for name, value in (("addr_gen_mode", 1), ("accept_ra", 0), ("accept_dad", 0), ("disable_ipv6", 0)):
                    steps.sysctl(device.host, f"net/ipv6/conf/{device.name}/{name}", value)
            _address(steps, network, device, device.ip, 24)


def _program_host(steps: Steps, network: Network, side: str, number: int) -> None:
    """Add a host after the first, for programs: behind the first, which passes on what is for it."""
    ip = _first_address(side, number)
    host, number_of_device = f"{side}{number + 1}", 20 + 2 * number
    own = Device(host=host, name=_C0.name if side == "client" else _S0.name, index=number_of_device, ip=ip)
    gateway = Device(host=side, name=f"h{number + 1}", index=number_of_device + 1, ip=re.sub(r"\d+$", "254", ip))
    _join(steps, network, ((own, gateway),))
    _neighbour(steps, network, own, gateway.ip, gateway.mac)
    _neighbour(steps, network, gateway, own.ip, own.mac)
    _route(steps, network, own, None, 0, gateway.ip, _metrics(network))
    for version in ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"):
        steps.sysctl(side, version, 1)


def _address(steps: Steps, network: Network, device: Device, ip: str, prefix: int) -> None:
    says = "its address" if ip == device.ip else f"the address {ip}"
    request = messages.address(index=device.index, ip=ip, prefix=prefix)
    steps.send(device.host, f"give {device.name} {says}", request)
    if network.has_ipv6:
        request = messages.address(index=device.index, ip=ipv6_of(ip), prefix=_IPV6_PREFIX[prefix])
        steps.send(device.host, f"give {device.name} the address {ipv6_of(ip)}", request)


def _neighbour(steps: Steps, network: Network, device: Device, ip: str, mac: str) -> None:
    for there in (ip, ipv6_of(ip)) if network.has_ipv6 else (ip,):
        request = messages.neighbour(index=device.index, ip=there, mac=mac)
        steps.send(device.host, f"enter the neighbour {there}", request)


def _route(
    steps: Steps,
    network: Network,
    device: Device,
    to: str | None,
    prefix: int,
    gateway: str,
    metrics: dict[str, int] | None = None,
) -> None:
    """Add a route by a gateway; `to` is `None` for the default one."""
    says = f"route to {to}/{prefix}" if to else f"route by {gateway}"
    request = messages.route(to=to, prefix=prefix, gateway=gateway, index=device.index, metrics=metrics)
    steps.send(device.host, says, request)
    if network.has_ipv6:
        net = None if to is None else ipv6_of(to)
        request = messages.route(
            to=net, prefix=_IPV6_PREFIX[prefix], gateway=ipv6_of(gateway), index=device.index, metrics=metrics
        )
        steps.send(device.host, f"{says} for IPv6", request)


def _metrics(network: Network) -> dict[str, int]:
    """Return the metrics of the hosts' routes."""
    tcp = network.tcp
    metrics = {"initcwnd": tcp.initial_window}
    if tcp.min_rto != _LINUX_MIN_RTO:
        ms = int(units.exact_seconds(tcp.min_rto) * 1000)
        metrics |= {"lock": _RTO_MIN_LOCKED, "rto_min": max(1, ms)}
    if not tcp.delayed_ack:
        metrics["quickack"] = 1
    return metrics


def _routes(steps: Steps, network: Network) -> None:
    metrics = _metrics(network)
    defaults: tuple[tuple[Device, Device, dict[str, int] | None], ...] = (
        (_S0, _R2S, metrics),
        (_R1M, _MR1, None),
        (_R2M, _MR2, None),
    )
    if network.cell is None:
        defaults = ((_C0, _R1C, metrics), *defaults)
    else:
        for station in range(len(network.cell.stations)):
            request = messages.route(to=None, prefix=0, gateway=cell.ROUTER_IP, index=None, metrics=metrics)
            steps.send(cell.station_host(station), "route by the access point", request)
    for device, gateway, extra in defaults:
        _route(steps, network, device, None, 0, gateway.ip, extra)
    for to, device, gateway in (("10.0.1.0", _MR1, _R1M), (f"{_SERVER_NET}.0", _MR2, _R2M)):
        _route(steps, network, device, to, 24, gateway.ip)
    for net, end in network.further_nets:
        routers = ((_MR1, _R1M), (_R1C, _C0)) if end is _C0 else ((_MR2, _R2M), (_R2S, _S0))
        for device, gateway in routers:
            _route(steps, network, device, f"{net}.0", 24, gateway.ip)


def _hosts(steps: Steps, network: Network) -> None:
    tcp = network.tcp
    for router in ("r1", "delay", "r2"):
        steps.sysctl(router, "net/ipv4/ip_forward", 1)
        if network.has_ipv6:
            steps.sysctl(router, "net/ipv6/conf/all/forwarding", 1)
    if not tcp.hystart:
        steps.parameter("client", "tcp_cubic/hystart", 0)
    for host in (name for name in network.namespaces if name not in {"r1", "delay", "r2"}):
        # A socket's hash goes with its packets, and disciplines in the same kernel take it for the flow's. By default a
        # time-out draws another, and what is sent again overtakes the flow in another queue. No wire carries a hash.
        steps.sysctl(host, "net/core/txrehash", 0)
        steps.sysctl(host, "net/ipv4/tcp_ecn", 3 if tcp.ecn == ACCURATE_ECN else int(tcp.ecn))
        remembers = tcp.save_metrics
        steps.sysctl(host, "net/ipv4/tcp_no_metrics_save", int(not remembers))
        if remembers:
            # By default kernels since 5.6 remember all but the slow-start threshold.
            steps.sysctl(host, "net/ipv4/tcp_no_ssthresh_metrics_save", 0)
        # Half of the buffer is window (tcp_adv_win_scale 1). The kernel's own limits depend on the machine's memory.
        # In a cell the agent makes room beside the window, which therefore is whole from the beginning.
        largest = 2 * units.size(tcp.receive_window)
        usual = min(131_072, largest) if network.cell is None else largest
        steps.sysctl(host, "net/ipv4/tcp_rmem", f"4096 {usual} {largest}")
        steps.sysctl(host, "net/ipv4/tcp_wmem", "4096 16384 4194304")


def _bottlenecks(steps: Steps, network: Network) -> None:
    for side, device in ((network.up, _R1M), (network.down, _R2M)):
        shaper = kinds.tbf(rate_bps=side.rate_bps, burst_bytes=side.burst_bytes)
        _add(steps, device, messages.ROOT, _TBF, "tbf", shaper)
        length = queue_length(side.discipline)
        if length is not None:
            steps.send(device.host, f"set the queue of {device.name}", messages.queue_length(device.index, length))
        kind, options = encoded(side.discipline)
        _add(steps, device, messages.handle(_TBF, 1), _CHILD, kind, options)
        for says, request in below(side.discipline, index=device.index, major=_CHILD):
            steps.send(device.host, f"{says} on {device.name}", request)
    if network.edge_rate_bps is None:
        return
    for device in (_C0, _R1C, _R2S, _S0) if network.cell is None else (_R2S, _S0):
        burst = network.edge_burst_bytes or network.tcp.mss + _IP_AND_TCP + 14
        shaper = kinds.tbf(rate_bps=network.edge_rate_bps, burst_bytes=burst)
        _add(steps, device, messages.ROOT, _TBF, "tbf", shaper)
        _add(steps, device, messages.handle(_TBF, 1), _CHILD, "pfifo", kinds.fifo(limit=network.edge_limit))


def _delay(steps: Steps, network: Network) -> None:
    """Hold each packet for half of its path's RTT or somewhat longer, and lose some.

    An odd nanosecond goes to the upstream half.
    """
    for device, name in ((_MR2, "dst"), (_MR1, "src")):
        halves = [rtt - rtt // 2 if device is _MR2 else rtt // 2 for rtt in network.paths_ns]
        side = network.up if device is _MR2 else network.down
        air = {"loss": side.loss, "jitter_ns": side.jitter_ns}
        if len(halves) == 1:
            options = kinds.netem(delay_ns=halves[0], limit=_NETEM_LIMIT, **air)
            _add(steps, device, messages.ROOT, _TBF, "netem", options)
            continue
        _add(steps, device, messages.ROOT, _TBF, "prio", kinds.prio(bands=max(2, len(halves))))
        for path, half in enumerate(halves):
            classid = messages.handle(_TBF, path + 1)
            options = kinds.netem(delay_ns=half, limit=_NETEM_LIMIT, **air)
            _add(steps, device, classid, _NETEM + path, "netem", options)
            for host in range(network.servers):
                ip = server_address(path, host)
                request = messages.address_filter(
                    index=device.index,
                    parent=messages.handle(_TBF),
                    priority=host * len(halves) + path + 1,
                    field=name,
                    ip=ip,
                    classid=classid,
                )
                steps.send(device.host, f"send {ip} to its class on {device.name}", request)


def _add(steps: Steps, device: Device, parent: int, major: int, kind: str, options: Encoded | None) -> None:
    request = messages.qdisc(
        index=device.index, parent=parent, number=messages.handle(major), kind=kind, options=options
    )
    steps.send(device.host, f"add {kind} to {device.name}", request)
