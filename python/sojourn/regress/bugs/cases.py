"""The cases, from `cases/`: a file each, which has the name of its case.

A case is called a bug only if it contradicts a standard, the manual, or what the code itself says. What surprises and
contradicts nothing of these is in `surprises.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sojourn import shape
from sojourn.errors import ParamError

PRESENT, ABSENT, CANNOT_TELL = VERDICTS = ("present", "absent", "cannot tell")
#: What a reading may be.
DROPPED, DELAY, COUNTER = KINDS = ("dropped", "mean delay", "counter")
_PACKAGE, _SUFFIX = "sojourn.regress.bugs", ".toml"

_RATE = shape.spelled(r"[1-9][0-9]{0,4}[km]bit", "a rate such as 10mbit")
_PART = shape.record({"at_ms": shape.number, "packets": shape.whole}, {"every_ms": shape.number, "burst": shape.whole})
_READING = shape.record({"of": shape.one_of(*KINDS)}, {"part": shape.whole, "counter": shape.name})
_PLAY = shape.record(
    {"label": shape.text, "qdisc": shape.text, "end_ms": shape.number, "parts": shape.list_of(_PART, least=1)},
    {"shaped": _RATE, "old_flags": shape.flag, "reading": _READING, "what": shape.text},
)
_SIMULATED = shape.record({"label": shape.text, "verdict": shape.one_of(*VERDICTS)}, {"qdisc": shape.text})
_BUG = shape.record(
    {
        "title": shape.text,
        "component": shape.text,
        "what": shape.text,
        "expected": shape.text,
        "rule": shape.lines,
        "cause": shape.lines,
        "seen": shape.list_of(shape.text),
        "not_seen": shape.list_of(shape.text),
        "report": shape.lines,
    },
    {
        "unit": shape.text,
        "digits": shape.whole,
        "scale": shape.number,
        "present_above": shape.number,
        "present_below": shape.number,
        "absent_above": shape.number,
        "absent_below": shape.number,
        "reading": _READING,
        "play": shape.list_of(_PLAY, least=1),
        "script": shape.spelled(r"[a-z0-9_]+\.pkt", "the name of a script"),
        "fails": shape.text,
        "simulator": shape.list_of(_SIMULATED),
    },
)
_SURPRISES = shape.record(
    {
        "surprise": shape.list_of(
            shape.record({"name": shape.text, "title": shape.text, "component": shape.text, "text": shape.lines})
        )
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The number that is read of a play.

    Attributes
    ----------
    of
        `dropped` (packets of a part that did not leave), `mean delay` (milliseconds in the queue, of the packets of a
        part that left) or `counter` (of the discipline, at the end).
    part
        Which part of the packets, from 1.
    counter
        The name of the counter.
    """

    of: str
    part: int = 1
    counter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Packets that are offered.

    Attributes
    ----------
    at_ms
        When the first of them are.
    packets
        How many, of 1514 bytes each.
    every_ms, burst
        So many of them are offered at one instant, and the next so much later.
    """

    at_ms: float
    packets: int
    every_ms: float = 0.0
    burst: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A discipline, and what is offered to it.

    Attributes
    ----------
    label
        What is special about it.
    qdisc
        The discipline, as `tc` spells it.
    shaped
        The rate of the `tbf` above it; empty for none.
    parts
        The packets.
    end_ms
        When the counters are read.
    old_flags
        Whether RED's flags travel as `tc` sent them before iproute2 5.7.
    reading
        What is read of it.
    what
        What the reading is called here, if not as in the case.
    """

    label: str
    qdisc: str
    parts: tuple[Part, ...]
    end_ms: float
    reading: Reading
    shaped: str = ""
    old_flags: bool = False
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What the simulator has of a bug.

    Attributes
    ----------
    label
        Which of the simulator's behaviours it is.
    verdict
        Whether the bug is there.
    qdisc
        The discipline in the simulator; empty for that of the case.
    """

    label: str
    verdict: str
    qdisc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A bug.

    Attributes
    ----------
    name, title
        What it is called.
    component
        Where it is in the source of Linux.
    what, unit, digits, scale
        What is read, its unit, how many digits are shown behind the point, and by what a counter is multiplied.
    expected
        What the reading must be.
    rule
        What says so: a standard, the manual, or the code itself.
    cause
        Why the kernel does otherwise.
    seen, not_seen
        Versions of Linux in which the bug was found, and in which it was not.
    report
        The text for the maintainers. `{reading}` and `{kernel}` stand for what was measured.
    above, below
        For `present` and for `absent`, the bounds of the reading; `None` for none.
    plays
        The packets. The first play shows the bug; the others show what is not to blame.
    script, fails
        A packetdrill script in place of plays, and what its failure says when the bug is there.
    simulator
        What the simulator has.
    """

    name: str
    title: str
    component: str
    what: str
    expected: str
    rule: str
    cause: str
    seen: tuple[str, ...]
    not_seen: tuple[str, ...]
    report: str
    unit: str = ""
    digits: int = 0
    scale: float = 1.0
    above: dict[str, float | None]
    below: dict[str, float | None]
    plays: tuple[Play, ...] = ()
    script: str = ""
    fails: str = ""
    simulator: tuple[Simulated, ...] = ()

    def verdict(self, value: float) -> str:
        """Return what a reading says."""
        for verdict in (PRESENT, ABSENT):
            above, below = self.above[verdict], self.below[verdict]
            if (above, below) != (None, None) and not (
                (above is not None and value <= above) or (below is not None and value >= below)
            ):
                return verdict
        return CANNOT_TELL

    def shown(self, value: float) -> str:
        """Return a reading with its unit."""
        return f"{value:.{self.digits}f} {self.unit}".rstrip()

    def script_text(self) -> str:
        """Return its packetdrill script."""
        return files(_PACKAGE).joinpath("scripts", self.script).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """What a kernel does otherwise than one thinks, and what contradicts no rule."""

    name: str
    title: str
    component: str
    text: str


