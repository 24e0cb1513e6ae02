"""What is searched: the parameters of each discipline, their ranges on a link, and the settings everyone knows.

All ranges are searched on a logarithmic scale. With P the time of a full-sized packet at the rate under test, L and H
the shortest and the longest RTT, and N the packets that the queue may hold:

| discipline | parameter     | range                                                                              |
|------------|---------------|------------------------------------------------------------------------------------|
| codel      | `target`      | from P / 4, at least 0.5 ms and at most 5 ms, to H, at least 100 ms                |
|            | `interval`    | from half of L or of 100 ms, whichever is less, to 3 H, at least 400 ms            |
| fq_codel   | the same, and |                                                                                    |
|            | `quantum`     | 256 to 3028 bytes (Linux takes no less than 256)                                   |
| pie        | `target`      | as codel's                                                                         |
|            | `tupdate`     | 1 ms to H, at least 100 ms                                                         |
|            | `alpha`       | 1 to 32 (sixteenths)                                                               |
|            | `beta`        | 1 to 32 (sixteenths)                                                               |
| red        | `min`         | 2 packets to N / 4 packets, in bytes                                               |
|            | `spread`      | 1.5 to 4: `max` is so many times `min`                                             |
|            | `probability` | 0.01 to 0.5                                                                        |
|            | `weight`      | 1 to 4: `burst` is so many times (2 min + max) / (3 avpkt), what tc(8) recommends  |
| sfq        | `limit`       | 8 packets to 4 N, at least 127 and at most 8064                                    |
|            | `depth`       | 4 to 127 packets, but no less than the longest `limit` over 128 queues             |
| cake       | `rtt`         | from half of L or of 50 ms, whichever is less, to 3 H, at least 300 ms             |

A candidate is rounded to three digits before it is run, so what is printed is what was run. `limit` of codel, fq_codel
and pie, and RED's in bytes, is the link's and is not searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sojourn.disciplines import MODELLED, defaults, number, times_of_preset
from sojourn.errors import ParamError, refused
from sojourn.scenario import Direction
from sojourn.tune.link import FRAME_BYTES, Link, time_text

#: The rural study's setting (seed 001 section IV), in ms.
RURAL = times_of_preset("rural:codel")

Unit = Literal["ms", "bytes", "packets", ""]

_SIGNIFICANT = 3
#: SFQ's largest depth and default number of queues; its limit must not exceed depth times queues.
_SFQ_DEPTH, _SFQ_FLOWS = 127, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A parameter that is searched, on a logarithmic scale."""

    #: As `tc` has it, or as the module's table says.
    name: str
    #: Its range, both ends included.
    low: float
    high: float
    #: Of the range.
    unit: Unit
    #: Whether it is a whole number.
    whole: bool = False

    def rounded(self, value: float) -> float:
        """Return what is run for a value: a whole number, or three digits."""
        if self.whole:
            return float(round(value))
        return float(f"{value:.{_SIGNIFICANT}g}")

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:g}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Values of all parameters, rounded."""

    #: By the name of the knob, in its unit.
    values: Mapping[str, float]
    #: The discipline as `tc` reads it.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The settings of a discipline on a link."""

    #: Its name.
    qdisc: str
    #: What is searched.
    knobs: tuple[Knob, ...]
    #: What is not, because the user has said so.
    fixed: Mapping[str, float]
    #: Packets that the queue may hold.
    limit: int

    def setting(self, values: Mapping[str, float]) -> Setting:
        """Return the setting of these values of the knobs."""
        chosen = {knob.name: knob.rounded(values[knob.name]) for knob in self.knobs} | dict(self.fixed)
        return Setting(values=chosen, text=TUNED[self.qdisc].text(self.qdisc, chosen, self.limit))

    def fixed_setting(self, values: Mapping[str, float]) -> Setting:
        """Return the setting of all these values, in the space or not."""
        return Setting(values=dict(values), text=TUNED[self.qdisc].text(self.qdisc, values, self.limit))

    def references(self) -> dict[str, Setting]:
        """Return the settings that are always among the candidates: the default one, and the rural study's."""
        known = defaults(self.qdisc)
        tuned = TUNED[self.qdisc]
        names = [name for name in tuned.known if name in known]
        found = {"default": {name: known[name] for name in names} | dict(tuned.other_defaults)}
        if RURAL.keys() <= found["default"].keys():
            found["rural"] = found["default"] | RURAL
        return {name: self.fixed_setting(values) for name, values in found.items()}

    def holds(self, setting: Setting) -> bool:
        """Tell whether a setting is in the space."""
        return all(knob.low <= setting.values.get(knob.name, math.nan) <= knob.high for knob in self.knobs) and all(
            setting.values.get(name) == value for name, value in self.fixed.items()
        )


