"""A server that sends as many bytes over QUIC as it is asked for, and a client: `serve PORT`, `HOST PORT BYTES`."""

import asyncio
import datetime
import ssl
import sys
import tempfile
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PROTOCOL = ["count"]


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate that holds for a day around now, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    draft = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    certificate, secret = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(draft.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    kind = serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, kind, plain))
    return certificate, secret


class Server(QuicConnectionProtocol):
    """Answers the number in a stream by so many bytes."""

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer."""
        if isinstance(event, StreamDataReceived) and event.data:
            self._quic.send_stream_data(event.stream_id, bytes(int(event.data)), end_stream=True)
            self.transmit()


async def answer(port: int) -> None:
    """Serve for good."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=PROTOCOL)
    with tempfile.TemporaryDirectory() as folder:
        configuration.load_cert_chain(*make_certificate(Path(folder)))
    await serve("0.0.0.0", port, configuration=configuration, create_protocol=Server)
    await asyncio.Event().wait()


async def ask(host: str, port: int, count: str) -> None:
    """Ask for so many bytes, and count them."""
    began, total = time.monotonic(), 0
    configuration = QuicConfiguration(alpn_protocols=PROTOCOL, verify_mode=ssl.CERT_NONE)
    async with connect(host, port, configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write(count.encode())
        writer.write_eof()
        while data := await reader.read(65536):
            total += len(data)
    print(f"{total} bytes in {time.monotonic() - began:.6f} s")


if __name__ == "__main__":
    asyncio.run(answer(int(sys.argv[2])) if sys.argv[1] == "serve" else ask(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