def named(names: Iterable[str]) -> list[Bug]:
    """Return the bugs of these names, all for none.

    Raises
    ------
    ParamError
        If there is none of a name.
    """
    every = {bug.name: bug for bug in bugs()}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in every:
            message = f"bug is {name!r}, but must be one of {', '.join(every)}"
            raise ParamError(message)
    return [every[name] for name in wanted] if wanted else list(every.values())


@cache
def bugs() -> tuple[Bug, ...]:
    """Return all bugs, by name."""
    every = (file.name for file in files(_PACKAGE).joinpath("cases").iterdir() if file.name.endswith(_SUFFIX))
    return tuple(_bug(name.removesuffix(_SUFFIX), _read(f"cases/{name}", _BUG)) for name in sorted(every))


@cache
def surprises() -> tuple[Surprise, ...]:
    """Return what surprises and is no bug."""
    found = _read("surprises.toml", _SURPRISES)["surprise"]
    return tuple(Surprise(**plain | {"text": _flow(plain["text"])}) for plain in found)


def _read(name: str, check: shape.Check) -> dict[str, Any]:
    found = tomllib.loads(files(_PACKAGE).joinpath(name).read_text(encoding="utf-8"))
    check(found, name)
    return found


def _bug(name: str, plain: dict[str, Any]) -> Bug:
    plain = dict(plain)
    reading = plain.pop("reading", None)
    above = {verdict: plain.pop(f"{verdict}_above", None) for verdict in (PRESENT, ABSENT)}
    below = {verdict: plain.pop(f"{verdict}_below", None) for verdict in (PRESENT, ABSENT)}
    plays = tuple(_play(one, reading) for one in plain.pop("play", ()))
    simulator = tuple(Simulated(**one) for one in plain.pop("simulator", ()))
    for key in ("rule", "cause"):
        plain[key] = _flow(plain[key])
    for key in ("seen", "not_seen"):
        plain[key] = tuple(plain[key])
    return Bug(name=name, above=above, below=below, plays=plays, simulator=simulator, **plain)


def _play(plain: dict[str, Any], reading: dict[str, Any] | None) -> Play:
    plain = dict(plain)
    own = plain.pop("reading", reading)
    parts = tuple(Part(**one) for one in plain.pop("parts"))
    return Play(parts=parts, reading=Reading(**own), **plain)


def _flow(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())
