"""Transients and small shares, against curves and numbers whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from sojourn import stats
from sojourn.errors import ParamError
from sojourn.stats import upper_bound_of_none
from sojourn.stats.transient import Samples, settling_times, smooth

END_S = 60.0


def sampled(curve: Callable[[float], float], *, end_s: float = END_S, phase: float = 0.1) -> Samples:
    """Return one run with one probe that samples a curve every 200 ms from -5 s on."""
    times = (np.arange(round((end_s + 5) / 0.2)) * 0.2 - 5.0 + phase).tolist()
    return {"ping": (times, [curve(t) for t in times])}


def measured(curve: Callable[[float], float], n: int = 1, **options: object) -> stats.Transient:
    found = stats.course([sampled(curve) for _ in range(n)], end_s=END_S)
    return stats.measure_transient(found, **options)  # type: ignore[arg-type]


def settling_time(t: np.ndarray, course: np.ndarray, level: float) -> float:
    """Return the settling time of one course."""
    return float(settling_times(t, course[np.newaxis], np.array([level]))[0])


def test_course_is_the_mean_over_probes_then_over_runs() -> None:
    one: Samples = {"ping": ([0.05, 0.15, 0.3], [10.0, 20.0, None]), "udp": ([0.1], [35.0])}
    other: Samples = {"ping": ([0.0, 0.2], [45.0, 7.0])}
    found = stats.course([one, other], start_s=0.0, end_s=0.6)
    assert found.t_s == pytest.approx([0.1, 0.3, 0.5])
    assert found.runs_ms[0] == pytest.approx([(15 + 35) / 2, math.nan, math.nan], nan_ok=True)
    assert found.mean_ms == pytest.approx([(25 + 45) / 2, 7.0, math.nan], nan_ok=True)


def test_a_sample_on_the_border_of_two_bins_belongs_to_the_later() -> None:
    times = [round(0.2 * k, 1) for k in range(-5, 5)]
    found = stats.course([{"ping": (times, [float(k) for k in range(10)])}], start_s=-1.0, end_s=1.0)
    assert found.mean_ms == pytest.approx(range(10))


def test_exponential_decay_settles_when_it_is_within_the_margin() -> None:
    """100 exp(-t / 4) over 50 ms is within 5 ms after 4 ln 20 = 11.98 s; the mean over 1 s shifts that by 0.01 s."""
    found = measured(lambda t: 50.0 + (100.0 * math.exp(-t / 4) if t >= 0 else 0.0), steady_s=(50.0, 60.0))
    assert found.steady_ms.value == pytest.approx(50.0, abs=1e-3)
    assert found.settling_s.value == pytest.approx(4 * math.log(20), abs=0.2)
    assert found.peak_ms.value == pytest.approx(50 + 100 * math.exp(-0.1 / 4))
    assert found.peak_s.value == pytest.approx(0.1)
    assert found.excess_ms_s.value == pytest.approx(400 * (1 - math.exp(-25 / 4)), rel=0.01)


def test_a_step_down_settles_where_the_step_is() -> None:
    found = measured(lambda t: 250.0 if 0 <= t < 10 else 50.0)
    # The smoothed course is within the margin once the last bin of the mean over 1 s has left the step.
    assert found.settling_s.value == pytest.approx(10.0 + 0.4, abs=0.11)
    assert found.peak_ms.value == 250.0
    assert found.excess_ms_s.value == pytest.approx(2000.0, rel=0.01)


def test_a_step_up_is_settled_from_above_at_once_and_from_both_sides_later() -> None:
    def curve(t: float) -> float:
        return 100.0 if t >= 8 else 50.0

    assert measured(curve).settling_s.value == 0.0
    # The mean over five bins is 90 ms, a tenth below the level, once four of them are in.
    assert measured(curve, side="both").settling_s.value == pytest.approx(8.2)
    assert measured(curve).excess_ms_s.value == pytest.approx(0.0)


def test_a_pause_shorter_than_the_hold_is_not_settled() -> None:
    def curve(t: float) -> float:
        return 50.0 if t < 0 or 4 <= t < 8 or t >= 12 else 200.0

    assert measured(curve).settling_s.value == pytest.approx(12.4, abs=0.11)


def test_what_never_settles_is_infinite() -> None:
    t = np.arange(0.1, 20, 0.2)
    assert settling_time(t, 50 + 100 * (np.sin(t) > 0), 50.0) == math.inf
    assert settling_time(t, np.full(len(t), np.nan), 50.0) == math.inf
    assert settling_time(t, np.full(len(t), 50.0), 50.0) == 0.0
    assert settling_time(t[:5], np.full(5, 50.0), 50.0) == math.inf


def test_margin_is_a_tenth_but_at_least_five_milliseconds() -> None:
    t = np.arange(0.1, 20, 0.2)
    for steady, just, beyond in ((20.0, 24.9, 25.1), (200.0, 219.0, 221.0)):
        assert settling_time(t, np.full(len(t), just), steady) == 0.0
        assert settling_time(t, np.full(len(t), beyond), steady) == math.inf


def test_smoothing_keeps_a_straight_line_and_leaves_gaps_out() -> None:
    line = np.arange(20.0)
    assert smooth(line, 5)[2:-2] == pytest.approx(line[2:-2])
    line[10] = np.nan
    assert smooth(line, 5)[10] == pytest.approx((8 + 9 + 11 + 12) / 4)
    assert np.isnan(smooth(np.full(9, np.nan), 5)).all()


def noisy(rng: np.random.Generator, spike: float, n: int) -> list[Samples]:
    """Return runs with a steady level of about 60 ms and a spike of about so much, decaying over 2 s."""
    runs = []
    for _ in range(n):
        level, height = 60 + rng.normal(0, 2), spike + rng.normal(0, 20)
        runs.append(
            sampled(lambda t, low=level, up=height: low + (up * math.exp(-t / 2) if t >= 0 else 0.0))  # type: ignore[misc]
        )
    return runs


def test_interval_of_the_steady_level_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(60):
        found = stats.measure_transient(stats.course(noisy(rng, 200.0, 10), end_s=END_S), resamples=400)
        low, high = found.steady_ms.low, found.steady_ms.high
        assert low is not None
        assert high is not None
        hits += low <= 60.0 <= high
    assert 52 <= hits <= 60


def test_interval_is_that_of_the_mean_where_the_number_is_a_mean() -> None:
    """In the steady window all probes of a run say the same, so its level is a plain mean over runs."""
    runs = noisy(np.random.default_rng(4), 200.0, 12)
    found = stats.measure_transient(stats.course(runs, end_s=END_S))
    expected = stats.mean_interval([float(run["ping"][1][-1] or 0.0) for run in runs])
    assert found.steady_ms.value == pytest.approx(expected.value, abs=1e-3)
    assert found.steady_ms.low == pytest.approx(expected.low, abs=0.2)
    assert found.steady_ms.high == pytest.approx(expected.high, abs=0.2)


def test_interval_is_the_same_each_time_and_absent_for_few_runs() -> None:
    runs = noisy(np.random.default_rng(1), 150.0, 6)
    found = stats.course(runs, end_s=END_S)
    assert stats.measure_transient(found) == stats.measure_transient(found)
    few = stats.measure_transient(stats.course(runs[:5], end_s=END_S))
    assert (few.peak_ms.low, few.peak_ms.high, few.peak_ms.n) == (None, None, 5)


def test_one_slow_run_in_ten_shows_in_the_upper_end_only() -> None:
    def quick(t: float) -> float:
        return 300.0 if 0 <= t < 2 else 50.0

    def slow(t: float) -> float:
        return 300.0 if 0 <= t < 18 else 50.0

    found = stats.measure_transient(
        stats.course([sampled(quick)] * 9 + [sampled(slow)], end_s=END_S), steady_s=(30.0, 60.0)
    )
    assert found.settling_s.value == pytest.approx(18.4, abs=0.2)
    assert found.settling_s.low == pytest.approx(2.4, abs=0.2)
    assert found.settling_s.high == pytest.approx(18.4, abs=0.2)


def test_a_window_without_samples_is_refused() -> None:
    found = stats.course([sampled(lambda _: 50.0, end_s=25.0)])
    with pytest.raises(ParamError, match=r"steady_s is \(30.0, 60.0\)"):
        stats.measure_transient(found)
    assert stats.measure_transient(found, steady_s=(15.0, 25.0)).steady_ms.value == 50.0
    lost: Samples = {"ping": ([0.1, 0.3], [None, None])}
    with pytest.raises(ParamError, match="window_s"):
        stats.measure_transient(stats.course([lost]), steady_s=(15.0, 25.0))
    with pytest.raises(ParamError, match="at least one"):
        stats.course([])
    with pytest.raises(ParamError, match="multiple of bin_s"):
        stats.course([lost], end_s=25.1)
    with pytest.raises(ParamError, match="after start_s"):
        stats.course([lost], start_s=2.0, end_s=1.0)


def test_share_of_some_events_is_the_mean_over_runs() -> None:
    found = stats.share_interval([1, 3, 0, 2, 5, 1], [100] * 6)
    expected = stats.mean_interval([0.01, 0.03, 0.0, 0.02, 0.05, 0.01])
    assert found == expected
    unequal = stats.share_interval([10, 0], [100, 1000])
    assert unequal.value == pytest.approx(0.05)


def test_share_of_no_event_has_the_rule_of_threes_upper_end() -> None:
    found = stats.share_interval([0] * 30, [7000] * 30)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3 / 210_000, rel=2e-3)
    # By definition: at this share nothing is seen in 95 of 100 cases of 20 trials.
    assert (1 - upper_bound_of_none(20)) ** 20 == pytest.approx(0.05)


def test_interval_of_a_share_stays_within_its_ends() -> None:
    few = stats.share_interval([0, 0, 4], [100] * 3)
    assert few.low == 0.0
    most = stats.share_interval([100, 100, 96], [100] * 3)
    assert most.high == 1.0


def test_wrong_shares_are_refused() -> None:
    for events, trials, words in (
        ([1], [1, 2], "one for each run"),
        ([3], [2], "events is 3 of 2"),
        ([-1], [2], "events is -1"),
        ([0], [0], "at least one trial"),
        ([], [], "at least one trial"),
    ):
        with pytest.raises(ParamError, match=words):
            stats.share_interval(events, trials)
    with pytest.raises(ParamError, match="trials is 0"):
        upper_bound_of_none(0)
    assert stats.share_interval([0, 5], [0, 100]).n == 1
