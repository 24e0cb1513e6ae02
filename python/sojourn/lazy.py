"""Sequences that make each of their elements when it is needed, so that a long one takes no memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar, overload

T = TypeVar("T")
U = TypeVar("U")


class Lazy(Sequence[T], Generic[T]):
    """So many elements, each made of its place. A slice is as lazy.

    - `length`: how many.
    - `make`: returns the element at a place from 0 on; the same each time.
    - `kinds`: places of elements that stand for all the others, in a check of all (default: every place).
    """

    __slots__ = ("_length", "_make", "kinds")

    def __init__(self, length: int, make: Callable[[int], T], kinds: Sequence[int] | None = None) -> None:
        self._length = length
        self._make = make
        self.kinds: Sequence[int] = range(length) if kinds is None else kinds

    def __len__(self) -> int:
        """How many there are."""
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Lazy[T]: ...

    def __getitem__(self, place: int | slice) -> T | Lazy[T]:
        """Make one, or a slice of them that makes its own."""
        if isinstance(place, slice):
            places = range(self._length)[place]
            return Lazy(len(places), lambda number: self._make(places[number]))
        return self._make(range(self._length)[place])


def mapped(make: Callable[[T], U], over: Sequence[T]) -> Lazy[U]:
    """Return what `map` does, as a sequence: `make` is called whenever an element is needed."""
    return Lazy(len(over), lambda place: make(over[place]), kinds_of(over))


def chained(parts: Sequence[Sequence[T]]) -> Lazy[T]:
    """Return the elements of all parts, one part after the other."""
    ends = list(accumulate(len(part) for part in parts))
    begins = [0, *ends[:-1]]

    def make(place: int) -> T:
        number = bisect_right(ends, place)
        return parts[number][place - begins[number]]

    kinds = [begin + place for begin, part in zip(begins, parts, strict=False) for place in kinds_of(part)]
    return Lazy(ends[-1] if ends else 0, make, kinds)


def kinds_of(sequence: Sequence[object]) -> Sequence[int]:
    """Return the places that a check of all elements must look at."""
    return sequence.kinds if isinstance(sequence, Lazy) else range(len(sequence))
