"""The queue disciplines of a validation: a name, and a tc text for each direction's rate.

The grid's own seven are those of seed 000's Table 1 with the *current* kernel's behaviour, which is what there is to
compare with: the presets `gbw:*` without their `variant linux-3.14`. Two of them need a word more. `pfifo_fast` is a
plain `pfifo` of the same limit. `fq_nocodel` has `drop_batch 1`, because that kernel dropped one packet at an overflow,
and today's drops up to 64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn import _native
from sojourn.errors import ParamError, refused
from sojourn.kernel.cache import version_key
from sojourn.scenario import Scenario, Tcp

#: Of the presets, whose kernel is not the one that is compared with.
_OLD_KERNEL = " variant linux-3.14"
_VARIANT = "variant"
#: Of presets with the behaviour of ns-2, which no kernel has.
_OF_NS2 = "_ns2"
_PRESETS = ("gbw:", "rural:")
#: Kinds that behave otherwise from a version of Linux on, and the variant of the simulator that does so, too. fq has
#: bands from 6.8 on, and a packet that need not wait passes its flows by.
_SINCE = {"fq": ((6, 8), "linux-7.3")}
#: The same of TCP: its receiver (docs/lab/tcp.md).
_TCP_SINCE = ((7, 3), "linux-7.3")
#: Between a discipline and those below it.
_BELOW = " ; "


@dataclass(frozen=True, kw_only=True)
class Discipline:
    """One discipline of a grid."""

    #: What it is called in tables and figures.
    name: str
    #: From the rate of its link, in bit/s, to its tc text.
    at: Callable[[int], str]


def table_1() -> tuple[Discipline, ...]:
    """Return the seven disciplines of seed 000's Table 1, as the current kernel has them."""
    return (
        Discipline(name="pfifo", at=lambda rate: preset("gbw:pfifo_fast", rate).replace("pfifo_fast", "pfifo")),
        *(_table_1(name) for name in ("ared", "pie", "codel", "sfq", "fq_codel")),
        Discipline(name="fq_nocodel", at=lambda rate: f"{preset('gbw:fq_nocodel', rate)} drop_batch 1"),
    )


def preset(name: str, rate_bps: int) -> str:
    """Return what a preset says at a rate, without the old kernel's variant.

    Raises `ParamError` if there is no such preset.
    """
    return _native.expand_qdisc(name, rate_bps).removesuffix(_OLD_KERNEL)


def named_disciplines(texts: Sequence[str]) -> tuple[Discipline, ...]:
    """Return the disciplines that were asked for: tc texts, or presets, which are resolved for each link.

    Raises
    ------
    ParamError
        If one is named twice or names a variant, which a kernel cannot have. Whether it is one at all is found out
        when its scenario is checked.
    """
    for number, text in enumerate(texts):
        if text in texts[:number]:
            message = f"qdisc is {text!r} twice, but each discipline must be named once"
            raise ParamError(message)
        if _VARIANT in text.split():
            raise refused(text, "qdisc", "the kernel has no variant but its own: leave the word away")
        if text.startswith(_PRESETS) and text.endswith(_OF_NS2):
            raise refused(text, "qdisc", f"the kernel has no variant ns2: leave {_OF_NS2} away")
    return tuple(_one(text) for text in texts)


def as_in(scenario: Scenario, release: str) -> Scenario:
    """Return the scenario whose disciplines and TCP behave in the simulator as in a kernel of this release.

    `release` is as `uname -r` says it. A variant that the scenario names stays.
    """
    up, down = (
        _text_in(text, release) if isinstance(text, str) else text for text in (scenario.qdisc_up, scenario.qdisc_down)
    )
    tcp, (version, variant) = scenario.tcp, _TCP_SINCE
    if version_key(release) >= version and (tcp is None or tcp.variant is None):
        tcp = dataclasses.replace(tcp or Tcp(), variant=variant)
    return dataclasses.replace(scenario, qdisc_up=up, qdisc_down=down, tcp=tcp)


def _text_in(text: str, release: str) -> str:
    parts = text.split(_BELOW)
    for place, part in enumerate(parts):
        words = part.split()
        # What is below another begins with `qdisc parent CLASS`.
        kind = words[3] if words[:2] == ["qdisc", "parent"] and len(words) > 3 else words[0] if words else ""
        version, variant = _SINCE.get(kind, ((), ""))
        if variant and version_key(release) >= version and _VARIANT not in words:
            parts[place] = f"{part} {_VARIANT} {variant}"
    return _BELOW.join(parts)


def _table_1(name: str) -> Discipline:
    return Discipline(name=name, at=lambda rate: preset(f"gbw:{name}", rate))


def _one(text: str) -> Discipline:
    if text.startswith(_PRESETS):
        return Discipline(name=text, at=lambda rate: preset(text, rate))
    return Discipline(name=text, at=lambda _: text)
