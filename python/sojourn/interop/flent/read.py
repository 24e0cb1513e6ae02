"""From one of Flent's data files to Sojourn's frames. The file may come from anyone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sojourn import bounded
from sojourn.bounded import shown
from sojourn.bounds import Plain
from sojourn.errors import SojournError
from sojourn.interop.flent.means import Means, as_number, in_short, kind_of

if TYPE_CHECKING:
    from sojourn.frame_library import pl

#: The newest version that is understood.
NEWEST = 4

#: Most bytes of a file, unpacked: hours of a test. More is taken for a bomb.
MOST_BYTES = 128 << 20
#: Most series, and most values of all of them: a test has some dozens of series and thousands of points.
MOST_SERIES = 10_000
MOST_VALUES = 10_000_000
#: Most characters of a text of the metadata, such as what a program has printed, and of the name of a series.
MOST_TEXT, MOST_NAME = 1 << 16, 1000

#: Metric and unit of a series by the beginning of its name, the first that fits.
_METRICS = (
    ("VoIP::bitrate", "voip_bitrate_kbit", "kbit/s"),
    ("VoIP::delay", "voip_delay_ms", "ms"),
    ("VoIP::induced_delay", "voip_induced_delay_ms", "ms"),
    ("VoIP::jitter", "voip_jitter_ms", "ms"),
    ("VoIP::loss", "voip_lost", "packets"),
    ("Ping (ms)", "rtt_ms", "ms"),
    ("HTTP latency", "page_fetch_ms", "ms"),
    ("TCP", "goodput_mbit", "Mbit/s"),
)
_PARTS = {"tcp_cwnd": ("cwnd_segments", "segments"), "tcp_rtt": ("tcp_rtt_ms", "ms")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a data file holds."""

    #: Of the file.
    version: int
    #: As it stands there.
    metadata: Mapping[str, Plain]
    #: Of each series.
    units: dict[str, str]
    #: Of each series over the whole test, as Flent's summary prints it; `None` where nothing was measured.
    means: dict[str, float | None]
    #: How long the measured window is; `None` if the file does not say.
    length_s: float | None
    #: All series, schema `sojourn.store.frames.SERIES_SCHEMA`. Time 0 is the beginning of the measured window
    #: (of the TCP flows), a missing value is null.
    series: pl.DataFrame

    def summary(self) -> pl.DataFrame:
        """Return statistics of each series over the measured window, in the order of the file.

        The mean is that of the whole test (`means`).
        """
        from sojourn.frame_library import pl

        value = pl.col("value")
        # In floats, 0.8 - 0.2 is a little more than 0.6.
        slack = 1e-9
        inside = pl.col("t_s") >= -slack
        if self.length_s is not None:
            inside &= pl.col("t_s") <= self.length_s + slack
        quantiles = {"median": 0.5, "p5": 0.05, "p95": 0.95, "p99": 0.99}
        columns = {"name": list(self.units), "mean": list(self.means.values()), "unit": list(self.units.values())}
        known = pl.DataFrame(columns, schema={"name": pl.String, "mean": pl.Float64, "unit": pl.String})
        return (
            self.series.filter(inside)
            .group_by("name", "metric", maintain_order=True)
            .agg(
                value.count().alias("count"),
                *(value.quantile(at, "linear").alias(name) for name, at in quantiles.items()),
                value.min().alias("min"),
                value.max().alias("max"),
            )
            .join(known, on="name", how="left", maintain_order="left")
            .select("name", "metric", "count", "mean", *quantiles, "min", "max", "unit")
        )


def read(path: Path) -> Imported:
    """Read a data file of version 1 to 4; packed with gzip, with bzip2, or plain.

    Raises `SojournError` if it cannot be read, or is not such a file; the message says why in one sentence.
    """
    body = _parse(path)
    version = _version(body, path)
    x_values = _numbers(_field(body, "x_values", list, path), "x_values", path, missing=False)
    results = _field(body, "results", dict, path)
    metadata = _field(body, "metadata", dict, path)
    if len(results) > MOST_SERIES:
        _refuse(path, f"results has {len(results)} series, but must have at most {MOST_SERIES}")
    if len(results) * len(x_values) > MOST_VALUES:
        _refuse(path, f"results has {len(results) * len(x_values)} values, but must have at most {MOST_VALUES}")
    for name, values in results.items():
        if not _is_text(name):
            _refuse(path, f"results has the name {shown(name)}, which is no text")
        if len(name) > MOST_NAME:
            _refuse(path, f"results has a name of {len(name)} characters, but each must have at most {MOST_NAME}")
        if not isinstance(values, list):
            _refuse(path, f"results[{shown(name)}] is {kind_of(values)}, but must be a list of numbers")
        if len(values) != len(x_values):
            _refuse(path, f"results[{shown(name)}] has {len(values)} values, but x_values has {len(x_values)}")
    columns = {
        name: _numbers(values, f"results[{shown(name)}]", path, missing=True) for name, values in results.items()
    }
    means = Means(version, body, metadata, lambda why: _refuse(path, why))
    length, total = (_seconds(metadata, key, path) for key in ("LENGTH", "TOTAL_LENGTH"))
    # A test with TCP flows waits before and after them, for equally long.
    wait = max(0.0, (total - length) / 2) if length is not None and total is not None else 0.0
    return Imported(
        version=version,
        metadata=metadata,
        units={name: _what(name, means)[1] for name in columns},
        means={name: means.of(name, values) for name, values in columns.items()},
        length_s=length,
        series=_frame([x - wait for x in x_values if x is not None], columns, means),
    )


