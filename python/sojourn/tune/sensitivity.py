"""Which parameter matters: Sobol's indices of a surrogate of what was measured.

The settings that were run are too few, and too dense where it is good, for indices of their own. So each metric gets a
surrogate: a thin-plate spline over the logarithms of the parameters, smoothed as much as cross-validation finds best.
SALib draws Saltelli's sample of the space and computes the indices of the surrogate. `s1` of a parameter is the share
of the metric's variance over the space that it makes alone, `st` the share in which it has any part. `r2` says what
share of the variance of settings that it was not shown the surrogate tells; below about 0.5 the indices mean little.

Source: I. Sobol, "Global sensitivity indices for nonlinear mathematical models", Mathematics and Computers in
Simulation 55 (2001); A. Saltelli et al., "Variance based sensitivity analysis of model output", Computer Physics
Communications 181 (2010).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.tune.space import Knob

Points = NDArray[np.float64]
Function = Callable[[Points], Points]

#: Base sample of Saltelli's design; the surrogate is asked (2 knobs + 2) times as often.
SAMPLE = 1024
FOLDS = 5
#: Degrees of smoothing that cross-validation chooses from.
SMOOTHINGS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
#: Settings for each parameter below which no surrogate is made.
FEWEST_A_KNOB = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Sobol's indices of one metric."""

    #: Of the surrogate, on settings that it was not shown.
    r2: float
    #: First-order and total index of each parameter.
    s1: Mapping[str, float]
    st: Mapping[str, float]


def sobol_indices(
    function: Function, names: Sequence[str], bounds: Sequence[tuple[float, float]], *, seed: int, sample: int = SAMPLE
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the first-order and the total indices of a function of uniform independent arguments.

    - `function`: of points, one a row, to values.
    - `names`, `bounds`: of the arguments.
    - `seed`: of the scrambling.
    - `sample`: size of the base sample, a power of two.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from SALib.analyze import sobol as analysis
        from SALib.sample import sobol as design

        problem = {"num_vars": len(names), "names": list(names), "bounds": [list(pair) for pair in bounds]}
        points = design.sample(problem, sample, calc_second_order=False, seed=seed)
        values = function(points)
        if float(np.ptp(values)) == 0.0:  # nothing varies, so nothing matters
            nothing = dict.fromkeys(names, 0.0)
            return nothing, dict(nothing)
        found = analysis.analyze(problem, values, calc_second_order=False, num_resamples=2, seed=seed)
    return (
        {name: float(value) for name, value in zip(names, found["S1"], strict=True)},
        {name: float(value) for name, value in zip(names, found["ST"], strict=True)},
    )


def of_settings(
    knobs: Sequence[Knob], settings: Sequence[Mapping[str, float]], values: Sequence[float], *, seed: int
) -> Sensitivity | None:
    """Return the indices of a metric, from the settings that were run; `None` if they are too few.

    - `knobs`: what was searched.
    - `settings`: values of the knobs.
    - `values`: of the metric.
    - `seed`: of the folds and of the sample.
    """
    merged: dict[tuple[float, ...], float] = {}
    for setting, value in zip(settings, values, strict=True):
        merged.setdefault(tuple(setting[knob.name] for knob in knobs), value)
    if len(merged) < FEWEST_A_KNOB * len(knobs) + FOLDS:
        return None
    low = np.log([knob.low for knob in knobs])
    width = np.log([knob.high for knob in knobs]) - low
    points = (np.log(np.array(list(merged))) - low) / width
    heights = np.array(list(merged.values()))
    surrogate, r2 = fit(points, heights, seed=seed)
    names = [knob.name for knob in knobs]
    s1, st = sobol_indices(surrogate, names, [(0.0, 1.0)] * len(knobs), seed=seed)
    return Sensitivity(r2=r2, s1=s1, st=st)


def fit(points: Points, values: Points, *, seed: int) -> tuple[Function, float]:
    """Return a surrogate of the values at the points, and its cross-validated coefficient of determination."""
    from scipy.interpolate import RBFInterpolator

    spread = float(np.std(values))
    if spread == 0.0:
        level = float(values[0])
        return lambda at: np.full(len(at), level), 1.0
    scaled = (values - float(np.mean(values))) / spread
    fold = np.random.default_rng(seed).permutation(len(points)) % FOLDS

    def missed(smoothing: float) -> float:
        """Return the mean squared error on what was left out."""
        errors = np.empty(len(points))
        for number in range(FOLDS):
            out = fold == number
            errors[out] = RBFInterpolator(points[~out], scaled[~out], smoothing=smoothing)(points[out]) - scaled[out]
        return float(np.mean(errors**2))

    misses = {smoothing: missed(smoothing) for smoothing in SMOOTHINGS}
    best = min(SMOOTHINGS, key=lambda smoothing: misses[smoothing])
    return RBFInterpolator(points, scaled, smoothing=best), 1.0 - misses[best]
