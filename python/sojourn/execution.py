"""A command behind a link, and a server at its other end: what `sojourn exec` and `sojourn.testing` run."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import backends
from sojourn.errors import ParamError, SojournError
from sojourn.record import ProgramFlowRecord, ProgramRecord, ProgramWayRecord, Record
from sojourn.scenario import Program, Scenario
from sojourn.store.run import Run

CLIENT, SERVER = "client", "server"
#: Variables of the environment that choose a kernel.
_CHOICES = ("SOJOURN_KERNEL", "SOJOURN_UML_KERNEL")
#: How long a command may take by the guest's clock, where nothing else is said.
LONGEST = "60s"


def bed_addresses() -> dict[str, str]:
    """Return the addresses of the hosts in the bed of a kernel, by the words that stand for them in a command."""
    from sojourn.backends.linux.load import ipv6_of
    from sojourn.backends.linux.topology import FIRST_HOSTS  # loads what makes netlink messages

    hosts = {name.upper(): ip for name, ip in FIRST_HOSTS.items()}
    return hosts | {f"{name}6": ipv6_of(ip) for name, ip in hosts.items()}


def with_addresses(text: str, addresses: dict[str, str]) -> str:
    """Return a word of a command with the addresses of the hosts in place of SERVER, SERVER6, CLIENT and CLIENT6."""
    return re.sub(r"\b(?:CLIENT|SERVER)6?\b", lambda match: addresses[match[0]], text)


def scenario(  # noqa: PLR0913 -- the words of `sojournd bottleneck`
    command: Sequence[str],
    *,
    server: str | Sequence[str] | None = None,
    ready: str = "port",
    rate: str | None = None,
    up: str | None = None,
    down: str | None = None,
    rtt: str | None = None,
    qdisc: str | None = None,
    qdisc_up: str | None = None,
    qdisc_down: str | None = None,
    loss: float | None = None,
    burst: str | None = None,
    duration: str = LONGEST,
    seed: int = 1,
    files: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Scenario:
    """Return the scenario of a command in the client, with a server at the other end of the link.

    Parameters
    ----------
    command
        The words of the command. SERVER, SERVER6, CLIENT and CLIENT6 in them become addresses; the names `server` and
        `client` are known there, too.
    server
        The words of a server, or a line for /bin/sh; `None` for none. The command starts once it is ready.
    ready
        What says that the server is ready: `"port"` (something waits at any port), `"port 5201"` or `"line TEXT"`.
    rate, up, down, rtt, qdisc, qdisc_up, qdisc_down, loss, burst
        The link, as in a scenario; what is for one direction comes before what is for both.
    duration
        How long the command may take by the guest's clock: a time text.
    seed
        Of all random numbers, those that programs draw from the kernel among them.
    files, keep
        As `Program.files` and `Program.keep` of the command.
    """
    if isinstance(command, str):
        message = f"command is {command!r}, but must be a list of words, such as ['curl', 'http://SERVER/']"
        raise ParamError(message)
    addresses = bed_addresses()

    def program(host: str, words: Sequence[str], **keys: Any) -> Program:
        return Program(name=host, host=host, command=tuple(with_addresses(word, addresses) for word in words), **keys)

    programs = []
    if server is not None:
        line = ["/bin/sh", "-c", server] if isinstance(server, str) else server
        programs.append(program(SERVER, line, ready=ready))
    programs.append(program(CLIENT, command, files=tuple(files), keep=tuple(keep)))
    return Scenario(
        experiment="exec",
        duration=duration,
        lead="0s",
        up=up or rate,
        down=down or rate,
        rtt=rtt,
        qdisc_up=qdisc_up or qdisc,
        qdisc_down=qdisc_down or qdisc,
        loss_up=loss,
        loss_down=loss,
        burst_up=burst,
        burst_down=burst,
        seed=seed,
        programs=tuple(programs),
    )


@dataclass(frozen=True, slots=True)
class Execution:
    """A command that ran behind a link.

    Attributes
    ----------
    run
        The run.
    """

    run: Run

    @property
    def record(self) -> Record:
        """Its whole record."""
        return self.run.record

    def program(self, name: str = CLIENT) -> ProgramRecord:
        """Return what became of a program.

        Raises
        ------
        ParamError
            If there is none of that name.
        """
        programs = {program.name: program for program in self.record.programs or ()}
        if name not in programs:
            message = f"program is {name!r}, but must be one of {', '.join(programs)}"
            raise ParamError(message)
        return programs[name]

    @property
    def status(self) -> int:
        """The command's exit status as a shell tells it: 128 and the signal that ended it, 124 if nothing did."""
        program = self.program()
        if program.status is not None:
            return program.status
        return 124 if program.signal is None else 128 + program.signal

    def output(self, name: str = "stdout", of: str = CLIENT) -> bytes:
        """Return what a program wrote: `stdout`, `stderr`, or a file that is kept.

        Raises
        ------
        ParamError
            If it wrote nothing of that name.
        """
        program = self.program(of)
        if name not in program.outputs:
            message = f"output is {name!r}, but {of} left {', '.join(program.outputs)}"
            raise ParamError(message)
        text = program.outputs[name]
        return base64.b64decode(text) if name in program.base64 else text.encode()

    @property
    def stdout(self) -> str:
        """The command's standard output as text."""
        return self.output().decode(errors="replace")

    @property
    def stderr(self) -> str:
        """The command's standard error as text."""
        return self.output("stderr").decode(errors="replace")

    @property
    def flows(self) -> list[ProgramFlowRecord]:
        """The flows of the programs at the bottleneck."""
        return self.record.program_flows or []

    def flow(self, protocol: str | None = None) -> ProgramFlowRecord:
        """Return the flow with most bytes, of one protocol or of any.

        Raises
        ------
        SojournError
            If there is none.
        """
        flows = [flow for flow in self.flows if protocol in (None, flow.protocol)]
        if not flows:
            message = f"no {protocol or 'packet'} came to the bottleneck"
            raise SojournError(message)
        return max(flows, key=lambda flow: flow.up.bytes + flow.down.bytes)


def busiest(flow: ProgramFlowRecord) -> ProgramWayRecord:
    """Return the direction of a flow in which it has more bytes."""
    return max(flow.up, flow.down, key=lambda way: way.bytes)


def execute(scenario: Scenario, *, kernel: str | None = None) -> Execution:
    """Run a scenario with programs on a kernel in virtual time, or on the kernel that is named.

    Raises
    ------
    ParamError
        If it is refused.
    SojournError
        If there is no kernel, or the run fails.
    """
    chosen = kernel or (None if any(name in os.environ for name in _CHOICES) else "virtual")
    backend = backends.named("linux" if chosen is None else f"linux:{chosen}")
    return Execution(Run(text=backend.run(scenario.normalized("linux"))))
