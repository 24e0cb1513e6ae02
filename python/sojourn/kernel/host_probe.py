"""What this machine's kernel can do for a bed: tried in namespaces of this process, which end with it.

Run as a program of its own (`python -I host_probe.py NAME ...`), never imported for its effect: it leaves the
namespaces of whoever runs it. It prints one JSON object. Only the standard library is used, so that it starts in
30 ms.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import struct
import sys
from pathlib import Path

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000

# Numbers of the kernel's interface, from linux/netlink.h, linux/rtnetlink.h, linux/if_link.h and linux/pkt_sched.h.
_ERROR, _NEW_LINK, _NEW_QDISC, _NEW_FILTER = 2, 16, 36, 44
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_LINK_INFO, _INFO_KIND, _TC_KIND, _TC_OPTIONS = 18, 1, 1, 2
_ROOT = 0xFFFFFFFF
_IPV4 = 0x0008  # ETH_P_IP in network order, as a filter's protocol


class Kernel:
    """A connection to the kernel's configuration of links and disciplines."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.socket.settimeout(5.0)
        self.count = 0

    def ask(self, kind: int, body: bytes) -> int:
        """Send one request and return the kernel's error number; 0 for none."""
        self.count += 1
        flags = _REQUEST | _ACK | _CREATE | _EXCLUSIVE
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind, flags, self.count, 0) + body)
        while True:
            answer = self.socket.recv(65536)
            _, answered, _, number, _ = struct.unpack_from("=IHHII", answer)
            if answered == _ERROR and number == self.count:
                (code,) = struct.unpack_from("=i", answer, 16)
                return -int(code)

    def link(self, kind: str) -> int:
        """Add a pair of links."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _part(_LINK_INFO, _part(_INFO_KIND, _text(kind)))
        return self.ask(_NEW_LINK, body)

    def qdisc(self, kind: str, handle: int, options: bytes = b"") -> int:
        """Add a discipline to `lo`, with few or no options: what counts is whether its kind is known."""
        body = struct.pack("=BxxxiIII", 0, 1, handle, _ROOT, 0) + _part(_TC_KIND, _text(kind))
        return self.ask(_NEW_QDISC, body + (_part(_TC_OPTIONS, options) if options else b""))

    def filter(self, kind: str, parent: int) -> int:
        """Add a classifier to a discipline of `lo`, without options."""
        body = struct.pack("=BxxxiIII", 0, 1, 0, parent, 1 << 16 | _IPV4) + _part(_TC_KIND, _text(kind))
        return self.ask(_NEW_FILTER, body)

    def no_qdisc(self) -> None:
        """Take the discipline of `lo` away."""
        self.ask(_NEW_QDISC + 1, struct.pack("=BxxxiIII", 0, 1, 0, _ROOT, 0))


def _part(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def _text(text: str) -> bytes:
    return text.encode() + b"\0"


def enter() -> str:
    """Leave the network of this machine; return how: as `root`, or in a `user` namespace.

    Raises
    ------
    OSError
        If neither is allowed.
    """
    if _unshare(_NEW_NET) == 0:
        return "root"
    user, group = os.geteuid(), os.getegid()
    code = _unshare(_NEW_USER | _NEW_NET)
    if code != 0:
        raise OSError(code, os.strerror(code))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    return "user"


def _unshare(flags: int) -> int:
    c = ctypes.CDLL(None, use_errno=True)
    return 0 if c.unshare(flags) == 0 else ctypes.get_errno()


def lacking(names: list[str]) -> list[str]:
    """Return those of the modules' names that the kernel does not know and cannot load."""
    kernel = Kernel()
    controls = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    lacks = []
    for name in names:
        family, _, kind = name.partition("_")
        if family == "sch":
            there = kernel.qdisc(kind, 0) != errno.ENOENT
            kernel.no_qdisc()
        elif family == "cls":
            # A classifier needs a discipline with classes.
            bands = struct.pack("=i16B", 3, *[1] * 16)
            there = kernel.qdisc("prio", 0x10000, bands) == 0 and kernel.filter(kind, 0x10000) != errno.ENOENT
            kernel.no_qdisc()
        elif family == "tcp":
            there = kind in controls or _control(kind)
        else:
            there = kernel.link(name) == 0
        if not there:
            lacks.append(name)
    return lacks


def _control(kind: str) -> bool:
    """Try a congestion control on a socket, which loads its module if it may."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, kind.encode())
        except OSError as error:
            return error.errno == errno.EPERM
        return True


def main() -> None:
    """Print what was found."""
    try:
        how = enter()
        answer: dict[str, object] = {"namespace": how, "lacks": lacking(sys.argv[1:])}
    except OSError as error:
        answer = {"namespace": None, "error": error.strerror or str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
