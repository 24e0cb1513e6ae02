"""The populations of drawn scenarios, and by which errors each is judged."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.validate import draw
from sojourn.validate.draw import Population
from sojourn.validate.errors import USUAL, Bars


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A population and its bars.

    Attributes
    ----------
    population
        What is drawn.
    bars
        What its errors must be below.
    count
        How many scenarios unless the command says so.
    """

    population: Population
    bars: Bars
    count: int


#: A divisor of 10 ms makes an error of 10 % a millisecond where the kernel's latency is less: "10 % or 1 ms".
POPULATIONS = {
    judged.population.name: judged
    for judged in (
        Judged(
            population=draw.RANDOM,
            bars=Bars(least_ms=1, latency=USUAL, goodput=USUAL, worst=5),
            count=30,
        ),
        Judged(
            population=draw.TRUST,
            bars=Bars(least_ms=10, latency=(0.02, 0.10), goodput=(0.005, 0.03), worst=10),
            count=200,
        ),
    )
}


def of_part(name: str) -> Judged:
    """Return the population of a part, whose name begins with that of the population."""
    return next(judged for judged in POPULATIONS.values() if name.startswith(judged.population.name))
