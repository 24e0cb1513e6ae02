"""A measurement as a file: what a guest left, to the bit, with a check sum over all of it.

    sojourn-measurement/1 SHA256
    {"name": ..., "wall_s": ..., "peak_rss_mb": ..., "measured": BYTES, "packets": BYTES, "columns": true}
    measured.json and the frames, each compressed by zlib

A frame has 24 bytes (`sojourn_bed::Watched`): when, a hash that tells it from others, its length, whose it is. They
are written as columns, and times as differences, which takes a quarter to two fifths less room than zlib alone. What is
no whole number of such frames is compressed as it is; nothing depends on what the bytes mean.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import NoReturn

import msgspec
from msgspec import Struct

from sojourn import bounded, schema
from sojourn.backends.linux.guest import Answer
from sojourn.backends.linux.guest_inputs import FORMAT
from sojourn.errors import SojournError
from sojourn.schema import Number, Whole

_FRAME = 24
_LEVEL = 6
#: Most bytes of a part when unpacked: hours of a fast link are less than that.
_MOST = 1 << 29


class _Facts(Struct, frozen=True):
    name: str
    wall_s: Number
    peak_rss_mb: Number
    measured: Whole
    packets: Whole
    columns: bool


def encode(name: str, answer: Answer) -> bytes:
    """Return the file of a measurement."""
    columns = len(answer.packets) % _FRAME == 0
    measured = zlib.compress(answer.measured.encode(), _LEVEL)
    packets = zlib.compress(_to_columns(answer.packets) if columns else answer.packets, _LEVEL)
    facts = _Facts(name, answer.wall_s, answer.peak_rss_mb, len(measured), len(packets), columns)
    rest = json.dumps(msgspec.to_builtins(facts)).encode() + b"\n" + measured + packets
    return f"{FORMAT} {hashlib.sha256(rest).hexdigest()}\n".encode() + rest


def decode(name: str, data: bytes) -> Answer | None:
    """Return the measurement of this name, or `None` if the file is damaged, of another name or of another format."""
    begin, _, rest = data.partition(b"\n")
    if begin != f"{FORMAT} {hashlib.sha256(rest).hexdigest()}".encode():
        return None
    line, _, body = rest.partition(b"\n")
    try:
        facts = schema.convert(bounded.parse_json(line, _refuse), _Facts)
        size = facts.measured
        if facts.name != name or len(body) != size + facts.packets:
            return None
        most = int(min(_MOST, bounded.free_memory() / 4))
        measured, packets = (bounded.unpack_zlib(part, most) for part in (body[:size], body[size:]))
        if measured is None or packets is None:
            return None
        return Answer(
            measured=measured.decode(),
            packets=_from_columns(packets) if facts.columns else packets,
            wall_s=facts.wall_s,
            peak_rss_mb=facts.peak_rss_mb,
        )
    except (SojournError, ValueError, KeyError, TypeError, OverflowError):
        return None


def _refuse(why: str) -> NoReturn:
    raise SojournError(why)


def _to_columns(packets: bytes) -> bytes:
    """Return times, less the one before each, then hashes, then the rest, a byte of all frames at a time."""
    import numpy as np

    frames = np.frombuffer(packets, np.uint8).reshape(-1, _FRAME)
    times = np.ascontiguousarray(frames[:, :8]).view("<u8").ravel()
    steps = times.copy()
    steps[1:] -= times[:-1]
    parts = (steps.view(np.uint8).reshape(-1, 8).T, frames[:, 8:16], frames[:, 16:].T)
    return b"".join(part.tobytes() for part in parts)


def _from_columns(columns: bytes) -> bytes:
    import numpy as np

    number = len(columns) // _FRAME
    parts = np.frombuffer(columns, np.uint8).reshape(3, number * 8)
    steps = np.ascontiguousarray(parts[0].reshape(8, number).T).view("<u8").ravel()
    times = np.cumsum(steps, dtype="<u8")
    rows = (times.view(np.uint8).reshape(number, 8), parts[1].reshape(number, 8), parts[2].reshape(8, number).T)
    return np.concatenate(rows, axis=1).tobytes()
