"""What a guest is to do, as the agent takes it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sojourn.backends.linux.topology import Bed


class Place(Struct, frozen=True):
    """An interface of a host."""

    host: str
    interface: str


class Daemon(Struct, frozen=True, kw_only=True):
    """The flusher's daemon: its program, where it is, its configuration, and where captures are taken."""

    program: str
    place: Place
    config: str
    ends: list[Place]


class ProgramJob(Struct, frozen=True):
    """Where a program is, and the files that it is given: their names in the guest's folder, and in its own."""

    program: str
    files: list[tuple[str, str]]


class Programs(Struct, frozen=True, kw_only=True):
    """The part `programs` of a job; `folder` is where programs start."""

    programs: list[ProgramJob]
    folder: str
    environment: list[tuple[str, str]]
    network: dict[str, str]
    addresses: list[str]


class Job(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job, format `sojourn-job/1`; the load plan is as the compiled part has made it."""

    format: str
    modules: list[str]
    bed: Bed
    load: Any
    watch_packets: bool
    flusher: Daemon | None = None
    programs: Programs | None = None
