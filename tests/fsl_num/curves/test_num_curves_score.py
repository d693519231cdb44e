"""Scores of predictions."""

import math

import numpy as np
import pytest

from fsl_num.curves.score import COLUMNS, mean_score, residual_spread, score, table


def test_the_measures_are_those_of_their_names():
    found = score([2.0, 1.0, 4.0], [2.2, 1.0, 3.8], [2.1, 0.9, 3.0], [2.3, 1.1, 4.1])
    assert found.mae == pytest.approx(0.4 / 3)
    assert found.rmse == pytest.approx(math.sqrt(0.08 / 3))
    assert found.r2 == pytest.approx(1 - 0.08 / ((2 - 7 / 3) ** 2 + (1 - 7 / 3) ** 2 + (4 - 7 / 3) ** 2))
    assert found.mean_relative_error == pytest.approx((0.1 + 0.05) / 3)
    assert found.worst_relative_error == pytest.approx(0.1)
    assert found.final_error == pytest.approx(-0.2)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.rows == 3


def test_what_cannot_be_scored():
    assert math.isnan(score([2.0, 2.0], [2.0, 2.1]).r2)
    for measured, predicted in (([1.0], [1.0, 2.0]), ([], []), ([1.0], [float("nan")])):
        with pytest.raises(ValueError, match="must be"):
            score(measured, predicted)
    with pytest.raises(ValueError, match="no scores"):
        mean_score([])


def test_the_mean_counts_every_curve_once():
    short, long = score([2.0, 1.0], [2.0, 1.2]), score([2.0] * 9 + [1.0], [2.0] * 9 + [0.8])
    mean = mean_score([short, long])
    assert mean.mae == pytest.approx((0.1 + 0.02) / 2)
    assert mean.final_error == pytest.approx(0.2)  # errors of opposite signs do not cancel
    assert mean.rows == 12


def test_the_table_has_a_line_a_law():
    lines = table({"fsl": score([2.0, 1.0], [2.0, 1.1]), "other": score([2.0, 1.0], [2.0, 1.1])}).splitlines()
    assert len(lines) == 3
    assert len(lines[0].split()) == len(COLUMNS)
    assert lines[1].startswith("fsl ")


def test_the_spread_is_robust_but_not_blind():
    residual = np.zeros(100)
    residual[:10] = 1.0
    assert residual_spread(residual) == pytest.approx(0.1 * math.sqrt(0.1))
    drawn = np.random.default_rng(0).normal(size=10_000)
    assert residual_spread(drawn) == pytest.approx(1.0, abs=0.05)  # four times its standard error of 1.2 %


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        ({"lower": [1.0, 1.0]}, "give both lower and upper"),
        ({"upper": [1.0, 1.0]}, "give both lower and upper"),
        ({"weights": [1.0]}, "weights must be"),
        ({"weights": [-1.0, 2.0]}, "weights must be"),
        ({"weights": [0.0, 0.0]}, "weights must be"),
    ],
)
def test_half_an_interval_and_weights_that_are_none_are_refused(more, needed):
    with pytest.raises(ValueError, match=needed):
        score([2.0, 1.0], [2.0, 1.1], **more)
