"""The compiled part of Sojourn: the simulator and the queue disciplines."""

import os
from collections.abc import Callable
from typing import Any, final

__all__ = [
    "Departure",
    "Drop",
    "ParamError",
    "Qdisc",
    "__build__",
    "__version__",
    "capture_points",
    "congestion_controls",
    "estimate",
    "expand_qdisc",
    "kernel_qdisc",
    "limits",
    "list_presets",
    "list_qdiscs",
    "load_plan",
    "netlink_below",
    "netlink_options",
    "normalize",
    "packet_pairs",
    "read_heads",
    "read_series",
    "record_measured",
    "record_schema",
    "run",
    "run_captured",
    "run_stored",
    "scenario_schema",
    "store_measured",
]
__build__: str
__version__: str

class ParamError(ValueError):
    """A bad input; the message is one sentence that names the field, its value and the rule."""

#: A stack of Python: its name, its version, its controls, and what opens a connection.
_Stack = tuple[str, str, list[str], Callable[..., tuple[Any, Any]]]

def run(scenario_json: str, stacks: list[_Stack] = ...) -> str: ...
def run_captured(
    scenario_json: str, path: str | os.PathLike[str], points: list[str], snaplen: int, epoch_ns: int
) -> str: ...
def capture_points() -> list[str]: ...
def run_stored(scenario_json: str, id: str, stacks: list[_Stack] = ...) -> tuple[bytes, bytes, bytes]: ...
def read_series(file: bytes, rows: int) -> list[tuple[list[str] | None, bytes]]: ...
def read_heads(store: str | os.PathLike[str], names: list[str]) -> bytes: ...
def packet_pairs(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    hosts: list[str],
    ports: list[int],
    protocol: str | None,
    horizon_ns: int,
    gap_ns: int,
) -> tuple[str, bytes, bytes, bytes]: ...
def load_plan(scenario_json: str, backend: str = "linux") -> str: ...
def kernel_qdisc(text: str, rate_bps: int) -> str: ...
def netlink_below(qdisc_json: str, index: int, major: int) -> list[tuple[str, bytes]]: ...
def netlink_options(qdisc_json: str) -> tuple[bytes | None, bool, int | None]: ...
def record_measured(
    scenario_json: str, measured: str, packets: bytes, wall_s: float, peak_rss_mb: float, backend: str = "linux"
) -> str: ...
def store_measured(
    scenario_json: str,
    measured: str,
    packets: bytes,
    wall_s: float,
    peak_rss_mb: float,
    run_id: str,
    backend: str = "linux",
) -> tuple[bytes, bytes, bytes]: ...
def scenario_schema() -> str: ...
def record_schema() -> str: ...
def normalize(scenario_json: str, backend: str = "sim") -> str: ...
def limits() -> dict[str, int]: ...
def estimate(scenario_json: str, backend: str = "sim") -> str: ...
def expand_qdisc(text: str, rate_bps: int) -> str: ...
def list_qdiscs() -> str: ...
def list_presets() -> str: ...
def congestion_controls() -> list[str]: ...

@final
class Departure:
    """A packet that left."""

    @property
    def id(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def sojourn_ns(self) -> int: ...
    @property
    def marked(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Drop:
    """A packet that was dropped, and why."""

    @property
    def id(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def sojourn_ns(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def flow(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Qdisc:
    """A queue discipline driven by hand: the caller tells the time."""

    def __new__(
        cls,
        text: str,
        seed: int | None = None,
        *,
        rate_bps: int | None = None,
        shaped_bps: int | None = None,
        burst_bytes: int | None = None,
    ) -> Qdisc: ...
    def enqueue(
        self,
        now_ns: int,
        size: int,
        flow: int | None = None,
        ecn: bool | str | None = None,
        *,
        dscp: int | None = None,
        source: int | None = None,
        destination: int | None = None,
        priority: int | None = None,
        pacing_bps: int | None = None,
        not_before_ns: int | None = None,
        tcp: bytes | None = None,
    ) -> int: ...
    def dequeue(self, now_ns: int) -> Departure | None: ...
    def ready_at(self, now_ns: int) -> int | None: ...
    def take_drops(self) -> list[Drop]: ...
    @property
    def text(self) -> str: ...
    @property
    def backlog(self) -> tuple[int, int]: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    @property
    def classes(self) -> dict[str, dict[str, int]]: ...
