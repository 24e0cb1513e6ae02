"""Where runs are made: in the simulator, on the real kernel, or through our disciplines on real packets.

All give the same record.

A worker process loads this module at its start, so a back end's own modules are loaded when it is first named.
"""

from __future__ import annotations

from typing import Protocol

from sojourn import _native
from sojourn.errors import ParamError

#: The names of the back ends.
NAMES = ("sim", "linux", "live")


class Backend(Protocol):
    """What makes runs."""

    @property
    def name(self) -> str:
        """As a record has it."""

    @property
    def identity(self) -> str:
        """What its runs are a function of beside the scenario and this code."""

    def identity_of(self, scenario: str) -> str:
        """Return the part of it that the run of a canonical scenario is a function of."""

    @property
    def shares_a_clock(self) -> bool:
        """Whether runs take place in real time on this machine, so that two at a time would disturb each other."""

    def run(self, scenario: str) -> str:
        """Run a canonical scenario; return its record."""

    def run_stored(self, scenario: str, run_id: str) -> tuple[bytes, bytes, bytes]:
        """Run as `run` does; return what a store keeps: head, series and summary."""


class Simulator:
    """The simulator."""

    name = "sim"
    identity = "sim"
    shares_a_clock = False

    def identity_of(self, scenario: str) -> str:  # noqa: ARG002
        """As `Backend.identity_of`."""
        return self.identity

    def run(self, scenario: str) -> str:
        """As `Backend.run`."""
        return _native.run(scenario)

    def run_stored(self, scenario: str, run_id: str) -> tuple[bytes, bytes, bytes]:
        """As `Backend.run_stored`."""
        return _native.run_stored(scenario, run_id)


SIMULATOR = Simulator()


def for_many(name: str, command: str) -> Backend:
    """Return a back end for a command that makes more runs than one has patience for in real time.

    Raises
    ------
    ParamError
        If there is no such back end, or its runs take as long as their scenarios.
    SojournError
        If it cannot be used here.
    """
    if name == "live":
        message = f"backend is 'live', but {command} has sim and linux only: it makes too many runs for real time"
        raise ParamError(message)
    return named(name)


def named(name: str) -> Backend:
    """Return a back end.

    Raises
    ------
    ParamError
        If there is no such back end.
    SojournError
        If it cannot be used here.
    """
    if name == "sim":
        return SIMULATOR
    if name == "linux":
        from sojourn.backends.linux import LinuxBackend

        return LinuxBackend.here()
    if name == "live":
        from sojourn.backends.live import LiveBackend

        return LiveBackend.here()
    message = f"backend is {name!r}, but must be one of {', '.join(NAMES)}"
    raise ParamError(message)
