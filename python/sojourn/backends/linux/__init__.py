"""Runs on the real Linux kernel: its TCP and its queue disciplines, in the network namespaces of a bed.

The kernel is a User-Mode Linux guest in virtual time, which needs no root and repeats to the byte; or a stock one, or
this machine's own, in real time (`sojourn.kernel`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from sojourn import _native, schema, units
from sojourn.backends import MeasurementStore, Parts
from sojourn.backends.linux import cell, flusher, guest, guest_inputs, measurements, programs, wifi
from sojourn.backends.linux.guest import Answer, TooLongError, agent_identity, carry_out, job_text
from sojourn.backends.linux.job import Job
from sojourn.backends.linux.load import Program
from sojourn.backends.linux.topology import Network, bed, check_kernel
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel, find

JOB_FORMAT = "sojourn-job/1"

#: In virtual time: what a packet costs this machine at most, and what a guest takes beside them.
_PACKET_S = 600e-6
_START_S = 60.0
#: How often a daemon wakes up at most.
_WAKE_UPS_PER_S = 1000.0
#: In real time: what a guest takes beside its run, the linger of voice included.
_REAL_START_S = 90.0
_FRAME_BITS = 1514 * 8
#: What a cell carries at most, with bursts of small frames counted as if they were large: bit/s.
_AIR_BPS = 500_000_000
#: Acknowledgements and probes beside data.
_PACKETS_BY_DATA = 1.6


@dataclass(frozen=True, slots=True)
class LinuxBackend:
    """Makes runs on a kernel.

    Attributes
    ----------
    kernel
        Which, for scenarios with wires only; `None` where there is only one for cells.
    wifi_kernel
        Which, for those with a cell; `None` where there is none.
    choice
        The kernel that was named (`sojourn.kernel.find.find`); `None` for the best of this machine.
    """

    kernel: Kernel | None
    wifi_kernel: Kernel | None = None
    choice: str | None = None

    name = "linux"
    shares_a_clock = False

    @classmethod
    def here(cls, choice: str | None = None) -> LinuxBackend:
        """Return the back end with the best kernels of this machine, or the one that is named.

        Raises
        ------
        ParamError
            If there is none of that name.
        SojournError
            If there is none.
        """
        with_radios = wifi.or_none(choice)
        try:
            return cls(find(choice), with_radios, choice)
        except SojournError:
            if with_radios is None:
                raise
            return cls(None, with_radios, choice)

    @property
    def spec(self) -> str:
        """What makes this back end again, by `sojourn.backends.named`."""
        return self.name if self.choice is None else f"{self.name}:{self.choice}"

    @property
    def identity(self) -> str:
        """What runs are a function of beside their scenarios and the code."""
        besides = "" if self.wifi_kernel is None else f" wifi {self.wifi_kernel.identity}"
        return f"{self.identity_of('')}{flusher.identity()}{besides}"

    def identity_of(self, scenario: str) -> str:
        """Return what the run of a canonical scenario is a function of beside it and the code: part of its name."""
        kernel = self.wifi_kernel if has_cell(scenario) else self.kernel
        name = "none" if kernel is None else kernel.identity
        daemon = flusher.identity() if '"flusher":{' in scenario else ""
        own = ""
        if '"programs":[' in scenario:
            own = programs.identity(schema.convert(json.loads(scenario)["programs"], list[Program]))
        return f"linux {name} agent {agent_identity()}{daemon}{own}"

    def run(self, scenario: str) -> str:
        """Run a canonical scenario, JSON; return its record, JSON.

        Raises
        ------
        ParamError
            If the scenario is refused.
        SojournError
            If the run fails.
        """
        answer = self._task(scenario).answer()
        return _native.record_measured(scenario, answer.measured, answer.packets, answer.wall_s, answer.peak_rss_mb)

    def run_stored(self, scenario: str, run_id: str) -> Parts:
        """Run as `run` does; return what a store keeps."""
        return _stored(scenario, run_id, self._task(scenario).answer())

    def run_and_keep(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts:
        """Run as `run_stored` does, and keep what was measured, if it is a function of what can be named.

        It is kept before the run is, and only if a record can be made of it.
        """
        task = self._task(scenario)
        name = task.name()
        answer = task.answer()
        parts = _stored(scenario, run_id, answer)
        # Whatever was replaced meanwhile: the guest may have been given the one or the other.
        if name is not None and name == task.name():
            store.put(name, measurements.encode(name, answer))
        return parts

    def from_measurements(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts | None:
        """Return what `run_stored` would, made of what a guest that was given the same has left; `None` if none was."""
        name = self._task(scenario).name()
        data = None if name is None else store.get(name)
        answer = None if name is None or data is None else measurements.decode(name, data)
        if answer is None:
            return None
        try:
            return _stored(scenario, run_id, answer)
        except ParamError:  # another version's, which this one cannot read: measured again
            return None

    def _task(self, scenario: str) -> _Task:
        load = json.loads(_native.load_plan(scenario))
        network = network_of(load)
        kernel = self._kernel_for(network)
        network = structs.replace(network, kernel_has_ipv6=kernel.kind == "virtual")  # those of distributions lack it
        check_kernel(network, kernel.release)
        daemon, files = (None, {}) if network.flusher is None else flusher.job(network.flusher, kernel, network)
        words = () if network.cell is None else cell.command_line(network.cell, network.seed)
        own = None
        if network.programs:
            if kernel.kind == "host":
                message = "programs is given, but this machine's own kernel runs none: build one (sojourn kernel build)"
                raise ParamError(message)
            own, given = programs.job(
                network.programs,
                network.hosts,
                others=[*network.client_addresses, *network.server_addresses],
                ipv6=network.has_ipv6,
            )
            words += programs.words(has_seccomp_mode=guest.has_seccomp_mode(kernel))
            files |= given
        job = Job(
            format=JOB_FORMAT,
            modules=[str(module) for module in kernel.modules],
            bed=bed(network),
            load=load,
            watch_packets=True,
            flusher=daemon,
            programs=own,
        )
        bound_s = _bound_s(network, kernel)
        return _Task(job=job, kernel=kernel, seed=network.seed, bound_s=bound_s, words=words, files=files)

    def _kernel_for(self, network: Network) -> Kernel:
        if network.cell is None:
            return find(self.choice) if self.kernel is None else self.kernel
        return wifi.needed(self.choice) if self.wifi_kernel is None else self.wifi_kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What a guest is to do, as `carry_out` takes it."""

    job: Job
    kernel: Kernel
    seed: int
    bound_s: float
    words: tuple[str, ...]
    files: dict[str, Path]

    def name(self) -> str | None:
        if self.job.programs is not None:  # nobody knows what they read
            return None
        return guest_inputs.name_of(self.job, self.kernel, seed=self.seed, words=self.words, files=self.files)

    def answer(self) -> Answer:
        text = job_text(self.job)
        own = self.job.programs is not None
        try:
            return carry_out(
                text,
                self.kernel,
                seed=self.seed,
                bound_s=self.bound_s,
                words=self.words,
                files=self.files,
                memory_mb=programs.MEMORY_MB if own else None,
            )
        except TooLongError as error:
            if not own:
                raise
            message = f"{error}: a program computes without end, or needs longer ({programs.PATIENCE}=SECONDS)"
            raise TooLongError(message) from error


