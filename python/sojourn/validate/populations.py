"""The populations of drawn scenarios, and by which errors each is judged."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.validate import draw
from sojourn.validate.draw import Population
from sojourn.validate.errors import USUAL, Bars


@dataclass(frozen=True, slots=True)
class Drawing:
    """A population, what its errors must be below, and how many scenarios are drawn unless the command says so."""

    population: Population
    bars: Bars
    count: int


#: A divisor of 10 ms makes an error of 10 % a millisecond where the kernel's latency is less: "10 % or 1 ms".
_TRUST = Bars(least_ms=10, latency=(0.02, 0.10), goodput=(0.005, 0.03), worst=10)
POPULATIONS = {
    drawing.population.name: drawing
    for drawing in (
        Drawing(draw.RANDOM, Bars(least_ms=1, latency=USUAL, goodput=USUAL, worst=5), 30),
        Drawing(draw.TRUST, _TRUST, 200),
    )
}


def of_part(name: str) -> Drawing:
    """Return the population of a part, whose name begins with that of the population."""
    return next(drawing for drawing in POPULATIONS.values() if name.startswith(drawing.population.name))
