"""Connections that have not shown the token: few at a time, and each for a short time.

Any program on this machine can connect. Without a bound, silent connections take all descriptors of the server, and its
owner gets no answer.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

#: How many there may be; one more ends the oldest.
MOST = 64
#: How long one may last, in all that it asks.
MOST_S = 10.0
#: Connections that are taken at once. With those that are being ended there are well below 256, a usual limit.
BACKLOG = 32

Address = tuple[str, int]


class Guests:
    """The connections, the oldest first."""

    def __init__(self) -> None:
        self._there: dict[Address, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def protocol(self) -> type[asyncio.Protocol]:
        """Return what speaks HTTP and counts its connections here."""
        guests = self

        class Counted(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                if self.client is not None:
                    guests._came(self.client, transport)

            def connection_lost(self, exc: Exception | None) -> None:
                guests.leave(self.client)
                super().connection_lost(exc)

        return Counted

    def _came(self, client: Address, transport: asyncio.Transport) -> None:
        while len(self._there) >= MOST:
            oldest = next(iter(self._there))
            self._there[oldest][0].abort()
            self.leave(oldest)
        ends = asyncio.get_running_loop().call_later(MOST_S, transport.abort)
        self._there[client] = (transport, ends)

    def leave(self, client: Address | None) -> None:
        """Bound a connection no more: it has shown the token, or has ended."""
        if client is not None and client in self._there:
            self._there.pop(client)[1].cancel()