def space(qdisc: str, link: Link, direction: Direction, request: Sequence[str] = (), backend: str = "sim") -> Space:
    """Return what is searched.

    Raises `ParamError` if the discipline or a parameter is unknown, a range is empty, or nothing is left to search.

    - `link`: whose rate, RTTs and buffer set the ranges.
    - `direction`: that under test.
    - `request`: `NAME=LOW..HIGH` searches another range of a parameter, `NAME=VALUE` fixes it; times in ms unless they
      have a unit.
    - `backend`: what is to run it.
    """
    if qdisc not in QDISCS:
        raise refused(qdisc, "qdisc", f"must be one of {', '.join(QDISCS)} to be tuned")
    if qdisc not in MODELLED and backend == "sim":
        message = f"qdisc is {qdisc!r}, which the simulator does not have: give --backend linux"
        raise ParamError(message)
    knobs = {knob.name: knob for knob in TUNED[qdisc].knobs(link, direction)}
    fixed: dict[str, float] = {}
    names: set[str] = set()
    for text in request:
        name, equals, value = text.partition("=")
        if not equals or name not in knobs:
            raise refused(text, "param", f"must be NAME=LOW..HIGH or NAME=VALUE with NAME one of {', '.join(knobs)}")
        if name in names:
            raise refused(text, "param", f"{name} was given already")
        names.add(name)
        knob = knobs[name]
        first, dots, second = value.partition("..")
        low = _number(first, knob, text)
        high = _number(second, knob, text) if dots else low
        if low > high or (dots and low == high):
            message = f"param is {text!r}, whose range is empty: its first end must be below its second"
            raise ParamError(message)
        if dots:
            knobs[name] = Knob(name=name, low=low, high=high, unit=knob.unit, whole=knob.whole)
        else:
            fixed[name] = knob.rounded(low)
    left = tuple(knob for knob in knobs.values() if knob.name not in fixed)
    if not left:
        message = f"param fixes every parameter of {qdisc}, but at least one must be left to search"
        raise ParamError(message)
    return Space(qdisc=qdisc, knobs=left, fixed=fixed, limit=link.limit)


def _codel(link: Link, direction: Direction) -> tuple[Knob, ...]:
    shortest, longest = link.rtts_ms[0], link.rtts_ms[-1]
    return (
        Knob(name="target", low=min(max(link.packet_ms(direction) / 4, 0.5), 5.0), high=max(longest, 100.0), unit="ms"),
        Knob(name="interval", low=min(shortest, 100.0) / 2, high=max(3 * longest, 400.0), unit="ms"),
    )


def _fq_codel(link: Link, direction: Direction) -> tuple[Knob, ...]:
    quantum = Knob(name="quantum", low=256, high=2 * FRAME_BYTES, unit="bytes", whole=True)
    return (*_codel(link, direction), quantum)


def _pie(link: Link, direction: Direction) -> tuple[Knob, ...]:
    return (
        _codel(link, direction)[0],
        Knob(name="tupdate", low=1.0, high=max(link.rtts_ms[-1], 100.0), unit="ms"),
        Knob(name="alpha", low=1, high=32, unit="", whole=True),
        Knob(name="beta", low=1, high=32, unit="", whole=True),
    )


def _red(link: Link, _: Direction) -> tuple[Knob, ...]:
    most = max(link.limit, 12) * FRAME_BYTES / 4
    return (
        Knob(name="min", low=2 * FRAME_BYTES, high=most, unit="bytes", whole=True),
        Knob(name="spread", low=1.5, high=4.0, unit=""),
        Knob(name="probability", low=0.01, high=0.5, unit=""),
        Knob(name="weight", low=1.0, high=4.0, unit=""),
    )


