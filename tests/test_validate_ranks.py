"""`sojourn validate`: the places of the kernel's runs among the simulator's."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.validate.execute import Both
from sojourn.validate.ranks import ranks_of
from tests.test_validate import cell, runs
from tests.test_validate import of_goodput as of


def test_the_kernels_run_has_a_place_among_the_simulators() -> None:
    def beside(kernel: float, *sims: float) -> Both:
        return Both(cell=cell(), sim=runs(*map(of, sims)), kernel=runs(of(kernel)))

    ran = [beside(1, 2, 3, 4), beside(9, 2, 3, 4), beside(9, 2, 3, 4), beside(3, 2, 3, 4)]
    found = {one.metric: one for one in ranks_of(ran)}["goodput_up_mbit"]
    # The last is in the second and in the third of the four places.
    assert found.counts == (1, 0.5, 0.5, 2)
    # Pearson's chi-squared by hand: one is expected in each place, so 0 + 0.25 + 0.25 + 1 = 1.5, 3 degrees of freedom.
    assert found.p_value == pytest.approx(0.6823, abs=1e-4)
    assert ranks_of([*ran, beside(1, 2, 3)]) == []


def test_a_model_that_is_off_has_uneven_places_whatever_the_noise() -> None:
    """Runs of much noise, and a kernel that has 1 % more: 300 scenarios tell it."""
    drawn = np.random.default_rng(1)

    def p_value(more: float) -> float:
        ran = []
        for scale in drawn.uniform(1, 100, 300):
            kernel, *sims = scale * drawn.normal(1, 0.02, 7)
            ran.append(Both(cell=cell(), sim=runs(*map(of, sims)), kernel=runs(of(kernel + more * scale))))
        return {one.metric: one for one in ranks_of(ran)}["goodput_up_mbit"].p_value

    assert p_value(0) > 0.01
    assert p_value(0.01) < 1e-6
