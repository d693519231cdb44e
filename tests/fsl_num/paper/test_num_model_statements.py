"""The statements about matrices and draws can fail, and what is measured for them is what the definitions say."""

import math

import numpy as np
import pytest

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.model import Model
from fsl_num.paper.model import measurements as measured
from fsl_num.paper.model.formulas import KURTOSES
from fsl_num.paper.model.hypercontractivity import best_constants, fourth_moments, matrix_bound
from fsl_num.paper.model.noise_covariance import noise_bound
from fsl_num.paper.model.statements import Bracket, FailureRate, Operator, Trend
from fsl_num.simulate.families import family
from fsl_num.simulate.hypercontractivity import hypercontractivity_constants
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.simulate.regression import Regression

SAMPLE = Sample("hard", 0.5, 4.0)
FLAT = Ray("flat", np.log([8.0, 16.0, 32.0, 64.0]), {}, np.array([0.1, -0.1, 0.1, -0.1]))


def operator(values, **options):
    return Operator(np.diag(values), np.eye(2), 2.0, **options)


def test_a_bracket_holds_between_its_constants_only():
    found = [operator([2.0, 4.0]), operator([3.0, 3.5])]
    assert Bracket(1.0, 2.0).judge(found).constants == pytest.approx((1.0, 2.0))
    assert Bracket(1.0, 2.0).judge(found).holds
    for lower, upper in ((1.01, 2.0), (1.0, 1.99), (0.9, 2.0), (1.0, 2.1)):
        assert not Bracket(lower, upper).judge(found).holds
    assert Bracket(0.9, 2.1, attained=False).judge(found).holds
    assert not Bracket(1.0, 2.0, matrix_bound).judge([operator([2.0, 4.0], matrix=np.diag([1.0, 0.0]))]).holds
    assert Bracket(0.5, 1.5, noise_bound).judge([operator([2.0, 4.0], noise=1.0)]).holds
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        Bracket(1.0, 2.0).judge([operator([math.nan, 1.0])])


def test_a_trend_is_judged_by_its_slope():
    assert Trend(0.0, 0.25).judge(FLAT).holds
    assert not Trend(1.0, 0.25).judge(FLAT).holds
    assert Trend(-1.0, 0.25, "lower").judge(FLAT).holds  # it grows faster than M^-1
    assert not Trend(1.0, 0.25, "lower").judge(FLAT).holds
    assert Trend(1.0, 0.25, "upper").judge(FLAT).holds
    assert all(not mutant.judge(FLAT).holds for mutant in Trend(0.0, 0.25).mutants().values())


def test_a_failure_rate_must_be_shown():
    assert FailureRate(0.1).judge([(8, 60, 400), (64, 0, 10000)]).holds
    assert not FailureRate(0.1).judge([(8, 60, 400), (64, 0, 100)]).holds  # too few draws to show it
    assert not FailureRate(0.1).judge([(8, 400, 400)]).holds
    # no failure of n at a level of 99.9 %: (1 - p)^n = 0.0005
    text = FailureRate(0.1).judge([(64, 0, 100)]).detail
    assert f"{1 - 0.0005 ** (1 / 100):.2g}" in text


@pytest.mark.parametrize("name", ["gaussian", "uniform", "rademacher", "laplace"])
def test_the_rules_have_the_moments_of_their_families(name):
    points, weights = measured.nodes(name)
    moments = [float(weights @ points**k) for k in range(6)]
    assert moments == pytest.approx([1.0, 0.0, 1.0, 0.0, KURTOSES[name], 0.0], abs=1e-12)
    with pytest.raises(ValueError, match="no rule"):
        measured.nodes("cauchy")


@pytest.mark.parametrize("name", ["gaussian", "uniform", "rademacher"])
def test_sums_over_the_rules_agree_with_the_formulas(name):
    for moment in fourth_moments(name, SAMPLE):
        own = np.diag(moment.base)
        formula = family(name).fourth_moment(own, moment.matrix) - own[:, None] * moment.matrix * own
        assert moment.value == pytest.approx(formula, abs=1e-12 * np.abs(formula).max())
    problem = Regression(Model(s=0.5, beta=4.0, size=4, noise=1.0), family=name)
    generator = np.random.default_rng([SAMPLE.seed, 2])
    v = generator.standard_normal(4)
    third = measured.gradient_noises(name, SAMPLE)[2]
    assert third.value == pytest.approx(noise_covariance(problem, v), rel=1e-9, abs=1e-12)
    constants = hypercontractivity_constants(name, 4)
    assert best_constants(KURTOSES[name]) == pytest.approx((constants.lower, constants.upper))