def _refuse(path: Path, why: str) -> NoReturn:
    message = f"{path} is not a data file of Flent: {why}"
    raise SojournError(message)


def _parse(path: Path) -> Mapping[str, Plain]:
    def refuse(why: str) -> NoReturn:
        _refuse(path, why)

    data = bounded.read_bytes(path, MOST_BYTES)
    body = bounded.parse_json(bounded.unpack(data, MOST_BYTES, refuse), refuse, checked=False)
    if not isinstance(body, dict):
        _refuse(path, f"it is {kind_of(body)}, but must be an object")
    bounded.check_values(body.get("metadata"), lambda why: refuse(f"of metadata, {why}"), MOST_TEXT)
    return body


def _version(body: Mapping[str, Plain], path: Path) -> int:
    # The first version did not say.
    version = body.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= NEWEST:
        _refuse(path, f"version is {in_short(version)}, but must be from 1 to {NEWEST}")
    return version


def _field(body: Mapping[str, Plain], key: str, kind: type[Any], path: Path) -> Any:
    if key not in body:
        _refuse(path, f"{key} is missing")
    if not isinstance(body[key], kind):
        _refuse(path, f"{key} is {kind_of(body[key])}, but must be {'a list' if kind is list else 'an object'}")
    return body[key]


def _numbers(values: list[Any], field: str, path: Path, *, missing: bool) -> list[float | None]:
    # Most lists are plain, and looked at by the element only to name what is wrong.
    if set(map(type, values)) <= {float} and all(map(math.isfinite, values)):
        return values
    found: list[float | None] = []
    for place, value in enumerate(values):
        if value is None and missing:
            found.append(None)
            continue
        number = as_number(value)
        if number is None:
            _refuse(path, f"{field}[{place}] is {in_short(value)}, but must be a number{' or null' if missing else ''}")
        found.append(number)
    return found


def _is_text(text: str) -> bool:
    """Tell whether a string can be written; JSON can spell halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _seconds(metadata: Mapping[str, Plain], key: str, path: Path) -> float | None:
    value = metadata.get(key)
    if value is None:
        return None
    number = as_number(value)
    if number is None or number < 0:
        _refuse(path, f"metadata.{key} is {in_short(value)}, but must be a number of seconds >= 0")
    return number


def _what(name: str, means: Means) -> tuple[str, str]:
    """Return the metric and the unit of a series."""
    part = name.rsplit("::", 1)[-1]
    if part in _PARTS:
        return _PARTS[part]
    if part.startswith("tcp_"):
        return part, ""
    if name.endswith(" fairness"):
        return "jain", ""
    for begin, metric, unit in _METRICS:
        if name.startswith(begin):
            return metric, unit
    stated = means.unit(name)
    return "value", stated if isinstance(stated, str) and _is_text(stated) else ""


def _frame(times: list[float], columns: dict[str, list[float | None]], means: Means) -> pl.DataFrame:
    """Return all series in one frame, which costs what one of them does and their rows."""
    import numpy as np

    from sojourn.frame_library import pl

    number = pl.Series(np.repeat(np.arange(len(columns), dtype=np.uint32), len(times)))
    labels: dict[str, list[str | None]] = {
        "metric": [_what(name, means)[0] for name in columns],
        "name": list(columns),
        "direction": [_direction(name) for name in columns],
    }
    return pl.DataFrame(
        {
            "t_s": pl.Series(np.tile(np.array(times, dtype=np.float64), len(columns))),
            **{key: pl.Series(values, dtype=pl.String).gather(number) for key, values in labels.items()},
            "value": pl.Series(list(chain.from_iterable(columns.values())), dtype=pl.Float64),
        }
    )


def _direction(name: str) -> str | None:
    return {"TCP upload": "up", "TCP downlo": "down"}.get(name[:10])
