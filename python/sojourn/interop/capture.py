"""Runs with a packet capture: pcapng, as if tcpdump had run at points of the path."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from sojourn import _native
from sojourn.errors import SojournError
from sojourn.files import check_target, sync
from sojourn.interop.clock import epoch_ns
from sojourn.scenario import Scenario

#: The interfaces of both routers to the bottleneck.
DEFAULT_POINTS = ("up-bottleneck", "down-bottleneck")

#: Bytes kept of each frame: all headers (at most 94 bytes) and a little of the payload, which is zeros anyway.
DEFAULT_SNAPLEN = 128


def run(
    scenario: Scenario,
    path: Path,
    *,
    points: Sequence[str] = DEFAULT_POINTS,
    snaplen: int = DEFAULT_SNAPLEN,
    force: bool = False,
) -> str:
    """Run a scenario, write its capture and return its record, which is the same as without.

    Raises `ParamError` if a value is refused, or the file is there, and `SojournError` if the file cannot be written.

    - `path`: where the capture goes; it is there once it is whole.
    - `points`: some of `client`, `up-bottleneck`, `down-bottleneck`, `server`; each becomes an interface of the file.
    - `snaplen`: bytes kept of each frame, 96 to 262144.
    - `force`: whether a file that is there is replaced.
    """
    check_target(path, "pcap", force=force)
    text = scenario.normalized()
    epoch = epoch_ns(json.loads(text))
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            record = _native.run_captured(text, partial, list(points), snaplen, epoch)
            sync(partial)
            partial.replace(path)
            sync(path.parent)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        # The compiled part's errors say their number a second time.
        reason = os.strerror(error.errno) if error.errno else str(error)
        message = f"{path} cannot be written: {reason}"
        raise SojournError(message) from error
    return record
