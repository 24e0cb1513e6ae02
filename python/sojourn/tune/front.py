"""Pareto fronts: which settings no other beats, and which of them is taken.

Vectors are of values to be minimised. Pure functions of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

Vector = Sequence[float]


def dominates(a: Vector, b: Vector) -> bool:
    """Tell whether `a` is nowhere worse than `b` and somewhere better."""
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def front(vectors: Sequence[Vector]) -> list[int]:
    """Return the places of the vectors that none dominates, in order; of equal ones, the first."""
    return [
        place
        for place, one in enumerate(vectors)
        if not any(dominates(other, one) for other in vectors)
        and not any(tuple(other) == tuple(one) for other in vectors[:place])
    ]


def layers(vectors: Sequence[Vector]) -> list[list[int]]:
    """Return the front, then that of what is left without it, and so on, until every place is in one.

    Source: N. Srinivas, K. Deb, "Multiobjective Optimization Using Nondominated Sorting in Genetic Algorithms",
    Evolutionary Computation 2 (1994), section 4.
    """
    left = list(range(len(vectors)))
    found: list[list[int]] = []
    while left:
        best = [left[place] for place in front([vectors[place] for place in left])]
        found.append(best)
        chosen = set(best)
        left = [place for place in left if place not in chosen]
    return found


def hypervolume(vectors: Sequence[Vector], corner: Vector) -> float:
    """Return the volume that the vectors dominate below `corner`; those that are not below it count nothing.

    By slices along the last coordinate: enough for the few coordinates and the few dozen vectors here.
    """
    inside = [tuple(one) for one in vectors if all(x < c for x, c in zip(one, corner, strict=True))]
    if not inside:
        return 0.0
    if len(corner) == 1:
        return float(corner[0] - min(one[0] for one in inside))
    inside.sort(key=lambda one: one[-1])
    volume = 0.0
    for number, one in enumerate(inside):
        until = inside[number + 1][-1] if number + 1 < len(inside) else corner[-1]
        if until > one[-1]:
            volume += (until - one[-1]) * hypervolume([other[:-1] for other in inside[: number + 1]], corner[:-1])
    return volume


def order(costs: Sequence[float], shortfalls: Sequence[float]) -> list[int]:
    """Return all places from the best on.

    Those that meet the goals come first, the cheapest of them before the others; then those that do not, by how far
    they are from them. Of equals the first.

    - `costs`: what is minimised.
    - `shortfalls`: how far each is from meeting all goals; at most 0 if it does.
    """
    return sorted(
        range(len(costs)),
        key=lambda place: (shortfalls[place] > 0, shortfalls[place] if shortfalls[place] > 0 else costs[place], place),
    )
