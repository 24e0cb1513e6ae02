"""The steps that build a bed, as a job has them: each a line for the agent, with the words for it if it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step: where, what it is for, a device that the kernel has numbered, and one thing to do."""

    host: str
    says: str
    device: str | None = None
    netlink: str | None = None
    genetlink: str | None = None
    message: str | None = None
    join: str | None = None
    parameter: str | None = None
    sysctl: str | None = None
    debugfs: str | None = None
    file: str | None = None
    value: str | None = None
    program: list[str] | None = None
    carrier: str | None = None


@dataclass(slots=True)
class Steps:
    """The steps so far.

    `device` names a device that the kernel has numbered: the agent writes its number into the message.
    """

    steps: list[Step] = field(default_factory=list)

    def send(self, host: str, says: str, message: bytes, *, device: str | None = None) -> None:
        """Add a message about devices, addresses, routes or disciplines."""
        self._add(host, says, device, netlink=message.hex())

    def ethtool(self, host: str, says: str, message: bytes) -> None:
        """Add a message of the family `ethtool`."""
        self._add(host, says, None, genetlink="ethtool", message=message.hex())

    def nl80211(self, host: str, says: str, message: bytes, *, device: str | None = None) -> None:
        """Add a message of the family `nl80211`."""
        self._add(host, says, device, genetlink="nl80211", message=message.hex())

    def join(self, host: str, says: str, message: bytes, *, device: str) -> None:
        """Add a message of the family `nl80211` after which `device` carries data; it is sent again if it does not."""
        self._add(host, says, device, join=message.hex())

    def parameter(self, host: str, name: str, value: object) -> None:
        """Add a parameter of a module; only in a guest."""
        self._add(host, f"set {name} to {value}", None, parameter=name, value=str(value))

    def sysctl(self, host: str, name: str, value: object) -> None:
        """Add a kernel parameter of a namespace."""
        self._add(host, f"set {name} to {value}", None, sysctl=name, value=str(value))

    def debugfs(self, host: str, name: str, value: str) -> None:
        """Add a file below `/sys/kernel/debug` and what is written to it; only in a guest."""
        self._add(host, f"write to {name} in debugfs", None, debugfs=name, value=value)

    def file(self, host: str, name: str, text: str) -> None:
        """Add a file in `/tmp`; only in a guest."""
        self._add(host, f"write {name}", None, file=name, value=text)

    def program(self, host: str, says: str, words: list[str]) -> None:
        """Add a program, which runs to the end of the guest."""
        self._add(host, says, None, program=words)

    def carrier(self, host: str, device: str) -> None:
        """Wait until a device carries data."""
        self._add(host, f"wait for {device}", None, carrier=device)

    def _add(self, host: str, says: str, device: str | None, **what: Any) -> None:
        self.steps.append(Step(host=host, says=says, device=device, **what))
