"""The queue flusher of a scenario, key `flusher`.

As in `sojourn.scenario`, every field carries its unit in its text, `None` leaves the default of the compiled part, and
the compiled part is the one validator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Parameters(dict[str, str | int | float | bool]):
    """Parameters by name, as a value: not to be changed once it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Return a hash of what it holds."""
        return hash(frozenset(self.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flusher:
    """A program on the path that fills a standing queue with a burst of UDP packets, so that senders back off.

    Attributes
    ----------
    params
        How it decides: a preset, `"as_written"`, `"as_described"` or `"adaptive"` (default), or parameters by name;
        those that are left out are those of the preset that the key `preset` names.
    at
        `"client"` (default): on the client's own link; `"router"`: before the upstream bottleneck's queue;
        `"server"`: on the server's own link.
    watch
        `"all"` (default), or the names of the TCP flows, web clients and downloads that it sees.
    mode
        `"active"` (default), or `"passive"`: it looks and sends nothing.
    start
        Time text: when it begins to look, from the beginning of the measured window.
    bursts
        `"paced"` (default): packets are handed over at the rate of the link; `"at_once"`: all together, so that what
        its host sends next waits behind them; `"daemon"`: as the daemon on a kernel always does it, when it looks at
        its frames, as many at once as its socket has memory for (185 full ones), the rest as those leave the host.
    gate
        `"none"` (default): every flush is sent; `"widest"`: the daemon's gate judges each, set as wide as it goes. The
        daemon on a kernel always has it.
    """

    params: str | Parameters | None = None
    at: str | None = None
    watch: str | tuple[str, ...] | None = None
    mode: str | None = None
    start: str | None = None
    bursts: str | None = None
    gate: str | None = None


def from_plain(plain: dict[str, Any]) -> Flusher:
    """Return the flusher that plain values, as JSON has them, stand for; the compiled part has checked them."""
    watch, params = plain.get("watch"), plain.get("params")
    return Flusher(
        **{
            **plain,
            "watch": tuple(watch) if isinstance(watch, list) else watch,
            "params": Parameters(params) if isinstance(params, dict) else params,
        }
    )
