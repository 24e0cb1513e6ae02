"""What a kernel has after `tc` took a line, and after a message of Sojourn for the same line.

Runs in a guest: `guest.py TC LINES`. A line of `LINES` is JSON: the text, and the kind, the options in hexadecimal,
whether these are attributes, and the messages for what is below, or null. A line of the answer is JSON: what the kernel
has after each of the two, or null where it was refused, what `tc` said of an error, and what it prints of classes and
filters.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NEW, DELETE, GET = 36, 37, 38
CLASSES, FILTERS = 42, 46
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

    def ask(self, kind: int, flags: int, handle: int, parent: int, attributes: bytes = b"") -> list[tuple[int, bytes]]:
        """Send a request about a discipline, and return the answers, with their types."""
        body = struct.pack("=BxxxiIII", 0, self.index, handle, parent, 0) + attributes
        return self.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)

    def send(self, request: bytes) -> list[tuple[int, bytes]]:
        """Send a request, and return the answers."""
        self.socket.send(request)
        messages: list[tuple[int, bytes]] = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                length, answer = struct.unpack_from("=IH", data)
                messages.append((answer, data[16:length]))
                data = data[(length + 3) & ~3 :]
            if messages[-1][0] in (2, 3):
                return messages

    def replace(self, kind: str, options: bytes | None, below: list[bytes], *, nested: bool) -> bool:
        """Put a discipline at the root, and below it what the messages say; return whether the kernel took all."""
        attributes = attribute(1, kind.encode() + b"\0")
        if options is not None:
            attributes += attribute(2 | (0x8000 if nested else 0), options)
        answers = [self.ask(NEW, ACK | CREATE | REPLACE, HANDLE, ROOT, attributes)]
        # The messages are for a device of another number.
        index = struct.pack("=i", self.index)
        answers += [self.send(message[:20] + index + message[24:]) for message in below]
        return all(struct.unpack_from("=i", answer[-1][1])[0] == 0 for answer in answers)

    def has(self, *, below: bool) -> list[list[str | int]]:
        """Return the root discipline, and its classes and filters if asked, and take all away.

        Of each: its handle, of a filter its priority and protocol, its kind, and its options in hexadecimal.
        """
        found: list[list[str | int]] = []
        for kind, parent in [(GET, 0), (CLASSES, HANDLE), (FILTERS, HANDLE)][: 3 if below else 1]:
            for _, data in self.ask(kind, DUMP, 0, parent)[:-1]:
                handle, _, info = struct.unpack_from("=III", data, 8)
                if kind == GET and handle != HANDLE:
                    continue
                attributes = dict(attributes_of(data[20:]))
                options = attributes.get(2, b"").hex()
                found.append([info if kind == FILTERS else handle, attributes[1].decode().rstrip("\0"), options])
        self.ask(DELETE, ACK, HANDLE, ROOT)
        return found


def attributes_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield attributes with their types."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += (length + 3) & ~3


def run(tc: str, statements: list[str]) -> subprocess.CompletedProcess[str]:
    """Run statements by `tc`."""
    # The clock of a usual machine. It decides about depths that are not said.
    environment = {**os.environ, "HZ": "1000000000"}
    text = "\n".join(statements) + "\n"
    return subprocess.run(
        [tc, "-d", "-batch", "-"], check=False, capture_output=True, input=text, text=True, env=environment
    )


def main(tc: str, lines: Path) -> None:
    """Answer all lines."""
    kernel = Kernel()
    for line in lines.read_text().splitlines():
        text, ours = json.loads(line)
        root, *below = text.split("\n")
        # `tc` computes with the clock's resolution, and is told of the device as always.
        done = run(tc, [f"qdisc replace dev {DEVICE} root handle 1: {root}", *below])
        shows = [f"{what} show dev {DEVICE}" for what in ("qdisc", "class", "filter")]
        printed = run(tc, shows).stdout if below and done.returncode == 0 else ""
        by_tc = kernel.has(below=bool(below))
        by_us = None
        if ours is not None:
            kind, options, nested, messages = ours
            payload = None if options is None else bytes.fromhex(options)
            took = kernel.replace(kind, payload, [bytes.fromhex(one) for one in messages], nested=nested)
            by_us = kernel.has(below=bool(below))
            by_us = by_us if took else None
        print(json.dumps([by_tc if done.returncode == 0 else None, by_us, done.stderr[:160], printed]))
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
