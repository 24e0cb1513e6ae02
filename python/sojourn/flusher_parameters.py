"""Parameters of a queue flusher by name, key `flusher.params` of a scenario."""

from __future__ import annotations


class Parameters(dict[str, str | int | float | bool]):
    """Parameters by name, as a value: not to be changed once it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Return a hash of what it holds."""
        return hash(frozenset(self.items()))