def _stored(scenario: str, run_id: str, answer: Answer) -> Parts:
    return _native.store_measured(scenario, answer.measured, answer.packets, answer.wall_s, answer.peak_rss_mb, run_id)


def has_cell(scenario: str) -> bool:
    """Return whether a canonical scenario has a cell."""
    return '"wifi":{' in scenario


def _bound_s(network: Network, kernel: Kernel) -> float:
    """Return how long a run may take, in this machine's seconds."""
    virtual_s = float(network.duration_ns + network.lead_ns) / 1e9
    if network.programs:
        return programs.bound_s(virtual_s)
    if not kernel.virtual_time:
        return virtual_s + _REAL_START_S
    rates = network.up.rate_bps + network.down.rate_bps
    if network.cell is not None:
        # The air carries less than the wire behind it, and a flood loses before it most of what it sends.
        floods = [flow.spec.rate for flow in network.flows if flow.spec.protocol == "udp"]
        rates = min(rates, _AIR_BPS + sum(units.bits_per_s(rate) for rate in floods if rate is not None))
    packets = rates / _FRAME_BITS * virtual_s * _PACKETS_BY_DATA
    if network.flusher is not None:
        # Each is captured three times more, and the daemon wakes up every few milliseconds.
        packets = 3 * packets + _WAKE_UPS_PER_S * virtual_s
    return _START_S + _PACKET_S * packets


def network_of(load: Any) -> Network:
    """Return what the bed of a load plan is built from."""
    return schema.convert(load, Network)