def _sfq(link: Link, _: Direction) -> tuple[Knob, ...]:
    most = min(max(4 * link.limit, _SFQ_DEPTH), _SFQ_DEPTH // 2 * _SFQ_FLOWS)
    return (
        Knob(name="limit", low=8, high=most, unit="packets", whole=True),
        Knob(name="depth", low=max(4, math.ceil(most / _SFQ_FLOWS)), high=_SFQ_DEPTH, unit="packets", whole=True),
    )


def _cake(link: Link, _: Direction) -> tuple[Knob, ...]:
    shortest, longest = link.rtts_ms[0], link.rtts_ms[-1]
    return (Knob(name="rtt", low=min(shortest, 50.0) / 2, high=max(3 * longest, 300.0), unit="ms"),)


def _number(text: str, knob: Knob, whole: str) -> float:
    value = number(text.strip())
    if value is None or (text.strip().endswith("s") and knob.unit != "ms") or value <= 0:
        kind = "a time above 0, such as 20ms" if knob.unit == "ms" else "a number above 0"
        raise refused(whole, "param", f"a value of {knob.name} must be {kind}")
    return float(round(value)) if knob.whole else value


def _plain_text(qdisc: str, values: Mapping[str, float], limit: int) -> str:
    words = [qdisc]
    if "limit" not in values and TUNED[qdisc].has_limit:
        words.append(f"limit {limit}")
    for name, value in values.items():
        is_time = name in {"target", "interval", "tupdate", "rtt"}
        words.append(f"{name} {time_text(value) if is_time else f'{value:.0f}'}")
    return " ".join(words)


def _red_text(_: str, values: Mapping[str, float], limit: int) -> str:
    buffer = max(limit, 12) * FRAME_BYTES
    most = values["min"] * values["spread"] if "min" in values else buffer / 4
    least = values.get("min", most / values["spread"])
    burst = math.ceil(values["weight"] * (2 * least + most) / (3 * FRAME_BYTES))
    return (
        f"red limit {buffer} min {least:.0f} max {most:.0f} avpkt {FRAME_BYTES} burst {burst} "
        f"probability {values['probability']:g}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """How a discipline is tuned, and set up where the answer is used."""

    #: From a link and the direction under test to what is searched.
    knobs: Callable[[Link, Direction], tuple[Knob, ...]]
    #: Its parameters among those, whose defaults are tc's and the current kernel's.
    known: tuple[str, ...] = ()
    #: What the kernel takes for the others.
    other_defaults: Mapping[str, float] = field(default_factory=dict)
    #: From its name, the values and the packets that the queue may hold to its tc text.
    text: Callable[[str, Mapping[str, float], int], str] = _plain_text
    #: Whether it has a limit of packets that is the link's.
    has_limit: bool = True
    #: Whether it has a shaper of its own; others stand below an HTB.
    shapes: bool = False
    #: That of sqm-scripts with one queue; `None` if it has not the discipline.
    sqm_script: str | None = "simplest.qos"


#: By the names of the disciplines that can be tuned. Of RED the defaults are tc's for the buffer.
TUNED: Mapping[str, Tuned] = {
    "codel": Tuned(knobs=_codel, known=("target", "interval")),
    "fq_codel": Tuned(knobs=_fq_codel, known=("target", "interval", "quantum")),
    "pie": Tuned(knobs=_pie, known=("target", "tupdate", "alpha", "beta")),
    "red": Tuned(
        knobs=_red,
        other_defaults={"spread": 3.0, "probability": 0.02, "weight": 1.0},
        text=_red_text,
        sqm_script=None,
    ),
    "sfq": Tuned(knobs=_sfq, known=("limit", "depth")),
    "cake": Tuned(
        knobs=_cake, other_defaults={"rtt": 100.0}, has_limit=False, shapes=True, sqm_script="piece_of_cake.qos"
    ),
}
QDISCS = tuple(TUNED)
