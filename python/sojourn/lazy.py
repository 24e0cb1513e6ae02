"""Sequences that make each of their elements when it is asked for, so that a long one takes no memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar, overload

T = TypeVar("T")
U = TypeVar("U")


class Lazy(Sequence[T], Generic[T]):
    """So many elements, each made of its place. A slice is as lazy.

    Parameters
    ----------
    length
        How many.
    make
        Returns the element at a place from 0 on; the same each time.
    """

    __slots__ = ("_length", "_make")

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Lazy[T]: ...

    def __getitem__(self, place: int | slice) -> T | Lazy[T]:
        if isinstance(place, slice):
            places = range(self._length)[place]
            return Lazy(len(places), lambda number: self._make(places[number]))
        return self._make(range(self._length)[place])


def mapped(make: Callable[[T], U], over: Sequence[T]) -> Lazy[U]:
    """Return what `map` does, as a sequence: `make` is called whenever an element is asked for."""
    return Lazy(len(over), lambda place: make(over[place]))


def chained(parts: Sequence[Sequence[T]]) -> Lazy[T]:
    """Return the elements of all parts, one part after the other."""
    ends = list(accumulate(len(part) for part in parts))

    def make(place: int) -> T:
        number = bisect_right(ends, place)
        return parts[number][place - (ends[number - 1] if number else 0)]

    return Lazy(ends[-1] if ends else 0, make)
