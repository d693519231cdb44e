"""The functional law of infinitely many features bounds the loss of M on both sides: measured with another solver.

Let f = 2E be the loss of M features, L the functional law 2E of infinitely many, tau the trace of the modes beyond M
and e(0) + sigma^2 the noise at the start. In L the signal is at most delta_M + e_M <= f, and the kernel of the modes
beyond M has an integral of at most tau/2: L <= f + gamma_max tau (e(0) + sigma^2)/2, and f >= delta_M divides.
"""

import math
from functools import cache
from itertools import product

import pytest

from fsl_num import Model, Problem
from fsl_num.functional import functional_scaling_law
from fsl_num.schedules import schedule
from fsl_num.spectrum import eigenvalues, trace
from fsl_num.volterra import solve


@cache
def law_of(s, beta, noise, plan):
    """L at the end."""
    return 2.0 * functional_scaling_law(Model(s, beta, math.inf, noise), plan, rtol=1e-8).total


def loss_and_law(s, beta, size, noise, share, time, name):
    """f and L at the end, gamma_max and delta_M; ``share``: gamma_max tr(H)/2 of infinitely many features."""
    peak = share * 2.0 / trace(beta)
    plan = schedule(name, peak=peak, steps=time / peak * (2.0 if name == "linear" else 1.0))
    model = Model(s, beta, size, noise)
    f = 2.0 * float(solve(Problem(model, gamma=plan), [plan.total_intrinsic_time], rtol=1e-9).excess_risk[0])
    return f, law_of(s, beta, noise, plan), peak, model.approximation_error


def ratio(s, beta, size, noise, share, time, name, tail=1.0):
    """f over L/(1 + gamma_max tau (e(0) + sigma^2)/(2 delta_M)), the last part times ``tail``."""
    f, law, peak, delta = loss_and_law(s, beta, size, noise, share, time, name)
    tau = trace(beta) - float(eigenvalues(size, beta).sum())
    start = float(Model(s, beta, math.inf, noise).signal(0.0))
    return f / law * (1.0 + tail * peak * tau * (start + noise) / (2.0 * delta))


def upper_ratio(s, beta, size, noise, share, time, name):
    """f over (delta_M + L)/(1 - c)."""
    f, law, peak, delta = loss_and_law(s, beta, size, noise, share, time, name)
    return f * (1.0 - 0.5 * peak * trace(beta, size)) / (delta + law)


@pytest.mark.parametrize("name", ["constant", "linear"])
@pytest.mark.parametrize("noise", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("s", "beta"), [(0.3, 2.0), (0.5, 4.0), (1.0, 1.5), (0.2, 3.0)])
def test_the_law_of_infinitely_many_features_bounds_the_loss_from_below(s, beta, noise, name):
    ratios = [ratio(s, beta, size, noise, share, time, name)
              for size in (3, 300) for share in (0.05, 0.3) for time in (10.0, 1e6)]  # fmt: skip
    assert min(ratios) >= 1.0


def test_its_leading_constant_cannot_be_larger_and_its_second_term_not_left_out():
    assert ratio(0.2, 3.0, 300, 0.01, 0.05, 1e4, "linear") < 1.0001
    assert ratio(1.0, 1.5, 3, 100.0, 0.3, 1e6, "constant", tail=0.0) < 1.0


@pytest.mark.parametrize("name", ["constant", "linear"])
@pytest.mark.parametrize(("s", "beta"), [(0.3, 2.0), (0.5, 2.0), (0.7, 4.0), (0.2, 1.5), (0.2, 3.0)])
def test_on_hard_tasks_it_bounds_the_loss_from_above(s, beta, name):
    cases = product((3, 300), (0.0, 1.0, 1e6), (0.1, 0.9), (10.0, 1e6))
    ratios = [upper_ratio(s, beta, *case, name) for case in cases]
    assert max(ratios) <= 1.0 + 1e-8  # the accuracy asked of the law


def test_its_upper_constant_is_attained_and_is_too_small_on_the_easiest_tasks():
    assert upper_ratio(0.5, 4.0, 300, 1e12, 0.5, 1e9, "constant") > 0.9999
    assert upper_ratio(3.0, 2.0, 300, 0.0, 0.9, 1e3, "constant") > 1.5
