"""Sums and integrals of formulas in numbers, against those of other ways."""

import math

import pytest
from sympy import Function, Integral, Min, oo, sin

from fsl_num.claims.printed_values import value_of
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_sym.spectrum import forgetting_kernel as exact_kernel
from fsl_sym.spectrum import signal as exact_signal
from fsl_sym.symbols import M, beta, s, t, z

LETTERS = {s: 0.75, beta: 1.5, M: 7.0, t: 0.8}


@pytest.mark.parametrize("size", [7.0, math.inf])
def test_sums_over_modes(size):
    modes = M if math.isfinite(size) else oo
    # the sums of the other way are good to 1e-12
    assert value_of(exact_signal(t, modes), LETTERS, 0.0) == pytest.approx(signal(0.8, 0.75, 1.5, size), rel=1e-11)
    assert value_of(exact_kernel(t, modes), LETTERS, 0.0) == pytest.approx(forgetting_kernel(0.8, 1.5, size), rel=1e-11)


def test_an_integral_of_a_constant_rate():
    gamma = Function("gamma")
    integral = Integral(gamma(z) * z**2, (z, 0, t))
    assert value_of(integral + 1 / t, LETTERS, 0.5) == pytest.approx(0.5 * 0.8**3 / 3 + 1.25, rel=1e-14)


@pytest.mark.parametrize("expression", [sin(t), Min(t, s)])
def test_what_has_no_value_is_refused(expression):
    with pytest.raises(TypeError, match="has no value here"):
        value_of(expression, LETTERS, 0.0)
