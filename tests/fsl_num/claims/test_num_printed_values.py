"""Sums and integrals of formulas in numbers, against those of other ways."""

import math

import pytest
from sympy import Function, Integral, Min, exp, oo, sin

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


@pytest.mark.parametrize("time", [30.0, 4e3])
def test_sums_at_late_times(time):
    late = {**LETTERS, t: time}
    assert value_of(exact_signal(t), late, 0.0) == pytest.approx(signal(time, 0.75, 1.5, 7.0), rel=1e-11)
    assert value_of(exact_kernel(t, oo), late, 0.0) == pytest.approx(forgetting_kernel(time, 1.5, math.inf), rel=1e-11)


def test_a_function_has_its_own_values():
    gamma, phi = Function("gamma"), Function("phi")
    integral = Integral(gamma(t - z) * phi(z), (z, 0, t))
    known = {**LETTERS, gamma: lambda time: time**2}
    assert value_of(integral, known, 3.0) == pytest.approx(3.0 * 0.8**3 / 3, rel=1e-14)


def test_an_integral_without_end():
    integral = Integral(exp(-z / s) * exact_kernel(z, oo), (z, t, oo))
    rates = {j: 1.0 / 0.75 + 2.0 * j**-1.5 for j in range(1, 200_000)}
    modes = math.fsum(j**-3.0 * math.exp(-rate * 0.8) / rate for j, rate in rates.items())
    assert value_of(integral, LETTERS, 0.0) == pytest.approx(modes, rel=1e-10)
    with pytest.raises(ValueError, match="has not come to its value"):
        value_of(Integral(z**-2, (z, t, oo)), LETTERS, 0.0)


@pytest.mark.parametrize("expression", [sin(t), Min(t, s)])
def test_what_has_no_value_is_refused(expression):
    with pytest.raises(TypeError, match="has no value here"):
        value_of(expression, LETTERS, 0.0)
