"""The queue flusher of a scenario on a kernel: the real daemon, `sojournd flush`, on an interface of a host of the bed.

Its gate is as wide as it goes, because the simulator's flusher has none: what differs should be the kernel.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from functools import cache
from pathlib import Path

from sojourn.backends.linux.job import Daemon, Place
from sojourn.backends.linux.load import FlusherPlan
from sojourn.backends.linux.topology import Network
from sojourn.errors import SojournError
from sojourn.kernel.find import Kernel

#: Where it is: the host, its interface, and the network of those that its bursts are for.
_PLACES = {
    "client": ("client", "c0", "10.0.4.0/24"),
    "router": ("r1", "r1c", "10.0.4.0/24"),
    "server": ("server", "s0", "10.0.1.0/24"),
}
#: Where the captures at the ends of the path are taken.
_ENDS = (("client", "c0"), ("server", "s0"))
#: The name of the program in a guest's folder, and where that folder is in the guest.
_NAME, _FOLDER = "sojournd", "/tmp/work"  # noqa: S108
#: The gate at its bounds; a flush is refused by nothing but the core.
_GATE = """\
bytes_per_minute = 1000000000
bytes_per_flush = 16000000
bdp_multiple = 4.0
max_rtt = "60s"
cool_down = "100ms"
max_cool_down = "100ms"
"""


def daemon() -> Path:
    """Return the daemon's program: what `SOJOURND` names, or `sojournd` with this package or on the path.

    Raises
    ------
    SojournError
        If it is not there.
    """
    override = os.environ.get("SOJOURND")
    if override:
        places = [Path(override)]
    else:
        places = [Path(__file__).parents[2] / "bin" / _NAME, Path(sys.executable).parent / _NAME]
        found = shutil.which(_NAME)
        places += [] if found is None else [Path(found)]
    for place in places:
        if os.access(place, os.X_OK):
            return place.resolve()
    message = (
        f"the daemon of the flusher is not at {places[0]}: build it (cargo build --release -p sojourn-live --features "
        "capture, which needs libpcap's development files) and name its path in SOJOURND"
    )
    raise SojournError(message)


@cache
def identity() -> str:
    """Return what names the daemon's program beside the agent's: a hash of its bytes, or nothing if it is not there."""
    try:
        return f" daemon sha256:{hashlib.sha256(daemon().read_bytes()).hexdigest()}"
    except (SojournError, OSError):
        return ""


def job(plan: FlusherPlan, kernel: Kernel, network: Network) -> tuple[Daemon, dict[str, Path]]:
    """Return the part `flusher` of a job, and what files it needs in a guest's folder.

    Parameters
    ----------
    plan
        The part `flusher` of a load plan.
    kernel
        Where it runs.
    network
        The bed.

    Raises
    ------
    SojournError
        If the daemon is not there.
    """
    host, interface, first = _PLACES[plan.at]
    other = "client" if host == "server" else "server"
    nets = [first, *(f"{net}.0/24" for net, end in network.further_nets if end.host == other)]
    allow = ", ".join(f'"{net}"' for net in nets)
    program = daemon()
    inside = kernel.kind != "host"
    made = Daemon(
        program=f"{_FOLDER}/{_NAME}" if inside else str(program),
        place=Place(host, interface),
        config=f'events = "all"\n\n[flusher]\n{plan.parameters}\n[gate]\nallow = [{allow}]\n{_GATE}',
        ends=[Place(*end) for end in _ENDS],
    )
    return made, {_NAME: program} if inside else {}
