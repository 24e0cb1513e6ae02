"""A transport of the tests: datagrams with numbers, each acknowledged, and a window that is halved on a loss.

`test_stacks.py` writes copies of this file in which FAULT says what is wrong with the transport.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

FAULT = ""
SIZE, LEAST, TIMEOUT = 1200, 10.0, 1_000_000_000


class End:
    """Both ends: what its application makes is sent, and what comes is acknowledged."""

    def __init__(self) -> None:
        self.unsent, self.next, self.heard = 0, 0, 0
        self.under_way: dict[int, int] = {}
        self.window, self.lost, self.received = LEAST, 0, 0
        self.acks: deque[bytes] = deque()

    def on_datagram(self, data: bytes, ecn: int, now: int) -> None:  # noqa: ARG002
        number = int.from_bytes(data[:8], "little")
        if len(data) == SIZE:
            self.received += SIZE
            self.acks.append(data[:8])
        elif number in self.under_way:
            del self.under_way[number]
            self.heard = now
            overtaken = [one for one in self.under_way if one + 3 <= number]
            self.lose(overtaken)
            if overtaken:
                self.window = max(self.window / 2, LEAST)
            elif FAULT == "idle growth" or self.unsent >= SIZE:
                self.window += 1 / self.window

    def lose(self, numbers: list[int]) -> None:
        for number in numbers:
            del self.under_way[number]
        self.lost += len(numbers)
        self.unsent += len(numbers) * SIZE

    def poll_transmit(self, now: int) -> bytes | None:
        if FAULT == "silent":
            return None
        if self.acks:
            return self.acks.popleft()
        if self.unsent < SIZE or len(self.under_way) >= self.window:
            return None
        self.unsent -= SIZE
        self.next += 1
        if FAULT == "clock" and time.monotonic_ns() % 2:
            self.next += 1
            return bytes(100)
        self.under_way[self.next] = now
        return self.next.to_bytes(8, "little") + bytes({"long": 65_499, "empty": 0}.get(FAULT, SIZE - 8))

    def poll_timeout(self) -> int | None:
        if FAULT == "past timer":
            return 0
        return max(self.heard, next(iter(self.under_way.values()))) + TIMEOUT if self.under_way else None

    def on_timeout(self, now: int) -> None:
        if FAULT == "raises" and now:
            message = "out of order"
            raise RuntimeError(message)
        due = self.poll_timeout()
        if due is not None and due <= now:
            self.lose(list(self.under_way))
            self.window = LEAST

    def on_application(self, made: int | None, closes: bool, stops: bool, now: int) -> None:  # noqa: ARG002, FBT001
        self.unsent = 1 << 62 if made is None else self.unsent + made

    def report(self) -> dict[str, Any]:
        return {"delivered": self.received, "window": int(self.window * SIZE), "datagram": SIZE, "lost": self.lost}


class Window:
    """The transport."""

    version = "window 1"
    controls = ("reno",)

    def open(self, *, seed: int, control: str | None, streams: int) -> tuple[End, End]:  # noqa: ARG002
        return End(), End()


STACKS = {"window": Window()}
