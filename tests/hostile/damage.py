"""Damage to files: by the byte, by the value, and by the line."""

from __future__ import annotations

import copy
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from tests.hostile.values import JSON_TEXTS, JSON_VALUES, TOML_VALUES


def bytes_of(data: bytes, rng: Random) -> bytes:
    """Return data with a few bytes changed, taken out, put in or moved."""
    spoiled = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(spoiled) + 1)
        length = rng.choice((1, 1, 2, 4, 8, 64))
        match rng.randrange(7):
            case 0 if at < len(spoiled):
                spoiled[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(spoiled):
                spoiled[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            case 2:
                del spoiled[at : at + length]
            case 3:
                spoiled[at:at] = rng.randbytes(length)
            case 4:
                spoiled[at:at] = spoiled[at : at + length]
            case 5:
                spoiled[at : at + length] = b"\xff" * length
            case _:
                del spoiled[at if rng.random() < 0.2 else max(at, len(spoiled) - length) :]
    return bytes(spoiled)


def json_of(text: str, rng: Random) -> bytes:
    """Return a JSON text with a few of its values changed, renamed or gone."""
    body = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        places = list(_places(body))
        if not places:
            break
        holder, key = rng.choice(places)
        match rng.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(("", "x", "name", "a\x1b[31m"))] = holder.pop(key)
            case 2 if isinstance(holder, list):
                holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
            case 3:
                other, from_key = rng.choice(places)
                holder[key] = json.loads(json.dumps(other[from_key])) if _has(other, from_key) else None
            case _:
                holder[key] = copy.deepcopy(rng.choice(JSON_VALUES))
    spoiled = json.dumps(body)
    if rng.random() < 0.15:
        spoiled = _token(spoiled, rng)
    data = spoiled.encode()
    return bytes_of(data, rng) if rng.random() < 0.1 else data


def means_of(text: str, rng: Random) -> bytes:
    """Return a data file of Flent whose statements of its series, and their samples, are others."""
    body = json.loads(text)
    body["version"] = rng.choice((1, 2, 3, 4))
    for _ in range(rng.choice((1, 3, 20))):
        holder = rng.choice((body["metadata"]["SERIES_META"], body["raw_values"]))
        name = rng.choice(("HTTP latency", "a UDP", *sorted(body["results"])))
        value = copy.deepcopy(rng.choice(JSON_VALUES))
        samples = [{"t": 0, "dur": 0.2, "val": value}, {"val": rng.choice((0, 1e-308, 1.5e308)), "dropped": value}]
        stated = {"MEAN_VALUE": value, "UNITS": rng.choice(("bits/s", "bytes", value)), "RAW_VALUES": samples}
        holder[name] = rng.choice((value, stated, samples, samples * 1000))
        body["results"][rng.choice(("HTTP latency", "a UDP", f"{name}::dropped"))] = [None] * len(body["x_values"])
    spoiled = json.dumps(body)
    return (_token(spoiled, rng) if rng.random() < 0.2 else spoiled).encode()


def blocks_of(data: bytes, rng: Random) -> bytes:
    """Return a capture of pcapng with packets in it that say too little of themselves, in either byte order."""
    order = rng.choice("<>")
    number = struct.Struct(order + "I").pack
    many = [rng.choice((0, 1, 7, 2**16, 2**31, 2**32 - 1)) for _ in range(5)]
    frame = rng.randbytes(4 * rng.randrange(20))
    length = number(rng.choice((len(frame), len(frame), 0, 2**32 - 4)))
    kinds = {
        1: b"".join(map(number, many[:2])) + struct.pack(order + "HHQHH", 14, 8, rng.randrange(2**64), 0, 0),
        2: b"".join(map(number, many[:3])) + length * 2 + frame,
        3: length + frame,
        6: b"".join(map(number, many[:3])) + length * 2 + frame,
        0xBAD: number(many[0]) + frame,
        0x0A0D0D0A: number(0x1A2B3C4D) + struct.pack(order + "HHq", 1, 0, -1),
        many[0]: frame,
    }
    capture = data if rng.random() < 0.7 else b""
    for block in range(rng.choice((1, 5, 50))):
        begins = block == 0 and (not capture or rng.random() < 0.8)
        kind = 0x0A0D0D0A if begins else rng.choice(sorted(kinds))
        whole = number(12 + len(kinds[kind]))
        capture += number(kind) + whole + kinds[kind] + whole
    return capture


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else isinstance(holder, list) and key < len(holder)


def _places(body: Any) -> Any:
    keys = list(body) if isinstance(body, dict) else range(len(body)) if isinstance(body, list) else ()
    for key in keys:
        yield body, key
        yield from _places(body[key])


def _token(text: str, rng: Random) -> str:
    """Put what no JSON value is in the place of a number."""
    places = [at for at, c in enumerate(text) if c.isdigit() and not text[at - 1].isalnum() and text[at - 1] != "_"]
    if not places:
        return rng.choice(JSON_TEXTS)
    at = rng.choice(places)
    end = at
    while end < len(text) and (text[end].isdigit() or text[end] in ".eE+-"):
        end += 1
    return text[:at] + rng.choice(JSON_TEXTS) + text[end:]


def toml_of(text: str, rng: Random) -> bytes:
    """Return a TOML text with a few of its lines changed, doubled, moved or gone."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        key, sign, _ = lines[at].partition("=")
        match rng.randrange(7):
            case 0 | 1 | 2 if sign:
                lines[at] = f"{key}= {rng.choice(TOML_VALUES)}"
            case 3:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 4:
                del lines[at]
                lines = lines or ["x = 1"]
            case 5:
                deep = ".".join(["a"] * rng.choice((3, 70, 3000)))
                lines.insert(
                    at, rng.choice((f"{deep} = 1", f"[{deep}]", f"[[{deep}]]", "=", "[", '"a.b".c = 1', "\x00"))
                )
            case _:
                lines[at] = (
                    f"{rng.choice(('x', 'experiment', 'duration', 'flows', 'tcp', ''))} = {rng.choice(TOML_VALUES)}"
                )
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return bytes_of(data, rng) if rng.random() < 0.15 else data


def parquet_of(run: Path, rng: Random) -> None:
    """Damage the series of a stored run, and have its `run.json` say that they are as they should be."""
    data = bytes_of((run / "series.parquet").read_bytes(), rng)
    head = json.loads((run / "run.json").read_text())
    head["stored"] |= {"bytes": len(data), "crc32": f"{crc32(data):08x}"}
    if rng.random() < 0.1:
        head["stored"]["series"]["rows"] = rng.choice((0, 1, 2**26, 2**31, 2**63, -1))
    (run / "series.parquet").write_bytes(data)
    (run / "run.json").write_text(json.dumps(head))


def file_of(path: Path, rng: Random, spoil: Callable[[str, Random], bytes]) -> None:
    """Damage a file, or put something else in its place."""
    match rng.randrange(12):
        case 0:
            path.unlink()
        case 1:
            path.unlink()
            path.mkdir()
        case 2:
            path.unlink()
            path.symlink_to(path.name)
        case 3:
            path.unlink()
            os.mkfifo(path)
        case 4:
            with path.open("r+b") as file:
                file.truncate(rng.choice((0, 1, 1 << 20, 1 << 33)))
        case 5:
            path.write_bytes(bytes_of(path.read_bytes(), rng))
        case _:
            path.write_bytes(spoil(path.read_text(), rng))
