"""Mean opinion scores against values of an independent program and of the published formulas."""

from __future__ import annotations

import math

import pytest

from sojourn.errors import ParamError
from sojourn.stats import mos

#: One-way delay (ms), loss (fraction), MOS: what Flent 2.3.0's `mos_score` returns.
FLENT = [
    (0, 0.0, 4.4094),
    (20, 0.0, 4.3960),
    (50, 0.0, 4.3796),
    (100, 0.0, 4.3549),
    (150, 0.0, 4.3275),
    (200, 0.0, 4.2232),
    (300, 0.0, 3.7194),
    (400, 0.0, 3.2156),
    (100, 0.01, 3.7227),
    (100, 0.05, 2.0439),
    (20, 0.20, 1.1093),
]


@pytest.mark.parametrize(("delay_ms", "loss", "score"), FLENT)
def test_g107_is_what_flent_says(delay_ms: float, loss: float, score: float) -> None:
    assert mos.mos_g107(delay_ms, loss) == pytest.approx(score, abs=1e-3)


def test_the_three_models_differ_at_one_per_cent_of_loss() -> None:
    assert mos.mos_g107(100, 0.01) == pytest.approx(3.72, abs=5e-3)
    assert mos.mos_cole_rosenbluth(100, 0.01) == pytest.approx(4.28, abs=5e-3)
    assert mos.mos_practitioner(100, 0.01) == pytest.approx(4.29, abs=5e-3)


def test_the_table_of_the_module_is_true() -> None:
    for name in ("mos_g107", "mos_cole_rosenbluth", "mos_practitioner"):
        assert mos.__doc__ is not None
        row = next(line for line in mos.__doc__.splitlines() if f"`{name}`" in line)
        clean, lossy = (float(cell) for cell in row.strip("| ").split("|")[-2:])
        assert getattr(mos, name)(100, 0.0) == pytest.approx(clean, abs=5.1e-3)
        assert getattr(mos, name)(100, 0.01) == pytest.approx(lossy, abs=5.1e-3)


def test_cole_rosenbluth_of_g729a_by_hand() -> None:
    """At 200 ms and 2 %: R = 94.2 - 4.8 - 2.497 - 11 - 40 ln 1.2 = 68.610."""
    rating = 94.2 - 4.8 - 0.11 * 22.7 - 11 - 40 * math.log(1.2)
    assert rating == pytest.approx(68.610, abs=1e-3)
    expected = 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)
    assert mos.mos_cole_rosenbluth(200, 0.02, codec="g729a") == pytest.approx(expected)


def test_practitioner_rule_by_hand() -> None:
    """Jitter 20 ms makes 150 ms the late branch: L = 200, R = 93.2 - 8 = 85.2."""
    expected = 1 + 0.035 * 85.2 + 7e-6 * 85.2 * 25.2 * 14.8
    assert mos.mos_practitioner(150, 0.0, jitter_ms=20) == pytest.approx(expected)


@pytest.mark.parametrize("model", [mos.mos_g107, mos.mos_cole_rosenbluth, mos.mos_practitioner])
def test_no_score_rises_with_delay_or_loss(model: object) -> None:
    assert callable(model)
    by_delay = [model(delay, 0.0) for delay in range(1, 1500, 10)]
    by_loss = [model(50, percent / 100) for percent in range(101)]
    for scores in (by_delay, by_loss):
        # The cubic mapping dips a little below 1 at ratings just above 0.
        assert all(b <= a + 0.02 for a, b in zip(scores, scores[1:], strict=False))
        assert all(0.98 <= score <= 4.5 for score in scores)
    assert model(5000, 1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("model", [mos.mos_g107, mos.mos_cole_rosenbluth, mos.mos_practitioner])
def test_wrong_values_are_refused_with_field_and_rule(model: object) -> None:
    assert callable(model)
    for delay in (-1.0, math.nan, math.inf):
        with pytest.raises(ParamError, match="delay_ms is .* not below 0"):
            model(delay, 0.0)
    for loss in (-0.01, 1.01, math.nan):
        with pytest.raises(ParamError, match="loss is .* fraction from 0 to 1"):
            model(0, loss)
    with pytest.raises(ParamError, match="jitter_ms"):
        mos.mos_practitioner(10, 0.0, jitter_ms=-1)


def test_opus_is_refused_until_its_factors_are_given() -> None:
    with pytest.raises(ParamError, match="'opus'.*factors of its own"):
        mos.mos_g107(50, 0.01, codec="opus")
    with pytest.raises(ParamError, match="'opus'"):
        mos.mos_cole_rosenbluth(50, 0.01, codec="opus")
    codec = mos.Codec(ie=0.0, bpl=25.1)
    assert mos.mos_g107(50, 0.01, codec=codec) == mos.mos_g107(50, 0.01, codec="g711 plc")
    assert mos.mos_g107(50, 0.01, codec=codec) > mos.mos_g107(50, 0.01)
    with pytest.raises(ParamError, match="bpl"):
        mos.mos_g107(50, 0.01, codec=mos.Codec(ie=0.0, bpl=0.0))


def test_delay_given_to_a_model_is_flents() -> None:
    assert mos.effective_delay_ms(30.0, 4.0) == 38.0
    with pytest.raises(ParamError, match="ipdv_ms"):
        mos.effective_delay_ms(30.0, -4.0)
