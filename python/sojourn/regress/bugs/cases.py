"""The cases, from `cases/`: a file each, which has the name of its case.

A case is called a bug only if it contradicts a standard, the manual, or what the code itself says. What surprises and
contradicts nothing of these is in `surprises.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from sojourn.errors import refused
from sojourn.schema import Lines, Name, Number, Text, Whole, convert

PRESENT, ABSENT, CANNOT_TELL = VERDICTS = ("present", "absent", "cannot tell")
#: What a reading may be.
DROPPED, DELAY, COUNTER = KINDS = ("dropped", "mean delay", "counter")
_PACKAGE, _SUFFIX = "sojourn.regress.bugs", ".toml"

_Rate = Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,4}[km]bit\Z", extra={"rule": "a rate such as 10mbit"})]
_Script = Annotated[str, Meta(pattern=r"^[a-z0-9_]+\.pkt\Z", extra={"rule": "the name of a script"})]


class Reading(Struct, frozen=True, kw_only=True):
    """The number that is read of a play."""

    #: `dropped` (packets of a part that did not leave), `mean delay` (milliseconds in the queue, of the packets of a
    #: part that left) or `counter` (of the discipline, at the end).
    of: Literal["dropped", "mean delay", "counter"]
    #: Which part of the packets, from 1.
    part: Whole = 1
    #: The name of the counter.
    counter: Name = ""


class Part(Struct, frozen=True, kw_only=True):
    """Packets that are offered."""

    #: When the first of them are.
    at_ms: Number
    #: How many, of 1514 bytes each.
    packets: Whole
    #: So many of them are offered at one instant, and the next so much later.
    every_ms: Number = 0.0
    burst: Whole = 1


class Play(Struct, frozen=True, kw_only=True):
    """A discipline, and what is offered to it."""

    #: What is special about it.
    label: Text
    #: The discipline, as `tc` spells it.
    qdisc: Text
    #: The packets.
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
    #: When the counters are read.
    end_ms: Number
    #: What is read of it.
    reading: Reading
    #: The rate of the `tbf` above it; empty for none.
    shaped: _Rate = ""
    #: Whether RED's flags travel as `tc` sent them before iproute2 5.7.
    old_flags: bool = False
    #: What the reading is called here, if not as in the case.
    what: Text = ""


class Simulated(Struct, frozen=True, kw_only=True):
    """What the simulator has of a bug."""

    #: Which of the simulator's behaviours it is.
    label: Text
    #: Whether the bug is there.
    verdict: Literal["present", "absent", "cannot tell"]
    #: The discipline in the simulator; empty for that of the case.
    qdisc: Text = ""


class Bug(Struct, frozen=True, kw_only=True):
    """A bug."""

    #: What it is called.
    name: Name
    title: Text
    #: Where it is in the source of Linux.
    component: Text
    #: What is read, its unit, how many digits are shown behind the point, and by what a counter is multiplied.
    what: Text
    unit: Text = ""
    digits: Whole = 0
    scale: Number = 1.0
    #: What the reading must be.
    expected: Text
    #: What says so: a standard, the manual, or the code itself.
    rule: Lines
    #: Why the kernel does otherwise.
    cause: Lines
    #: Versions of Linux in which the bug was found, and in which it was not.
    seen: tuple[Text, ...]
    not_seen: tuple[Text, ...]
    #: The text for the maintainers. `{reading}` and `{kernel}` stand for what was measured.
    report: Lines
    #: The bounds of the reading; `None` for none.
    present_above: Number | None = None
    present_below: Number | None = None
    absent_above: Number | None = None
    absent_below: Number | None = None
    #: The packets. The first play shows the bug; the others show what is not to blame.
    plays: tuple[Play, ...] = field(name="play", default=())
    #: A packetdrill script in place of plays, and what its failure says when the bug is there.
    script: _Script = ""
    fails: Text = ""
    #: What the simulator has.
    simulator: tuple[Simulated, ...] = ()

    def verdict(self, value: float) -> str:
        """Return what a reading says."""
        bounds = {
            PRESENT: (self.present_above, self.present_below),
            ABSENT: (self.absent_above, self.absent_below),
        }
        for verdict, (above, below) in bounds.items():
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


class Surprise(Struct, frozen=True, kw_only=True):
    """What a kernel does otherwise than one thinks, and what contradicts no rule."""

    name: Text
    title: Text
    component: Text
    text: Lines


def named(names: Iterable[str]) -> list[Bug]:
    """Return the bugs of these names, all for none; raises `ParamError` if there is none of a name."""
    every = {bug.name: bug for bug in bugs()}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in every:
            raise refused(name, "bug", f"must be one of {', '.join(every)}")
    return [every[name] for name in wanted] if wanted else list(every.values())


@cache
def bugs() -> tuple[Bug, ...]:
    """Return all bugs, by name."""
    every = (file.name for file in files(_PACKAGE).joinpath("cases").iterdir() if file.name.endswith(_SUFFIX))
    return tuple(_bug(name.removesuffix(_SUFFIX)) for name in sorted(every))


@cache
def surprises() -> tuple[Surprise, ...]:
    """Return what surprises and is no bug."""
    name = "surprises.toml"
    found = convert(_read(name)["surprise"], tuple[Surprise, ...], name)
    return tuple(replace(one, text=_flow(one.text)) for one in found)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(_PACKAGE).joinpath(name).read_text(encoding="utf-8"))


def _bug(name: str) -> Bug:
    file = f"cases/{name}{_SUFFIX}"
    plain = _read(file) | {"name": name}
    if "reading" in plain:
        plain["play"] = [{"reading": plain["reading"]} | play for play in plain.get("play", [])]
    bug = convert(plain, Bug, file)
    return replace(bug, rule=_flow(bug.rule), cause=_flow(bug.cause))


def _flow(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())
