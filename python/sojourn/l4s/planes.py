"""The planes of the atlas: two axes each, around one point that all planes share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import product

from sojourn.errors import ParamError, refused
from sojourn.l4s.cells import BOTTLENECKS, BUFFERED, CELLS
from sojourn.study.cell import Cell
from sojourn.units import RATES, TIMES

#: The point that all planes go through: the rate and RTT of an access line to a near server.
RATE_MBIT, RTT_MS, INTERVAL_MS, BUFFER_BDP = 100.0, 20.0, 0.0, 2.0


@dataclass(frozen=True, slots=True)
class Axis:
    """What varies along one side of a plane."""

    #: With its unit, for figures.
    title: str
    #: What it takes unless the user says otherwise.
    values: tuple[float, ...]
    #: Reads one value that a user wrote.
    read: Callable[[str], float]


_UNITS = TIMES | RATES | {"bdp": Decimal(1), "": Decimal(1)}


def _number(text: str, *, units: Sequence[str], least: float, most: float, whole: bool = False) -> float:
    """Read a number with its unit; `units` are what may follow it, and the bounds are in the first of them."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([a-z]*)", text.strip().lower())
    rule = f"a {'whole ' if whole else ''}number from {least:g} to {most:g}"
    rule += f" with {' or '.join(unit for unit in units if unit)}" if any(units) else ""
    if found is None or found[2] not in units:
        raise ValueError(rule)
    # A number without a unit is in the first of them.
    value = float(Decimal(found[1]) * _UNITS[found[2] or units[0]] / _UNITS[units[0]])
    if not least <= value <= most or (whole and value != int(value)):
        raise ValueError(rule)
    return value


_rate = partial(_number, units=("mbit", "kbit", "gbit"), least=0.1, most=10_000)
_time = partial(_number, units=("ms", "us", "s"), least=1, most=1000)
_burst = partial(_number, units=("ms", "us", "s", ""), least=0, most=100)
_buffer = partial(_number, units=("bdp", ""), least=0.05, most=64)
_flows = partial(_number, units=("",), least=1, most=100, whole=True)

AXES = {
    "rate": Axis("Rate (Mbit/s)", (5, 20, 100, 300, 1000), _rate),
    "rtt": Axis("Base RTT of both sides (ms)", (5, 10, 20, 50, 100, 200), _time),
    "l4s-rtt": Axis("Base RTT of the L4S side (ms)", (5, 20, 50, 100, 200), _time),
    "classic-rtt": Axis("Base RTT of the classic side (ms)", (5, 20, 50, 100, 200), _time),
    "burst": Axis("Time between bursts of the link (ms)", (0, 1, 2, 5, 10), _burst),
    "buffer": Axis("Buffer (bandwidth-delay products)", (0.25, 0.5, 1, 2, 4, 8), _buffer),
    "l4s-flows": Axis("L4S flows", (1, 2, 5, 10, 25), _flows),
    "classic-flows": Axis("Classic flows", (1, 2, 5, 10, 25), _flows),
}

#: Most values of an axis, as many as a figure of six panels shows, and most cells of a map: each is drawn at its end.
MOST_VALUES = 16
MOST_CELLS = 10_000

