"""What stations of different rates get from an access point that sends to all: the model of "Ending the Anomaly".

Station i gets aggregates of n packets of l bytes at rate r. An aggregate takes the time of its data, T_data, and an
overhead T_oh that does not depend on its length. Alone a station would have the base rate R0 = 8 n l / (T_data + T_oh).
If each station has the same number of aggregates, its share of the airtime is T(i) = T_data(i) / sum T_data; with
airtime fairness it is 1/N. Its rate is R(i) = T(i) R0(i). Collisions and retransmissions are left out.

A station that has no packet when its turn comes has none in that round. `Station.aggregates` is for that, which the
paper does not have: with a(i) aggregates, T(i) = a(i) T_data(i) / sum a T_data.

Source: T. Høiland-Jørgensen, M. Kazior, D. Täht, P. Hurtig, A. Brunstrom, "Ending the Anomaly: Achieving Low Latency
and Airtime Fairness in WiFi", USENIX ATC 2017, section 2.2, equations 1 to 5 and Table 1.

Deviation: the paper's text has the block acknowledgement sent at the data rate after the same preamble as data. Its
base rates come out within 0.4 % with a legacy preamble of 20 us, and 2 % low with 32 us; 20 us is the default here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.errors import ParamError, refused

#: Bytes around each packet of an aggregate: delimiter, MAC header with what security and LLC add, and FCS.
DELIMITER, HEADER, FCS = 4, 34, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A station and its aggregates."""

    #: For tables.
    name: str
    #: r, what the physical layer says.
    rate_mbit: float
    #: n l, mean bytes of packets in an aggregate.
    aggregate_bytes: float
    #: l.
    packet_bytes: int = 1500
    #: a, how many it has, as a multiple of any unit that is the same for all stations.
    aggregates: float = 1.0
    #: Of this station's data, and of its block acknowledgement with preamble; `None` is what `Timing` says.
    preamble_us: float | None = None
    ack_us: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no station."""
        for name in ("rate_mbit", "aggregate_bytes", "packet_bytes", "aggregates"):
            if not getattr(self, name) > 0:
                raise refused(getattr(self, name), f"{name} of {self.name}", "must be more than 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The constants, microseconds; the defaults are the paper's."""

    #: Before data.
    preamble: float = 32.0
    #: Of the 5 GHz band.
    slot: float = 9.0
    sifs: float = 16.0
    difs: float = 34.0
    #: CWmin: the mean backoff is half of it, in slots.
    window: int = 15
    #: Of the block acknowledgement, whose bytes go at the data rate.
    ack_preamble: float = 20.0
    ack_bytes: int = 58

    def overhead(self, station: Station) -> float:
        """Return T_oh."""
        ack = station.ack_us
        if ack is None:
            ack = self.ack_preamble + 8 * self.ack_bytes / station.rate_mbit
        return self.difs + self.sifs + ack + self.window / 2 * self.slot


PAPER = Timing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What the model says of a station."""

    #: Of the station.
    name: str
    #: T(i), of the airtime.
    share: float
    #: R0, what it would have alone.
    base_mbit: float
    #: R(i).
    rate_mbit: float


def data_us(station: Station, timing: Timing = PAPER) -> float:
    """Return T_data: preamble and the packets with what is around them, each padded to 4 bytes."""
    length = station.packet_bytes + DELIMITER + HEADER + FCS
    padded = length + -length % 4
    packets = station.aggregate_bytes / station.packet_bytes
    preamble = timing.preamble if station.preamble_us is None else station.preamble_us
    return preamble + 8 * packets * padded / station.rate_mbit


def base_rate(station: Station, timing: Timing = PAPER) -> float:
    """Return R0, Mbit/s."""
    return 8 * station.aggregate_bytes / (data_us(station, timing) + timing.overhead(station))


def predict(
    stations: Sequence[Station], *, fair: bool, timing: Timing = PAPER, whole: bool = False
) -> tuple[Predicted, ...]:
    """Return share and rate of each station.

    Raises `ParamError` if there is no station.

    - `stations`: at least one.
    - `fair`: whether airtime is shared equally; else by numbers of aggregates, equal unless they say otherwise.
    - `timing`: the constants.
    - `whole`: whether the overhead counts in the shares. The paper leaves it out, so that its rates come out too low
      for small aggregates of fast stations, whose overhead is as long as their data; with it they are exactly those of
      a round of one aggregate each.
    """
    if not stations:
        message = "stations is empty, but the model needs at least one"
        raise ParamError(message)

    def takes(station: Station) -> float:
        return station.aggregates * (data_us(station, timing) + (timing.overhead(station) if whole else 0.0))

    total = sum(takes(station) for station in stations)
    found = []
    for station in stations:
        share = 1 / len(stations) if fair else takes(station) / total
        base = base_rate(station, timing)
        found.append(Predicted(name=station.name, share=share, base_mbit=base, rate_mbit=share * base))
    return tuple(found)
