"""The order of disciplines in two places, and the start-up of a mean curve."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi import curves
from sojourn.study import orders, redraw
from sojourn.study.cell import Observation
from tests.records import Json
from tests.studies import STUDIES


def around(mean: float) -> list[float]:
    return [mean + 0.01 * step for step in (-2, -1, 0, 1, 2, 3)]


def test_pairs_are_kept_unclear_or_reversed() -> None:
    first = {"a": around(1.0), "b": around(2.0), "c": around(3.0)}
    second = {"a": around(1.0), "b": around(4.0), "c": [3.0, 6.0, 3.0, 6.0, 2.5, 4.0]}
    found = orders.agreement("there", first, second)
    assert (found.same, found.unclear, found.reversed) == (2, 1, ())
    second["c"] = around(2.0)
    found = orders.agreement("there", first, second)
    assert (found.same, found.unclear) == (2, 0)
    assert found.reversed == ("there: b 4.005 > c 2.005",)
    assert orders.same_order([found], "x").verdict == "fails"


def test_equal_disciplines_have_no_order_to_keep() -> None:
    same = {"a": around(1.0), "b": around(1.0)}
    found = orders.agreement("there", same, {"a": around(1.0), "b": around(9.0)})
    assert (found.same, found.unclear, found.reversed) == (0, 0, ())
    with pytest.raises(SojournError, match="too few repeats: 0 pairs"):
        orders.same_order([found], "x")


def test_order_needs_two_repeats() -> None:
    with pytest.raises(SojournError, match="at least 2 repeats"):
        orders.clear_sign([1.0], [2.0])


def observed(values: Json) -> tuple[Observation, ...]:
    return STUDIES["good_bad_wifi"].runs(STUDIES["good_bad_wifi"].cell("rrul", "10/10", "pie"), values)


def start(curve: tuple[float, float, float, float]) -> curves.StartUp:
    return curves.StartUp(observed({"curve": curve}))


ALL = np.arange(6)


def test_peak_and_settling_of_a_step() -> None:
    found = start((50.0, 7.0, 200.0, 100.0))
    assert found.before(ALL) == pytest.approx(50.0)
    assert found.peak(ALL) == pytest.approx(200.0, rel=0.01)
    assert found.induced_steady(ALL) == pytest.approx(50.0, rel=0.01)
    # Smoothed over a second, the step is within a tenth of the level half a second after it.
    assert found.settling(ALL) == pytest.approx(7.4, abs=0.25)


def test_latency_that_only_rises_to_its_level_settles_at_once() -> None:
    assert start((50.0, 7.0, 60.0, 100.0)).settling(ALL) == 0.0


def test_latency_that_never_stays_has_no_settling_time() -> None:
    runs = [run.replaced(curve_ms=swinging(run)) for run in observed({"curve": (50.0, 0.0, 100.0, 100.0)})]
    assert curves.StartUp(runs).settling(ALL) == curves.CURVE_S


def swinging(run: Observation) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return a curve with 2 s of each 4 far above the level."""
    bins = np.arange(run.curve_ms.size)
    return np.where(bins % 20 < 10, 300.0, 100.0).astype(np.float32)


def test_interval_of_a_statistic_covers_its_value_and_needs_two_repeats() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    found = redraw.drawn_interval(lambda drawn: float(values[drawn].mean()), 6)
    assert found.low is not None
    assert found.high is not None
    assert 1 < found.low < found.value == 3.5 < found.high < 6
    assert redraw.drawn_interval(lambda drawn: float(values[drawn].mean()), 1).low is None


def test_short_runs_have_no_start_up() -> None:
    runs = [run.replaced(settled_ms=None) for run in observed({})]
    with pytest.raises(SojournError, match="duration is too short"):
        curves.StartUp(runs)
