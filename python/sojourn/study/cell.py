"""Cells: the points of a plan, each a value on every axis; and what is observed of a run in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Cell:
    """A point of a plan: a value on each of its axes, which are its attributes.

    Cells are equal if their axes are the same object and their values are equal. They are hashable, and sort by their
    values in the order of the axes.
    """

    __slots__ = ("axes", "values")

    def __init__(self, axes: Axes, values: tuple[Any, ...]) -> None:
        self.axes, self.values = axes, values

    def __getattr__(self, name: str) -> Any:
        """Return the value on an axis, or what `Axes.derived` makes of the cell."""
        if name in Cell.__slots__ or name.startswith("__"):  # asked for by `copy` before there are values
            raise AttributeError(name)
        if name in self.axes.names:
            return self.values[self.axes.names.index(name)]
        if name in self.axes.derived:
            return self.axes.derived[name](self)
        message = f"a cell has no axis {name!r}, but {', '.join(self.axes.names)}"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        """Tell whether axes and values are those of another."""
        return isinstance(other, Cell) and self.axes is other.axes and self.values == other.values

    def __lt__(self, other: Cell) -> bool:
        """Compare the values in the order of the axes."""
        return self.values < other.values

    def __hash__(self) -> int:
        """Return a hash of the values."""
        return hash(self.values)

    def __repr__(self) -> str:
        """Return the values by their axes."""
        return f"Cell({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"

    @property
    def settings(self) -> dict[str, Any]:
        """The values by the names of their axes."""
        return dict(zip(self.axes.names, self.values, strict=True))

    def words(self) -> str:
        """Return the cell as a reader names it."""
        return self.axes.words(self)

    def replaced(self, **settings: Any) -> Cell:
        """Return the cell with other values on some axes."""
        return self.axes(**{**self.settings, **settings})


class Axes:
    """The axes of a plan; called with values it makes a cell.

    - `*names`: axes on which every cell has a value of its own.
    - `words`: the cell as a reader names it; without it, its values with commas between them.
    - `derived`: attributes of a cell that follow from its values, by name.
    - `read`: what makes a value of how rules and files may write it, by the axis.
    - `**defaults`: axes with the value of most cells, after the others.
    """

    def __init__(
        self,
        *names: str,
        words: Callable[[Cell], str] | None = None,
        derived: Mapping[str, Callable[[Cell], Any]] | None = None,
        read: Mapping[str, Callable[[Any], Any]] | None = None,
        **defaults: Any,
    ) -> None:
        self.names = (*names, *defaults)
        self.defaults = defaults
        self.words = words or (lambda cell: ", ".join(str(value) for value in cell.values))
        self.derived = derived or {}
        self.read = read or {}

    def __call__(self, *values: Any, **settings: Any) -> Cell:
        """Return a cell, with its values in the order of the axes or by their names.

        Raises `TypeError` if an axis has no value, two values, or does not exist.
        """
        named = dict(zip(self.names, values, strict=False))
        wrong = [*values[len(self.names) :], *(named.keys() & settings.keys()), *(settings.keys() - set(self.names))]
        if wrong:
            message = (
                f"a cell has the axes {', '.join(self.names)}, and each once: {', '.join(map(str, wrong))} is wrong"
            )
            raise TypeError(message)
        settings = {**self.defaults, **named, **settings}
        if missing := [name for name in self.names if name not in settings]:
            message = f"a cell has no value for {', '.join(missing)}"
            raise TypeError(message)
        return Cell(self, tuple(self.read.get(name, _same)(settings[name]) for name in self.names))


def _same(value: Any) -> Any:
    return value


class Observation:
    """What is observed of a run: its seed, and values by name, which are its attributes.

    - `run`: the name of the run, if it is stored.
    """

    __slots__ = ("run", "seed", "values")

    def __init__(self, *, seed: int, **values: Any) -> None:
        self.seed, self.values, self.run = seed, values, ""

    def __getattr__(self, name: str) -> Any:
        """Return a value."""
        if name in Observation.__slots__ or name not in self.values:
            message = f"an observation has no {name!r}"
            raise AttributeError(message)
        return self.values[name]

    def __eq__(self, other: object) -> bool:
        """Tell whether seed and values are equal."""
        return isinstance(other, Observation) and self.seed == other.seed and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def replaced(self, **values: Any) -> Observation:
        """Return the observation with other values."""
        return Observation(**{"seed": self.seed, **self.values, **values})
