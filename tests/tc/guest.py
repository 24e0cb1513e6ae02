"""What a kernel has after `tc` took a line, and after a message of Sojourn for the same line.

Runs in a guest: `guest.py TC LINES`. A line of `LINES` is JSON: the text, and the kind, the options in hexadecimal and
whether these are attributes, or null. A line of the answer is JSON: the options that the kernel has after each of the
two, in hexadecimal, or null where it was refused.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

NEW, DELETE, GET = 36, 37, 38
REQUEST, ACK, DUMP, CREATE, REPLACE = 0x1, 0x4, 0x300, 0x400, 0x100
ROOT, HANDLE = 0xFFFFFFFF, 0x10000
DEVICE = "d0"


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute, padded to whole words."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


class Kernel:
    """The kernel, by netlink."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))
        self.index = socket.if_nametoindex(DEVICE)

    def ask(self, kind: int, flags: int, handle: int, attributes: bytes = b"") -> list[tuple[int, bytes]]:
        """Send a request about the root discipline, and return the answers, with their types."""
        body = struct.pack("=BxxxiIII", 0, self.index, handle, ROOT, 0) + attributes
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)
        messages: list[tuple[int, bytes]] = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                length, answer = struct.unpack_from("=IH", data)
                messages.append((answer, data[16:length]))
                data = data[(length + 3) & ~3 :]
            if messages[-1][0] in (2, 3):
                return messages

    def replace(self, kind: str, options: bytes | None, *, nested: bool) -> bool:
        """Put a discipline at the root; return whether the kernel took it."""
        attributes = attribute(1, kind.encode() + b"\0")
        if options is not None:
            attributes += attribute(2 | (0x8000 if nested else 0), options)
        answers = self.ask(NEW, ACK | CREATE | REPLACE, HANDLE, attributes)
        return bool(struct.unpack_from("=i", answers[-1][1])[0] == 0)

    def has(self) -> str:
        """Return the options of the root discipline in hexadecimal, and take it away."""
        options = b""
        for answer, data in self.ask(GET, DUMP, 0):
            if answer != NEW or struct.unpack_from("=I", data, 8)[0] != HANDLE:
                continue
            at = 20
            while at + 4 <= len(data):
                length, kind = struct.unpack_from("=HH", data, at)
                if kind & 0x3FFF == 2:
                    options = data[at + 4 : at + length]
                at += (length + 3) & ~3
        self.ask(DELETE, ACK, HANDLE)
        return options.hex()


def main(tc: str, lines: Path) -> None:
    """Answer all lines."""
    kernel = Kernel()
    # `tc` computes with the clock's resolution, and is told of the device as always.
    command = [tc, "qdisc", "replace", "dev", DEVICE, "root", "handle", "1:"]
    for line in lines.read_text().splitlines():
        text, ours = json.loads(line)
        done = subprocess.run([*command, *text.split()], check=False, capture_output=True, stdin=subprocess.DEVNULL)
        by_tc = kernel.has() if done.returncode == 0 else None
        by_us = None
        if ours is not None:
            kind, options, nested = ours
            payload = None if options is None else bytes.fromhex(options)
            by_us = kernel.has() if kernel.replace(kind, payload, nested=nested) else None
        print(json.dumps([by_tc, by_us, done.stderr.decode(errors="replace")[:160]]))
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
