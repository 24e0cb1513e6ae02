"""Runs on real packets: this machine's TCP in two network namespaces, and between them a bottleneck of ours.

The bottleneck is that of `sojournd bottleneck`: shaper, discipline, delay and loss in user space, on the packets of two
TUN devices. A run takes as long as its scenario says, and no two take place at a time.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from sojourn import _native
from sojourn.backends import MeasurementStore, Parts
from sojourn.backends.linux.guest import Answer, agent_identity, carry_out, job_text
from sojourn.errors import ParamError, SojournError

JOB_FORMAT = "sojourn-live-job/1"
#: What makes TUN devices.
TUN = Path("/dev/net/tun")
#: Names how long before a packet is due the bottleneck waits awake, microseconds.
BUSY_POLL = "SOJOURN_BUSY_POLL_US"
_LONGEST_BUSY_POLL_US = 10_000
#: What a run takes beside its traffic, the linger of voice included.
_REST_S = 60.0


@dataclass(frozen=True, slots=True)
class LiveBackend:
    """Makes runs through a bottleneck in user space.

    Attributes
    ----------
    busy_poll_us
        How long before a packet is due the bottleneck waits awake.
    """

    busy_poll_us: int = 0

    name = "live"
    spec = "live"
    shares_a_clock = True

    @classmethod
    def here(cls) -> LiveBackend:
        """Return the back end of this machine.

        Raises
        ------
        SojournError
            If it cannot be used here.
        ParamError
            If the busy-poll time is refused.
        """
        if platform.system() != "Linux":
            message = f"backend is 'live', but needs Linux, and this is {platform.system()}: use sim"
            raise SojournError(message)
        if not TUN.exists():
            message = f"backend is 'live', but {TUN} is not there: load the kernel module tun"
            raise SojournError(message)
        text = os.environ.get(BUSY_POLL, "0")
        if not text.isdecimal() or int(text) > _LONGEST_BUSY_POLL_US:
            message = f"{BUSY_POLL} is {text!r}, but must be a whole number from 0 to {_LONGEST_BUSY_POLL_US}"
            raise ParamError(message)
        return cls(int(text))

    @property
    def identity(self) -> str:
        """What a run is a function of beside its scenario and the code: part of its name."""
        kernel = f"{platform.release()} {platform.version()}"
        return f"live {kernel} busy-poll {self.busy_poll_us} agent {agent_identity()}"

    def identity_of(self, scenario: str) -> str:  # noqa: ARG002
        """As `Backend.identity_of`."""
        return self.identity

    def run(self, scenario: str) -> str:
        """Run a canonical scenario, JSON; return its record, JSON.

        Raises
        ------
        ParamError
            If the scenario is refused.
        SojournError
            If the run fails.
        """
        answer = self._answer(scenario)
        return _native.record_measured(
            scenario, answer.measured, answer.packets, answer.wall_s, answer.peak_rss_mb, self.name
        )

    def run_stored(self, scenario: str, run_id: str) -> Parts:
        """Run as `run` does; return what a store keeps: head, series and summary."""
        answer = self._answer(scenario)
        return _native.store_measured(
            scenario, answer.measured, answer.packets, answer.wall_s, answer.peak_rss_mb, run_id, self.name
        )

    def run_and_keep(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts:  # noqa: ARG002
        """As `Backend.run_and_keep`: what is measured in real time differs each time, and is not kept."""
        return self.run_stored(scenario, run_id)

    def from_measurements(self, scenario: str, run_id: str, store: MeasurementStore) -> Parts | None:  # noqa: ARG002
        """As `Backend.from_measurements`: nothing is kept."""
        return None

    def _answer(self, scenario: str) -> Answer:
        load = json.loads(_native.load_plan(scenario, self.name))
        job = {"format": JOB_FORMAT, "load": load, "busy_poll_ns": 1000 * self.busy_poll_us}
        seconds = (load["duration_ns"] + load["lead_ns"]) / 1e9
        return carry_out(job_text(job), None, seed=load["seed"], bound_s=seconds + _REST_S, backend=self.name)
