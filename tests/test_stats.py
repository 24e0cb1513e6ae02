"""Statistics against values worked by hand, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
import scipy.stats

from sojourn import stats
from sojourn.stats.bootstrap import student_quantile
from sojourn.store import metrics


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantile_is_that_of_students_distribution(level: float) -> None:
    for degrees in (1, 2, 3, 4, 5, 8, 9, 30, 101, 249, 1000):
        expected = scipy.stats.t.ppf((1 + level) / 2, degrees)
        assert student_quantile(degrees, level) == pytest.approx(expected, rel=1e-12)


def test_interval_of_one_value_has_no_ends() -> None:
    found = stats.mean_interval([3.5])
    assert (found.value, found.low, found.high, found.n) == (3.5, None, None, 1)


def test_interval_of_equal_values_is_a_point() -> None:
    found = stats.mean_interval([0.1] * 7)
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        stats.mean_interval([])


def test_interval_is_the_same_each_time() -> None:
    values = [1.0, 4.0, 2.0, 8.0, 5.5, 3.1, 0.2, 9.9]
    assert stats.mean_interval(values) == stats.mean_interval(values)
    assert stats.mean_interval(values, seed=1) != stats.mean_interval(values, seed=2)


@pytest.mark.parametrize("n", [2, 5, 6, 10, 30])
def test_interval_is_as_long_as_students_for_normal_samples(n: int) -> None:
    """The expansion makes the length right on average; the plain percentile interval is too short by (n-1)/n."""
    rng = np.random.default_rng(n)
    ratios = []
    for _ in range(60):
        sample = rng.normal(10, 2, size=n)
        ours = stats.mean_interval(sample)
        student = scipy.stats.t.interval(0.95, n - 1, loc=sample.mean(), scale=scipy.stats.sem(sample))
        assert ours.low is not None
        assert ours.high is not None
        ratios.append((ours.high - ours.low) / (student[1] - student[0]))
    if n < 6:
        assert ratios == pytest.approx([1.0] * 60)
    else:
        # With six values the resampled means have shorter tails than a normal, so a little is missing.
        assert (0.85 if n == 6 else 0.93) < float(np.mean(ratios)) < 1.05


def test_interval_agrees_with_scipys_bootstrap_for_many_values() -> None:
    sample = np.random.default_rng(5).exponential(3.0, size=200)
    theirs = scipy.stats.bootstrap(
        (sample,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = stats.mean_interval(sample)
    assert ours.low == pytest.approx(theirs.low, rel=0.02)
    assert ours.high == pytest.approx(theirs.high, rel=0.02)


@pytest.mark.parametrize("n", [2, 3, 6, 10])
def test_interval_covers_the_mean_as_often_as_it_says(n: int) -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        found = stats.mean_interval(rng.normal(0, 1, size=n), resamples=2000)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0 <= found.high
    assert 0.90 < covered / 400 < 0.985


@pytest.mark.parametrize(
    ("shares", "expected"), [([1, 1, 1, 1], 1.0), ([1, 0, 0, 0], 0.25), ([1, 2, 3], 36 / 42), ([5], 1.0)]
)
def test_jain(shares: list[float], expected: float) -> None:
    assert stats.jain(shares) == pytest.approx(expected)


@pytest.mark.parametrize("shares", [[], [0.0, 0.0]])
def test_jain_of_nothing_is_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        stats.jain(shares)


def test_cdf() -> None:
    found = stats.cdf([3.0, 1.0, 2.0, 2.0])
    assert found["value"].to_list() == [1.0, 2.0, 2.0, 3.0]
    assert found["fraction"].to_list() == [0.25, 0.5, 0.75, 1.0]
    assert stats.cdf([]).height == 0


def test_ellipse_of_independent_spreads() -> None:
    # Variances (n - 1) are 10/4 = 2.5 along x and 0.4/4 = 0.1 along y; the covariance is 0.
    x, y = [-2.0, -1.0, 0.0, 1.0, 2.0], [0.1, -0.4, 0.6, -0.4, 0.1]
    y = [value * math.sqrt(0.4 / sum(v * v for v in y)) for value in y]
    found = stats.one_sigma(x, y)
    assert found.x == 0
    assert found.major == pytest.approx(math.sqrt(2.5))
    assert found.minor == pytest.approx(math.sqrt(0.1))
    assert found.angle_rad == pytest.approx(0.0, abs=1e-9)


def test_ellipse_turns_with_its_points() -> None:
    found = stats.one_sigma([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    assert found.angle_rad == pytest.approx(math.pi / 4)
    assert (found.major, found.minor) == (pytest.approx(math.sqrt(2)), pytest.approx(0, abs=1e-7))
    outline = found.outline()
    assert outline[0] == pytest.approx([2.0, 2.0])
    assert outline[0] == pytest.approx(outline[-1])
    falling = stats.one_sigma([0.0, 1.0, 2.0], [2.0, 1.0, 0.0])
    assert falling.angle_rad == pytest.approx(-math.pi / 4)


def test_ellipse_is_centred_at_the_medians() -> None:
    found = stats.one_sigma([1.0, 2.0, 100.0], [7.0, 5.0, 6.0])
    assert (found.x, found.y) == (2.0, 6.0)


def test_ellipse_outline_has_mahalanobis_distance_one() -> None:
    rng = np.random.default_rng(3)
    points = rng.multivariate_normal([3, 7], [[2, 0.8], [0.8, 1]], size=40)
    found = stats.one_sigma(points[:, 0].tolist(), points[:, 1].tolist())
    inverse = np.linalg.inv(np.cov(points.T))
    from_centre = found.outline() - [found.x, found.y]
    distance = np.einsum("ij,jk,ik->i", from_centre, inverse, from_centre)
    assert distance == pytest.approx(np.ones(len(distance)))


def test_ellipse_of_one_run_is_a_point() -> None:
    found = stats.one_sigma([1.0], [2.0])
    assert (found.x, found.y, found.major, found.minor) == (1.0, 2.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="same number"):
        stats.one_sigma([1.0], [])


def runs(**latencies: list[float]) -> pl.DataFrame:
    """Return a frame of runs with these induced latencies, seeds from 1."""
    rows = [
        {"link": "10/10", "qdisc": qdisc, "seed": seed, "induced_latency_ms": value}
        for qdisc, values in latencies.items()
        for seed, value in enumerate(values, start=1)
    ]
    return pl.DataFrame(
        [{name: row.get(name) for name in metrics.RUN_SCHEMA} for row in rows], schema=metrics.RUN_SCHEMA
    )


def test_summary_has_a_row_for_each_discipline_and_metric() -> None:
    found = stats.summarise(runs(a=[1.0, 2.0, 6.0], b=[5.0]), ["induced_latency_ms", "jain_up"])
    assert found.select("qdisc", "metric", "n", "mean", "median").rows() == [
        ("a", "induced_latency_ms", 3, 3.0, 2.0),
        ("a", "jain_up", 0, None, None),
        ("b", "induced_latency_ms", 1, 5.0, 5.0),
        ("b", "jain_up", 0, None, None),
    ]
    assert found["low"][2] is None


def test_pairs_are_taken_seed_by_seed() -> None:
    """The seeds differ by 100 from each other, the disciplines by about 1: only pairing can tell them apart."""
    a = [100.0, 200.0, 300.0, 400.0]
    found = stats.compare_pairs(runs(a=a, b=[101.0, 201.1, 300.9, 401.0]), ["induced_latency_ms"])
    row = found.row(0, named=True)
    assert (row["a"], row["b"], row["n"], row["verdict"]) == ("a", "b", 4, "higher")
    assert row["difference"] == pytest.approx(1.0)
    assert (
        stats.compare_pairs(runs(a=a, b=[99.0, 199.0, 299.1, 399.0]), ["induced_latency_ms"])["verdict"][0] == "lower"
    )
    undecided = stats.compare_pairs(runs(a=a, b=[90.0, 210.0, 305.0, 396.0]), ["induced_latency_ms"])
    assert undecided["verdict"][0] == "cannot tell"
    single = stats.compare_pairs(runs(a=[1.0], b=[9.0]), ["induced_latency_ms"])
    assert single["verdict"][0] == "cannot tell"


@pytest.mark.parametrize(
    ("ends", "limit", "sign"),
    [
        ((1.0, 2.0), 0.0, 1),
        ((-2.0, -1.0), 0.0, -1),
        ((-1.0, 1.0), 0.0, 0),
        ((0.0, 1.0), 0.0, 0),
        ((1.0, 3.0), 2.0, 0),
        ((2.5, 3.0), 2.0, 1),
        ((-3.0, -2.5), 2.0, -1),
        ((None, None), 2.0, 0),
    ],
)
def test_an_interval_says_on_which_side_of_a_limit_it_lies(
    ends: tuple[float | None, float | None], limit: float, sign: int
) -> None:
    interval = stats.Interval(value=0.0, low=ends[0], high=ends[1], n=2)
    assert interval.sign(limit) == sign
    assert not interval.within(limit)


def test_an_interval_is_within_a_limit_that_its_ends_touch() -> None:
    assert stats.Interval(value=0.0, low=-2.0, high=2.0, n=2).within(2.0)
    assert not stats.Interval(value=0.0, low=-2.1, high=2.0, n=2).within(2.0)
