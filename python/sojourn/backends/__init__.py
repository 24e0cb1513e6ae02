"""Where runs are made: in the simulator, on the real kernel, or through our disciplines on real packets.

All give the same record.

A worker process loads this module at its start, so a back end's own modules are loaded when it is first named.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from sojourn import _native
from sojourn.errors import ParamError

if TYPE_CHECKING:
    from sojourn.backends.stacks import Program, PythonFile

#: The names of the back ends.
NAMES = ("sim", "linux", "live")

#: What a store keeps of a run: head, series and summary.
Parts = tuple[bytes, bytes, bytes]


class MeasurementStore(Protocol):
    """Where what was measured is kept, by the name of what it is a function of."""

    def get(self, name: str) -> bytes | None:
        """Return the file of that name, or `None` if there is none that can be read."""

    def put(self, name: str, data: bytes) -> None:
        """Keep a file, in place of one that may be there."""


class Backend(Protocol):
    """What makes runs."""

    @property
    def name(self) -> str:
        """As a record has it."""

    @property
    def spec(self) -> str:
        """What `named` makes it of, here or in another process: the name, and the kernel if one was chosen."""

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

    def run_stored(self, scenario: str, run_id: str) -> Parts:
        """Run as `run` does; return what a store keeps."""

    def run_and_keep(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts:
        """Run as `run_stored` does, and keep what was measured, if that is the same each time."""

    def from_measurements(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts | None:
        """Return what `run_stored` would, made of what was measured before; `None` if nothing of it is kept."""


class RunsScenarios(Protocol):
    """What runs canonical scenarios in the simulator."""

    def run(self, scenario: str, /) -> str:
        """As `Backend.run`."""

    def run_stored(self, scenario: str, run_id: str, /) -> Parts:
        """As `Backend.run_stored`."""


class Simulator:
    """The simulator.

    Parameters
    ----------
    stacks
        What has the transports that flows may name: a program, or a Python file; `None` is the program that is
        installed.
    """

    name = "sim"
    identity = "sim"
    shares_a_clock = False

    def __init__(self, stacks: str | None = None) -> None:
        self.spec = "sim" if stacks is None else f"sim:{stacks}"
        self._stacks = stacks

    @cached_property
    def stacks(self) -> Program | PythonFile:
        """What runs scenarios with transports of others; raises `ParamError` if it is not there."""
        from sojourn.backends.stacks import runner_of

        return runner_of(self._stacks)

    def _runner(self, scenario: str) -> RunsScenarios:
        """Return what runs a canonical scenario."""
        # A quote inside a name is escaped in JSON, so this is found wherever there is such a key.
        return self.stacks if '"stack":' in scenario else _native

    def identity_of(self, scenario: str) -> str:
        """As `Backend.identity_of`."""
        names_one = self._runner(scenario) is not _native
        return f"{self.identity} {self.stacks.identity}" if names_one else self.identity

    def run(self, scenario: str) -> str:
        """As `Backend.run`."""
        return self._runner(scenario).run(scenario)

    def run_stored(self, scenario: str, run_id: str) -> Parts:
        """As `Backend.run_stored`."""
        return self._runner(scenario).run_stored(scenario, run_id)

    def run_and_keep(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts:  # noqa: ARG002
        """As `Backend.run_and_keep`: nothing is measured."""
        return self.run_stored(scenario, run_id)

    def from_measurements(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts | None:  # noqa: ARG002
        """As `Backend.from_measurements`: nothing is kept."""
        return None


def run_or_reuse(backend: Backend, scenario: str, run_id: str, store: MeasurementStore) -> tuple[Parts, bool]:
    """Return what a store keeps of a run, and whether it was made of what had been measured before."""
    parts = backend.from_measurements(scenario, run_id, store)
    return (backend.run_and_keep(scenario, run_id, store), False) if parts is None else (parts, True)


SIMULATOR = Simulator()


class OfThisMachine:
    """A back end that needs something of this machine, which is looked for when it is first used.

    So a command can judge the whole of its request before it judges the machine (`reach`).

    Parameters
    ----------
    name
        As a record has it.
    shares_a_clock
        As `Backend.shares_a_clock`.
    find
        Returns the back end of this machine, or raises `SojournError` or `ParamError` if it cannot be used here.
    spec
        As `Backend.spec`; `None` for the name.
    """

    def __init__(
        self, name: str, find: Callable[[], Backend], *, shares_a_clock: bool, spec: str | None = None
    ) -> None:
        self.name = name
        self.spec = name if spec is None else spec
        self.shares_a_clock = shares_a_clock
        self._find = find

    @cached_property
    def found(self) -> Backend:
        """The back end itself."""
        return self._find()

    @property
    def identity(self) -> str:
        """As `Backend.identity`."""
        return self.found.identity

    def identity_of(self, scenario: str) -> str:
        """As `Backend.identity_of`."""
        return self.found.identity_of(scenario)

    def run(self, scenario: str) -> str:
        """As `Backend.run`."""
        return self.found.run(scenario)

    def run_stored(self, scenario: str, run_id: str) -> Parts:
        """As `Backend.run_stored`."""
        return self.found.run_stored(scenario, run_id)

    def run_and_keep(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts:
        """As `Backend.run_and_keep`."""
        return self.found.run_and_keep(scenario, run_id, store)

    def from_measurements(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts | None:
        """As `Backend.from_measurements`."""
        return self.found.from_measurements(scenario, run_id, store)


def reach(backend: Backend) -> None:
    """Look for what a back end needs of this machine, once the request has been found to be in order.

    Raises
    ------
    SojournError, ParamError
        If the back end cannot be used here.
    """
    if isinstance(backend, OfThisMachine):
        _ = backend.found


def for_many(name: str, command: str) -> Backend:
    """Return a back end for a command that makes more runs than one has patience for in real time.

    Raises
    ------
    ParamError
        If there is no such back end, or its runs take as long as their scenarios.
    """
    if name == "live":
        message = f"backend is 'live', but {command} has sim and linux only: it makes too many runs for real time"
        raise ParamError(message)
    return named(name)


def named(name: str) -> Backend:
    """Return a back end. Whether it can be used on this machine shows when it is used, or with `reach`.

    Parameters
    ----------
    name
        `sim`, `linux`, `live`, `linux:KERNEL` for the kernel that `sojourn.kernel.find.find` finds by this word, or
        `sim:PATH` for the simulator with the transports of a program or of a Python file.

    Raises
    ------
    ParamError
        If there is no such back end.
    """
    if name == "sim":
        return SIMULATOR
    kind, _, kernel = name.partition(":")
    if kind == "sim" and kernel:
        return Simulator(kernel)
    if kind == "linux" and (kernel or kind == name):
        return OfThisMachine(kind, partial(_linux, kernel or None), shares_a_clock=False, spec=name)
    if name == "live":
        return OfThisMachine(name, _live, shares_a_clock=True)
    message = f"backend is {name!r}, but must be one of {', '.join(NAMES)}"
    raise ParamError(message)


def _linux(kernel: str | None) -> Backend:
    from sojourn.backends.linux import LinuxBackend

    return LinuxBackend.here(kernel)


def _live() -> Backend:
    from sojourn.backends.live import LiveBackend

    return LiveBackend.here()
