"""The numbers that the errata about kernels, laws and exponential decay give as evidence are measured again here."""

import math

import numpy as np
import pytest
from errata_evidence import assert_said, scientific
from scipy.optimize import brentq
from scipy.special import gammainc

from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.random_features.forcing import mean_rays
from fsl_num.schedules import ExponentialDecay
from fsl_num.volterra import Problem, solve


def test_the_risk_stays_bounded_at_early_times():
    problem = Problem(Model(s=0.5, beta=4.0, size=100, noise=1.0), gamma=1e-6, horizon=1.0)
    risks = solve(problem, [1.0, 1e-2, 1e-8]).excess_risk
    assert_said("fsl-simplified-early-times", *[f"{risk:.2f} at $t" for risk in risks])


def test_the_third_line():
    a, b, total = 0.5, 0.05, 3.0
    plan = ExponentialDecay(peak=a, final=b, steps=total * math.log(a / b) / (a - b))
    fade, rate = math.exp(-2 * total), (a - b) / total
    left = rate * (1 - (1 + 2 * total) * fade) / 4
    printed, corrected = a * (1 - fade) / 2 - left, b * (1 - fade) / 2 + left
    measured = noise_functional(Model(s=1.0, beta=2.0, size=1, noise=0.0), plan).value
    assert measured == pytest.approx(corrected, rel=1e-10)  # the quadrature's own accuracy
    assert_said("exp-decay-third-line", f"{measured:.6f}", f"{printed:.6f}")


def test_the_lost_time():
    total, beta = 1e6, 2.0
    u = 2 * total * np.arange(1.0, 1e7) ** -beta
    printed = float((1 - np.exp(-u) - u / total * np.exp(-u)).sum()) / (4 * total)
    right = float(gammainc(2.0, u).sum()) / (4 * total)
    integral = 2 ** (1 / beta) * math.gamma(2 - 1 / beta) / 4 * total ** (1 / beta - 1)
    assert printed > integral >= right
    assert printed / integral == pytest.approx(beta / (beta - 1), rel=1e-3)  # next order T^(-1/beta)
    assert_said("exp-decay-i2-lost-time", *(scientific(value, 3) for value in (printed, integral, right)))


def test_the_kernel_without_its_time():
    t = 3.0
    assert_said("volterra-kernel-time", f"{(1 - math.exp(-2 * t)) / 2:.4f}", f"{t * math.exp(-2 * t):.4f}")


@pytest.mark.parametrize("beta", [1.5, 2.0, 4.0])
def test_the_first_case_of_the_hard_regime(beta):
    """The size of M = (D/log C)^(1/beta) under the budget M D = C, against both orders."""
    sizes, budgets = [], (1e20, 1e80)
    for budget in budgets:
        log = math.log(budget)
        sizes.append(math.exp(brentq(lambda x, log=log: beta * x - (log - x - math.log(log)), 0.0, log)))
    right, printed = ([m / (c / part(c)) ** (1 / (1 + beta)) for m, c in zip(sizes, budgets, strict=True)]
                      for part in (math.log, lambda budget: 1.0))  # fmt: skip
    assert right == pytest.approx([1.0, 1.0], rel=1e-9)  # the root is found to 2e-12
    assert printed[1] / printed[0] == pytest.approx(4.0 ** (-1 / (1 + beta)), rel=1e-9)  # as log C grows fourfold
    assert_said("wsd-compute-first-case-hard", r"(C/\log C)^{1/(1+\beta)}")


def test_what_random_features_leave_for_ever_at_three_halves():
    *_, last = mean_rays(1.5, 2.0, 0, 0)
    pairs = zip(last.sizes, last.values, strict=True)
    shares = [f"{math.exp(values.mean()) * size**3.0:.0f}" for size, values in pairs]
    assert_said("restated-laws-random-every-s", ", ".join(shares))
