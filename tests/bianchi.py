"""How much saturated stations get through a shared channel: Bianchi's model of binary exponential backoff.

Each of `n` stations always has a frame. It draws its backoff from 0 to W - 1 slots, W doubles with each collision up to
m times, and a busy period counts as one slot. That a frame collides has the same probability p whatever happened
before; this is the model's only assumption. It makes p and the probability tau that a station sends in a slot the
solution of two equations.

EDCA counts its backoff like that: a counter goes down at the slot boundary after each busy period and its AIFS. DCF
does not, since only the last sender may send in that slot; Tinnirello and others' correction for it is `after_success`.

Source: G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18 (2000),
equations 7 (in the form without a singularity at p = 1/2), 9, 10, 11 and 13; I. Tinnirello, G. Bianchi, Y. Xiao,
"Refinements on IEEE 802.11 Distributed Coordination Function Modeling Approaches", IEEE TVT 59 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sojourn.errors import refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """How long things take, and how stations back off. All times in one unit, such as microseconds."""

    #: W, the first contention window: CWmin + 1.
    window: int
    #: m, how often the window doubles: CWmax + 1 = 2^m W.
    stages: int
    #: An idle slot.
    slot: float
    #: A busy period with one sender: frame, SIFS, acknowledgement and AIFS.
    success: float
    #: A busy period with several: the longest frame and what follows it before the next slot.
    collision: float

    def __post_init__(self) -> None:
        """Refuse what is no channel."""
        for name, least in (("window", 1), ("stages", 0)):
            if getattr(self, name) < least:
                raise refused(getattr(self, name), name, f"must be at least {least}")
        for name in ("slot", "success", "collision"):
            if not getattr(self, name) > 0:
                raise refused(getattr(self, name), name, "must be more than 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The state of a saturated channel."""

    #: Probability that a station sends in a slot.
    tau: float
    #: Probability p that a frame collides.
    collision: float
    #: Successful frames per unit of time, of all stations.
    rate: float


def fixed_point(stations: int, window: int, stages: int) -> tuple[float, float]:
    """Return tau and p; raises `ParamError` if there is no station."""
    if stations < 1:
        raise refused(stations, "stations", "must be at least 1")
    low, high = 0.0, 1.0
    # What others' sending makes of p falls with p, so it meets p once.
    while low < (middle := (low + high) / 2) < high:
        if 1 - (1 - _tau(middle, window, stages)) ** (stations - 1) > middle:
            low = middle
        else:
            high = middle
    return _tau(high, window, stages), high if stations > 1 else 0.0


def saturation(stations: int, channel: Channel) -> Saturation:
    """Return how often a frame gets through.

    Multiplied with the payload of a frame, `rate` is the saturation throughput. Raises `ParamError` if there is no
    station.
    """
    tau, collision = fixed_point(stations, channel.window, channel.stages)
    idle = (1 - tau) ** stations
    success = stations * tau * (1 - tau) ** (stations - 1)
    slot = idle * channel.slot + success * channel.success + (1 - idle - success) * channel.collision
    return Saturation(tau=tau, collision=collision, rate=success / slot)


def after_success(stations: int, channel: Channel) -> Saturation:
    """Return the same for DCF, in which the last sender alone may use the slot after its busy period.

    With probability 1/W it draws 0 and sends again at once: a success is a train of 1 / (1 - 1/W) frames on average,
    and a slot in which nobody else may send follows. Raises `ParamError` if there is no station.
    """
    train = 1 / (1 - 1 / channel.window) if channel.window > 1 else float("inf")
    found = saturation(stations, replace(channel, success=channel.success * train + channel.slot))
    return replace(found, rate=found.rate * train)


def _tau(collision: float, window: int, stages: int) -> float:
    doubled = sum((2 * collision) ** stage for stage in range(stages))
    return 2 / (1 + window + collision * window * doubled)
