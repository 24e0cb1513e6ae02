"""Netlink messages that build a bed, made here by pyroute2 and sent where the bed is.

A message is plain bytes: it does not matter that the machine that makes it is another than the one that gets it, as
long as both are little-endian. Interfaces are known by numbers that the bed chooses.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from pyroute2.netlink import NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.generic.ethtool import (
    ETHTOOL_GENL_VERSION,
    ETHTOOL_MSG_FEATURES_SET,
    ethtoolbitset,
    ethtoolheader,
)
from pyroute2.netlink.rtnl import RTM_NEWADDR, RTM_NEWLINK, RTM_NEWNEIGH, RTM_NEWQDISC, RTM_NEWROUTE, RTM_NEWTFILTER
from pyroute2.netlink.rtnl.ifaddrmsg import ifaddrmsg
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg
from pyroute2.netlink.rtnl.ndmsg import ndmsg
from pyroute2.netlink.rtnl.rtmsg import rtmsg
from pyroute2.netlink.rtnl.tcmsg import tcmsg

from sojourn.backends.linux.disciplines import Encoded

#: Of the agent: a namespace is handed over as this descriptor plus its place in the list of namespaces.
NAMESPACE_DESCRIPTOR = 100

IFF_UP = 1
ROOT = 0xFFFFFFFF

#: What is longer than a frame is cut before it reaches a queue: these would do it behind one.
OFFLOADS = (
    "tx-tcp-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp6-segmentation",
    "tx-generic-segmentation",
    "rx-gro",
)

_TCA_OPTIONS = 2
_PERMANENT = 0x80
_PROTO_STATIC = 4
_SCOPE_UNIVERSE = 0
_SCOPE_LINK = 253
_UNICAST = 1
_TABLE_MAIN = 254
_ETH_P_IP = 0x0800


class _Features(genlmsg):  # type: ignore[misc]
    """A request about offloads, which pyroute2 lacks."""

    nla_map = (("UNSPEC", "none"), ("HEADER", "ethtoolheader"), ("HW", "none"), ("WANTED", "ethtoolbitset"))
    ethtoolheader = ethtoolheader
    ethtoolbitset = ethtoolbitset


def handle(major: int, minor: int = 0) -> int:
    """Return the number of a handle `major:minor`."""
    return major << 16 | minor


def veth(*, name: str, index: int, mac: str, peer: str, peer_index: int, peer_mac: str, peer_namespace: int) -> bytes:
    """Return the request for a pair of devices, the second in another namespace."""
    there = NAMESPACE_DESCRIPTOR + peer_namespace
    attrs = [("IFLA_IFNAME", peer), ("IFLA_ADDRESS", peer_mac), ("IFLA_NET_NS_FD", there)]
    data = {"attrs": [("VETH_INFO_PEER", {"index": peer_index, "attrs": attrs})]}
    message = ifinfmsg()
    message["index"] = index
    message["attrs"] = [
        ("IFLA_IFNAME", name),
        ("IFLA_ADDRESS", mac),
        ("IFLA_LINKINFO", {"attrs": [("IFLA_INFO_KIND", "veth"), ("IFLA_INFO_DATA", data)]}),
    ]
    return _encoded(message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL)


def dummy(*, name: str, index: int) -> bytes:
    """Return the request for a device that takes every frame at once and throws it away."""
    message = ifinfmsg()
    message["index"] = index
    message["attrs"] = [("IFLA_IFNAME", name), ("IFLA_LINKINFO", {"attrs": [("IFLA_INFO_KIND", "dummy")]})]
    return _encoded(message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL)


def link_up(*, index: int, mtu: int | None = None, gso_max_segs: int | None = None) -> bytes:
    """Return the request that sets a device up, with its largest packet and its largest train of segments."""
    message = ifinfmsg()
    message["index"] = index
    message["flags"] = message["change"] = IFF_UP
    message["attrs"] = []
    if mtu is not None:
        message["attrs"].append(("IFLA_MTU", mtu))
    if gso_max_segs is not None:
        message["attrs"].append(("IFLA_GSO_MAX_SEGS", gso_max_segs))
    return _encoded(message, RTM_NEWLINK)


def hardware_address(mac: str) -> bytes:
    """Return the request that gives a device, which the agent numbers, a hardware address."""
    message = ifinfmsg()
    message["attrs"] = [("IFLA_ADDRESS", mac)]
    return _encoded(message, RTM_NEWLINK)


def queue_length(index: int, packets: int) -> bytes:
    """Return the request that sets the transmit queue length of a device."""
    message = ifinfmsg()
    message["index"] = index
    message["attrs"] = [("IFLA_TXQLEN", packets)]
    return _encoded(message, RTM_NEWLINK)


def address(*, index: int, ip: str, prefix: int) -> bytes:
    """Return the request that gives a device an address."""
    message = ifaddrmsg()
    message["family"] = _family(ip)
    message["prefixlen"] = prefix
    message["index"] = index
    message["attrs"] = [("IFA_LOCAL", ip), ("IFA_ADDRESS", ip)]
    return _encoded(message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL)


def neighbour(*, index: int, ip: str, mac: str) -> bytes:
    """Return the request that says for good what hardware address an address has: no ARP goes through a full queue."""
    message = ndmsg()
    message["family"] = _family(ip)
    message["ifindex"] = index
    message["state"] = _PERMANENT
    message["attrs"] = [("NDA_DST", ip), ("NDA_LLADDR", mac)]
    return _encoded(message, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL)


def route(
    *, to: str | None, prefix: int, gateway: str, index: int | None, metrics: dict[str, int] | None = None
) -> bytes:
    """Return the request for a route; `to` is `None` for the default one, `index` for the device of the gateway.

    `metrics` are what `ip route` calls `initcwnd` (segments), `rto_min` (ms) and `quickack` (0 or 1).
    """
    message = rtmsg()
    message["family"] = _family(gateway)
    message["dst_len"] = prefix
    message["table"] = _TABLE_MAIN
    message["proto"] = _PROTO_STATIC
    message["scope"] = _SCOPE_UNIVERSE
    message["type"] = _UNICAST
    message["attrs"] = [] if to is None else [("RTA_DST", to)]
    message["attrs"].append(("RTA_GATEWAY", gateway))
    if index is not None:
        message["attrs"].append(("RTA_OIF", index))
    if metrics:
        named = [(f"RTAX_{name.upper()}", value) for name, value in metrics.items()]
        message["attrs"].append(("RTA_METRICS", {"attrs": named}))
    return _encoded(message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL)


def qdisc(*, index: int, parent: int, number: int, kind: str, options: Encoded | None) -> bytes:
    """Return the request for a discipline; without options, with the defaults."""
    message = tcmsg()
    message["index"] = index
    message["parent"] = parent
    message["handle"] = number
    message["attrs"] = [("TCA_KIND", kind)]
    request = _encoded(message, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL)
    if options is not None:
        request += options.attribute(_TCA_OPTIONS)
    return struct.pack("=I", len(request)) + request[4:]


def address_filter(*, index: int, parent: int, priority: int, field: str, ip: str, classid: int) -> bytes:
    """Return the request for a filter that sends what is from (`src`) or to (`dst`) an address to a class."""
    offset = {"src": 12, "dst": 16}[field]
    value = int.from_bytes(socket.inet_aton(ip), "big")
    message = tcmsg()
    message["index"] = index
    message["parent"] = parent
    message["info"] = priority << 16 | socket.htons(_ETH_P_IP)
    selector = {"keys": [f"0x{value:08x}/0xffffffff+{offset}"]}
    options = {"attrs": [("TCA_U32_CLASSID", classid), ("TCA_U32_SEL", selector)]}
    message["attrs"] = [("TCA_KIND", "u32"), ("TCA_OPTIONS", options)]
    return _encoded(message, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL)


def features_off(*, name: str, features: tuple[str, ...]) -> bytes:
    """Return the request that turns offloads of a device off, for the family `ethtool`; its type is 0."""
    bits = [("ETHTOOL_A_BITSET_BITS_BIT", {"attrs": [("ETHTOOL_A_BITSET_BIT_NAME", feature)]}) for feature in features]
    message = _Features()
    message["cmd"] = ETHTOOL_MSG_FEATURES_SET
    message["version"] = ETHTOOL_GENL_VERSION
    message["attrs"] = [
        ("HEADER", {"attrs": [("ETHTOOL_A_HEADER_DEV_NAME", name)]}),
        ("WANTED", {"attrs": [("ETHTOOL_A_BITSET_BITS", {"attrs": bits})]}),
    ]
    return _encoded(message, 0)


def _family(ip: str) -> int:
    return socket.AF_INET6 if ":" in ip else socket.AF_INET


def _encoded(message: Any, kind: int, flags: int = 0) -> bytes:
    message["header"]["type"] = kind
    message["header"]["flags"] = NLM_F_REQUEST | NLM_F_ACK | flags
    message["header"]["sequence_number"] = 1
    message["header"]["pid"] = 0
    message.encode()
    return bytes(message.data)
