"""Messages of the generic netlink family nl80211, by which a wiphy is moved and a station joins and is told of.

Numbers are those of `linux/nl80211.h`, which only ever grows. The agent fills in the number of the family, and that of
an interface, which therefore is the first attribute of each message that has one.
"""

from __future__ import annotations

import struct

_VERSION = 1
_REQUEST, _ACK = 1, 4

_SET_STATION = 18
_CONNECT = 46
_SET_WIPHY_NETNS = 49
_SET_POWER_SAVE = 61

_WIPHY = 1
_IFINDEX = 3
_MAC = 6
_FREQUENCY = 38
_SSID = 52
_AUTH_TYPE = 53
_POWER_SAVE_STATE = 93
_NETNS_FD = 219
_AIRTIME_WEIGHT = 274

_OPEN_SYSTEM = 0
_OFF = 0


def move(*, wiphy: int, namespace: int) -> bytes:
    """Return the request that moves a wiphy and its interface to a namespace, by the number of an open descriptor."""
    return _message(_SET_WIPHY_NETNS, _u32(_WIPHY, wiphy), _u32(_NETNS_FD, namespace))


def connect(*, ssid: str, mhz: int) -> bytes:
    """Return the request by which a station looks for an open network on one channel, and joins it."""
    return _message(
        _CONNECT,
        _u32(_IFINDEX, 0),
        _attribute(_SSID, ssid.encode()),
        _u32(_FREQUENCY, mhz),
        _u32(_AUTH_TYPE, _OPEN_SYSTEM),
    )


def power_save_off() -> bytes:
    """Return the request after which a station never sleeps."""
    return _message(_SET_POWER_SAVE, _u32(_IFINDEX, 0), _u32(_POWER_SAVE_STATE, _OFF))


def airtime_weight(*, mac: str, weight: int) -> bytes:
    """Return the request that gives a station, by its hardware address, an airtime weight at its access point."""
    return _message(
        _SET_STATION,
        _u32(_IFINDEX, 0),
        _attribute(_MAC, bytes.fromhex(mac.replace(":", ""))),
        _attribute(_AIRTIME_WEIGHT, struct.pack("<H", weight)),
    )


def _u32(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("<I", value))


def _attribute(kind: int, value: bytes) -> bytes:
    size = 4 + len(value)
    return struct.pack("<HH", size, kind) + value + bytes(-size % 4)


def _message(command: int, *attributes: bytes) -> bytes:
    body = struct.pack("<BBH", command, _VERSION, 0) + b"".join(attributes)
    return struct.pack("<IHHII", 16 + len(body), 0, _REQUEST | _ACK, 1, 0) + body
