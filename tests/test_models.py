"""The analytical models against numbers that others published."""

from __future__ import annotations

import dataclasses
import math

import pytest

from sojourn.errors import ParamError
from sojourn.models import anomaly
from tests import bianchi
from tests.bianchi import Channel

#: Bianchi 2000, Table II: the frequency-hopping PHY at 1 Mbit/s, in us (and bits).
PAYLOAD, HEADERS, ACK, SIFS, DIFS, DELAY, SLOT = 8184, 272 + 128, 112 + 128, 28, 128, 1, 50
SUCCESS = HEADERS + PAYLOAD + SIFS + DELAY + ACK + DIFS + DELAY
COLLISION = HEADERS + PAYLOAD + DIFS + DELAY


def symbols(size: int, bits: int) -> float:
    """An OFDM frame: 20 us, and symbols of 4 us for 16 + 6 bits and the bytes."""
    return 20 + 4 * math.ceil((22 + 8 * size) / bits)


def test_a_lone_station_sends_in_a_slot_of_two_windows() -> None:
    """Bianchi's equation 8: with no collision tau = 2 / (W + 1), whatever m is."""
    assert bianchi.fixed_point(1, 32, 5) == (2 / 33, 0.0)


@pytest.mark.parametrize("stations", [1, 2, 10, 50])
def test_without_doubling_tau_does_not_depend_on_the_number_of_stations(stations: int) -> None:
    """Bianchi's equation 8 again: m = 0 is a constant window."""
    tau, collision = bianchi.fixed_point(stations, 32, 0)
    assert tau == pytest.approx(2 / 33, rel=1e-12)
    assert collision == pytest.approx(1 - (1 - tau) ** (stations - 1), abs=1e-12)


@pytest.mark.parametrize(("stations", "window", "stages"), [(2, 16, 6), (10, 32, 5), (50, 32, 3), (200, 16, 6)])
def test_tau_and_p_solve_both_equations(stations: int, window: int, stages: int) -> None:
    """Equation 7 as it is printed, which has a singularity at p = 1/2 only."""
    tau, p = bianchi.fixed_point(stations, window, stages)
    printed = 2 * (1 - 2 * p) / ((1 - 2 * p) * (window + 1) + p * window * (1 - (2 * p) ** stages))
    assert tau == pytest.approx(printed, rel=1e-9)
    assert p == pytest.approx(1 - (1 - tau) ** (stations - 1), rel=1e-9)


def test_the_best_throughput_is_where_bianchi_has_it() -> None:
    """His section V: K = sqrt(T_c / (2 sigma)) is 9.334, tau is best at 1 / (n K), and what S then is for large n."""
    k = math.sqrt(COLLISION / SLOT / 2)
    assert k == pytest.approx(9.334, abs=0.0005)
    best = PAYLOAD / (SUCCESS + SLOT * k + COLLISION * (k * (math.exp(1 / k) - 1) - 1))
    for stations, near in ((20, 0.004), (50, 0.002)):
        found = {
            window: PAYLOAD
            * bianchi.saturation(
                stations, Channel(window=window, stages=0, slot=SLOT, success=SUCCESS, collision=COLLISION)
            ).rate
            for window in range(8, 2500, 4)
        }
        window = max(found, key=lambda window: found[window])
        assert window == pytest.approx(2 * stations * k - 1, rel=0.05)
        assert found[window] == pytest.approx(best, rel=near)


@pytest.mark.parametrize(
    ("rate", "bits", "ack_bits", "published"),
    [
        (54, 216, 96, {5: 29.2861, 25: 24.6808, 50: 22.4162}),
        (6, 24, 24, {5: 4.6899, 25: 3.8478, 50: 3.4711}),
    ],
)
def test_11a_comes_out_as_in_the_reference_values_of_ns_3(
    rate: int, bits: int, ack_bits: int, published: dict[int, float]
) -> None:
    """The table of wifi-bianchi.cc (University of Washington), Mbit/s; its tau is read off a grid of 1/10000."""
    assert bits == rate * 4
    busy = symbols(1536, bits) + 16 + symbols(14, ack_bits) + 34 + 0.1
    channel = Channel(window=16, stages=6, slot=9, success=busy, collision=busy)
    for stations, mbit in published.items():
        assert 12_000 * bianchi.after_success(stations, channel).rate == pytest.approx(mbit, rel=0.0015)


def test_11b_comes_out_as_in_the_reference_values_of_ns_3() -> None:
    """The same table, 1 Mbit/s with the long preamble of 192 us."""
    busy = 192 + 1536 * 8 + 10 + 192 + 14 * 8 + 50 + 0.1
    channel = Channel(window=32, stages=5, slot=20, success=busy, collision=busy)
    for stations, mbit in {5: 0.8418, 25: 0.6973, 50: 0.6285}.items():
        assert 12_000 * bianchi.after_success(stations, channel).rate == pytest.approx(mbit, rel=0.0005)


def test_a_channel_that_cannot_be_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParamError, match="^stations is 0, but must be at least 1$"):
        bianchi.fixed_point(0, 16, 6)
    with pytest.raises(ParamError, match="^window is 0, but must be at least 1$"):
        Channel(window=0, stages=6, slot=9, success=100, collision=100)
    with pytest.raises(ParamError, match="^slot is 0, but must be more than 0$"):
        Channel(window=16, stages=6, slot=0, success=100, collision=100)


