"""What the picture of a formula draws is what the formula says."""

import numpy as np
import pytest

from fsl_num.report.formulas import plot_formula
from fsl_num.report.plots import new_figure
from fsl_sym import (
    approximation_error_expansion,
    kernel_asymptotics,
    noise_integral,
    optimal_allocation,
    own_schedule,
    scaling_law,
)
from fsl_sym.symbols import T1, T2, B, K, M, T, a, b, beta, p, s, sigma, tau

VALUES = {s: 0.5, beta: 3, M: 1000, sigma: 1, B: 1, a: 0.5, b: 0.005}


def drawn(axes):
    return axes.lines[-1].get_xdata(), axes.lines[-1].get_ydata()


@pytest.mark.parametrize("name", ["constant", "exp-decay", "wsd", "linear", "cosine-to-zero", "1-sqrt"])
def test_the_sum_is_the_law_and_the_dashed_lines_add_up_to_it(name):
    law = scaling_law(name)
    axes = plot_formula(law, beta=3)
    x, y = drawn(axes)
    assert axes.get_xscale() == axes.get_yscale() == "log" and (x[0], x[-1]) == pytest.approx((10.0, 1e6))
    for k in (0, 150, -1):  # the expression itself, by sympy: float64 to some roundings
        times = {T: x[k], T1: 0.8 * x[k], T2: 0.2 * x[k]}
        assert y[k] == pytest.approx(float(law.expression.subs(VALUES).subs(times)), rel=1e-12)
    np.testing.assert_allclose(sum(line.get_ydata() for line in axes.lines[:-1]), y, rtol=1e-12)
    axes.figure.draw_without_rendering()


def test_every_kind_of_formula_is_drawn_on_the_axes_given():
    axes = new_figure((4.0, 3.0)).subplots()
    own = scaling_law(own_schedule(a * (1 - tau / K) ** 3))
    for formula in (own, noise_integral("linear"), approximation_error_expansion(2)[0], M**-s, T**-s * a):
        assert plot_formula(formula, axes) is axes
    assert plot_formula(optimal_allocation("wsd", "data")).get_xlabel().startswith("capacity exponent")


def test_the_error_of_an_expansion_is_a_band():
    """At beta = 2, K(t) = gamma(3/2) (2t)^(-3/2)/2 up to exp(-2)/t^2, hand to hand with its claimed bound."""
    axes = plot_formula(kernel_asymptotics(), over=(10.0, 1e3))
    (band,) = axes.collections
    x, y = drawn(axes)
    edges = band.get_paths()[0].vertices
    assert edges[:, 1].max() == pytest.approx(y[0] + np.exp(-2.0) / x[0] ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "values", "error", "said"),
    [
        (scaling_law("wsd"), {"q": 1}, ValueError, "q is no letter of .*: it has B, M, T1, T2, a, b, beta, s, sigma"),
        (scaling_law("wsd"), {"beta": 1}, ValueError, "beta must be above 1 and at most 1000, got 1"),
        (scaling_law("wsd"), {"s": -1}, ValueError, "s must be"),
        (scaling_law("wsd"), {"over": (0.0, 1.0)}, ValueError, "over must be"),
        (p * M**-s, {}, ValueError, "must vary with a time or a size alone: give p"),
        (1 - T, {}, ValueError, "is not positive everywhere between 10 and 1e\\+06"),
        ("wsd", {}, TypeError, "^str is no formula to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(formula, values, error, said):
    with pytest.raises(error, match=said):
        plot_formula(formula, **values)
