"""The mean of each series of a data file, as Flent's own summary prints it.

Source: the behaviour of Flent 2.3.0. It takes the first of these that is there and not 0: what the measuring program
stated at the end (`MEAN_VALUE`), or was computed from such statements, as for a sum; the mean of all samples
(`raw_values`); the mean of all points of the grid. The grid alone is no good source where samples are rare: it bridges
only short gaps, and a sum is then that of the series that have a point. Each is of the whole test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from sojourn.bounded import shown
from sojourn.bounds import Plain

#: The first version whose samples have the unit of the series.
_CONVERTED = 4


class Means:
    """What a data file states of its series, and the samples behind them.

    - `body`, `metadata`: all of it, and its metadata.
    - `refuse`: says that the file is refused, and why.
    """

    def __init__(
        self, version: int, body: Mapping[str, Plain], metadata: Mapping[str, Plain], refuse: Callable[[str], NoReturn]
    ) -> None:
        self._refuse = refuse
        stated = self._object(metadata.get("SERIES_META"), "metadata.SERIES_META")
        self._stated = {
            name: self._object(entry, f"metadata.SERIES_META[{shown(name)}]") for name, entry in stated.items()
        }
        self._raw: Mapping[str, Plain]
        if version == 1:
            self._raw = {name: entry["RAW_VALUES"] for name, entry in self._stated.items() if "RAW_VALUES" in entry}
        else:
            self._raw = self._object(body.get("raw_values"), "raw_values")
        #: Whether some values stand in units of old. Flent takes them as they are where version 1 has no samples.
        self._old = version < _CONVERTED and (version > 1 or bool(self._raw))
        self._parts: dict[str, dict[str, list[Mapping[str, Plain]]]] = {}

    def unit(self, name: str) -> Any:
        """Return what stands there as the unit of a series."""
        entry = self._stated.get(name, {})
        unit = entry.get("UNITS")
        return "Mbits/s" if self._old and unit == "bits/s" and "MEAN_VALUE" in entry else unit

    def of(self, name: str, grid: Sequence[float | None]) -> float | None:
        """Return the mean of a series.

        - `name`: of the series.
        - `grid`: its values on the grid.
        """
        return self._statement(name) or self._mean(name, list(self._samples(name))) or self._mean(name, grid)

    def _object(self, value: Plain, field: str) -> Mapping[str, Plain]:
        if value is not None and not isinstance(value, dict):
            self._refuse(f"{field} is {kind_of(value)}, but must be an object")
        return value or {}

    def _statement(self, name: str) -> float | None:
        of_series = self._stated.get(name, {})
        value = of_series.get("MEAN_VALUE")
        if value is None:
            return None
        mean = as_number(value)
        if mean is None:
            field = f"metadata.SERIES_META[{shown(name)}].MEAN_VALUE"
            self._refuse(f"{field} is {in_short(value)}, but must be a number or null")
        return mean / 1e6 if self._old and of_series.get("UNITS") == "bits/s" else mean

    def _samples(self, name: str) -> Iterator[float]:
        """Give the samples of a series: those of its name, or a part of those of the series that it belongs to."""
        key, part = name, "val"
        if key not in self._raw and "::" in name:
            key, part = name.rsplit("::", 1)
        if key not in self._raw:
            return
        parts = self._by_part(key)
        last = None
        for sample in parts.get(part, ()):
            value = sample[part]
            if value is None:
                continue
            number = as_number(value)
            if number is None:
                self._refuse(
                    f"raw_values[{shown(key)}] has the {shown(part)} {in_short(value)}, but must have numbers or null"
                )
            if self._old and part == "val" and "UDP" in key:
                # Transactions in a second.
                if "dur" in sample:
                    if number == 0:
                        continue
                    number = 1000 / number
            elif self._old and part == "val" and key == "HTTP latency":
                number *= 1000
            elif self._old and part in ("dropped", "ecn_mark") and self._counts(key):
                # Counted from the beginning.
                number, last = number - (number if last is None else last), number
            yield number

    def _counts(self, key: str) -> bool:
        samples = self._raw[key]
        assert isinstance(samples, list)
        first = samples[0]
        return "UDP" not in key and "stations" not in first and ("dropped" in first or "ecn_mark" in first)

    def _by_part(self, key: str) -> dict[str, list[Mapping[str, Plain]]]:
        """Return the samples of a series by what they have, so that none is looked at for each of many names."""
        if key not in self._parts:
            samples = self._raw[key]
            if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
                self._refuse(f"raw_values[{shown(key)}] is {kind_of(samples)}, but must be a list of objects")
            parts: dict[str, list[Mapping[str, Plain]]] = {}
            for sample in samples:
                for part in sample:
                    parts.setdefault(part, []).append(sample)
            self._parts[key] = parts
        return self._parts[key]

    def _mean(self, name: str, values: Sequence[float | None]) -> float | None:
        import numpy as np

        known = np.array([value for value in values if value is not None], dtype=np.float64)
        if not known.size:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(known.mean())
            if not math.isfinite(mean):
                # Their sum is beyond a float, which their mean may fit into.
                mean = float((known / known.size).sum())
        if not math.isfinite(mean):
            self._refuse(f"the samples of {shown(name)} have a mean that is no finite number")
        return mean


def as_number(value: Any) -> float | None:
    """Return a finite number as a float; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def kind_of(value: Any) -> str:
    """Return what a value of JSON is, in words."""
    words = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return words.get(type(value), "a number")


def in_short(value: Any) -> str:
    """Return a value of JSON in at most 60 characters."""
    text = kind_of(value) if isinstance(value, dict | list) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