#: Table 1 of "Ending the Anomaly": name, PHY rate, aggregate (bytes), T(i) in percent, base rate and R(i) in Mbit/s.
FIFO = (
    ("fast1", 144.4, 6892, 10, 97.3, 9.7),
    ("fast2", 144.4, 7833, 11, 101.1, 11.4),
    ("slow", 7.2, 2914, 79, 6.5, 5.1),
)
AIRTIME = (
    ("fast1", 144.4, 28434, 33, 126.7, 42.2),
    ("fast2", 144.4, 28557, 33, 126.8, 42.3),
    ("slow", 7.2, 2914, 33, 6.5, 2.2),
)


@pytest.mark.parametrize(("rows", "fair", "total"), [(FIFO, False, 26.4), (AIRTIME, True, 86.8)])
def test_table_1_of_ending_the_anomaly_comes_out(
    rows: tuple[tuple[str, float, int, int, float, float], ...], *, fair: bool, total: float
) -> None:
    """Within its rounding or 2 %."""
    stations = [anomaly.Station(name=name, rate_mbit=rate, aggregate_bytes=size) for name, rate, size, *_ in rows]
    found = anomaly.predict(stations, fair=fair)
    for one, (_, _, _, share, base, rate) in zip(found, rows, strict=True):
        assert one.share * 100 == pytest.approx(share, abs=0.5)
        assert one.base_mbit == pytest.approx(base, rel=0.02, abs=0.05)
        assert one.rate_mbit == pytest.approx(rate, rel=0.02, abs=0.05)
    assert sum(one.rate_mbit for one in found) == pytest.approx(total, rel=0.02)
    assert sum(one.share for one in found) == pytest.approx(1.0)


def test_one_packet_takes_what_it_takes_by_hand() -> None:
    """1500 + 42 bytes padded to 1544 at 100 Mbit/s: 32 + 123.52 us; DIFS, SIFS, 7.5 slots and 24.64 us of ACK."""
    station = anomaly.Station(name="one", rate_mbit=100, aggregate_bytes=1500)
    assert anomaly.data_us(station) == pytest.approx(155.52)
    assert anomaly.PAPER.overhead(station) == pytest.approx(34 + 16 + 67.5 + 24.64)
    assert anomaly.base_rate(station) == pytest.approx(12_000 / 297.66, rel=1e-4)
    own = anomaly.Station(name="own", rate_mbit=100, aggregate_bytes=1500, preamble_us=40, ack_us=32)
    assert anomaly.data_us(own) == pytest.approx(163.52)
    assert anomaly.PAPER.overhead(own) == pytest.approx(34 + 16 + 67.5 + 32)


def test_the_anomaly_is_that_the_slow_station_sets_the_pace() -> None:
    """Equal aggregates of one packet: equal throughput, and the slow one has nearly all of the airtime."""
    stations = [
        anomaly.Station(name=name, rate_mbit=rate, aggregate_bytes=1500) for name, rate in (("a", 144.4), ("b", 7.2))
    ]
    plain, fair = anomaly.predict(stations, fair=False), anomaly.predict(stations, fair=True)
    assert plain[1].share > 0.9
    assert sum(one.rate_mbit for one in fair) > 3 * sum(one.rate_mbit for one in plain)


def test_with_overhead_in_the_shares_a_round_takes_what_its_aggregates_take() -> None:
    """Two stations, an aggregate each: both have as many bytes in the sum of both times."""
    stations = [
        anomaly.Station(name=name, rate_mbit=rate, aggregate_bytes=3000) for name, rate in (("a", 144.4), ("b", 7.2))
    ]
    round_us = sum(anomaly.data_us(one) + anomaly.PAPER.overhead(one) for one in stations)
    for one in anomaly.predict(stations, fair=False, whole=True):
        assert one.rate_mbit == pytest.approx(24_000 / round_us)


def test_a_station_that_is_passed_over_in_some_rounds_has_so_many_bytes_less() -> None:
    """Three rounds, in one of which the fast station has no packet: two aggregates and three, by hand."""
    fast, slow = (
        anomaly.Station(name=name, rate_mbit=rate, aggregate_bytes=3000, aggregates=aggregates)
        for name, rate, aggregates in (("a", 144.4, 2), ("b", 7.2, 3))
    )
    takes = [anomaly.data_us(one) + anomaly.PAPER.overhead(one) for one in (fast, slow)]
    rounds_us = 2 * takes[0] + 3 * takes[1]
    found = anomaly.predict((fast, slow), fair=False, whole=True)
    assert [one.rate_mbit for one in found] == pytest.approx([2 * 24_000 / rounds_us, 3 * 24_000 / rounds_us])
    sevenfold = [dataclasses.replace(one, aggregates=one.aggregates * 7) for one in (fast, slow)]
    for one, other in zip(found, anomaly.predict(sevenfold, fair=False, whole=True), strict=True):
        assert one.rate_mbit == pytest.approx(other.rate_mbit)


def test_a_station_that_cannot_be_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParamError, match="^rate_mbit of slow is 0, but must be more than 0$"):
        anomaly.Station(name="slow", rate_mbit=0, aggregate_bytes=1500)
    with pytest.raises(ParamError, match="^stations is empty, but the model needs at least one$"):
        anomaly.predict([], fair=True)
