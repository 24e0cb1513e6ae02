"""Transports of your own as flows of the simulator: what one that is written in Python looks like.

A file with a name for each of its stacks,

    STACKS = {"mine": Mine()}

is what `--stacks FILE.py` takes. `examples/aioquic_stack.py` is a whole one. All times are virtual, in nanoseconds.
Whatever is random in a stack must come from the seed; then a run repeats to the byte.
"""

from __future__ import annotations

from typing import Protocol, TypedDict


class Report(TypedDict, total=False):
    """What an end knows of itself, for the record; what is left out is not known."""

    #: Payload that has arrived and was read, bytes.
    delivered: int
    #: Congestion window, and what is under way, bytes.
    window: int | None
    in_flight: int | None
    #: Largest payload of a datagram, bytes: in such units a record has windows.
    datagram: int
    #: Smoothed round-trip time, ns.
    srtt_ns: int | None
    #: Packets that it took for lost, and probe time-outs.
    lost: int
    timeouts: int
    #: Why the conversation ended early.
    error: str | None


class Agent(Protocol):
    """One end of a connection. It opens no socket and reads no clock; the simulator calls it.

    After each call the simulator takes datagrams until there is none, and then asks for the next timer.
    """

    def on_datagram(self, data: bytes, ecn: int, now: int) -> None:
        """Take a datagram that has arrived, with the codepoint of its ECN field (0 to 3)."""

    def poll_transmit(self, now: int) -> bytes | tuple[bytes, int] | None:
        """Return the next datagram to send now, with its ECN codepoint if it is not 0; `None` if there is none."""

    def poll_timeout(self) -> int | None:
        """Return when `on_timeout` is to be called; `None` for never. It must be later than the last one."""

    def on_timeout(self, now: int) -> None:
        """Start the conversation, or go on, because the time of `poll_timeout` has come."""

    def on_application(self, made: int | None, closes: bool, stops: bool, now: int) -> None:  # noqa: FBT001
        """Take bytes to send from the application of the opener.

        - `made`: how many more; `None` for more than can be sent.
        - `closes`: there are no more.
        - `stops`: the connection is given up.
        """

    def report(self) -> Report:
        """Return what this end knows of itself."""


class Stack(Protocol):
    """A transport."""

    #: Of what it is made, such as `"aioquic 1.3"`.
    version: str
    #: The congestion controls that it can be told to use, by the names of `sojourn list`.
    controls: tuple[str, ...]

    def open(self, *, seed: int, control: str | None, streams: int) -> tuple[Agent, Agent]:
        """Return the end that opens a connection and sends, and the one that reads.

        - `seed`: whatever is random comes from this.
        - `control`: one of `controls`; `None` for its own default.
        - `streams`: over how many streams the application sends.
        """