#: Each plane's two axes: along and up.
PLANES = {
    "rate-rtt": ("rate", "rtt"),
    "burst-rtt": ("burst", "rtt"),
    "buffer-rtt": ("buffer", "rtt"),
    "rtts": ("l4s-rtt", "classic-rtt"),
    "flows": ("l4s-flows", "classic-flows"),
}
#: The field of a cell that an axis sets; `rtt` sets two.
FIELDS = {
    "rate": ("rate_mbit",),
    "rtt": ("l4s_rtt_ms", "classic_rtt_ms"),
    "l4s-rtt": ("l4s_rtt_ms",),
    "classic-rtt": ("classic_rtt_ms",),
    "burst": ("interval_ms",),
    "buffer": ("buffer_bdp",),
    "l4s-flows": ("l4s_flows",),
    "classic-flows": ("classic_flows",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a map is of."""

    #: Senders, L4S side first.
    pairs: tuple[tuple[str, str], ...]
    #: Names.
    bottlenecks: tuple[str, ...]
    planes: tuple[str, ...]
    #: Of each axis.
    values: Mapping[str, tuple[float, ...]]

    def of(self, pair: tuple[str, str], bottleneck: str, plane: str) -> dict[tuple[float, float], Cell]:
        """Return the cells of one plane, by their places on both axes; none where the bottleneck lacks an axis."""
        along, up = PLANES[plane]
        if "buffer" in (along, up) and bottleneck not in BUFFERED:
            return {}
        base = CELLS(*pair, bottleneck, RATE_MBIT, RTT_MS, RTT_MS, INTERVAL_MS, BUFFER_BDP)
        found = {}
        for x, y in product(self.values[along], self.values[up]):
            cell = base
            for axis, value in ((along, x), (up, y)):
                kind = int if axis.endswith("flows") else float
                cell = cell.replaced(**{name: kind(value) for name in FIELDS[axis]})
            found[x, y] = cell
        return found

    def cells(self) -> list[Cell]:
        """Return all cells, each once: planes cross each other."""
        found: dict[Cell, None] = {}
        for pair, bottleneck, plane in product(self.pairs, self.bottlenecks, self.planes):
            found |= dict.fromkeys(self.of(pair, bottleneck, plane).values())
        return list(found)


def plan(
    pairs: Iterable[tuple[str, str]],
    bottlenecks: Iterable[str] | None,
    planes: Iterable[str] | None,
    axes: Iterable[str] = (),
) -> Plan:
    """Return what a user asked for.

    Raises `ParamError` if a name or a value is refused, or is there twice.

    - `bottlenecks`, `planes`: names (default: all).
    - `axes`: texts such as `"rate=10mbit,50mbit"`, in place of the values that an axis has.
    """
    values = {name: axis.values for name, axis in AXES.items()}
    seen: set[str] = set()
    for text in axes:
        name, _, rest = text.partition("=")
        if name not in AXES:
            raise refused(text, "axis", f"must be NAME=VALUE,VALUE,... with one of {', '.join(AXES)}")
        if name in seen:
            message = f"axis {name} is given twice, but must be given once"
            raise ParamError(message)
        seen.add(name)
        try:
            values[name] = tuple(AXES[name].read(part) for part in rest.split(","))
        except ValueError as error:
            raise refused(rest, f"axis {name}", f"each value must be {error}") from error
        if len(values[name]) > MOST_VALUES:
            message = f"axis {name} has {len(values[name])} values, but must have at most {MOST_VALUES}"
            raise ParamError(message)
        if len(set(values[name])) < len(values[name]):
            raise refused(rest, f"axis {name}", "each value must be there once")
    found = Plan(
        pairs=_once("pair", tuple(pairs)),
        bottlenecks=_names("bottleneck", bottlenecks, BOTTLENECKS),
        planes=_names("plane", planes, PLANES),
        values=values,
    )
    of_planes = sum(len(values[along]) * len(values[up]) for along, up in map(PLANES.__getitem__, found.planes))
    cells = len(found.pairs) * len(found.bottlenecks) * of_planes
    if cells > MOST_CELLS:
        message = f"the map has {cells} cells, but must have at most {MOST_CELLS}: name fewer pairs, planes or values"
        raise ParamError(message)
    return found


def _names(field: str, named: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    known = tuple(known)
    found = known if named is None else tuple(named)
    for name in found:
        if name not in known:
            raise refused(name, field, f"must be one of {', '.join(known)}")
    return _once(field, found)


def _once(field: str, found: tuple[object, ...]) -> tuple:  # type: ignore[type-arg]
    if len(set(found)) < len(found):
        message = f"{field} is given twice with the same value, but each must be given once"
        raise ParamError(message)
    return found
