"""What the address of a Dask scheduler says of trust.

Dask's messages are pickles: whoever runs the scheduler, or can write into the connection to it, can run code at the
client and at the workers, as their users. `tcp://` neither encrypts nor asks who one is; `tls://` does both by
certificates, which Dask's own configuration names.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

#: Where Dask's configuration has what a client needs for `tls://`.
_TLS = ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.cert")


def warning(address: str) -> str | None:
    """Return a sentence if others on the network may take part in what is said to this scheduler."""
    scheme, host = _parts(address)
    if scheme in {"tls", "wss", "inproc"} or _is_loopback(host):
        return None
    return (
        f"dask is {address!r}: it is not encrypted, and whoever runs that scheduler or can reach it can run code here "
        "and at its workers; use tls:// unless the whole network is trusted"
    )


def lacking(address: str) -> str | None:
    """Return a sentence if the address needs certificates and Dask's configuration names none."""
    import dask

    if _parts(address)[0] != "tls":
        return None
    missing = [key for key in _TLS if not dask.config.get(key, default=None)]
    if not missing:
        return None
    names = " and ".join(f"DASK_{key.upper().replace('-', '_').replace('.', '__')}" for key in missing)
    return f"dask is {address!r}, which needs certificates, but {' and '.join(missing)} is not set: set {names}"


def _parts(address: str) -> tuple[str, str]:
    """Return scheme and host; Dask takes an address without a scheme for `tcp://`."""
    whole = address if "://" in address else f"tcp://{address}"
    try:
        found = urlsplit(whole)
    except ValueError:
        return "tcp", ""
    return found.scheme, found.hostname or ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
