"""What can be chosen of an experiment: the link, the disciplines, the window and the seed, and options of its own.

An experiment's options are a subclass of `Options`. Its defaults are those of the fields, and a field of its own is
declared with `option`, which says how the command line shows it and what it may be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn.errors import ParamError
from sojourn.scenario import DEFAULT_DURATION, Direction, Flow, Probe, Scenario, Web

DEFAULT_CC = "cubic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """How an option of an experiment is shown, and what it may be."""

    #: What it chooses.
    help: str
    #: What stands for its value in help texts.
    metavar: str
    #: Returns the words that there are; `None` for any.
    words: Callable[[], Sequence[str]] | None = None
    #: Least and largest number; `None` for a word.
    range: tuple[int, int] | None = None


def option(
    default: int | str,
    about: str,
    *,
    words: Callable[[], Sequence[str]] | None = None,
    range: tuple[int, int] | None = None,
) -> Any:
    """Return a field of an experiment's own: a number in `range`, or one of `words`, or any word."""
    metavar = "NAME" if range is None else "N"
    return field(default=default, metadata={"option": Declared(help=about, metavar=metavar, words=words, range=range)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What every experiment takes."""

    #: Rate text.
    up: str = "10mbit"
    down: str = "10mbit"
    #: Time text.
    rtt: str = "50ms"
    #: Discipline of each direction.
    qdisc_up: str = "fq_codel"
    qdisc_down: str = "fq_codel"
    #: Congestion control of all TCP flows and web clients.
    cc: str = DEFAULT_CC
    #: Time text.
    duration: str = DEFAULT_DURATION
    #: Of all random numbers.
    seed: int = 1
    #: Whether the bottleneck never drops pure acknowledgements.
    spare_acks: bool | None = None

    def __post_init__(self) -> None:
        """Check the options of the experiment's own.

        Raises `ParamError` if a number is out of its range, or a word is none of those there are.
        """
        for name, declared in own(type(self)).items():
            value = getattr(self, name)
            shown = name.replace("_", "-")
            if declared.range is not None and not declared.range[0] <= value <= declared.range[1]:
                message = f"{shown} is {value}, but must be from {declared.range[0]} to {declared.range[1]}"
                raise ParamError(message)
            if declared.words is not None and value not in declared.words():
                message = f"{shown} is {value!r}, but must be one of {', '.join(declared.words())}"
                raise ParamError(message)

    def scenario_fields(self) -> dict[str, Any]:
        """Return the fields of a scenario that the common options are."""
        return {name: getattr(self, name) for name in SCENARIO_FIELDS}


#: The options that are fields of a scenario as they are.
SCENARIO_FIELDS = ("up", "down", "rtt", "qdisc_up", "qdisc_down", "duration", "seed", "spare_acks")


def own(options: type[Options]) -> dict[str, Declared]:
    """Return the options of an experiment's own, by name."""
    return {one.name: one.metadata["option"] for one in dataclasses.fields(options) if "option" in one.metadata}


def defaults(options: type[Options]) -> dict[str, str | int | float | bool | None]:
    """Return what an experiment does where nothing is chosen, by the option's name."""
    plain = options()
    return {one.name: getattr(plain, one.name) for one in dataclasses.fields(options)}


def scenario(
    experiment: str,
    options: Options,
    *,
    flows_up: int,
    flows_down: int,
    probes: tuple[Probe, ...],
    web: tuple[Web, ...] = (),
) -> Scenario:
    """Return the scenario of so many flows each way."""
    return Scenario(
        experiment=experiment,
        flows=_flows("up", flows_up, options.cc) + _flows("down", flows_down, options.cc),
        probes=probes,
        web=web,
        **options.scenario_fields(),
    )


def ping() -> Probe:
    """Return the ICMP echo of Flent's tests: 98 bytes on the wire each 200 ms."""
    return Probe(name="ping", kind="icmp", interval="200ms", size=98)


def _flows(direction: Direction, count: int, cc: str) -> tuple[Flow, ...]:
    return tuple(
        Flow(name=f"tcp_{direction}_{number}", direction=direction, congestion_control=cc)
        for number in range(1, count + 1)
    )
