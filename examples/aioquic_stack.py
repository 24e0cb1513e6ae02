"""aioquic as a transport of the simulator: `sojourn run bulk --stack aioquic --stacks examples/aioquic_stack.py`.

A stack of your own in Python looks like this one: two objects with the methods of `sojourn.stacks.Agent`. Packets hold
what aioquic draws from the system (keys, connection IDs), but neither their sizes nor their times depend on it.
"""

from __future__ import annotations

import datetime
import math
import ssl
from importlib.metadata import version

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

#: The other end of either end. No packet is sent there.
PEER = ("192.0.2.1", 4433)
#: So much lies in the connection's own buffer at most, bytes.
BUFFER = 1_000_000
#: Timers go off so much later, ns: aioquic has times as floats, of which the last digits are lost.
TICK = 1000


class End:
    """One end of a connection of aioquic."""

    def __init__(self, connection: QuicConnection | None, configuration: QuicConfiguration, streams: int) -> None:
        self.connection = connection
        self.configuration = configuration
        self.streams = streams
        self.started = False
        self.open: list[int] = []
        self.unsent: int | None = 0
        self.closes = False
        self.datagrams: list[bytes] = []
        self.delivered = 0
        self.error: str | None = None

    def on_datagram(self, data: bytes, ecn: int, now: int) -> None:
        """As `sojourn.stacks.Agent`."""
        if self.connection is None:  # the end that waits
            first = data[6 : 6 + data[5]]
            self.connection = QuicConnection(configuration=self.configuration, original_destination_connection_id=first)
            self.started = True
        self.connection.receive_datagram(data, PEER, now / 1e9)
        self.settle(now)

    def on_timeout(self, now: int) -> None:
        """As `sojourn.stacks.Agent`."""
        if self.connection is None:
            return
        if not self.started:
            self.started = True
            self.connection.connect(PEER, now=now / 1e9)
        elif (due := self.connection.get_timer()) is not None and due <= now / 1e9:
            self.connection.handle_timer(now=now / 1e9)
        self.settle(now)

    def on_application(self, made: int | None, closes: bool, stops: bool, now: int) -> None:  # noqa: FBT001
        """As `sojourn.stacks.Agent`."""
        self.unsent = None if made is None or self.unsent is None else self.unsent + made
        self.closes |= closes
        if stops and self.connection is not None:
            self.connection.close()
        self.settle(now)

    def settle(self, now: int) -> None:
        """Take events, write what there is room for, and take what is to be sent."""
        if self.connection is None or not self.started:
            return
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, HandshakeCompleted) and self.configuration.is_client:
                self.open = [self.connection.get_next_available_stream_id(is_unidirectional=True)]
                for _ in range(1, self.streams):
                    self.open.append(self.open[-1] + 4)
            elif isinstance(event, StreamDataReceived):
                self.delivered += len(event.data)
            elif isinstance(event, ConnectionTerminated) and event.error_code != 0:
                self.error = f"the connection is lost: {event.reason_phrase}"
        if self.open and (self.unsent is None or self.unsent > 0):
            for stream in self.open:
                sender = self.connection._streams[stream].sender if stream in self.connection._streams else None
                waiting = 0 if sender is None else len(sender._buffer)
                room = BUFFER // len(self.open) - waiting
                size = room if self.unsent is None else min(room, self.unsent)
                if size > 0:
                    self.unsent = None if self.unsent is None else self.unsent - size
                    self.connection.send_stream_data(stream, bytes(size), end_stream=self.closes and self.unsent == 0)
        self.datagrams += [data for data, _ in self.connection.datagrams_to_send(now / 1e9)]

    def poll_transmit(self, now: int) -> bytes | None:
        """As `sojourn.stacks.Agent`."""
        return self.datagrams.pop(0) if self.datagrams else None

    def poll_timeout(self) -> int | None:
        """As `sojourn.stacks.Agent`."""
        due = None if self.connection is None or not self.started else self.connection.get_timer()
        return None if due is None else math.ceil(due * 1e9) + TICK

    def report(self) -> dict[str, object]:
        """As `sojourn.stacks.Agent`."""
        if self.connection is None:
            return {"delivered": self.delivered, "error": self.error}
        loss = self.connection._loss
        return {
            "delivered": self.delivered,
            "window": loss.congestion_window,
            "in_flight": loss.bytes_in_flight,
            "datagram": self.connection._max_datagram_size,
            "srtt_ns": round(loss._rtt_smoothed * 1e9) if loss._rtt_initialized else None,
            "error": self.error,
        }


class Aioquic:
    """aioquic with its controls."""

    version = f"aioquic {version('aioquic')}"
    controls = ("reno", "cubic")

    def open(self, *, seed: int, control: str | None, streams: int) -> tuple[End, End]:  # noqa: ARG002
        """As `sojourn.stacks.Stack`; nothing in it is random that a network sees."""
        ends = []
        for is_client in (True, False):
            configuration = QuicConfiguration(
                is_client=is_client, verify_mode=ssl.CERT_NONE, congestion_control_algorithm=control or "reno"
            )
            if not is_client:
                configuration.certificate, configuration.private_key = certificate()
            connection = QuicConnection(configuration=configuration) if is_client else None
            ends.append(End(connection, configuration, streams))
        return ends[0], ends[1]


def certificate() -> tuple[x509.Certificate, Ed25519PrivateKey]:
    """Return a certificate and its key, whose signatures have the same length always."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    begin, end = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2020, 9999))
    draft = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, end)
    return draft.sign(key, None), key


STACKS = {"aioquic": Aioquic()}
